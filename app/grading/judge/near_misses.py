"""A gradient that is nearly right: what the digits that are off tell of themselves.

| code | meaning |
|---|---|
| `float32` | rounded to float32 on the way |
| `factor` | off by a constant factor close to one, such as one written with too few digits |
| `nearly` | right in its first digits, and no more |
"""

from collections.abc import Mapping

import numpy as np

from app.grading.diagnosis.evidence import Diagnosis
from app.grading.judge.compare import VISIBLE_TOLERANCE, Array, Reference
from app.grading.operations.numerics import magnitude

NEAR = 1e-3
TABLES = 1e-7
"""What is off by less, no table of mistakes can tell from the gradient."""
SAME = 1e-10
Pairs = Mapping[str, tuple[Array, Reference]]
"""By hidden data set: the learner's tensor and the reference."""


def diagnose_rounded(name: str, pairs: Pairs) -> Diagnosis | None:
    """The diagnosis of a gradient all of whose numbers are those of float32; None for any other."""
    if not all(_off(got, reference) <= VISIBLE_TOLERANCE and _single(got) for got, reference in pairs.values()):
        return None
    message = (
        f"`{name}` is right to about seven digits: it was rounded to float32. The hidden data are float64, and so is "
        "the gradient; leave out the step that rounds."
    )
    return Diagnosis(code=f"{name}:float32", message=message)


def diagnose_near_miss(name: str, pairs: Pairs, near: float = NEAR) -> Diagnosis | None:
    """Diagnose a gradient that is right in its first digits; None for one that is further off."""
    off = max(_off(got, reference) for got, reference in pairs.values())
    if not off <= near:
        return None
    factors = [_factor(got, reference) for got, reference in pairs.values()]
    if None not in factors and len({f"{factor:.9g}" for factor in factors}) == 1:
        message = (
            f"Every entry of `{name}` is off by one constant factor, {factors[0]:.9g}. Is a number in the formula "
            "rounded, or a small one left out?"
        )
        return Diagnosis(code=f"{name}:factor", message=message)
    message = (
        f"`{name}` is right in its first digits only. Is a small constant of the forward line, such as an epsilon, "
        "left out or another one?"
    )
    return Diagnosis(code=f"{name}:nearly", message=message)


def _off(got: Array, reference: Reference) -> float:
    """The largest difference, relative to the scale; infinite where the shapes differ."""
    if got.shape != reference.gradient.shape or not np.isfinite(got).all() or not reference.scale:
        return np.inf
    return magnitude(got.astype(np.float64) - reference.gradient) / reference.scale


def _single(got: Array) -> bool:
    with np.errstate(over="ignore"):
        return got.size > 0 and bool((got == got.astype(np.float32)).all())


def _factor(got: Array, reference: Reference) -> float | None:
    """The number that the reference was multiplied by, if it is one number."""
    flat = reference.gradient.ravel()
    factor = float(got.ravel() @ flat) / max(float(flat @ flat), 1e-300)
    off = magnitude(got - factor * reference.gradient)
    return factor if off <= SAME * reference.scale else None
