"""What an export is made of, and what goes into the places that a lesson leaves open."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A piece of prose (markdown) or of code (Python).

    Args:
        name: The exercise or program that it belongs to; empty for prose between them.
        plain: What a text that nobody runs shows of a piece of code; nothing for what only serves to run it.
        aid: Serves to run the others and is no part of the lesson.
    """

    text: str
    code: bool = False
    name: str = ""
    plain: str = ""
    aid: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What somebody has done in a lesson, by exercise.

    Args:
        codes: What stands in the code boxes; the others keep their blanks.
        answers: What was answered to quizzes, value by value.
        right: The right answers, in backticks, of those quizzes that do not carry it.
    """

    codes: Mapping[str, str] = field(default_factory=dict)
    answers: Mapping[str, Sequence[str]] = field(default_factory=dict)
    right: Mapping[str, str] = field(default_factory=dict)
