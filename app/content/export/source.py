"""The markdown of a lesson in its own words: cut at the directives, without those parts that are set aside."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from markdown_it.tree import SyntaxTreeNode

from app.content.errors import Faults
from app.content.fences import Body, Directive, File, markdown, pieces

LESSON_LINK = re.compile(r"\[((?:[^\[\]`]|`[^`]*`)+)\]\((?![a-z]+:|#|/)[^()\s]+\.md(?:#[^()\s]*)?\)")


BULLET = re.compile(r"^ {0,3}(?:[-*+]|\d{1,9}[.)]) *")


@dataclass(frozen=True, slots=True)
class Item:
    """One item of a list: its text without the bullet and without what is quoted below it, and the quotation."""

    text: str
    quote: str


def cut(body: Body, file: File, known: Mapping[str, Sequence[str]]) -> list[str | Directive]:
    """*body* as stretches of markdown and the directives between them."""
    tokens = markdown().parse(body.text)
    lines = body.text.split("\n")
    found = [part for part in pieces(tokens, body.line, file, known, Faults(file.path)) if isinstance(part, Directive)]
    ends = {body.line + token.map[0]: token.map[1] for token in tokens if token.map and token.type.endswith("fence")}
    parts: list[str | Directive] = []
    at = 0
    for directive in found:
        start = directive.place.line - body.line
        parts += [_text(lines[at:start]), directive]
        at = ends.get(directive.place.line, start + 1)
    return [part for part in (*parts, _text(lines[at:])) if part]


def without_lists(text: str, wanted: re.Pattern[str], kind: str = "bullet_list") -> tuple[str, list[Item]]:
    """*text* without those lists that have an item which *wanted* matches, and the items of these."""
    lines = text.split("\n")
    rest: list[str] = []
    items: list[Item] = []
    at = 0
    for block in SyntaxTreeNode(markdown().parse(text)).children:
        inside = block.children if block.type == kind else []
        if any(wanted.match(lines[_lines(item)[0]]) for item in inside):
            rest += lines[at : _lines(block)[0]]
            items += [_item(lines, item) for item in inside]
            at = _lines(block)[1]
    return _text([*rest, *lines[at:]]), items


def _lines(node: SyntaxTreeNode) -> tuple[int, int]:
    """The first line of a block, and the first one behind it."""
    return node.map or (0, 0)


def _item(lines: Sequence[str], item: SyntaxTreeNode) -> Item:
    first, last = _lines(item)
    quotes = [_lines(one) for one in item.children if one.type == "blockquote"]
    quoted = {line - first for start, end in quotes for line in range(start, end)}
    said = BULLET.sub("", lines[first])
    indent = len(lines[first]) - len(said)
    dedented = [said, *(_dedented(line, indent) for line in lines[first + 1 : last])]
    quote = [re.sub(r"^\s*> ?", "", line) for number, line in enumerate(dedented) if number in quoted]
    return Item(_text([line for number, line in enumerate(dedented) if number not in quoted]), _text(quote))


def _dedented(line: str, indent: int) -> str:
    return line[indent:] if not line[:indent].strip() else line.lstrip()


def _text(lines: Sequence[str]) -> str:
    return "\n".join(lines).strip("\n")


def unlinked(text: str) -> str:
    """*text* without links to other lessons, which are not there where an export is read; what they say stays."""
    return outside_code(text, lambda part: LESSON_LINK.sub(r"\1", part))


def outside_code(text: str, change: Callable[[str], str]) -> str:
    """*text* with *change* made to everything but fenced code."""
    lines = text.split("\n")
    fenced = {
        line
        for token in markdown().parse(text)
        if token.type in ("fence", "code_block") and token.map
        for line in range(*token.map)
    }
    return "\n".join(line if number in fenced else change(line) for number, line in enumerate(lines))
