"""Edition of an exercise: everything that decides about right and wrong, as a short text.

Words may be polished, hints and mistakes added, without anybody having to solve it again.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from hashlib import sha256

from app.content.blocks import NOWHERE, Bug, Exercise, FunctionBox, Lesson, Quiz
from app.kinds.registry import quiz_kind

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
    kind = type(exercise).__name__.removesuffix("Question")
    parts: list[object] = [kind, *(getattr(exercise, name, None) for name in DECIDES)]
    if forward is not None:
        parts.append(replace(forward, place=NOWHERE, name="", source_line=0, show=True))
    if isinstance(exercise, Quiz):
        parts += quiz_kind(exercise).decides(exercise)
    match exercise:
        case Bug(starter=starter):
            parts.append(starter.source)
        case FunctionBox(cases=cases):
            parts += [function_case.code.source for function_case in cases]
    return sha256(_CLASS.sub(lambda match: STORED_NAMES[match[0]], repr(parts)).encode()).hexdigest()[:16]
