"""What lessons say of each other: what they require, and where their links lead."""

from collections.abc import Iterable, Iterator, Mapping, Set
from pathlib import Path
from posixpath import normpath, relpath

from app.content.blocks import Lesson, Link
from app.content.errors import LessonError, did_you_mean

LARGEST_PICTURE = 2_000_000
PUBLISH = "Publish it, or make this one a draft as well."
OUTSIDE = "Take the link out, or move this page into the private unit."


def requirements(lessons: Iterable[Lesson], ids: Set[str]) -> Iterator[LessonError]:
    """Every requirement is one of the *ids*, and none leads back to where it came from."""
    lessons = tuple(lessons)
    by_name = {lesson.name: lesson for lesson in reversed(lessons)}
    for lesson in lessons:
        for name, place in zip(lesson.requires, lesson.requires_places, strict=True):
            if name not in ids:
                message = f"No lesson has the id {name!r}."
                yield LessonError(place, "unknown-lesson", message, did_you_mean(name, ids))
            elif _leads_to(name, lesson.name, by_name):
                message = f"{lesson.name!r} and {name!r} require each other."
                yield LessonError(place, "cycle", message, "Remove one of the requirements.")
            elif not lesson.draft and name in by_name and by_name[name].draft:
                yield LessonError(place, "draft", f"{name!r} is a draft, which learners do not see.", PUBLISH)


def _leads_to(start: str, end: str, by_name: Mapping[str, Lesson]) -> bool:
    """Whether *end* is required, directly or through others, by *start*."""
    seen: set[str] = set()
    ahead = [start]
    while ahead:
        name = ahead.pop()
        if name == end:
            return True
        if name not in seen and name in by_name:
            seen.add(name)
            ahead += by_name[name].requires
    return False


def dead_links(
    path: str, links: Iterable[Link], lessons: Mapping[str, Lesson], files: Set[str], private: Set[str] = frozenset()
) -> Iterator[LessonError]:
    """Every link to a lesson file leads to a file of the course, and to something on its page.

    To *private* files, links lead from their own unit alone.
    """
    here = path.rpartition("/")[0]
    shown = path not in lessons or not lessons[path].draft
    for link in links:
        target = normpath(f"{here}/{link.target}")
        if target not in files:
            message = f"There is no lesson file {link.target!r}."
            written = [relpath(file, here or ".") for file in files]  # as a link on this page is written
            yield LessonError(link.place, "broken-link", message, did_you_mean(link.target, written))
        elif link.anchor and target in lessons and link.anchor not in lessons[target].anchors:
            message = f"There is nothing called '#{link.anchor}' in {link.target!r}."
            yield LessonError(link.place, "broken-link", message, did_you_mean(link.anchor, lessons[target].anchors))
        elif shown and target in lessons and lessons[target].draft:
            message = f"{link.target!r} is a draft, which learners do not see."
            yield LessonError(link.place, "draft", message, PUBLISH)
        elif target in private and target.rpartition("/")[0] != here:
            message = f"{link.target!r} is private: for most readers it is not there."
            yield LessonError(link.place, "private", message, OUTSIDE)


def missing_pictures(lesson: Lesson, root: Path) -> Iterator[LessonError]:
    """Every picture of *lesson* is a file below *root*, and of a size that a page can bear."""
    for one in lesson.pictures:
        file = root / one.target
        if not file.is_file() or not file.resolve().is_relative_to(root.resolve()):
            message = f"There is no file {one.target!r} in the folder of the course."
            yield LessonError(one.place, "missing-picture", message)
        elif file.stat().st_size > LARGEST_PICTURE:
            message = f"{one.target!r} is larger than {LARGEST_PICTURE:,} bytes."
            yield LessonError(one.place, "missing-picture", message, "Make it smaller.")
