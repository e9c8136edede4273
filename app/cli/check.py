"""`backhand check`: parse a course and prove it."""

import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import typer

from app.check.findings import LINE_FORMATS, Finding, Format, in_order, of_errors
from app.check.findings_cache import FindingsCache, lessons_used
from app.cli import environment
from app.cli.course import COPY_IT
from app.cli.refuse import A_COURSE, refuse, refuse_unreadable
from app.content.blocks import Lesson, SourceLocation
from app.content.text.errors import LessonError
from app.course.course import read_course
from app.course.course_context import CourseContext, course_around, dead_links_of_loose
from app.course.folders import markdown_in
from app.course.lessons import read_lessons
from app.course.lint_lessons import prove_care
from app.course.prove_beginning import prove_beginning, prove_order_of
from app.installation import is_installed_course
from app.settings import Settings

ALONE = "No course is around this file, so its pictures and requirements were not looked for. Move it into a unit."


def check(paths: list[Path] | None, form: Format, *, mutants: bool, fresh: bool) -> None:
    """Print every finding, and end with what was counted."""
    settings = environment.load_settings()
    lessons: list[Lesson] = []
    files = 0
    reach: list[Lesson] = []
    findings: list[Finding] = []
    for path in paths or [settings.lessons]:
        if is_installed_course(path):
            typer.echo(f"{path} is proved, not for editing. {COPY_IT}", err=True)
        read, lesson_errors = _load_lessons(path)
        lessons += read
        files += _files(path)
        findings += of_errors(lesson_errors)
        findings += [item for lesson in read for item in prove_care(lesson)]
        if any(path.glob("*/unit.md")):
            findings += [*prove_beginning(read), *prove_order_of(read)]
        else:
            near = _around(path, read)
            findings += of_errors(near.faults if near else dead_links_of_loose(read))
            findings += [] if near else _alone(read)
            reach += near.reach if near else ()
    findings += _lost_assignments(settings, paths)
    # A file that does not parse is reported with its place; what does parse is proved all the same.
    if lessons:
        findings += _prove_lessons(lessons, reach, settings, mutate=mutants, fresh=fresh)
    for finding in in_order(dict.fromkeys(findings)):
        typer.echo(LINE_FORMATS[form](finding))
    errors = sum(finding.level == "error" for finding in findings)
    if form == "text":
        exercises = sum(len(lesson.exercises) for lesson in lessons)
        read_of = f" of {_count_text(files, 'file')}" if files > len(lessons) else ""
        counts = (
            _count_text(len(lessons), "lesson") + read_of,
            _count_text(exercises, "exercise"),
            _count_text(errors, "error"),
        )
        typer.echo(", ".join(counts))
    sys.exit(1 if errors else 0)


def _prove_lessons(
    lessons: Sequence[Lesson], reach: Sequence[Lesson], settings: Settings, *, mutate: bool, fresh: bool
) -> list[Finding]:
    """Prove *lessons*; findings of unchanged ones come from the cache, unless all are to be proved *fresh*."""
    cache = FindingsCache(settings.data_dir / "checked", mutate, str(settings.names))
    every = (*lessons, *reach)
    known = {lesson.place.path: None if fresh else cache.of(lesson, lessons_used(lesson, every)) for lesson in lessons}
    new = [lesson for lesson in lessons if known[lesson.place.path] is None]
    others = [lesson for lesson in every if lesson not in new]
    proved: tuple[Finding, ...] = ()
    if new:
        from app.cli import proving  # graders are heavy, and what has not changed needs none

        proved = proving.proved_now(new, others, settings, mutate=mutate)
    for lesson in new:
        cache.keep(lesson, lessons_used(lesson, every), proved)
    return [*proved, *(finding for findings in known.values() for finding in findings or ())]


def _lost_assignments(settings: Settings, paths: Sequence[Path] | None) -> list[Finding]:
    """Lessons that classes of this server were given, where the whole of its course is checked without them."""
    if paths and [path.resolve() for path in paths] != [settings.lessons.resolve()]:
        return []
    from app.cli.lost_lessons import lost_lessons  # with what serves pages, of which nothing else here needs anything

    course, _ = read_course(settings.lessons)
    lost = lost_lessons(settings, course) if course else []
    place = SourceLocation(str(settings.lessons))
    return [Finding(place, "warning", "assigned-lesson-gone", str(lost_assignment)) for lost_assignment in lost]


def _around(path: Path, lessons: Sequence[Lesson]) -> CourseContext | None:
    try:
        return course_around(lessons) if lessons else CourseContext()
    except OSError as error:
        refuse(f"The course around {path} cannot be read: {error.strerror}.")


def _alone(lessons: Sequence[Lesson]) -> list[Finding]:
    """A notice for every lesson that speaks of others, where there are none."""
    return [Finding(lesson.place, "notice", "alone", ALONE) for lesson in lessons if lesson.requires or lesson.pictures]


def _files(path: Path) -> int:
    """Count the lesson files at *path*, readable or not."""
    if not path.is_dir():
        return 1
    folders = [path] if (path / "unit.md").exists() else [item.parent for item in path.glob("*/unit.md")]
    count = 0
    for folder in folders:
        with suppress(OSError):  # told already
            count += len(markdown_in(folder))
    return count


def _count_text(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _load_lessons(path: Path) -> tuple[tuple[Lesson, ...], tuple[LessonError, ...]]:
    if path.name == "unit.md":
        refuse(f"{path} is no lesson but the page of a unit. Check its folder: {path.parent}.")
    try:
        return read_lessons(path)
    except OSError as error:
        refuse_unreadable(path, error, A_COURSE)
