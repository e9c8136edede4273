"""A loss has the upstream 1, which hides what a line does with it: dividing by 1 is as good as multiplying.

So a line that reads it is looked at with another number in its place: all that arrives is
that much larger, and so is the gradient.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from app.grading.diagnosis.evidence import Array, Observation, WrongGradient, scope_of
from app.grading.diagnosis.gradient_analysis import GradientAnalysis
from app.grading.diagnosis.rerun import Rerun, line_replays
from app.grading.operations.numerics import magnitude
from app.grading.reading.interpreter import Interpreter

WEIGHTS = (1.75, 0.625)
"""Upstreams of the loss that are tried, on one look after the other."""
FLAT = 1e-9


def with_loss_weight(case: WrongGradient) -> WrongGradient:
    """*case* with another upstream of the loss; itself where that would be no other text, or the lines cannot be read.

    Who leaves the 1 out in one term and writes it in another is right: such a sum is left as it is.
    """
    losses = {
        name for name in case.first_look.gradients if all(_is_one(look.gradients.get(name)) for look in case.looks)
    }
    view = GradientAnalysis(case) if losses else None
    if view is None or not losses & view.text.names:
        return case
    reruns = view.once(line_replays)
    tried = [[_under(rerun, weight) for weight in WEIGHTS] for rerun in reruns]
    looks = [look for each in tried for look in each if look is not None]
    if not reruns or len(looks) < len(reruns) * len(WEIGHTS) or any(map(_is_sum, reruns, _pairs(looks))):
        return case
    return replace(case, looks=tuple(pair[at % len(WEIGHTS)] for at, pair in enumerate(_pairs(looks))))


def _pairs(looks: Sequence[Observation]) -> list[Sequence[Observation]]:
    return [looks[at : at + len(WEIGHTS)] for at in range(0, len(looks), len(WEIGHTS))]


def _is_one(array: Array | None) -> bool:
    return array is not None and not array.shape and float(array) == 1.0


def _under(rerun: Rerun, weight: float) -> Observation | None:
    """The look where *weight* times as much arrives, and what the lines make of it."""
    heavier = rerun.look.under(weight)
    now = Interpreter(*scope_of(heavier, rerun.name), rerun.view.case.budget)
    again = Rerun(rerun.view, heavier, rerun.lines, now)
    got = again.result(again.after)
    return None if got is None or not np.isfinite(got).all() else replace(heavier, got=got)


def _is_sum(rerun: Rerun, pair: Sequence[Observation]) -> bool:
    """True if what the lines make is a multiple of what arrives and something besides."""
    got = np.asarray(rerun.look.got, dtype=np.float64)
    slopes = [(look.got - got) / (weight - 1.0) for weight, look in zip(WEIGHTS, pair, strict=True)]
    size = max(magnitude(got), 1e-300)
    parts = (slopes[0], got - slopes[0])
    even = magnitude(slopes[0] - slopes[1]) <= FLAT * size
    return even and all(magnitude(part) > FLAT * size for part in parts)
