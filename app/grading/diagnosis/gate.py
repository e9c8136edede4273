"""Slips at gates, whose local derivative is only ever 0 or 1.

| code | what the learner has |
|---|---|
| `gate-flipped` | open where it should be closed |
| `gate-value` | the output or the input instead of 0 and 1 |
| `gate-limit` | clamp: closed at one of the two limits only, or at zero |
"""

from collections.abc import Callable

import numpy as np

from app.grading.diagnosis.evidence import Array
from app.grading.diagnosis.slips import Slip, curve, right
from app.grading.diagnosis.steps import Step


def _one_sided(open_where: Callable[[Step], Array]) -> Callable[[Step], Array | None]:
    """A gate that minds one limit of two; where the operation has one limit only, there is nothing to forget."""

    def sent(step: Step) -> Array | None:
        return step.g * open_where(step) if step.node.options["two_sided"] else None

    return sent


GATE = (
    Slip(
        "gate-flipped",
        lambda step: np.where(right(step) == 0, step.g, 0.0),
        "The gate in `{name}` is open where it should be closed: where `{statement}` is flat nothing passes.",
    ),
    Slip(
        "gate-value",
        curve(lambda _, y: y),
        "`{name}` multiplies by the output, `{y}`; the local derivative of `{op}` is only ever 0 or 1.",
    ),
    Slip(
        "gate-value",
        curve(lambda x, _: x),
        "`{name}` multiplies by the input, `{x}`; the local derivative of `{op}` is only ever 0 or 1.",
    ),
)
LIMITS = (
    Slip(
        "gate-limit",
        _one_sided(lambda step: step.x <= step.y),
        "`{name}` is closed above the upper limit only; below the lower limit `{statement}` is flat as well.",
    ),
    Slip(
        "gate-limit",
        _one_sided(lambda step: step.x >= step.y),
        "`{name}` is closed below the lower limit only; above the upper limit `{statement}` is flat as well.",
    ),
    Slip(
        "gate-limit",
        lambda step: step.g * (step.x > 0),
        "The gate in `{name}` opens at zero, as that of relu does; `{statement}` is flat outside of its own limits.",
    ),
)
