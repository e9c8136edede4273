"""The course around single lessons: where their links, requirements and uses lead, without reading all of it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from posixpath import normpath

from app.content.blocks import Lesson, Train
from app.content.program.training_sources import uses_faults
from app.content.text.errors import LessonError
from app.course.course import text_of
from app.course.folders import UNIT_FOLDER, markdown_in, unit_folders
from app.course.lesson_links import check_former_ids, check_requirements, dead_links, missing_pictures
from app.course.parse import parse_lesson, parse_outline


@dataclass(frozen=True, slots=True)
class CourseContext:
    """Errors that the course around single lessons shows in them, and the other lessons that they *reach*."""

    faults: tuple[LessonError, ...] = ()
    reach: tuple[Lesson, ...] = ()


def course_around(lessons: Sequence[Lesson]) -> CourseContext | None:
    """Find the course around *lessons*, whose paths are relative to here; None if one of them is in no unit.

    Raises:
        OSError: The course cannot be read.
    """
    files = {Path(lesson.path).resolve(): lesson for lesson in lessons}
    roots = {path.parents[1] for path in files}
    if len(roots) != 1 or not all(UNIT_FOLDER.match(path.parent.name) for path in files):
        return None
    (root,) = roots
    own_lessons = {path.relative_to(root).as_posix(): lesson for path, lesson in files.items()}
    every = {path: replace(lesson, path=path) for path, lesson in own_lessons.items()}
    for folder in unit_folders(root, []):
        for file in markdown_in(folder):
            path = file.relative_to(root).as_posix()
            text, _ = text_of(file, path) if path not in own_lessons else (None, ())
            if text is not None:
                every[path] = parse_outline(text, path)
    reached = {
        path: this_lesson
        for path in _named_by(own_lessons, every)
        if (this_lesson := _parse_file(root / path, path)) is not None
    }
    known = every | reached
    pages = {f"{folder.name}/unit.md" for folder in unit_folders(root, [])}
    places = {lesson.place.path for lesson in lessons}
    errors = [
        *check_requirements(known.values(), {lesson.name for lesson in known.values()}),
        *uses_faults(known.values()),
    ]
    errors += check_former_ids(known.values())
    errors += [
        error
        for path, lesson in own_lessons.items()
        for error in dead_links(path, lesson.links, known, {*known, *pages})
    ]
    errors += [error for lesson in own_lessons.values() for error in missing_pictures(lesson, root)]
    return CourseContext(tuple(error for error in errors if error.place.path in places), tuple(reached.values()))


def dead_links_of_loose(lessons: Sequence[Lesson]) -> tuple[LessonError, ...]:
    """Find dead links in *lessons* outside of a unit, as far as the files beside them show."""
    errors: list[LessonError] = []
    for lesson in lessons:
        folder = Path(lesson.path).parent
        paths = {normpath((folder / link.target).as_posix()) for link in lesson.links}
        files = {path for path in paths if Path(path).is_file()}
        others = {path: this_lesson for path in files if (this_lesson := _parse_file(Path(path), path)) is not None}
        errors += dead_links(lesson.path, lesson.links, {**others, lesson.path: lesson}, files)
    return tuple(errors)


def _named_by(own_lessons: Mapping[str, Lesson], every: Mapping[str, Lesson]) -> Iterator[str]:
    """The paths of the other lessons of which more than the top has to be known."""
    by_name = {lesson.name: path for path, lesson in every.items()}
    for path, lesson in own_lessons.items():
        linked = (normpath(f"{path.rpartition('/')[0]}/{link.target}") for link in lesson.links if link.anchor)
        uses = (train.uses.partition("#")[0] for train in lesson.all_of(Train) if "#" in train.uses)
        for target in (*linked, *(by_name.get(name, "") for name in uses)):
            if target in every and target not in own_lessons:
                yield target


def _parse_file(file: Path, path: str) -> Lesson | None:
    text, _ = text_of(file, path)
    lesson, _ = parse_lesson(text, path) if text is not None else (None, ())
    return lesson
