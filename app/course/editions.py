"""Edition of an exercise: everything that decides about right and wrong, as a short text.

Words may be polished, hints and mistakes added, and it need not be solved again. A *wording* has all of these
in it, so that what learners did before a change of words can be told from what they did after it.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from hashlib import sha256

from app.content.blocks import NOWHERE, Course, Exercise, Lesson
from app.kinds.registry import block_kind

DECIDES: tuple[str, ...] = (
    "answer",
    "given",
    "ask",
    "of",
    "source",
    "lines",
    "at",
    "feeds",
    "pick",
    "require",
    "grade",
    "forbid",
    "function",
)
DECIDES += ("arguments", "steps", "presets")
STORED_NAMES: Mapping[str, str] = {"SourceLocation": "Place", "OrderStep": "Step"}
"""Names of classes in the editions that databases hold: a class that is renamed keeps its old one here."""
_CLASS = re.compile(rf"\b({'|'.join(STORED_NAMES)})(?=\()")


def edition_of(lesson: Lesson, exercise: Exercise) -> str:
    """The edition of *exercise*, which is one of *lesson*."""
    forward = lesson.forward(exercise.forward)
    name = type(exercise).__name__.removesuffix("Question")
    values = {key: getattr(exercise, key, None) for key in DECIDES}
    values["require"] = values["require"] or None  # as it is stored of boxes that ask for no gradients
    parts: list[object] = [name, *values.values()]
    if forward is not None:
        parts.append(replace(forward, place=NOWHERE, name="", source_line=0, show=True))
    kind = block_kind(exercise)
    parts += kind.decides(exercise) if kind else ()
    return sha256(_CLASS.sub(lambda match: STORED_NAMES[match[0]], repr(parts)).encode()).hexdigest()[:16]


def wordings_of(course: Course) -> dict[tuple[str, str], str]:
    """By lesson and exercise, its edition together with its own lines of the lesson file, as a short text."""
    return {
        (lesson.name, exercise.name): sha256(f"{edition_of(lesson, exercise)}\n{lines}".encode()).hexdigest()[:16]
        for lesson in course.lessons
        for exercise, lines in _own_lines(lesson)
    }


def _own_lines(lesson: Lesson) -> Iterator[tuple[Exercise, str]]:
    """The exercises, each with its lines: from its place up to the next block, without blank ends."""
    lines = lesson.source.splitlines()
    starts = sorted({block.place.line for block in lesson.every} | {len(lines) + 1})
    for exercise in lesson.exercises:
        start = exercise.place.line
        end = next((line for line in starts if line > start), len(lines) + 1)
        yield exercise, "\n".join(line.rstrip() for line in lines[start - 1 : end - 1]).strip()
