"""A question for a shape."""

from dataclasses import dataclass

from app.content.blocks.exercises import Quiz


@dataclass(frozen=True, slots=True, kw_only=True)
class ShapeQuestion(Quiz):
    """Ask for the shape of *of* (such as `dW`). *ask* is a partly given shape such as `(100, ?)`."""

    of: str | None
    ask: str | None = None
    answer: str | None = None
