"""Both sides of every predicate: what the data of a run have not met yet, and how to draw others that may.

A gate that no entry closes is no gate to the grader: `dx = dy` would pass for `y = x.clamp(-3, 3)`.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from app.grading.forward.data import Draw
from app.grading.forward.driver_jobs import MASK, ROUTER, Asked

FEW = 4
"""So few entries cannot be on both sides in every run; they are among several runs."""
SHARE = 16
"""One of so many entries at least is on either side."""
ENOUGH = 64
"""Entries that a predicate is asked for in all hidden runs: two different gates do not agree on all of them by luck."""
MOST_PAIRS = 16
Side = tuple[int, str]


def missing_sides(edges: Sequence[Asked], before: Sequence[Asked] = (), *, first: bool) -> frozenset[Side]:
    """Sides missing in a run: predicates by number, with the side that has too few entries.

    Args:
        before: The same predicates in the run before; those of few entries are met by both together.
        first: Whether this is the run in which no choice falls on the last place.
    """
    missing: set[Side] = set()
    for number, predicate in enumerate(edges):
        if predicate.kind == ROUTER:
            missing |= {(number, "last")} if first and predicate.above else set()
            continue
        if predicate.entries < FEW:
            if not before:
                continue
            predicate = predicate._replace(
                below=predicate.below + before[number].below, above=predicate.above + before[number].above
            )
        least = 1 if predicate.kind == MASK else max(1, predicate.entries // SHARE)
        missing |= {(number, side) for side in ("below", "above") if getattr(predicate, side) < least}
    return frozenset(missing)


def alternative_draws(usual: Draw) -> tuple[Draw, ...]:
    """Draws to be tried in the place of the *usual* one, those that change least first."""
    return (
        *(replace(usual, again=again) for again in (1, 2, 3)),
        replace(usual, uneven=3.0),
        replace(usual, spread=4.0),
        replace(usual, spread=2.0, uneven=2.0),
        replace(usual, spread=4.0, uneven=2.0),
        replace(usual, spread=12.0, uneven=1.0),
        replace(usual, spread=0.1, uneven=3.0),
        *(replace(usual, shift=shift) for shift in (2.0, -2.0)),
        replace(usual, lowered=True),
        replace(usual, absent="any"),
        replace(usual, spread=4.0, uneven=2.0, absent="any"),
    )


def pairs_needed(pair: Iterable[Sequence[Asked]]) -> int:
    """Number of further pairs of hidden runs until every predicate was asked of enough entries."""
    runs = [[item for item in edges if item.kind != ROUTER] for edges in pair]
    together = [sum(item.entries for item in same) for same in zip(*runs, strict=True)]
    return min(MOST_PAIRS, max((math.ceil(ENOUGH / max(count, 1)) - 1 for count in together), default=0))


def draw_of_pair(usual: Draw, number: int) -> Draw:
    """The draw of one more hidden run: other numbers, some of them larger and some smaller."""
    scale = (1.0, 1.0, 4.0, 1.0, 0.25)[number % 5]
    return replace(usual, again=100 + number, spread=usual.spread * scale, lowered=False)


def one_sided(runs: Sequence[Sequence[Asked]]) -> Mapping[int, str]:
    """By statement: the side of one of its predicates that no hidden run has met."""
    sides: dict[int, str] = {}
    for same in zip(*runs, strict=True):
        if same[0].kind == ROUTER:
            continue
        for side in ("below", "above"):
            if not sum(getattr(item, side) for item in same):
                sides.setdefault(same[0].statement, side)
    return sides
