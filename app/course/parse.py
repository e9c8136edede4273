"""From the text of one lesson file to a `Lesson`, or to every fault in it. Total: no text makes it raise."""

import re
from collections.abc import Callable, Iterable, Mapping

from app.content.blocks import Block, Exercise, Forward, Lesson, Prose, Sheet, held_by
from app.content.directives.parse_context import ParseContext, check_fence
from app.content.text.addresses import lesson_slug
from app.content.text.course_page import NO_PAGE, CoursePage
from app.content.text.errors import ErrorCollector, LessonError
from app.content.text.fences import Directive, SourceFile, TokenRun, split_at_directives
from app.content.text.frontmatter import LESSON_KEYS, check_lesson, front_matter_of_piece, read_front_matter
from app.content.text.leftover_markup import check_characters
from app.content.text.prose import ProseRenderer as Renderer
from app.course.directives import OPTIONS, READERS
from app.course.directives.callout import CALLOUT_KINDS

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
    file = file_of(text, path)
    check_characters(file, faults)
    lesson = _parse_blocks(file, faults, beside, course, piece=piece)
    return (None if faults.found else lesson), faults.found


def file_of(text: str, path: str) -> SourceFile:
    plain = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")
    return SourceFile(path, plain.split("\n"))


def _parse_blocks(
    file: SourceFile, faults: ErrorCollector, beside: Beside, course: CoursePage, *, piece: bool
) -> Lesson:
    front = front_matter_of_piece(file, faults) if piece else None
    front = front or read_front_matter(file, LESSON_KEYS, faults)
    check_lesson(front, faults)
    prose = Renderer(file, faults, course)
    reading = ParseContext(file, faults, prose, beside=beside, elsewhere=lambda target: _programs(target, beside))
    tokens = reading.prose.page(front.body.text, front.body.line)
    parts = list(split_at_directives(tokens, front.body.line, file, OPTIONS, faults))
    blocks = _blocks(parts, reading)
    if not front.body.text.strip():
        faults.add(faults.at(max(front.body.line, 1)), "empty", "The lesson is empty.")
    reading.prose.check_jumps()
    reading.prose.check_footnotes()
    options = front.options
    folder, _, name = file.path.rpartition("/")
    requires = front.lists.get("requires", ())
    return Lesson(
        path=file.path,
        slug=_slug(name, faults),
        unit=NUMBER.sub("", folder.rpartition("/")[2]),
        title=options.text("title") or "",
        name=options.text("id") or "",
        estimate=options.text("estimate") or "",
        requires=tuple(value.text for value in requires),
        goals=tuple(reading.prose.inline(value.text, value.place.line) for value in front.lists.get("goals", ())),
        draft=options.flag("draft", default=False),
        blocks=blocks,
        place=faults.at(1),
        requires_places=tuple(value.place for value in requires),
        anchors=tuple(reading.prose.anchors),
        links=tuple(reading.prose.links),
        pictures=tuple(reading.prose.pictures),
        lang=options.text("lang") or course.lang,
        macros=course.macros,
        was=tuple(value.text for value in front.lists.get("was", ())),
        source="\n".join(file.lines),
        resized=tuple(reading.resized.values()),
    )


def _programs(target: str, beside: Beside) -> Mapping[str, Forward] | None:
    """The sound forward programs that are written in the lesson file *target*."""
    text = beside(target)
    if text is None:
        return None
    file, faults = file_of(text, target), ErrorCollector(target)
    reading = ParseContext(file, faults, Renderer(file, faults))
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


def _blocks(parts: Iterable[TokenRun | Directive], reading: ParseContext) -> tuple[Block, ...]:
    """Parse blocks, in file order. Blocks that others refer to are parsed before them."""
    parts = list(parts)
    for part in parts:
        if isinstance(part, Directive) and part.argument and part.name not in CALLOUT_KINDS:
            reading.prose.anchors.append(part.argument)
    blocks = {
        index: _block(parts[index], reading)
        for index in sorted(range(len(parts)), key=lambda index: _turn(parts[index]))
    }
    return tuple(block for index in range(len(parts)) if (block := blocks[index]) is not None)


def _turn(part: TokenRun | Directive) -> int:
    """Turn in which *part* is parsed: exercises refer to forward programs, and some to other exercises."""
    return READERS[part.name].turn if isinstance(part, Directive) else 1


def _block(part: TokenRun | Directive, reading: ParseContext) -> Block | None:
    if isinstance(part, TokenRun):
        html = reading.prose.render(part.tokens, part.line, inside=False)
        first = next((token.map[0] for token in part.tokens if token.map), 0)
        return Prose(place=reading.file.place(part.line + first), html=html) if html else None
    check_fence(part, reading.faults)
    with reading.prose_language(part):
        block = READERS[part.name].read(part, reading)
    if isinstance(block, Forward):
        reading.forwards.setdefault(block.name, block)
    for item in (block, *held_by(block)) if block else ():
        if isinstance(item, Exercise):
            reading.exercises[item.name] = item
    if isinstance(block, Sheet):
        reading.sheets[block.name] = tuple(row.name for row in block.rows)
    return block
