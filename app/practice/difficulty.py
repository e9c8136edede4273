"""Difficulty of operations: points from who solved what, as players are rated from who beat whom.

Each exercise that a learner finished is a game between the learner and the operations in it; the learner wins by
solving it without a slip and without a hint.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from app.practice.item import GeneratedItem
from app.practice.operations import OPERATIONS
from app.store.practice_items import ItemOutcome

ENOUGH = 200
"""Tries of an operation before its points are believed."""
RATING_STEP = 0.1
SPREAD = 2.0
"""A learner so many points above an exercise solves it in ten of eleven tries."""
LEAST, MOST = 1.0, 12.0
START = 4.0


@dataclass(frozen=True, slots=True)
class Estimate:
    """Estimate for an operation: its tries, how many of them were *solved*, its points before and now."""

    name: str
    tries: int
    solved: int
    before: int
    points: float


def estimate_difficulties(tries: Iterable[ItemOutcome]) -> list[Estimate]:
    """Of every operation that was tried often enough, in the order of the table."""
    ratings = {name: float(row.points) for name, row in OPERATIONS.items()}
    learners: defaultdict[int, float] = defaultdict(lambda: START)
    count: Counter[str] = Counter()
    solved: Counter[str] = Counter()
    for item_outcome in tries:
        names = [name for name in dict.fromkeys(json.loads(item_outcome.operations)) if name in ratings]
        if not names:
            continue
        mean = sum(ratings[name] for name in names) / len(names)
        surprise = item_outcome.alone - 1 / (1 + 10 ** ((mean - learners[item_outcome.learner]) / SPREAD))
        learners[item_outcome.learner] += RATING_STEP * surprise
        for name in names:
            ratings[name] = min(MOST, max(LEAST, ratings[name] - RATING_STEP * surprise))
        count.update(names)
        solved.update(names if item_outcome.alone else ())
    return [
        Estimate(name, count[name], solved[name], row.points, round(ratings[name], 1))
        for name, row in OPERATIONS.items()
        if count[name] >= ENOUGH
    ]


def repriced_points(item: GeneratedItem, estimates: Iterable[Estimate]) -> float:
    """The points of *item*, as it was drawn, once those of its operations are what was *found*."""
    more = {estimate.name: estimate.points - estimate.before for estimate in estimates}
    return item.points + sum(more.get(name, 0.0) for name in item.operations)
