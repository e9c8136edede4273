"""Snapshot of a training run: plain values for a page, a database row and a stream of events."""

from dataclasses import dataclass
from typing import Literal

Phase = Literal["waiting", "training", "judging", "finished", "stopped", "diverged", "failed", "lost"]
LIVE: frozenset[Phase] = frozenset({"waiting", "training", "judging"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """The mean loss of the steps before *step*; *reference* is that of torch's run."""

    step: int
    own: float
    reference: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SampledNames:
    """Names that the model invented after *step* steps; after 0, those of the model as it starts."""

    step: int
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitLoss:
    """The loss over a whole part of the data."""

    part: str
    rows: int
    own: float
    reference: float


@dataclass(frozen=True, slots=True, kw_only=True)
class GradientComparison:
    """One parameter's gradient on a fresh batch of the trained model, beside torch's."""

    name: str
    shape: tuple[int, ...]
    exact: bool
    approx: bool
    maxdiff: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """A training run at one moment.

    Args:
        numbers: How many numbers learn.
        examples: How many examples the training data hold; *source* says where they come from.
        floor: The least mean loss over the training data that any model of this kind can have; None if it is not known.
        gap: The largest difference between a loss of this run and torch's at the same step.
        capped: The run was ended by the limit on computing time; what follows judges it as it was then.
        message: Why it failed, and in which *line* of the learner's code.
    """

    phase: Phase
    steps: int
    step: int = 0
    numbers: int = 0
    examples: int = 0
    source: str = ""
    floor: float | None = None
    steps_per_second: float = 0.0
    seconds_left: float | None = None
    points: tuple[Point, ...] = ()
    gap: float | None = None
    capped: bool = False
    sampled: tuple[SampledNames, ...] = ()
    judged: tuple[SplitLoss, ...] = ()
    compared: tuple[GradientComparison, ...] = ()
    message: str = ""
    line: int | None = None

    @property
    def live(self) -> bool:
        return self.phase in LIVE

    @property
    def percent(self) -> int:
        return 100 * self.step // self.steps

    @property
    def coincides(self) -> bool | None:
        """True if every loss equals torch's up to rounding; None if nothing was compared."""
        return None if self.gap is None else self.gap <= SAME_LOSS


def chart_span(step: int, steps: int) -> int:
    """The part of a run that is looked at when *step* steps are done: up to the next of 1, 2, 5, 10, 20, 50, ..."""
    unit = int(10 ** (len(str(max(step, 1))) - 1))
    return min(steps, next(unit * number for number in (1, 2, 5, 10) if unit * number >= step))


SAME_LOSS = 1e-4
"""Losses that differ by less are equal: over 200,000 steps in float32 right gradients stay within 1e-5."""
