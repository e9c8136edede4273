"""Questions for a number, and for several."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from app.content.blocks.exercises import ROUNDING, USUAL_TOLERANCE, Quiz


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberQuestion(Quiz):
    """Ask for one number. *answer* is an arithmetic expression over *given*."""

    answer: str
    given: Mapping[str, float] = field(default_factory=dict)
    rtol: float | None = None
    atol: float = 0.0

    def tolerance(self, value: float) -> float:
        """Relative tolerance around *value*: the author's; else none for a whole number, 1e-3 for others."""
        if self.rtol is not None:
            return self.rtol
        return ROUNDING if value.is_integer() else USUAL_TOLERANCE


@dataclass(frozen=True, slots=True, kw_only=True)
class NumbersQuestion(Quiz):
    """Ask for several numbers, each a question of its own that is called by its name."""

    parts: tuple[NumberQuestion, ...]
