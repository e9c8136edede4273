"""Lessons from anywhere: one file, the folder of a unit, or the folder of a course."""

from pathlib import Path

from app.content.blocks import Lesson, SourceLocation
from app.content.text.errors import LessonError, LessonErrors
from app.course.course import load_lesson, read_course
from app.course.folders import NO_LESSONS, markdown_in


def read_lessons(path: Path) -> tuple[tuple[Lesson, ...], tuple[LessonError, ...]]:
    """The sound lessons at *path*, and the faults of all; outside of a course, no link is followed.

    Raises:
        OSError: There is nothing at *path*, or it cannot be read.
    """
    path.stat()
    if not path.is_dir():
        return _each([path])
    if not (path / "unit.md").exists():
        course, errors = read_course(path)
        return (course.lessons if course else ()), errors
    files = markdown_in(path)
    if not files:
        return (), (LessonError(SourceLocation(path.as_posix(), 1), *NO_LESSONS),)
    return _each(files)


def _each(files: list[Path]) -> tuple[tuple[Lesson, ...], tuple[LessonError, ...]]:
    lessons: list[Lesson] = []
    errors: list[LessonError] = []
    for file in files:
        try:
            lessons.append(load_lesson(file))
        except LessonErrors as raised:
            errors += raised.errors
    return tuple(lessons), tuple(errors)
