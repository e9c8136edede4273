"""Counts and medians of one exercise in one edition: how many tried, what went wrong, and what helped.

A learner belongs to the edition that they met first. Of those whose oldest tries are forgotten the first one was wrong:
a learner who is right at once does not try fifty times.
"""

from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from app.insight.histories import SOLUTION, SPAN, Bools, Floats, Histories, Ints, Openings, Tries, group_starts
from app.insight.people import Meetings, other_shares
from app.store.progress import KEPT_ATTEMPTS

PAUSE = 10 * 60 * 1000
"""A longer time between two tries is no work on the exercise."""
FEW_TRIES = 5
FAR, NEVER = 1 << 40, 1 << 60
MINUTE = 60_000
ALIKE = 1e-12
"""Shares that differ by less are the same, but for their rounding."""

T = TypeVar("T", Tries, Openings)


@dataclass(frozen=True, slots=True, kw_only=True)
class NextTries:
    """Counts of next tries: *left* no longer had the mistake, *right* had none."""

    tries: int = 0
    left: int = 0
    right: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class MistakeCounts:
    """A mistake by its number: who made it how often, and what came next."""

    mistake: int
    people: int
    tries: int
    after: NextTries


@dataclass(frozen=True, slots=True, kw_only=True)
class HintCounts:
    """A hint by its number: who opened it, and what came next. *number* 0 is the solution."""

    number: int
    people: int
    after: NextTries


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemCounts:
    """Numbers of one exercise in one edition; all but *tries* and *wrong* count people.

    Args:
        place, edition: Which exercise, and which of its editions, from 0.
        seen: Who opened its lesson or tried it.
        right: Who solved it at any time; *first* at the first try, *in_few* within five.
        after_hint, after_solution: Who was right only after a hint, or after the solution.
        left: Who went away from it unsolved, for a week at least.
        tries, wrong: How many tries are kept, and how many of them were wrong.
        median_tries, most_tries: Until right: half, and nine in ten, needed so many.
        work_minutes: Median time from the first try to the right one, of those who needed more than one.
        start_minutes: Median time from opening the page, or from the exercise before it, to the first try.
        discrimination: Correlation of being right at first with the share of other exercises of the unit; None where
            it has none. *compared* had others.
        unhelped: Tries after a wrong one without a hint between.
    """

    place: int
    edition: int
    seen: int
    tried: int
    right: int
    first: int
    in_few: int
    after_hint: int
    after_solution: int
    left: int
    tries: int
    wrong: int
    median_tries: float | None
    most_tries: float | None
    work_minutes: float | None
    start_minutes: float | None
    discrimination: float | None
    compared: int
    unhelped: NextTries
    hints: tuple[HintCounts, ...]
    mistakes: tuple[MistakeCounts, ...]


def count_items(histories: Histories, meetings: Meetings) -> list[ItemCounts]:
    """The numbers of every exercise and edition that a learner met, in the order of places."""
    order = np.lexsort((meetings.learner, meetings.edition, meetings.place))
    meetings = meetings.take(order)
    starts = group_starts(meetings.place, meetings.edition)
    others = other_shares(histories, meetings)
    tries = histories.tries.take(np.lexsort((histories.tries.number, histories.tries.learner, histories.tries.place)))
    openings = histories.openings.take(np.argsort(histories.openings.place, kind="stable"))
    counted = []
    for start, end in zip(starts, np.append(starts, len(meetings))[1:], strict=True):
        met = meetings.take(np.arange(start, end))
        place = int(met.place[0])
        own = _rows(tries.place, place)
        opened = _rows(openings.place, place)
        counted.append(
            _count_item(
                met,
                _of(tries.take(np.arange(*own)), met.learner),
                _of(openings.take(np.arange(*opened)), met.learner),
                others[start:end],
            )
        )
    return counted


def _rows(places: Ints, place: int) -> tuple[int, int]:
    return int(np.searchsorted(places, place)), int(np.searchsorted(places, place, side="right"))


def _of(rows: T, learners: Ints) -> T:
    return rows.take(np.isin(rows.learner, learners))


def _count_item(met: Meetings, tries: Tries, openings: Openings, others: Floats) -> ItemCounts:
    starts = group_starts(tries.learner)
    people, sizes = tries.learner[starts], np.diff(starts, append=len(tries))
    row = np.arange(len(tries)) - np.repeat(starts, sizes)
    # One forgotten try at least came before those that are kept.
    row += np.repeat(sizes >= KEPT_ATTEMPTS, sizes)
    until = _least(np.where(tries.correct, row, FAR), starts)
    ever = until < FAR
    right_at = _least(np.where(tries.correct, tries.at, NEVER), starts)
    gap = np.diff(tries.at, prepend=tries.at[:1])
    gap[starts] = 0
    gap[(gap > PAUSE) | (row > np.repeat(until, sizes))] = 0
    work = np.add.reduceat(gap, starts) if len(starts) else gap
    hinted, shown_solution = (
        _before(openings, openings.hint > SOLUTION, people, right_at),
        _before(openings, openings.hint == SOLUTION, people, right_at),
    )
    known = np.isfinite(others) & met.tried
    waited = met.waited[met.waited >= 0]
    return ItemCounts(
        place=int(met.place[0]),
        edition=int(met.edition[0]),
        seen=len(met),
        tried=int(met.tried.sum()),
        right=int(met.right.sum()),
        first=int(met.first.sum()),
        in_few=int((until < FEW_TRIES).sum()),
        after_hint=int((ever & hinted & ~shown_solution).sum()),
        after_solution=int((ever & shown_solution).sum()),
        left=int(met.left.sum()),
        tries=len(tries),
        wrong=int((~tries.correct).sum()),
        median_tries=_median(until[ever] + 1),
        most_tries=float(np.quantile(until[ever] + 1, 0.9, method="higher")) if ever.any() else None,
        work_minutes=_minutes(work[ever & (until > 0)]),
        start_minutes=_minutes(waited),
        discrimination=_correlation(met.first[known].astype(float), others[known]),
        compared=int(known.sum()),
        unhelped=_unhelped_next_tries(tries, openings),
        hints=_hints(tries, openings, people, right_at),
        mistakes=_mistakes(tries),
    )


def _least(values: Ints, starts: Ints) -> Ints:
    return np.minimum.reduceat(values, starts) if len(starts) else values


def _median(values: Ints) -> float | None:
    return float(np.median(values)) if len(values) else None


def _minutes(values: Ints) -> float | None:
    median = _median(values)
    return None if median is None else median / MINUTE


def _correlation(some: Floats, others: Floats) -> float | None:
    if len(some) < 2 or np.ptp(some) == 0 or np.ptp(others) < ALIKE:
        return None
    return float(np.corrcoef(some, others)[0, 1])


def _before(openings: Openings, kind: Bools, people: Ints, until: Ints) -> Bools:
    """For each of *people*, whether they opened something of that *kind* before a moment."""
    if not len(people) or not kind.any():
        return np.zeros(len(people), dtype=np.bool_)
    earliest = np.full(len(people), NEVER + 1)
    index = np.searchsorted(people, openings.learner[kind]).clip(max=len(people) - 1)
    known = people[index] == openings.learner[kind]
    np.minimum.at(earliest, index[known], openings.at[kind][known])
    return earliest < until


def _followed_rows(tries: Tries) -> Ints:
    """Rows of wrong tries that another one of the same learner follows."""
    return np.flatnonzero((tries.learner[1:] == tries.learner[:-1]) & ~tries.correct[:-1])


def _mistakes(tries: Tries) -> tuple[MistakeCounts, ...]:
    wrong = ~tries.correct
    numbers, counts = np.unique(tries.mistake[wrong], return_counts=True)
    pairs = np.unique(np.stack([tries.mistake[wrong], tries.learner[wrong]]), axis=1)
    rows = _followed_rows(tries)
    before, after = tries.mistake[rows], tries.mistake[rows + 1]
    mistakes = [
        MistakeCounts(
            mistake=int(mistake),
            people=int((pairs[0] == mistake).sum()),
            tries=int(count),
            after=NextTries(
                tries=int((before == mistake).sum()),
                left=int(((before == mistake) & (after != mistake)).sum()),
                right=int(((before == mistake) & (after < 0)).sum()),
            ),
        )
        for mistake, count in zip(numbers, counts, strict=True)
    ]
    return tuple(sorted(mistakes, key=lambda counts: (-counts.people, -counts.tries, counts.mistake)))


def _unhelped_next_tries(tries: Tries, openings: Openings) -> NextTries:
    """Next tries between which and the wrong one before nothing was opened.

    What was opened at the moment of a try was opened because of it.
    """
    rows = _followed_rows(tries)
    opened = np.sort(_moment_key(openings))
    moments = _moment_key(tries)
    rows = rows[np.searchsorted(opened, moments[rows]) == np.searchsorted(opened, moments[rows + 1])]
    right, left = tries.correct[rows + 1], tries.mistake[rows + 1] != tries.mistake[rows]
    return NextTries(tries=len(rows), left=int(left.sum()), right=int(right.sum()))


def _hints(tries: Tries, openings: Openings, people: Ints, right_at: Ints) -> tuple[HintCounts, ...]:
    """Each hint, with the first try after it of those who were not right before."""
    moments, hints = _moment_key(tries), []
    for number in np.unique(openings.hint):
        opened = openings.take(openings.hint == number)
        index = np.searchsorted(moments, _moment_key(opened), side="right")
        follows = index < len(tries)
        follows[follows] = tries.learner[index[follows]] == opened.learner[follows]
        index, learners = index[follows], opened.learner[follows]
        unsolved = right_at[np.searchsorted(people, learners)] > opened.at[follows]
        after = tries.correct[index[unsolved]]
        next_tries = NextTries(tries=len(after), right=int(after.sum()))
        hints.append(HintCounts(number=int(number), people=len(np.unique(opened.learner)), after=next_tries))
    return tuple(hints)


def _moment_key(rows: Tries | Openings) -> Ints:
    """Learner and moment as one number, in the order of both."""
    return rows.learner * SPAN + rows.at
