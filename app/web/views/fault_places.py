"""Place on a lesson's page of a line of its file, also if the page shows an earlier text."""

from collections.abc import Iterator
from difflib import SequenceMatcher

from app.content.blocks import Block, Forward, Lesson, Prose, Sheet
from app.content.text.fences import lesson_markdown

HEAD_SELECTOR = "#lesson > .opening"


def place_on_page(lesson: Lesson, text: str, line: int) -> str:
    """A CSS selector of what shows *line*, from 1, of *text* on the page of *lesson*, which may be of another text."""
    wanted = line_before(lesson.source, text, line)
    return next((at for first, at in reversed([*_parts(lesson)]) if first <= wanted), HEAD_SELECTOR)


def line_before(before: str, now: str, line: int) -> int:
    """Line of the text *before* that corresponds to *line*, from 1, of the text *now*."""
    old, new = before.split("\n"), now.split("\n")
    for _, first, last, begin, end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if begin < line <= end:
            return max(1, min(first + line - begin, last))
    return len(old)


def _parts(lesson: Lesson) -> Iterator[tuple[int, str]]:
    """Parts of the page, with the line on which each begins."""
    texts = callouts = 0
    ends = [item.place.line for item in lesson.blocks[1:]] + [len(lesson.source.split("\n")) + 1]
    for block, end in zip(lesson.blocks, ends, strict=True):
        if isinstance(block, Prose):
            texts += 1
            yield from _paragraphs(lesson, block, end, f"#lesson > :nth-child({texts} of .prose)")
        elif name := getattr(block, "name", ""):
            yield from _named_rows(block, name)
        else:
            callouts += 1
            yield block.place.line, f"#lesson > :nth-child({callouts} of .callout)"


def _named_rows(block: Block, name: str) -> Iterator[tuple[int, str]]:
    if not isinstance(block, Forward) or block.show:
        yield block.place.line, f'[id="{name}"]'
    for row in block.rows if isinstance(block, Sheet) else ():
        yield row.place.line, f'[id="{row.name}"]'


def _paragraphs(lesson: Lesson, prose: Prose, end: int, at: str) -> Iterator[tuple[int, str]]:
    """Of each block of markdown comes one element."""
    first = prose.place.line
    lines = lesson.source.split("\n")[first - 1 : end - 1]
    line_numbers = [
        token.map[0]
        for token in lesson_markdown().parse("\n".join(lines))
        if token.map and not token.level and token.nesting >= 0
    ]
    for number, line in enumerate(line_numbers, 1):
        yield first + line, f"{at} > :nth-child({number})"
