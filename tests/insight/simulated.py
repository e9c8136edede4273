"""Learners who never were: abilities, exercises of many difficulties, slips, hints; and faults that are planted."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, Literal

import numpy as np

from app.insight.histories import Histories, Openings, Solved, Tries, Visits, in_order

Fault = Literal["false key", "misleading hint", "twice as hard"]
MINUTE, WEEK = 60_000, 7 * 24 * 3600 * 1000
BEGAN = 1_790_000_000_000
LESSONS, EXERCISES = 10, 8
MOST_TRIES = 12
LEARNERS = 120
LEAVES_A_WEEK = 0.04


def columns_of(kind: Any, rows: Sequence[Sequence[int]]) -> Any:
    """The columns of a *kind* with these *rows*."""
    table = np.array(rows, dtype=np.int64).reshape(-1, len(fields(kind)))
    return kind(*(np.ascontiguousarray(column) for column in table.T))


def simulated(seed: int, faults: Mapping[int, Fault], learners: int = LEARNERS) -> Histories:
    """Five weeks of a class, two lessons a week; *faults* by place."""
    draw = random.Random(seed)
    places = LESSONS * EXERCISES
    # What is planted is in all else like its neighbours.
    hardness = [draw.gauss(0, 0.4) * (place not in faults) for place in range(places)]
    tries, openings, visits, solved = [], [], [], []
    for learner in range(learners):
        ability = draw.gauss(0.9, 0.8)
        for lesson in range(LESSONS):
            if draw.random() < LEAVES_A_WEEK / 2:
                break
            at = BEGAN + lesson * WEEK // 2 + draw.randrange(WEEK // 3)
            visits.append((learner, lesson, at))
            for place in range(lesson * EXERCISES, (lesson + 1) * EXERCISES):
                fault = faults.get(place)
                chance = _chance(ability - hardness[place])
                if fault == "twice as hard":
                    chance = max(0.0, 1 - 2.5 * (1 - chance))
                if fault == "false key":
                    chance = 0.15 + 0.5 * (1 - chance)  # who does not know it hits upon the key by luck
                hinted = misled = False
                for _ in range(MOST_TRIES):
                    at += int(draw.expovariate(1 / MINUTE)) + 5_000
                    right = draw.random() < (0.08 if misled else min(0.95, chance + 0.15 * hinted))
                    tries.append((at, learner, place, -1 if right else draw.choice((0, 0, 0, 1, 2))))
                    if right:
                        solved.append((learner, place, at))
                        break
                    misled = False
                    if not hinted and draw.random() < 0.4:
                        hinted, misled = True, fault == "misleading hint"
                        openings.append((learner, place, 1, at + 1_000))
                    chance = min(0.9, chance + 0.12)
    rows = [(number, *row[1:], row[0]) for number, row in enumerate(sorted(tries))]
    return Histories(
        lessons=np.repeat(np.arange(LESSONS), EXERCISES),
        units=np.repeat(np.arange(LESSONS) // 2, EXERCISES),
        editions=[() for _ in range(places)],
        tries=in_order(columns_of(Tries, rows)),
        openings=columns_of(Openings, openings),
        visits=columns_of(Visits, visits),
        solved=columns_of(Solved, solved),
        now=BEGAN + 6 * WEEK,
    )


def _chance(advantage: float) -> float:
    """Chance to be right at the first try."""
    return float(1 / (1 + np.exp(-advantage)))
