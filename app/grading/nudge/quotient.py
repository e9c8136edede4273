"""Result of a nudge: which step to trust, whether there is a slope at all, and how a learner's number compares.

A central quotient is exact up to rounding where the step is neither too long for the curve nor too short for the
digits, so the step is chosen where two neighbouring ones agree best. At a kink no step is short enough, and that is
said, and not hidden behind the mean of both sides.
"""

import math
import re
from dataclasses import dataclass

import numpy as np

from app.content.text.lookalikes import IN_SUMS
from app.content.text.sizes import format_shape
from app.grading.judge.compare import Array

STEPS = tuple(10.0**-power for power in range(2, 13))
_ROUNDING = 4e-16
_CLEAR = 100.0  # times the rounding: what no rounding explains
_SETTLED = 1e-3
_BEND = 1e-6
_TOLERANCE = 1e-5


@dataclass(frozen=True, slots=True, kw_only=True)
class Quotient:
    """A finite difference around one entry.

    Args:
        above, below: L with the entry moved by plus and minus *step*.
        right, left: The quotients of either side alone.
        error: How far the quotient may be off, seen from the next shorter step and from rounding.
        kink: Whether both sides keep differing however short the step.
        settled: Whether the quotient comes to rest at all as the step shrinks.
    """

    step: float
    above: float
    below: float
    right: float
    left: float
    error: float
    kink: bool
    settled: bool

    @property
    def value(self) -> float:
        return (self.right + self.left) / 2


def read_quotient(rows: Array, size: float) -> Quotient | None:
    """The quotient at the step that is trusted most; None where L is not finite beside the entry.

    Args:
        rows: By step of `STEPS`: L above, L below, their differences to L without a nudge.
        size: The sum of the sizes of the terms of L, which rounding is relative to.
    """
    steps = np.asarray(STEPS)
    with np.errstate(all="ignore"):
        right, left = rows[:, 2] / steps, rows[:, 3] / steps
        middle = (right + left) / 2
        noise = _ROUNDING * max(size, 1e-300) / steps
        error = np.maximum(np.abs(np.diff(middle)), noise[:-1])
    error = np.where(np.isfinite(error), error, np.inf)
    at = int(error.argmin())
    if not math.isfinite(error[at]):
        return None
    gap, next_gap = (abs(float(right[number] - left[number])) for number in (at, at + 1))
    largest = max(abs(float(right[at])), abs(float(left[at])))
    unexplained = _CLEAR * float(noise[at + 1])
    return Quotient(
        step=STEPS[at],
        above=float(rows[at, 0]),
        below=float(rows[at, 1]),
        right=float(right[at]),
        left=float(left[at]),
        error=float(error[at]),
        kink=gap > max(_BEND * largest, unexplained) and next_gap > gap / 2,
        settled=float(error[at]) <= max(_SETTLED * abs(float(middle[at])), unexplained),
    )


def read_entry(text: str, name: str, shape: tuple[int, ...]) -> tuple[int, ...] | str:
    """The index that *text* means, such as `[1, 2]` or `1 2`; or what is wrong with it, in words."""
    kind = f"`{name}` has shape `{format_shape(shape)}`"
    many = len(shape)
    wanted = "it is one number and takes no index" if not many else f"give {_count(many)}, {_example(shape)}"
    inside = re.fullmatch(r"[\[(]?([^\[\]()]*?)[\])]?", text.strip().translate(IN_SUMS))
    parts = re.split(" ?, ?| ", " ".join(inside[1].split()).removesuffix(",").rstrip()) if inside else []
    parts = [] if parts == [""] else parts
    if inside is None or not all(re.fullmatch(r"[+-]?[0-9]{1,9}", part) for part in parts):
        return f"`{text.strip()[:40]}` is no index. {kind}: {wanted}."
    if len(parts) != many:
        given = "none was given" if not parts else f"{len(parts)} {'was' if len(parts) == 1 else 'were'} given"
        return f"{kind}: {wanted}; {given}."
    entry = tuple(map(int, parts))
    for axis, (at, size) in enumerate(zip(entry, shape, strict=True)):
        if not -size <= at < size:
            where = f"axis {axis} goes from 0 to {size - 1}" if size else f"axis {axis} is empty"
            return f"{kind}: {where}, so there is no entry {at}."
    return tuple(at % size for at, size in zip(entry, shape, strict=True))


def quotient_text(quotient: Quotient, own: float, scale: float) -> str:
    """The difference between the learner's number and the quotient, in words.

    Args:
        scale: What the rounding of the learner's number is relative to: the size of the terms it is summed from.
    """
    value = quotient.value
    allowed = max(_TOLERANCE * max(scale, abs(value)), 10 * quotient.error)
    difference = abs(own - value)
    if not quotient.settled:
        return "So your number cannot be compared with it."
    if quotient.kink:
        low, high = sorted((quotient.left, quotient.right))
        inside = low - allowed <= own <= high + allowed
        return (
            "Your number is one of the two, or lies between them." if inside else "Your number lies outside of the two."
        )
    if not difference:
        return "Your number is the quotient to the last digit."
    if difference <= allowed:
        return f"Your number and the quotient agree up to rounding: they differ by {difference:.1e}."
    return f"{_unlike(own, value, allowed)} They differ by {difference:.3g}."


def _unlike(own: float, value: float, allowed: float) -> str:
    if abs(value) <= allowed:
        return "Moving this entry does not move L, but your number is not zero."
    if abs(own) <= allowed:
        return "Moving this entry moves L, but your number is zero."
    if abs(own + value) <= allowed:
        return "Your number has the size of the quotient and the opposite sign."
    ratio = own / value
    return f"Your number is {ratio:.4g} times the quotient."


def quotient_remark(quotient: Quotient) -> str:
    """Remark on what the quotient does not show of itself; empty if it is a plain slope."""
    if not quotient.settled:
        return "The quotient does not come to rest however small h is: L jumps here, and a jump has no slope."
    if quotient.kink:
        return (
            f"L has a kink here (as `relu` has at 0, and a maximum at a tie): the quotient is {quotient.right:.6g} to "
            f"the right alone and {quotient.left:.6g} to the left alone. What stands above is only their mean; a "
            "gradient may be either, or a number between."
        )
    return ""


def _count(many: int) -> str:
    return "one whole number" if many == 1 else f"{many} whole numbers"


def _example(shape: tuple[int, ...]) -> str:
    ranges = [f"0 to {size - 1}" for size in shape]
    return f"from {ranges[0]}" if len(ranges) == 1 else f"from {', from '.join(ranges[:-1])} and from {ranges[-1]}"
