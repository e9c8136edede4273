"""The markdown of a lesson in its own words: cut at the directives, without those parts that are set aside."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from posixpath import basename, dirname, normpath

from markdown_it.tree import SyntaxTreeNode

from app.content.blocks import Lesson, SourceFile
from app.content.text.errors import ErrorCollector
from app.content.text.fences import Directive, DirectiveText, lesson_markdown, split_at_directives
from app.content.text.tex import expand_macros

LESSON_LINK = re.compile(r"\[((?:[^\[\]`]|`[^`]*`)+)\]\((?![a-z]+:|#|/)[^()\s]+\.md(?:#[^()\s]*)?\)")


FENCED = re.compile(r"(?ms)(^ {0,3}(?:`{3,}|~{3,}).*?^ {0,3}(?:`{3,}|~{3,})[ \t]*$)")
DISPLAY = re.compile(r"(?s)\$\$(.+?)\$\$(?: \(([A-Za-z][\w-]*)\))?")
INLINE = re.compile(r"`[^`]*`|\$\$.*?\$\$|(?<![\\$])\$(?=[^\s$])([^$]+?)(?<=[^\s\\])\$(?![$\d])", re.DOTALL)
REFERENCE = re.compile(r"\[\]\(#([A-Za-z][\w-]*)\)")
PICTURE = re.compile(r"!\[([^\]\n]*)\]\(([^()\s]+)\)(?:\{[^}\n]*\})?")
BULLET = re.compile(r"^ {0,3}(?:[-*+]|\d{1,9}[.)]) *")


@dataclass(frozen=True, slots=True)
class ListItem:
    """One item of a list: its text without the bullet and without what is quoted below it, and the quotation."""

    text: str
    quote: str


def split_body(body: DirectiveText, file: SourceFile, known: Mapping[str, Sequence[str]]) -> list[str | Directive]:
    """*body* as stretches of markdown and the directives between them."""
    tokens = lesson_markdown().parse(body.text)
    lines = body.text.split("\n")
    directives = [
        part
        for part in split_at_directives(tokens, body.line, file, known, ErrorCollector(file.path))
        if isinstance(part, Directive)
    ]
    ends = {body.line + token.map[0]: token.map[1] for token in tokens if token.map and token.type.endswith("fence")}
    parts: list[str | Directive] = []
    start_line = 0
    for directive in directives:
        start = directive.place.line - body.line
        parts += [_text(lines[start_line:start]), directive]
        start_line = ends.get(directive.place.line, start + 1)
    return [part for part in (*parts, _text(lines[start_line:])) if part]


def without_lists(text: str, wanted: re.Pattern[str], kind: str = "bullet_list") -> tuple[str, list[ListItem]]:
    """*text* without those lists that have an item which *wanted* matches, and the items of these."""
    lines = text.split("\n")
    rest: list[str] = []
    items: list[ListItem] = []
    start_line = 0
    for block in SyntaxTreeNode(lesson_markdown().parse(text)).children:
        inside = block.children if block.type == kind else []
        if any(wanted.match(lines[_lines(item)[0]]) for item in inside):
            rest += lines[start_line : _lines(block)[0]]
            items += [_item(lines, item) for item in inside]
            start_line = _lines(block)[1]
    return _text([*rest, *lines[start_line:]]), items


def _lines(node: SyntaxTreeNode) -> tuple[int, int]:
    """The first line of a block, and the first one behind it."""
    return node.map or (0, 0)


def _item(lines: Sequence[str], item: SyntaxTreeNode) -> ListItem:
    first, last = _lines(item)
    quotes = [_lines(child) for child in item.children if child.type == "blockquote"]
    quoted = {line - first for start, end in quotes for line in range(start, end)}
    text = BULLET.sub("", lines[first])
    indent = len(lines[first]) - len(text)
    dedented = [text, *(_dedent(line, indent) for line in lines[first + 1 : last])]
    quote = [re.sub(r"^\s*> ?", "", line) for number, line in enumerate(dedented) if number in quoted]
    return ListItem(_text([line for number, line in enumerate(dedented) if number not in quoted]), _text(quote))


def _dedent(line: str, indent: int) -> str:
    return line[indent:] if not line[:indent].strip() else line.lstrip()


def _text(lines: Sequence[str]) -> str:
    return "\n".join(lines).strip("\n")


def unlinked(text: str) -> str:
    """*text* without links to other lessons, which are not there where an export is read; what they say stays."""
    return outside_code(text, lambda part: LESSON_LINK.sub(r"\1", part))


@dataclass(frozen=True)
class LessonContext:
    """Context of *lesson* when its course is not at hand: macros, numbers and pictures."""

    lesson: Lesson

    @cached_property
    def numbers(self) -> dict[str, int]:
        """By name, the numbers of its formulas, in the order of the page."""
        names = dict.fromkeys(match[2] for match in DISPLAY.finditer(self.lesson.source) if match[2])
        return {name: number for number, name in enumerate(names, start=1)}

    def written_out(self, text: str) -> str:
        """*text* that says the same alone: no link leads to another lesson, formulas hold no macro of the course."""
        parts = FENCED.split(unlinked(text))
        return "".join(part if index % 2 else self._plain(part) for index, part in enumerate(parts))

    def _plain(self, text: str) -> str:
        text = REFERENCE.sub(
            lambda link: f"[({self.numbers[link[1]]})](#{link[1]})" if link[1] in self.numbers else link[0], text
        )
        text = PICTURE.sub(self._picture, text)
        return INLINE.sub(self._formula, DISPLAY.sub(self._display, text))

    def _display(self, match: re.Match[str]) -> str:
        body, name = expand_macros(match[1], self.lesson.macros), match[2]
        if not name:
            return f"$${body}$$"
        return f'<a id="{name}"></a>\n\n$$\n{body.strip()} \\tag{{{self.numbers.get(name, 0)}}}\n$$'

    def _formula(self, match: re.Match[str]) -> str:
        return match[0] if match[1] is None else f"${expand_macros(match[1], self.lesson.macros)}$"

    def _picture(self, match: re.Match[str]) -> str:
        path = normpath(f"{basename(dirname(self.lesson.path))}/{match[2]}")
        return f"![{match[1]}](attachment:{path.replace('/', '-')})"


def outside_code(text: str, change: Callable[[str], str]) -> str:
    """*text* with *change* made to everything but fenced code."""
    lines = text.split("\n")
    fenced = {
        line
        for token in lesson_markdown().parse(text)
        if token.type in ("fence", "code_block") and token.map
        for line in range(*token.map)
    }
    return "\n".join(line if number in fenced else change(line) for number, line in enumerate(lines))
