"""Gain of learners between two forms of the same length, each compared with themselves.

The interval is that of `comparison`: it may be looked at any time. The variance is that of the gains so far, each with
two learners more, one who gained half of the form and one who lost as much, so that few who gained alike are no
certainty.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from app.insight.comparison import Difference, interval_around

CAREFUL = 0.5


@dataclass(frozen=True, slots=True)
class Gain:
    """Mean shares that were right *before* and *after*, of so many *learners*, with the interval of the difference."""

    learners: int
    before: float
    after: float
    difference: Difference

    @property
    def mean(self) -> float:
        return self.after - self.before


def gain_between(pairs: Sequence[tuple[float, float]]) -> Gain | None:
    """The gain over *pairs* of shares that were right, before and after, one for each learner; None without any."""
    if not pairs:
        return None
    count = len(pairs)
    before, after = (sum(pair[at] for pair in pairs) / count for at in (0, 1))
    spread = sum((pair[1] - pair[0] - (after - before)) ** 2 for pair in pairs)
    variance = (spread + 2 * CAREFUL**2) / (count + 2) / count
    return Gain(count, before, after, interval_around(after - before, variance))
