"""A question for a product."""

from dataclasses import dataclass

from app.content.blocks.exercises import Quiz


@dataclass(frozen=True, slots=True, kw_only=True)
class MatmulQuestion(Quiz):
    """Build *of* (such as `dW`) from two tensors, either of them transposed."""

    forward: str
    of: str
