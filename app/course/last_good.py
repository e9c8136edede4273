"""A course that is read again while it is served: what is faulty now stays as it was when it was sound."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from app.content.blocks import Course, Lesson, Unit
from app.content.text.errors import LessonError
from app.course.course import read_course


def reload_course(before: Course, folder: Path) -> tuple[Course, tuple[LessonError, ...]]:
    """The course in *folder*, with the lessons of *before* in place of those that have a fault; and all faults."""
    course, errors = read_course(folder)
    if course is None:
        return before, errors
    faulty = {Path(error.place.path).relative_to(folder).as_posix() for error in errors if _within(error, folder)}
    old = {lesson.path: lesson for lesson in before.lessons if lesson.path in faulty}
    units = [_with_last_good(unit, faulty, old, before) for unit in course.units]
    readable = tuple(unit for unit in units if unit.lessons)
    return (Course(units=readable) if readable else before), errors


def _within(error: LessonError, folder: Path) -> bool:
    return Path(error.place.path).is_relative_to(folder)


def _with_last_good(unit: Unit, faulty: set[str], old: Mapping[str, Lesson], before: Course) -> Unit:
    home = f"{unit.number}-{unit.slug}"
    former = next((item for item in before.units if f"{item.number}-{item.slug}" == home), None)
    if former is not None and f"{home}/unit.md" in faulty:
        unit = replace(former, lessons=unit.lessons)
    sound = [lesson for lesson in unit.lessons if lesson.path not in faulty]
    back = [lesson for path, lesson in old.items() if path.partition("/")[0] == home]
    return replace(unit, lessons=tuple(sorted((*sound, *back), key=_number)))


def _number(lesson: Lesson) -> int:
    return int(lesson.path.partition("/")[2].partition("-")[0])
