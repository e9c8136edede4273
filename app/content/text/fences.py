"""From a lesson's text to pieces: runs of markdown tokens, and directives with their options and bodies.

Positions are never lost: every piece knows its line in the file. What a directive means is decided elsewhere.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from markdown_it import MarkdownIt
from markdown_it.ruler import RuleOptionsType
from markdown_it.rules_block import StateBlock
from markdown_it.rules_block.fence import make_fence_rule
from markdown_it.token import Token
from mdit_py_plugins.attrs import attrs_plugin
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.footnote import footnote_plugin

from app.content.blocks.places import SourceFile, SourceLocation
from app.content.text.errors import ErrorCollector, did_you_mean
from app.content.text.options import NEARLY, OPTION_LINE, Value

INFO = re.compile(r"^\s*\{\s*([\w-]+)\s*\}[ \t]*(.*?)\s*$")
UNBREAKABLE = re.compile(r"^:[\w-]+:[ \t]*\u00a0")
OPENS = re.compile(r"^(:{3,}|`{3,})[ \t]*\{[ \t]*([\w-]+)[ \t]*\}")
MAX_FENCE_DEPTH = 20
"""The level of blocks from which on markdown leaves out what it reads, with all that follows."""
OPENING = re.compile(r"^[ ]{0,3}(`{3,})[ \t]*\{")

_plain_fence = make_fence_rule()
_directive_fence = make_fence_rule(markers=("`",), disallow_marker_in_info=())
_whole_colon_fence = make_fence_rule(markers=(":",), token_type="colon_fence", disallow_marker_in_info=())


def _fence(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """A code fence; after ```` ```{ ```` the line may hold backticks, so that a mistake's message can show code."""
    line = state.src[state.bMarks[start] : state.eMarks[start]]
    rule = _directive_fence if OPENING.match(line) else _plain_fence
    return rule(state, start, end, silent)


def _colon_fence(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """A colon fence; colons alone open nothing, so that a stray one does not swallow what follows it."""
    line = state.src[state.bMarks[start] + state.tShift[start] : state.eMarks[start]].rstrip()
    if len(line) < 3 or set(line) != {":"} or state.is_code_block(start):
        return _whole_colon_fence(state, start, end, silent)
    if not silent:
        token = state.push("colon_fence", "code", 0)
        token.markup = line
        token.map = [start, start + 1]
        state.line = start + 1
    return True


def lesson_markdown() -> MarkdownIt:
    """The one markdown dialect of lessons: CommonMark without raw HTML, tables, footnotes, dollar math, fences."""
    md = MarkdownIt(
        "commonmark", {"html": False, "linkify": False, "typographer": False, "maxNesting": MAX_FENCE_DEPTH}
    )
    md.enable(["table", "strikethrough"])
    md.use(footnote_plugin)
    md.use(dollarmath_plugin, allow_space=False, allow_labels=True, double_inline=True)
    md.use(attrs_plugin, after=("image",), allowed=("width",))
    alternatives: RuleOptionsType = {"alt": ["paragraph", "reference", "blockquote", "list", "footnote_def"]}
    md.block.ruler.at("fence", _fence, alternatives)
    md.block.ruler.before("fence", "colon_fence", _colon_fence, alternatives)
    return md


@dataclass(frozen=True, slots=True)
class DirectiveText:
    """Text inside a file: its lines, and the line of the file on which it starts."""

    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Directive:
    """A fence that carries a name in braces.

    Args:
        argument: What follows the braces: an id, a title or a message.
        options: By key, in file order.
        body: What follows the options.
        code: Whether the fence is made of backticks (or tildes), so that the body is code.
    """

    name: str
    argument: str
    options: Mapping[str, Value]
    body: DirectiveText
    code: bool
    place: SourceLocation
    argument_place: SourceLocation


@dataclass(frozen=True, slots=True)
class TokenRun:
    """Markdown tokens between two directives; `token.map` counts lines from *line*."""

    tokens: Sequence[Token]
    line: int


def split_at_directives(
    tokens: Sequence[Token],
    line: int,
    file: SourceFile,
    known: Mapping[str, Sequence[str]],
    faults: ErrorCollector,
    where: str = "here",
) -> Iterator[TokenRun | Directive]:
    """Cut *tokens* at the directives.

    Args:
        line: Line of the file on which the parsed text starts.
        known: The options of every directive that may stand here, by its name.
        where: The place in words, for faults.
    """
    run: list[Token] = []
    for token in tokens:
        if token.nesting == 1 and token.level == MAX_FENCE_DEPTH - 1 and not faults.has_code("too-deep"):
            message = f"Lists and quotations stand in one another here {MAX_FENCE_DEPTH // 2} times and more."
            place = file.place(line + (token.map or [0])[0])
            faults.add(place, "too-deep", message, "Begin a new one; what is deeper would be lost.")
        if not _is_directive(token):
            _check_indented(token, line, file, faults)
            run.append(token)
            continue
        place = file.place(line + (token.map or [0])[0])
        if token.level:
            faults.add(
                place, "nested-directive", "A directive cannot stand inside a list or a quotation.", "Unindent it."
            )
            continue
        if run:
            yield TokenRun(run, line)
            run = []
        directive = _directive(token, line, file, known, faults, where)
        if directive:
            yield directive
    if run:
        yield TokenRun(run, line)


def _check_indented(token: Token, line: int, file: SourceFile, faults: ErrorCollector) -> None:
    """A fault for a directive that is indented so far that it is shown as code."""
    for offset, text in enumerate(token.content.split("\n") if token.type == "code_block" else ()):
        if OPENS.match(text.lstrip()):
            place = file.place(line + (token.map or [0])[0] + offset)
            faults.add(place, "nested-directive", "This directive is indented, and shown as code.", "Unindent it.")


def _is_directive(token: Token) -> bool:
    return token.type == "colon_fence" or (token.type == "fence" and token.info.lstrip().startswith("{"))


def _directive(
    token: Token, line: int, file: SourceFile, known: Mapping[str, Sequence[str]], faults: ErrorCollector, where: str
) -> Directive | None:
    first, last = token.map or [0, 1]
    place = file.place(line + first)
    if not _opening_is_sound(token, place, known, faults, where):
        return None
    match = INFO.match(token.info)
    assert match is not None
    name, argument = match[1], match[2]
    closing = file.lines[line + last - 2].strip() if line + last - 2 < len(file.lines) else ""
    text = token.content
    swallowed = _swallowed_directive(token)
    if swallowed is not None:
        offset, inner = swallowed
        inner_line = line + first + 1 + offset
        within_reach = token.type == "fence" or (inner in known and name != "sheet")  # which is nothing without others
        faults.add(place, "unclosed", *_open(token, name, inner, inner_line, within_reach))
        if not within_reach:
            return None
        text = "\n".join(text.split("\n")[:offset])
    elif last - first < 2 or set(closing) != {token.markup[0]} or len(closing) < len(token.markup):
        more = "; an outer fence has one more colon than its children" if token.markup[0] == ":" else ""
        fix = f"Add a line '{token.markup}' below it{more}."
        faults.add(place, "unclosed", f"'{token.markup}{{{name}}}' is never closed.", fix)
    options, body = _options(text, line + first + 1, name, known[name], file, faults)
    if token.markup[0] == ":":
        _check_below(body, name, known[name], file, faults)
    argument_place = file.place(place.line, argument) if argument else place
    if argument.startswith((":", "=")):
        message = f"Behind '{{{name}}}' stands {argument[0]!r}."
        faults.add(argument_place, "unexpected", message, "Nothing but a space stands there.")
    return Directive(name, argument, options, body, token.type == "fence", place, argument_place)


def _swallowed_directive(token: Token) -> tuple[int, str] | None:
    """Find the first line of the body that opens a directive where none is allowed, and its name."""
    for offset, text in enumerate(token.content.split("\n")):
        match = OPENS.match(text)
        # In code no directive can stand; in prose, only one with fewer colons, or one of code.
        if match and (token.type == "fence" or (match[1][0] == ":" and len(match[1]) >= len(token.markup))):
            return offset, match[2]
    return None


def _open(token: Token, name: str, inner: str, line: int, closed: bool) -> tuple[str, str]:
    """Say what is wrong with a fence that holds another one, on *line*, and what to write."""
    if closed:
        message = f"'{token.markup}{{{name}}}' is still open on line {line}, where '{{{inner}}}' begins."
        return message, f"Close it above with a line '{token.markup}'."
    message = f"'{token.markup}{{{name}}}' holds '{{{inner}}}' on line {line}, which has as many colons."
    return message, f"Write '{token.markup}:{{{name}}}' here, and '{token.markup}:' where it ends."


def _opening_is_sound(
    token: Token, place: SourceLocation, known: Mapping[str, Sequence[str]], faults: ErrorCollector, where: str
) -> bool:
    info = token.info.strip()
    if not info:
        if faults.has_code("unclosed"):  # what is left of a fence that was closed too early
            return False
        faults.add(
            place,
            "stray-fence",
            f"'{token.markup}' closes nothing.",
            "An outer fence has one more colon than its children.",
        )
        return False
    match = INFO.match(token.info)
    if match is None:
        word = info.strip("{}").split()[0] if info.strip("{} ") else "note"
        fix = did_you_mean(word, known) if word not in known else f"Write '{token.markup}{{{word}}}'."
        faults.add(place, "not-a-directive", f"{token.markup}{info!r} does not name a directive in braces.", fix)
        return False
    if match[1] not in known:
        if not faults.has_code("unclosed"):
            message = f"There is no directive {match[1]!r} {where}."
            faults.add(place, "unknown-directive", message, did_you_mean(match[1], known))
        return False
    return True


def _options(
    text: str, line: int, name: str, known: Sequence[str], file: SourceFile, faults: ErrorCollector
) -> tuple[Mapping[str, Value], DirectiveText]:
    """Read the option lines at the top of *text*; an indented line continues the value above it."""
    lines = text.split("\n")
    options: dict[str, Value] = {}
    key = ""
    index = start = 0
    while index < len(lines):
        current = lines[index]
        if UNBREAKABLE.match(current):
            message = "A no-break space stands behind this option."
            faults.add(file.place(line + index, "\u00a0"), "invisible", message, "Write a plain space.")
            current = current.replace("\u00a0", " ")
        match = OPTION_LINE.match(current)
        if match:
            key, value = match[1], match[2] or ""
            place = file.place(line + index, value) if value else file.place(line + index)
            if key not in known:
                fix = did_you_mean(key, known) if known else f"'{{{name}}}' has no options."
                faults.add(file.place(line + index), "unknown-option", f"'{{{name}}}' has no option ':{key}:'.", fix)
            if key in options:
                faults.add(file.place(line + index), "twice", f"':{key}:' is given twice.", "Keep one of them.")
            options[key] = Value(value, place)
        elif key and current[:1] in (" ", "\t") and current.strip() and start == index:
            options[key] = Value(f"{options[key].text}\n{current}", options[key].place)
        elif current.strip():
            break
        index += 1
        if current.strip():
            start = index
    if index < len(lines) and (near := _nearly_an_option(lines[index], line + index, name, known, file, faults)):
        options.setdefault(*near)
    known_options = {key: value for key, value in options.items() if key in known}
    return known_options, DirectiveText("\n".join(lines[index:]), line + index)


def _nearly_an_option(
    text: str, line: int, name: str, known: Sequence[str], file: SourceFile, faults: ErrorCollector
) -> tuple[str, Value] | None:
    """Parse *text* as the option it nearly is; adds an error, since it is none."""
    match = NEARLY.match(text)
    word = (match[1] or match[3]) if match else ""
    if match is None or word not in known:
        return None
    fix = f"Write ':{word}: …' at the beginning of a line, with a space behind the second colon."
    faults.add(file.place(line), "not-an-option", f"This looks like an option of '{{{name}}}'.", fix)
    value = match[2] or match[4] or ""
    return word, Value(value, file.place(line, value))


def _check_below(
    body: DirectiveText, name: str, known: Sequence[str], file: SourceFile, faults: ErrorCollector
) -> None:
    """Add an error for every option that is in the text, where it would be shown."""
    for number, text in enumerate(body.text.split("\n"), start=body.line):
        match = OPTION_LINE.match(text)
        if text.startswith((":::", "```")):
            return
        if match and match[1] in known and number > body.line:
            message = f"':{match[1]}:' stands below the text of '{{{name}}}', where it is no option."
            faults.add(file.place(number), "not-an-option", message, "Move it to the top.")
