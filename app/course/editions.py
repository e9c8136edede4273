"""Edition of an exercise: everything that decides about right and wrong, as a short text.

Words may be polished, hints and mistakes added, without anybody having to solve it again.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from hashlib import sha256

from app.content.blocks import NOWHERE, Exercise, Lesson
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
    forward = lesson.forwards.get(getattr(exercise, "forward", None) or "")
    name = type(exercise).__name__.removesuffix("Question")
    parts: list[object] = [name, *(getattr(exercise, key, None) for key in DECIDES)]
    if forward is not None:
        parts.append(replace(forward, place=NOWHERE, name="", source_line=0, show=True))
    kind = block_kind(exercise)
    parts += kind.decides(exercise) if kind else ()
    return sha256(_CLASS.sub(lambda match: STORED_NAMES[match[0]], repr(parts)).encode()).hexdigest()[:16]
