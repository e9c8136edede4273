"""Numbers of exercises: the same as counted learner by learner, whatever the history was."""

import random
from collections import defaultdict
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median

import numpy as np
import pytest

from app.insight.histories import Histories, Openings, Solved, Tries, Visits, in_order
from app.insight.item_counts import HintCounts, ItemCounts, MistakeCounts, NextTries, count_items
from app.insight.people import AWAY, meetings_of
from tests.insight.simulated import columns_of

MINUTE = 60_000
BEGAN = 1_790_000_000_000
LESSONS, UNITS = (0, 0, 0, 1, 1), (0, 0, 0, 0, 1)
"""Of five places."""


@dataclass
class Rows:
    """Rows as a database has them, in the order in which they came."""

    tries: list[tuple[int, int, int, int, int]]
    openings: list[tuple[int, int, int, int]]
    visits: list[tuple[int, int, int]]
    solved: list[tuple[int, int, int]]
    editions: list[list[int]]
    now: int


def random_rows(seed: int) -> Rows:
    draw = random.Random(seed)
    learners = draw.randint(0, 9)
    rows = Rows([], [], [], [], [], 0)
    at, place = BEGAN, draw.randrange(5)
    for number in range(draw.choice((0, 3, 40, 160))):
        at += draw.choice((0, 1, 5_000, MINUTE, 10 * MINUTE, 11 * MINUTE, AWAY, AWAY + 1, -5 * MINUTE))
        place = place if draw.random() < 0.6 else draw.randrange(5)
        if learners:
            mistake = draw.choice((-1, -1, 0, 1, 2))
            rows.tries.append((number * 2 + 1, draw.randrange(learners), place, mistake, at))
    if learners and draw.random() < 0.2:
        rows.tries += [(1000 + count, 0, 1, draw.choice((-1, 0)), at + count) for count in range(draw.randint(48, 52))]
    moments = [row[4] for row in rows.tries] or [BEGAN]
    for learner in range(learners):
        for place in range(5):
            if draw.random() < 0.2:
                rows.solved.append((learner, place, draw.choice(moments)))
            for hint in range(draw.choice((0, 0, 1, 3))):
                rows.openings.append((learner, place, hint, draw.choice(moments) + draw.choice((-1, 0, 1, MINUTE))))
        rows.visits += [(learner, lesson, draw.choice(moments) - MINUTE) for lesson in (0, 1) if draw.random() < 0.6]
    for _ in range(5):
        rows.editions.append(sorted({draw.choice(moments) for _ in range(draw.randrange(3))}))
    rows.now = max(moments) + draw.choice((0, AWAY + 1))
    return rows


def histories_of(rows: Rows) -> Histories:
    return Histories(
        lessons=np.array(LESSONS),
        units=np.array(UNITS),
        editions=rows.editions,
        tries=in_order(columns_of(Tries, rows.tries)),
        openings=columns_of(Openings, rows.openings),
        visits=columns_of(Visits, rows.visits),
        solved=columns_of(Solved, rows.solved),
        now=rows.now,
    )


def plainly_counted(rows: Rows) -> dict[tuple[int, int], ItemCounts]:
    """By place and edition, counted learner by learner."""
    by_learner = defaultdict(list)
    for _, learner, place, mistake, at in sorted(rows.tries):
        own = by_learner[learner]
        own.append((place, mistake, max(at, own[-1][2]) if own else at))
    people = {}
    for learner in range(10):
        for place in range(5):
            person = Person(rows, learner, place, by_learner[learner])
            if person.met is not None:
                people[learner, place] = person
    items = defaultdict(list)
    for (_, place), person in people.items():
        items[place, person.edition].append(person)
    return {key: plain_item(*key, group, people) for key, group in items.items()}


class Person:
    """One learner at one place."""

    def __init__(self, rows: Rows, learner: int, place: int, tries: list[tuple[int, int, int]]) -> None:
        self.learner, self.place = learner, place
        own = [(index, mistake, at) for index, (where, mistake, at) in enumerate(tries) if where == place]
        self.mistakes, self.times = [row[1] for row in own], [row[2] for row in own]
        visit = {lesson: at for who, lesson, at in rows.visits if who == learner}.get(LESSONS[place])
        solved = {where: at for who, where, at in rows.solved if who == learner}.get(place)
        since = rows.editions[place]
        seen = visit is not None and (not since or visit >= since[0])
        self.met = self.times[0] if own else solved if solved is not None else visit if seen else None
        self.edition = max(sum(start <= (self.met or 0) for start in since) - 1, 0) if since else 0
        self.lost = int(len(own) >= 50)
        rights = [index for index, mistake in enumerate(self.mistakes) if mistake < 0]
        self.until = rights[0] if rights else None
        self.first = self.until == 0 and not self.lost
        self.right = solved is not None or self.until is not None
        self.opened = [(hint, at) for who, where, hint, at in rows.openings if (who, where) == (learner, place)]
        self.left = False
        for index, mistake, at in own:
            after = tries[index + 1][2] if index + 1 < len(tries) else rows.now
            unsolved = not any(m < 0 for i, m, _ in own if i < index)
            self.left |= mistake >= 0 and unsolved and after - at > AWAY
        self.waited = None
        if own:
            before = [at for where, _, at in tries[: own[0][0]] if LESSONS[where] == LESSONS[place]]
            starts = before[-1:] + ([visit] if visit is not None and visit <= self.times[0] else [])
            self.waited = self.times[0] - max(starts) if starts else None

    def opened_before(self, solution: bool) -> bool:
        return any((hint == 0) == solution and at < self.times[self.until] for hint, at in self.opened)


def plain_item(place: int, edition: int, group: list[Person], people: dict[tuple[int, int], Person]) -> ItemCounts:
    tried = [one for one in group if one.times]
    solved = [one for one in tried if one.until is not None]
    needed = [one.until + one.lost + 1 for one in solved]
    work = []
    for one in solved:
        if one.until + one.lost > 0:
            gaps = [b - a for a, b in zip(one.times[: one.until], one.times[1 : one.until + 1], strict=True)]
            work.append(sum(gap for gap in gaps if gap <= 10 * MINUTE))
    pairs = []
    for one in tried:
        others = [
            other
            for (who, where), other in people.items()
            if who == one.learner and where != place and UNITS[where] == UNITS[place] and other.times
        ]
        if others:
            pairs.append((float(one.first), sum(other.first for other in others) / len(others)))
    varied = len({a for a, _ in pairs}) > 1 and len({round(b, 9) for _, b in pairs}) > 1
    waits = [one.waited for one in tried if one.waited is not None]
    return ItemCounts(
        place=place,
        edition=edition,
        seen=len(group),
        tried=len(tried),
        right=sum(one.right for one in group),
        first=sum(one.first for one in tried),
        in_few=sum(one.until + one.lost < 5 for one in solved),
        after_hint=sum(one.opened_before(False) and not one.opened_before(True) for one in solved),
        after_solution=sum(one.opened_before(True) for one in solved),
        left=sum(one.left for one in group),
        tries=sum(len(one.times) for one in tried),
        wrong=sum(mistake >= 0 for one in tried for mistake in one.mistakes),
        median_tries=median(needed) if needed else None,
        most_tries=sorted(needed)[int(np.ceil(0.9 * (len(needed) - 1)))] if needed else None,
        work_minutes=median(work) / MINUTE if work else None,
        start_minutes=median(waits) / MINUTE if waits else None,
        discrimination=float(np.corrcoef(np.array(pairs).T)[0, 1]) if varied else None,
        compared=len(pairs),
        unhelped=plain_unhelped(tried),
        hints=plain_hints(group),
        mistakes=plain_mistakes(tried),
    )


def plain_unhelped(tried: list[Person]) -> NextTries:
    steps = []
    for one in tried:
        rows = list(zip(one.mistakes, one.times, strict=True))
        for (mistake, at), (following, later) in pairwise(rows):
            if mistake >= 0 and not any(at <= moment < later for _, moment in one.opened):
                steps.append((mistake, following))
    return NextTries(tries=len(steps), left=sum(a != b for a, b in steps), right=sum(b < 0 for _, b in steps))


def plain_hints(group: list[Person]) -> tuple[HintCounts, ...]:
    found = []
    for number in sorted({hint for one in group for hint, _ in one.opened}):
        after = []
        openers = [(one, at) for one in group for hint, at in one.opened if hint == number]
        for one, at in openers:
            if one.until is None or one.times[one.until] > at:
                later = [mistake for mistake, when in zip(one.mistakes, one.times, strict=True) if when > at]
                after += [later[0] < 0] if later else []
        next_tries = NextTries(tries=len(after), right=sum(after))
        found.append(HintCounts(number=number, people=len(openers), after=next_tries))
    return tuple(found)


def plain_mistakes(tried: list[Person]) -> tuple[MistakeCounts, ...]:
    found = []
    for mistake in {item for one in tried for item in one.mistakes if item >= 0}:
        after = [b for one in tried for a, b in zip(one.mistakes, one.mistakes[1:], strict=False) if a == mistake]
        found.append(
            MistakeCounts(
                mistake=mistake,
                people=sum(mistake in one.mistakes for one in tried),
                tries=sum(one.mistakes.count(mistake) for one in tried),
                after=NextTries(
                    tries=len(after), left=sum(b != mistake for b in after), right=sum(b < 0 for b in after)
                ),
            )
        )
    return tuple(sorted(found, key=lambda one: (-one.people, -one.tries, one.mistake)))


def compared(seed: int) -> None:
    rows = random_rows(seed)
    histories = histories_of(rows)

    found = {(item.place, item.edition): item for item in count_items(histories, meetings_of(histories))}
    plain = plainly_counted(rows)

    assert set(found) == set(plain)
    for key, item in found.items():
        wanted = plain[key]
        if item.discrimination is not None and wanted.discrimination is not None:
            assert item.discrimination == pytest.approx(wanted.discrimination, abs=1e-9)
            item = replace(item, discrimination=wanted.discrimination)
        assert item == wanted, (seed, key)


@pytest.mark.parametrize("seeds", [range(start, start + 20) for start in (0, 20, 40)], ids=str)
def test_numbers_are_those_of_a_plain_count(seeds: range) -> None:
    for seed in seeds:
        compared(seed)


@pytest.mark.prove
def test_numbers_are_those_of_a_plain_count_on_a_thousand_histories() -> None:
    for seed in range(60, 1060):
        compared(seed)
