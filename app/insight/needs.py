"""Signs that an exercise, a sentence or a hint does not do its work and needs an author: one table.

Each sign has a weight from 0 (nothing) on, so that exercises can be put in order; the thresholds are those at which
instructors of other systems are told, or a judgement of ours.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import log, sqrt
from statistics import median
from typing import Literal

from app.insight.item_counts import ItemCounts, NextTries

Sign = Literal["discrimination", "few-right", "hard", "hint", "sentence", "unrecognised", "left", "no-work"]

MANY, SOME = 30, 10
"""People, or next tries, from which a share is believed."""
FEW = 5
"""Next tries after a hint: of few, only a large difference is believed."""
CERTAIN, EVEN = 3.0, 0.01
"""So many standard deviations weigh 1; no variance is taken for less than this."""
LOW_DISCRIMINATION = 0.1
GETS_ON = 1 / 3
HARD = 3
FAILING = 0.5
"""Odds of one in three."""
MUCH_UNRECOGNISED = 0.1
NO_WORK = 0.97


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """A sign with its *weight*; *about* is the number of a hint, or of a mistake of the item."""

    sign: Sign
    weight: float
    about: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """An item among the others of its lesson, in their order, and how many tries of it nothing recognised."""

    item: ItemCounts
    lesson: Sequence[ItemCounts]
    unrecognised: int
    by_answer: bool
    """Whether mistakes are answers to a question: then only a right next try tells that a sentence works."""


Weights = Iterator[tuple[float, int | None]]
"""Of one sign at an item: each with what it is about."""


def needs_of(judged: Judged) -> tuple[Need, ...]:
    """The signs that are there, the heaviest first."""
    needs = [
        Need(sign=sign, weight=weight, about=about)
        for sign, look in SIGNS.items()
        for weight, about in look(judged)
        if weight > 0
    ]
    return tuple(sorted(needs, key=lambda need: -need.weight))


def _discrimination(judged: Judged) -> Weights:
    value, people = judged.item.discrimination, judged.item.compared
    if value is not None and people >= MANY and value < LOW_DISCRIMINATION:
        # A correlation of so many pairs that have none strays by one over the root of their number.
        yield min(1.0, (LOW_DISCRIMINATION - value) * sqrt(people) / CERTAIN), None


def _few_right(judged: Judged) -> Weights:
    if judged.item.tried >= SOME and (share := judged.item.in_few / judged.item.tried) < 0.5:
        yield 1 - share, None


def _hard(judged: Judged) -> Weights:
    """The odds to be wrong at the first try are three times those of half of the lesson's other exercises."""
    others = [_failing_odds(other) for other in judged.lesson if other is not judged.item and other.tried >= MANY]
    if len(others) >= 2 and judged.item.tried >= MANY:
        odds = _failing_odds(judged.item)
        if odds > HARD * median(others) and odds > FAILING:
            yield min(1.0, log(odds / median(others)) / 2), None


def _failing_odds(item: ItemCounts) -> float:
    """Odds to be wrong at the first try; of one more who was right and one more who was not, so that none is zero."""
    return (item.tried - item.first + 1) / (item.first + 1)


def _hint(judged: Judged) -> Weights:
    """After a hint fewer get on than without one."""
    alone = judged.item.unhelped
    usual = alone.right / alone.tries if alone.tries >= SOME else GETS_ON
    for hint in judged.item.hints:
        if hint.number and hint.after.tries >= FEW:
            share = hint.after.right / hint.after.tries
            strays = sqrt(max(usual * (1 - usual), EVEN) / hint.after.tries)
            if share < GETS_ON and usual - share > 2 * strays:
                yield min(1.0, (usual - share) / strays / CERTAIN), hint.number


def _sentence(judged: Judged) -> Weights:
    """Sign that the sentence for a mistake leads too few away from it."""
    for mistake in judged.item.mistakes:
        share = _got_on(mistake.after, by_answer=judged.by_answer)
        if mistake.after.tries >= SOME and share < GETS_ON:
            yield (0.3 + GETS_ON - share) * mistake.people / judged.item.tried, mistake.mistake


def _got_on(after: NextTries, *, by_answer: bool) -> float:
    return (after.right if by_answer else after.left) / after.tries if after.tries else 1.0


def _unrecognised_sign(judged: Judged) -> Weights:
    if judged.item.wrong >= MANY and (share := judged.unrecognised / judged.item.wrong) > MUCH_UNRECOGNISED:
        yield share / 2, None


def _leaving_sign(judged: Judged) -> Weights:
    """Three times as many went away as at the exercises before and after it."""
    place = judged.lesson.index(judged.item)
    beside = (*judged.lesson[max(0, place - 1) : place], *judged.lesson[place + 1 : place + 2])
    shares = [other.left / other.tried for other in beside if other.tried >= MANY]
    if shares and judged.item.tried >= MANY and judged.item.left >= SOME / 2:
        share = judged.item.left / judged.item.tried
        if share > 3 * max(shares):
            yield 0.3 + share, None


def _no_work(judged: Judged) -> Weights:
    if judged.item.tried >= MANY and judged.item.first / judged.item.tried > NO_WORK:
        yield 0.1, None


SIGNS: dict[Sign, Callable[[Judged], Weights]] = {
    "discrimination": _discrimination,
    "few-right": _few_right,
    "hard": _hard,
    "hint": _hint,
    "sentence": _sentence,
    "unrecognised": _unrecognised_sign,
    "left": _leaving_sign,
    "no-work": _no_work,
}
