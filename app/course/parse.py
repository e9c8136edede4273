"""From the text of one lesson file to a `Lesson`, or to every fault in it. Total: no text makes it raise."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from app.content.blocks import Block, Exercise, Forward, Lesson, Prose, Sheet, SourceFile, held_by
from app.content.directives.parse_context import ParseContext
from app.content.text.addresses import lesson_slug
from app.content.text.course_page import NO_PAGE, CoursePage
from app.content.text.errors import ErrorCollector, LessonError
from app.content.text.fences import Directive, TokenRun, split_at_directives
from app.content.text.frontmatter import (
    LESSON_KEYS,
    FrontMatter,
    check_lesson,
    front_matter_of_piece,
    read_front_matter,
)
from app.content.text.leftover_markup import check_characters
from app.content.text.prose import ProseRenderer
from app.course.directives import OPTIONS, READERS
from app.course.directives.callout import CALLOUT_KINDS
from app.syntax import plain_lines

MAX_LESSON_CHARS = 500_000
NUMBER = re.compile(r"^\d+-")
Beside = Callable[[str], str | None]


def _alone(_: str) -> None:
    """No files are beside one that is read alone."""


def parse_lesson(
    text: str, path: str, beside: Beside = _alone, *, piece: bool = False, course: CoursePage = NO_PAGE
) -> tuple[Lesson | None, tuple[LessonError, ...]]:
    """Read one lesson.

    Args:
        path: As it is to be shown in errors; the last two parts give the unit and the slug.
        beside: Gives the text of another lesson file, which is named as in a link.
        piece: Whether a text that begins with a directive needs no front matter.
        course: What holds for all lessons of its course.

    Returns:
        The lesson, or None where there is any error; the errors in file order.
    """
    faults = ErrorCollector(path)
    if len(text) > MAX_LESSON_CHARS:
        faults.add(faults.at(1), "too-long", f"The file is longer than {MAX_LESSON_CHARS} characters.")
        return None, faults.found
    page = LessonPage(file_of(text, path), faults, beside, course, piece)
    for run in PASSES:
        run(page)
    lesson = page.lesson()
    return (None if faults.found else lesson), faults.found


def parse_outline(text: str, path: str) -> Lesson:
    """The top of a lesson, even of a faulty one, so that others may require it without a second error."""
    page = LessonPage(file_of(text, path), ErrorCollector(path))
    page.read_front_matter()
    return page.lesson()


def file_of(text: str, path: str) -> SourceFile:
    return SourceFile(path, plain_lines(text.removeprefix("\ufeff")).split("\n"))


class LessonPage:
    """One lesson file, as far as it is read. Each pass reads what those before it have left here."""

    front: FrontMatter
    parts: Sequence[TokenRun | Directive]
    blocks: tuple[Block, ...] = ()

    def __init__(
        self,
        file: SourceFile,
        faults: ErrorCollector,
        beside: Beside = _alone,
        course: CoursePage = NO_PAGE,
        piece: bool = False,
    ) -> None:
        self.file, self.faults, self.course, self.piece = file, faults, course, piece
        prose = ProseRenderer(file, faults, course)
        elsewhere = partial(_programs, beside=beside)
        self.reading = ParseContext(file, faults, prose, beside=beside, elsewhere=elsewhere)

    def check_characters(self) -> None:
        """Invisible signs, and what a merge has left."""
        check_characters(self.file, self.faults)

    def read_front_matter(self) -> None:
        front = front_matter_of_piece(self.file, self.faults) if self.piece else None
        self.front = front or read_front_matter(self.file, LESSON_KEYS, self.faults)
        check_lesson(self.front, self.faults)

    def cut_at_directives(self) -> None:
        """Markdown to tokens, and these to runs and directives with their options."""
        body = self.front.body
        tokens = self.reading.prose.page(body.text, body.line)
        self.parts = list(split_at_directives(tokens, body.line, self.file, OPTIONS, self.faults))
        if not body.text.strip():
            self.faults.add(self.faults.at(max(body.line, 1)), "empty", "The lesson is empty.")

    def read_blocks(self) -> None:
        """Each directive by its reader, in file order; blocks that others refer to before them."""
        named = [part for part in self.parts if isinstance(part, Directive) and part.name not in CALLOUT_KINDS]
        self.reading.prose.anchors += [directive.argument for directive in named if directive.argument]
        blocks = {index: _block(part, self.reading) for index, part in sorted(enumerate(self.parts), key=_turn)}
        self.blocks = tuple(block for _, block in sorted(blocks.items()) if block is not None)

    def check_references(self) -> None:
        """Links to places of the page, and footnotes."""
        self.reading.prose.check_jumps()
        self.reading.prose.check_footnotes()

    def lesson(self) -> Lesson:
        prose, options, lists = self.reading.prose, self.front.options, self.front.lists
        folder, _, name = self.file.path.rpartition("/")
        requires = lists.get("requires", ())
        return Lesson(
            path=self.file.path,
            slug=_slug(name, self.faults),
            unit=NUMBER.sub("", folder.rpartition("/")[2]),
            title=options.text("title") or "",
            name=options.text("id") or "",
            estimate=options.text("estimate") or "",
            requires=tuple(value.text for value in requires),
            goals=tuple(prose.inline(value.text, value.place.line) for value in lists.get("goals", ())),
            draft=options.flag("draft", default=False),
            blocks=self.blocks,
            place=self.faults.at(1),
            requires_places=tuple(value.place for value in requires),
            anchors=tuple(prose.anchors),
            links=tuple(prose.links),
            pictures=tuple(prose.pictures),
            lang=options.text("lang") or self.course.lang,
            macros=self.course.macros,
            was=tuple(value.text for value in lists.get("was", ())),
            source="\n".join(self.file.lines),
            resized=tuple(self.reading.resized.values()),
        )


PASSES: tuple[Callable[[LessonPage], None], ...] = (
    LessonPage.check_characters,
    LessonPage.read_front_matter,
    LessonPage.cut_at_directives,
    LessonPage.read_blocks,
    LessonPage.check_references,
)
"""All that is done with a lesson, in its order."""


def _programs(target: str, beside: Beside) -> Mapping[str, Forward] | None:
    """The sound forward programs that are written in the lesson file *target*."""
    text = beside(target)
    if text is None:
        return None
    file, faults = file_of(text, target), ErrorCollector(target)
    reading = ParseContext(file, faults, ProseRenderer(file, faults))
    front = read_front_matter(file, LESSON_KEYS, ErrorCollector(target))
    parts = split_at_directives(
        reading.prose.page(front.body.text, front.body.line), front.body.line, file, OPTIONS, ErrorCollector(target)
    )
    blocks = [
        _block(directive, reading)
        for directive in parts
        if isinstance(directive, Directive) and directive.name == "forward"
    ]
    broken = any(error.code not in ("duplicate-id",) for error in faults.found)
    return {} if broken else {program.name: program for program in blocks if isinstance(program, Forward)}


def _slug(name: str, faults: ErrorCollector) -> str:
    slug = lesson_slug(name)
    if not slug or slug == "unit":
        message = f"{name!r} is no name for a lesson file."
        faults.add(faults.at(1), "file-name", message, "Name it like '07-matmul.md': a number, then a-z, 0-9, hyphens.")
    return slug


def _turn(part: tuple[int, TokenRun | Directive]) -> int:
    """Turn in which a part is parsed: exercises refer to forward programs, and some to other exercises."""
    return READERS[part[1].name].turn if isinstance(part[1], Directive) else 1


def _block(part: TokenRun | Directive, reading: ParseContext) -> Block | None:
    if isinstance(part, TokenRun):
        html = reading.prose.render(part.tokens, part.line, inside=False)
        first = next((token.map[0] for token in part.tokens if token.map), 0)
        return Prose(place=reading.file.place(part.line + first), html=html) if html else None
    block = READERS[part.name].parse(part, reading)
    if isinstance(block, Forward):
        reading.forwards.setdefault(block.name, block)
    for item in (block, *held_by(block)) if block else ():
        if isinstance(item, Exercise):
            reading.exercises[item.name] = item
    if isinstance(block, Sheet):
        reading.sheets[block.name] = tuple(row.name for row in block.rows)
    return block
