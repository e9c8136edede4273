"""A folder of lesson files to a `Course`: units and order from names, links and requirements resolved.

All faults of all files are found in one run.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from posixpath import normpath

from markupsafe import Markup

from app.content.blocks import Course, Deliverable, Lesson, Link, SourceLocation, Unit
from app.content.program.training_sources import uses_faults
from app.content.text.course_page import NO_PAGE, CoursePage
from app.content.text.errors import ErrorCollector, LessonError, LessonErrors
from app.content.text.frontmatter import UNIT_KEYS, check_title, read_front_matter
from app.content.text.leftover_markup import check_characters
from app.content.text.options import Value
from app.content.text.prose import ProseRenderer
from app.course.course_page import course_page
from app.course.folders import (
    LESSON_NAME,
    NO_LESSONS,
    UNIT_FOLDER,
    check_overlooked_files,
    check_unique_number,
    markdown_in,
    unit_folders,
    unreadable_folder_error,
)
from app.course.lesson_links import check_former_ids, check_requirements, dead_links, missing_pictures
from app.course.parse import file_of, parse_lesson, parse_outline

DATA_NAME = re.compile(r"^[A-Za-z0-9_-]+\.(csv|txt)$")
LARGEST_FILE = 2_000_000
MEASURES = ("before", "after")
"""Marks of the units between which it is measured what learners gain."""


def load_course(folder: Path | str) -> Course:
    """The course in *folder*.

    Raises:
        LessonErrors: With every fault of every file.
    """
    course, errors = read_course(folder)
    if course is None or errors:
        raise LessonErrors(errors)
    return course


def published(course: Course) -> Course:
    """*course* without drafts, and without units that hold nothing else."""
    units = (
        replace(unit, lessons=tuple(lesson for lesson in unit.lessons if not lesson.draft)) for unit in course.units
    )
    return Course(units=tuple(unit for unit in units if unit.lessons))


def load_lesson(path: Path | str) -> Lesson:
    """The lesson in one file anywhere on disk, or a piece of one; what it requires and links to is not looked for.

    Raises:
        LessonErrors: With every fault of the file.
    """
    path = Path(path)
    text, errors = text_of(path, str(path))
    if text is None:
        raise LessonErrors(errors)
    home = path.resolve().parent
    course = course_page(home.parent)[0] if UNIT_FOLDER.match(home.name) else NO_PAGE
    lesson, errors = parse_lesson(text, path.as_posix(), beside=partial(_beside, path), piece=True, course=course)
    if lesson is None:
        raise LessonErrors(errors)
    return lesson


def read_course(folder: Path | str) -> tuple[Course | None, tuple[LessonError, ...]]:
    """The sound lessons in *folder* (None where there is no such folder), and all faults in file order."""
    folder = Path(folder)
    if not folder.is_dir():
        place = SourceLocation(folder.as_posix())
        return None, (LessonError(place, "no-folder", "There is no such folder.", "Set BACKHAND_LESSONS to one."),)
    course, page_errors = course_page(folder)
    errors = list(page_errors)
    try:
        read = [_unit(path, folder, course, errors) for path in unit_folders(folder, errors)]
    except OSError as error:
        return None, (unreadable_folder_error(folder, error),)
    lessons = {lesson.path: lesson for item in read for lesson in item.unit.lessons}
    files = {path for item in read for path in (f"{item.folder}/unit.md", *item.files)}
    errors += _names_taken_twice([item.unit for item in read], folder)
    errors += check_requirements(lessons.values(), {name for item in read for name in item.ids})
    errors += uses_faults(lessons.values())
    errors += _measure_faults([item.unit for item in read], folder)
    errors += check_former_ids(lessons.values())
    private = {lesson.path for item in read if item.unit.private for lesson in item.unit.lessons}
    for item in read:
        errors += dead_links(f"{item.folder}/unit.md", item.links, lessons, files, private)
    for lesson in lessons.values():
        errors += missing_pictures(lesson, folder)
        errors += dead_links(lesson.path, lesson.links, lessons, files, private)
    if not read:
        place = SourceLocation(folder.as_posix())
        errors.append(LessonError(place, "empty", "The folder holds no lessons.", "Add '1-unit/01-lesson.md'."))
    ordered = sorted(
        dict.fromkeys(errors),
        key=lambda this_error: (this_error.place.path, this_error.place.line, this_error.place.column),
    )
    return Course(units=tuple(item.unit for item in read)), tuple(ordered)


@dataclass(frozen=True, slots=True)
class _Read:
    """One unit folder as it was read; *files* and *ids* are those of all its lessons, sound or not."""

    folder: str
    unit: Unit
    files: Sequence[str]
    ids: Sequence[str]
    links: Sequence[Link]


def _unit(path: Path, folder: Path, course: CoursePage, errors: list[LessonError]) -> _Read:
    number, _, slug = path.name.partition("-")
    lessons: list[Lesson] = []
    files: list[str] = []
    ids: list[str] = []
    numbers: dict[int, str] = {}
    try:
        found_files = markdown_in(path)
    except OSError as error:
        errors.append(unreadable_folder_error(path, error))
        unit = Unit(slug=slug, number=int(number), title=path.name, summary=Markup(), lessons=())
        return _Read(path.name, unit, (), (), ())
    errors += check_overlooked_files(path)
    if not found_files:
        errors.append(LessonError(SourceLocation(f"{path.as_posix()}/unit.md"), *NO_LESSONS))
    for file in found_files:
        relative = file.relative_to(folder).as_posix()
        files.append(relative)
        match = LESSON_NAME.match(file.name)
        if match is None:
            fix = "Name it like '07-matmul.md': a number, then a-z, 0-9 and hyphens."
            errors.append(
                LessonError(SourceLocation(file.as_posix()), "file-name", "This is no name for a lesson.", fix)
            )
            continue
        errors += check_unique_number(int(match[1]), file, numbers, "lesson")
        text, file_errors = text_of(file, file.as_posix())
        lesson = None
        if text is not None:
            lesson, file_errors = parse_lesson(text, file.as_posix(), beside=partial(_beside, file), course=course)
            ids.append((lesson or parse_outline(text, relative)).name)
        errors += file_errors
        if lesson:
            lessons.append(replace(lesson, path=relative))
    lessons.sort(key=lambda lesson: int(Path(lesson.path).name.partition("-")[0]))
    page = _unit_page(path, course, errors)
    unit = Unit(
        slug=slug,
        number=int(number),
        title=page.title,
        summary=page.summary,
        lessons=tuple(lessons),
        deliverables=page.deliverables,
        private=page.private,
        measure=page.measure,
    )
    return _Read(path.name, unit, files, ids, page.links)


@dataclass(frozen=True, slots=True)
class _UnitPage:
    """Contents of a unit's `unit.md`."""

    title: str
    summary: Markup
    deliverables: tuple[Deliverable, ...] = ()
    links: Sequence[Link] = ()
    private: bool = False
    measure: str = ""


def _unit_page(path: Path, course: CoursePage, errors: list[LessonError]) -> _UnitPage:
    file = path / "unit.md"
    if not file.is_file():
        fix = "Write '---', 'title: …', '---' and a sentence about it."
        errors.append(LessonError(SourceLocation(file.as_posix()), "no-unit-file", "The unit has no 'unit.md'.", fix))
        return _UnitPage(path.name, Markup())
    text, page_errors = text_of(file, file.as_posix())
    errors += page_errors
    lines = file_of(text or "", file.as_posix())
    faults = ErrorCollector(lines.path)
    check_characters(lines, faults)
    front = read_front_matter(lines, UNIT_KEYS, faults)
    prose = ProseRenderer(lines, faults, course)
    summary = prose.render(prose.page(front.body.text, front.body.line), front.body.line, inside=False)
    deliverables = tuple(_deliverable(value, path.name, prose) for value in front.lists.get("deliverables", ()))
    check_title(front.options)
    title, private = front.options.text("title") or "", front.options.flag("private", default=False)
    if not title and not faults.found:
        faults.add(faults.at(1), "missing-option", "The front matter lacks 'title'.", "Add 'title: Tensors'.")
    measure = front.options.one_of("measure", ("", *MEASURES), "")
    prose.check_jumps()
    prose.check_footnotes()
    for link in prose.pictures:
        faults.add(link.place, "image", "The page of a unit holds no pictures.", "Put it into a lesson.")
    errors += faults.found if text is not None else ()
    return _UnitPage(title, summary, deliverables, prose.links, private, measure)


def _measure_faults(units: Sequence[Unit], folder: Path) -> Iterator[LessonError]:
    """Report measures between two units that lack one beginning, or one end after it."""
    marked = [unit for unit in units if unit.measure]
    if [unit.measure for unit in marked] in ([], [*MEASURES]):
        return
    found = ", ".join(f"'{unit.measure}' in unit {unit.number}" for unit in marked)
    message = f"What is gained is measured once, from a 'before' to an 'after' that comes later; here is {found}."
    place = SourceLocation((folder / f"{marked[0].number}-{marked[0].slug}" / "unit.md").as_posix())
    yield LessonError(place, "measure", message, "Write 'measure: before' in one unit and 'measure: after' in a later.")


def _deliverable(value: Value, folder: str, prose: ProseRenderer) -> Deliverable:
    """One line of markdown, and which exercises its links lead to."""
    before = len(prose.links)
    html = prose.inline(value.text, value.place.line)
    if len(prose.links) == before:
        message = "This deliverable does not say where it is made."
        prose.faults.add(value.place, "deliverable", message, "Link to its exercise: '[a layer](01-layers.md#box)'.")
    made_in = tuple((normpath(f"{folder}/{link.target}"), link.anchor) for link in prose.links[before:])
    return Deliverable(html=html, made_in=made_in)


def _beside(path: Path, target: str) -> str | None:
    """The text of the lesson file that a link *target* in the one at *path* leads to, if the course has it."""
    file = (path.parent / target).resolve()
    if (
        not (LESSON_NAME.match(file.name) or DATA_NAME.match(file.name))
        or path.parent.parent.resolve() not in file.parents
    ):
        return None
    return text_of(file, target)[0]


def text_of(path: Path, shown: str) -> tuple[str | None, tuple[LessonError, ...]]:
    """The text of a file, or why there is none."""
    place = SourceLocation(Path(shown).as_posix())
    try:
        if path.exists() and not (path.is_file() or path.is_dir()):  # a pipe would be waited for without end
            return None, (LessonError(place, "unreadable", "This is no file of text.", "Write a file in its place."),)
        if path.stat().st_size > LARGEST_FILE:
            return None, (LessonError(place, "too-long", f"The file is larger than {LARGEST_FILE} bytes."),)
        return path.read_bytes().decode("utf-8"), ()
    except UnicodeDecodeError as error:
        line = path.read_bytes()[: error.start].count(b"\n") + 1
        return None, (
            LessonError(replace(place, line=line), "not-utf-8", "The file is not UTF-8 text.", "Save it as UTF-8."),
        )
    except OSError as error:
        return None, (LessonError(place, "unreadable", f"The file cannot be read: {error.strerror}."),)


def _names_taken_twice(units: Iterable[Unit], folder: Path) -> Iterator[LessonError]:
    """Ids and slugs are unique in the whole course: both are addresses."""
    names: dict[str, Lesson] = {}
    slugs: dict[str, Lesson] = {}
    for unit in units:
        for lesson in unit.lessons:
            other = names.setdefault(lesson.name, lesson)
            if other is not lesson:
                message = f"The id {lesson.name!r} is already the id of {other.path}."
                yield LessonError(lesson.place, "duplicate-id", message, "Give this lesson another id.")
            other = slugs.setdefault(lesson.slug, lesson)
            if other is not lesson:
                message = f"The name {lesson.slug!r} is already the address of {other.path}."
                yield LessonError(lesson.place, "duplicate-slug", message, "Rename one of the files.")
    seen: dict[str, Unit] = {}
    for unit in units:
        if seen.setdefault(unit.slug, unit) is not unit:
            place = SourceLocation((folder / f"{unit.number}-{unit.slug}").as_posix())
            yield LessonError(place, "duplicate-slug", f"There are two units {unit.slug!r}.", "Rename one of them.")
