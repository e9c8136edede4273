"""Links between lessons: the lessons that they require, and the targets of their links."""

from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import replace
from pathlib import Path
from posixpath import normpath, relpath
from xml.parsers.expat import ExpatError, ParserCreate

from app.content.blocks import Lesson, Link, SourceLocation
from app.content.text.errors import LessonError, did_you_mean

LARGEST_PICTURE = 2_000_000
BEGINS = {
    ".png": (b"\x89PNG",),
    ".jpg": (b"\xff\xd8",),
    ".jpeg": (b"\xff\xd8",),
    ".gif": (b"GIF8",),
    ".webp": (b"RIFF",),
    ".svg": (b"<svg", b"<?xml", b"<!"),
}
"""What the files of a kind of picture begin with."""
PUBLISH = "Publish it, or make this one a draft as well."
OUTSIDE = "Take the link out, or move this page into the private unit."


def check_requirements(lessons: Iterable[Lesson], ids: Set[str]) -> Iterator[LessonError]:
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
    """True if *end* is required, directly or through others, by *start*."""
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
    folder = path.rpartition("/")[0]
    shown = path not in lessons or not lessons[path].draft
    for link in links:
        target = normpath(f"{folder}/{link.target}")
        if target not in files:
            message = f"There is no lesson file {link.target!r}."
            written = [relpath(file, folder or ".") for file in files]  # as a link on this page is written
            yield LessonError(link.place, "broken-link", message, did_you_mean(link.target, written))
        elif link.anchor and target in lessons and link.anchor not in lessons[target].anchors:
            message = f"There is nothing called '#{link.anchor}' in {link.target!r}."
            yield LessonError(link.place, "broken-link", message, did_you_mean(link.anchor, lessons[target].anchors))
        elif shown and target in lessons and lessons[target].draft:
            message = f"{link.target!r} is a draft, which learners do not see."
            yield LessonError(link.place, "draft", message, PUBLISH)
        elif target in private and target.rpartition("/")[0] != folder:
            message = f"{link.target!r} is private: for most readers it is not there."
            yield LessonError(link.place, "private", message, OUTSIDE)


def check_former_ids(lessons: Iterable[Lesson]) -> Iterator[LessonError]:
    """Check that each former id has one heir, which gets its progress, and is no longer an id of any lesson."""
    lessons = tuple(lessons)
    living = {(item.name, ""): item.path for item in lessons}
    taken: dict[tuple[str, str], SourceLocation] = {}
    for lesson in lessons:
        claims = [((name, ""), _line_of(lesson, "was:")) for name in lesson.was]
        for exercise in lesson.exercises:
            words = (word.partition("#") for word in exercise.was if "#" in word)
            claims += [((name, box), exercise.place) for name, _, box in words]
        for former, place in claims:
            word = "#".join(part for part in former if part)
            other = taken.setdefault(former, place)
            if former in living:
                message = f"{word!r} is no former id: {living[former]} bears it."
                yield LessonError(place, "duplicate-id", message, "Remove it, or give that one another id.")
            elif other != place:
                message = f"The former id {word!r} has another heir, {other}."
                yield LessonError(place, "duplicate-id", message, "Keep one of them.")


def _line_of(lesson: Lesson, start: str) -> SourceLocation:
    lines = lesson.source.split("\n")
    return replace(
        lesson.place, line=next((number for number, line in enumerate(lines, 1) if line.startswith(start)), 1)
    )


def missing_pictures(lesson: Lesson, root: Path) -> Iterator[LessonError]:
    """Every picture of *lesson* is a file below *root*, and of a size that a page can bear."""
    for link in lesson.pictures:
        file = root / link.target
        if not file.is_file() or not file.resolve().is_relative_to(root.resolve()):
            message = f"There is no file {link.target!r} in the folder of the course."
            files = [file for file in root.rglob(Path(link.target).name) if file.is_file()][:1]
            ways = [relpath(file, (root / lesson.path).parent) for file in files]
            yield LessonError(link.place, "missing-picture", message, f"Did you mean {ways[0]!r}?" if ways else "")
        elif file.stat().st_size > LARGEST_PICTURE:
            message = f"{link.target!r} is larger than {LARGEST_PICTURE:,} bytes."
            yield LessonError(link.place, "missing-picture", message, "Make it smaller.")
        elif not file.read_bytes()[:512].lstrip(b"\xef\xbb\xbf \r\n\t").startswith(BEGINS[file.suffix.lower()]):
            message = f"{link.target!r} is no {file.suffix[1:]} file, whatever it is called."
            yield LessonError(link.place, "missing-picture", message, "Save it in the format that its name says.")
        elif file.suffix.lower() == ".svg" and (why := _unread(file)):
            message = f"{link.target!r} is no picture that browsers can show: {why}."
            yield LessonError(link.place, "missing-picture", message, "Save it again.")


def _unread(svg: Path) -> str:
    """Say why the file *svg* cannot be read; empty if it can."""
    try:
        ParserCreate().Parse(svg.read_bytes(), True)
    except ExpatError as error:
        return str(error)
    return ""
