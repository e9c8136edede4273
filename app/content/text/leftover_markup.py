"""Leftover markup: text that markdown would show as it is, or drop, although its author meant more by it.

A `$` without its partner, a link to nowhere, a table whose line of dashes does not fit: markdown has no errors, so the
text that is left over is searched for what should not be left.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markdown_it import MarkdownIt
from markdown_it.rules_block.table import escapedSplit
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

from app.content.blocks.places import SourceFile, SourceLocation
from app.content.text.errors import ErrorCollector

AWAY = "\ufffc"
"""Stands for what is more than text: code, a formula, an escaped sign."""
SCHEME = re.compile(r"https?://|www\.")
CONFLICT = re.compile(r"^(?:<{7} |={7}$|>{7} )")
INVISIBLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufffd]")
KINDS_OF_FORMULA = r"'$W$' in a line, '$$' on lines of its own around a display"


@dataclass(frozen=True, slots=True)
class LeftoverPattern:
    """A *pattern* in text that is left over, and what to say about it; `{0}` is what was found."""

    code: str
    pattern: re.Pattern[str]
    message: str
    fix: str


LOST = (
    LeftoverPattern(
        "math", re.compile(r"\$\$"), "This '$$' has no partner.", f"A formula is written {KINDS_OF_FORMULA}."
    ),
    LeftoverPattern(
        "math",
        re.compile(r"(?<!\$)\$(?!\$)"),
        "This '$' has no partner.",
        "A formula has one on each side and no space inside of them: '$W$'. For the sign itself write '\\$'.",
    ),
    LeftoverPattern(
        "math",
        re.compile(r"\\\((?=[^)]{0,200}\\\))|\\\[(?=[^\]]{0,200}(?:[\^_={]|\\[A-Za-z]))"),
        "'{0}' opens no formula here.",
        f"Write {KINDS_OF_FORMULA}.",
    ),
    LeftoverPattern(
        "math",
        re.compile(r"\\(?:begin|end)\{\w+\*?\}|\\[A-Za-z]{2,}|(?<=\w)[_^]\{"),
        "'{0}' is no formula here.",
        f"Write {KINDS_OF_FORMULA}.",
    ),
    LeftoverPattern(
        "math",
        re.compile(r"\{\{[^{}\n]*\}\}|(?<=[ (])\{[A-Za-z]\w*\}"),
        "'{0}' is shown as it is written.",
        "Numbers that ':vary:' draws stand in double braces, '{{n}}'; code stands in backticks.",
    ),
    LeftoverPattern(
        "not-a-directive",
        re.compile(r"(?m)^:{0,2} ?\{ ?[a-z]+ ?\}(?=[ \t]|$)"),
        "'{0}' opens no directive.",
        "A directive begins with three colons or backticks at least: ':::{choice} some-id'.",
    ),
    LeftoverPattern(
        "broken-link",
        re.compile(r"(?<=\))\[(?:#|https?:|[\w./-]{1,99}\.md)[^\]\s]{0,99}\]"),
        "The brackets of this link are exchanged: {0}.",
        "Write '[text](07-matmul.md)'.",
    ),
    LeftoverPattern(
        "broken-link",
        re.compile(r"(?<![\w(\[<])(?:https?://|www\.)[^\s)]{1,150}[^\s).,;:]"),
        "This address is shown and leads nowhere: {0}.",
        "Write '[text](https://…)' or '<https://…>'.",
    ),
    LeftoverPattern(
        "broken-link",
        re.compile(r"(?<=\]\()(?:javascript|vbscript|file|data):|(?<=<)(?:javascript|vbscript|file|data):", re.I),
        "A link cannot begin with '{0}'.",
        "Links lead to lesson files, to '#names' on this page, or to 'https://…'.",
    ),
    LeftoverPattern(
        "broken-link",
        re.compile(r"\]\((?!(?:javascript|vbscript|file|data):)", re.I),
        "This is no link: what stands in its round brackets cannot be read.",
        "Write '[text](07-matmul.md)', without spaces in the address; if it is code, put it in backticks.",
    ),
    LeftoverPattern(
        "broken-link",
        re.compile(r"(?<=\])\[[^\[\]\n]*\]"),
        "The link {0} is not defined here.",
        "Write its address in round brackets; if it is code, put it in backticks.",
    ),
    LeftoverPattern(
        "broken-link",
        re.compile(r"\](?= \((?:#[\w-]+|[\w./-]+\.md(?:#[\w-]+)?|https?:[^\s)]+)\))"),
        "A space stands between the words of this link and its address.",
        "Write '[text](07-matmul.md)'.",
    ),
    LeftoverPattern(
        "broken-link", re.compile(r"(?m)^\[[^\]\n]+\]:"), "{0} defines no link.", "Write '[name]: 07-matmul.md'."
    ),
    LeftoverPattern(
        "code", re.compile(r"`+"), "This '{0}' has no partner.", "Code has a backtick on each side: '`dW`'."
    ),
    LeftoverPattern(
        "stress",
        re.compile(
            r"(?<=\S)\*\*(?!\S)|(?<!\S)\*\*(?=\S)|(?<!\S)(?:\*\*|__)(?= [^*_\n]+ (?:\*\*|__)(?!\S))"
            r"|(?<![\S])(?:\*|__?)(?=[A-Za-z])|(?<=[A-Za-z])\*(?![\S])"
        ),
        "This '{0}' has no partner.",
        "Write '**words**' or '*words*', without spaces inside; if it is code, put it in backticks.",
    ),
    LeftoverPattern(
        "heading",
        re.compile(r"(?m)^#{1,6}(?=[A-Za-z])"),
        "This is no heading: behind '{0}' a space is missing.",
        "Write '## A heading', or '\\#' for the sign itself.",
    ),
    LeftoverPattern("html", re.compile(r"&[A-Za-z]{2,30};"), "'{0}' names no sign.", "Write the sign itself."),
    LeftoverPattern(
        "html",
        re.compile(r"</?[A-Za-z][A-Za-z0-9-]*(?:\s[^<>]*)?/?>|<!--"),
        "HTML such as '{0}' is shown as text.",
        "Use markdown; if it is code, put it in backticks.",
    ),
    LeftoverPattern(
        "table",
        re.compile(r"(?m)^[ \t]*\|[^\n]*\|[ \t]*\n[ \t]*\|[^\n]*\||^(?=[^\n]*\|)(?=[^\n]*-)[|: \t-]+$"),
        "This is no table.",
        "Below its header stands a line such as '|---|---|', with as many columns as the header.",
    ),
)


def notice_lost(md: MarkdownIt) -> None:
    """Let *md* note, with every run of text, what of it is text and nothing more."""
    md.core.ruler.before("text_join", "left_over", _note)


def _note(state: StateCore) -> None:
    # Before escaped signs are joined to the text, where nobody could tell them from others.
    for token in state.tokens:
        if token.type == "inline":
            token.meta["text"] = "".join(_plain(token.children or []))


def _plain(children: Sequence[Token]) -> Iterator[str]:
    automatic = linked = False
    for child in children:
        if child.type in ("link_open", "link_close"):
            linked = child.type == "link_open"
            automatic = linked and child.info == "auto"
        elif child.type == "text_special":
            yield child.markup if child.markup[1:] in "()[]" or child.markup[1:].isalpha() else AWAY
        elif child.type in ("softbreak", "hardbreak"):
            yield "\n"
        elif child.type == "text":
            yield AWAY if automatic else SCHEME.sub(AWAY, child.content) if linked else child.content
        elif child.content or child.type == "footnote_ref":
            yield AWAY


def check_text(token: Token, line: int, file: SourceFile, faults: ErrorCollector) -> None:
    """A fault for each way in which the inline *token*, which begins on *line*, holds text that was meant otherwise."""
    text = str(token.meta.get("text", ""))
    for lost in LOST:
        match = lost.pattern.search(text)
        if match:
            number = line + text.count("\n", 0, match.start())
            first = match[0].strip().split("\n")[0]
            faults.add(file.place(number, first.strip()), lost.code, lost.message.replace("{0}", first), lost.fix)


def check_table(tokens: Sequence[Token], line: int, file: SourceFile, faults: ErrorCollector) -> None:
    """A fault for every row of the tables in *tokens* that has more or fewer cells than its header has columns."""
    columns = 0
    for index, token in enumerate(tokens):
        if token.type == "th_open":
            columns += 1
        elif token.type == "tr_open" and token.map and tokens[index + 1].type == "td_open":
            number = line + token.map[0]
            cells = len(_cells(file.lines[number - 1])) if 0 < number <= len(file.lines) else columns
            if cells != columns:
                message = f"The table has {columns} columns, and this row {cells}."
                faults.add(file.place(number), "table", message, "Write a '|' that is no border as '\\|'.")
        elif token.type == "table_close":
            columns = 0


def _cells(row: str) -> list[str]:
    return escapedSplit(re.sub(r"^\||(?<!\\)\|$", "", row.strip().lstrip("> ")))


def check_characters(file: SourceFile, faults: ErrorCollector) -> None:
    """Add an error for every line with an invisible character that browsers and Python do read."""
    conflict = next((number for number, text in enumerate(file.lines, start=1) if CONFLICT.match(text)), None)
    if conflict and sum(bool(CONFLICT.match(text)) for text in file.lines) > 1:
        fix = "Decide for one of the versions, and remove the lines of '<', '=' and '>'."
        faults.add(SourceLocation(file.path, conflict, 1), "merge", "A merge left both of its versions here.", fix)
    for number, text in enumerate(file.lines, start=1):
        match = INVISIBLE.search(text)
        if match:
            place = SourceLocation(file.path, number, match.start() + 1)
            name = "NUL" if match[0] == "\ufffd" else f"U+{ord(match[0]):04X}"
            faults.add(place, "invisible", f"An invisible sign stands here ({name}).", "Delete it.")
