"""Meetings of learners with exercises: one row for each learner and place, whatever happened there."""

from dataclasses import dataclass

import numpy as np

from app.insight.histories import Bools, Columns, Floats, Histories, Ints, Tries, edition_at, group_starts
from app.store.progress import KEPT_ATTEMPTS

MOST_LEARNERS = 1 << 32
AWAY = 7 * 24 * 3600 * 1000
"""Who tried nothing for so long has gone away."""


@dataclass(frozen=True, slots=True, eq=False)
class Meetings(Columns):
    """A learner at a place: did they try it, were they right at *first* or at all, did they leave it unsolved?

    *waited* is the time before the first try, -1 where it is not known.
    """

    learner: Ints
    place: Ints
    edition: Ints
    tried: Bools
    first: Bools
    right: Bools
    left: Bools
    waited: Ints


def meetings_of(histories: Histories) -> Meetings:
    """Every learner at every place that they tried, solved or saw, by place and learner."""
    tries = histories.tries
    by_place = tries.take(np.lexsort((tries.number, tries.learner, tries.place)))
    starts = group_starts(by_place.place, by_place.learner)
    sizes = np.diff(starts, append=len(by_place))
    tried_keys = _key(by_place.place[starts], by_place.learner[starts])
    solved_keys = _key(histories.solved.place, histories.solved.learner)
    keys = np.unique(np.concatenate([tried_keys, solved_keys, _shown_keys(histories)]))
    place, learner = keys // MOST_LEARNERS, keys % MOST_LEARNERS
    tried_at, solved_at = np.searchsorted(keys, tried_keys), np.searchsorted(keys, solved_keys)
    met_at = seen = _visit_times(histories, place, learner)
    met_at = met_at.copy()
    met_at[solved_at] = histories.solved.at
    met_at[tried_at] = by_place.at[starts]
    tried, first, right, left = (np.zeros(len(keys), dtype=np.bool_) for _ in range(4))
    tried[tried_at] = True
    first[tried_at] = by_place.correct[starts] & (sizes < KEPT_ATTEMPTS)
    right[solved_at] = True
    if len(starts):
        right[tried_at] |= np.maximum.reduceat(by_place.correct, starts)
    edition = np.zeros(len(keys), dtype=np.int64)
    bounds = np.searchsorted(place, np.arange(len(histories.editions) + 1))
    for since, start, end in zip(histories.editions, bounds, bounds[1:], strict=False):
        edition[start:end] = edition_at(since, met_at[start:end])
    left[np.searchsorted(keys, _leaving_keys(histories))] = True
    waited = np.full(len(keys), -1)
    waited[tried_at] = _waits(histories, by_place.take(starts), seen[tried_at])
    return Meetings(learner, place, edition, tried, first, right, left, waited)


def other_shares(histories: Histories, meetings: Meetings) -> Floats:
    """For each meeting, the share of other exercises of its unit that the learner got right at first; else NaN."""
    unit = histories.units[meetings.place] if len(meetings) else meetings.place
    keys, group = np.unique(_key(unit, meetings.learner), return_inverse=True)
    tried = np.bincount(group, meetings.tried, len(keys))[group] - meetings.tried
    right = np.bincount(group, meetings.first, len(keys))[group] - meetings.first
    shares = np.full(len(meetings), np.nan)
    np.divide(right, tried, out=shares, where=tried > 0)
    return shares


def _key(place: Ints, learner: Ints) -> Ints:
    """A place (a lesson, a unit) and a learner as one number, in the order of both."""
    return place * MOST_LEARNERS + learner


def _shown_keys(histories: Histories) -> Ints:
    """Keys of all that stood on a page when it was opened."""
    visits, keys = histories.visits, []
    for number, since in enumerate(histories.editions):
        there = visits.lesson == histories.lessons[number]
        if since:
            there &= visits.at >= since[0]
        keys.append(number * MOST_LEARNERS + visits.learner[there])
    return np.concatenate(keys) if keys else np.zeros(0, dtype=np.int64)


def _visit_times(histories: Histories, place: Ints, learner: Ints) -> Ints:
    """Moments at which each learner opened the page of each place; -1 where that is not known."""
    visits = histories.visits
    times = np.full(len(place), -1)
    if len(visits) and len(place):
        visits = visits.take(np.lexsort((visits.learner, visits.lesson)))
        keys, wanted = _key(visits.lesson, visits.learner), _key(histories.lessons[place], learner)
        index = np.searchsorted(keys, wanted).clip(max=len(keys) - 1)
        known = keys[index] == wanted
        times[known] = visits.at[index[known]]
    return times


def _waits(histories: Histories, firsts: Tries, seen: Ints) -> Ints:
    """Time before each first try: since the page was opened, or since another try in its lesson, if that came later."""
    tries = histories.tries
    lesson = histories.lessons[tries.place] if len(tries) else tries.place
    order = np.lexsort((tries.number, lesson, tries.learner))
    number, learner, lesson, at = (column[order] for column in (tries.number, tries.learner, lesson, tries.at))
    before: Ints = np.full(len(order), -1)
    same = (learner[1:] == learner[:-1]) & (lesson[1:] == lesson[:-1])
    before[1:][same] = at[:-1][same]
    by_number = np.argsort(number)
    previous = before[by_number][np.searchsorted(number[by_number], firsts.number)]
    began = np.maximum(previous, np.where(seen <= firsts.at, seen, -1))
    return np.where(began >= 0, firsts.at - began, -1)


def _leaving_keys(histories: Histories) -> Ints:
    """Keys of places that a learner tried last, without success, before they stayed away."""
    tries = histories.tries
    last = np.append(tries.learner[1:] != tries.learner[:-1], True)[: len(tries)]
    following = np.append(tries.at[1:], histories.now)[: len(tries)]
    following[last] = histories.now
    away = (following - tries.at > AWAY) & ~tries.correct
    # Who had it right before came back to it, and did not leave it.
    order = np.lexsort((tries.number, tries.learner, tries.place))
    starts = group_starts(tries.place[order], tries.learner[order])
    solved = np.zeros(len(tries), dtype=np.bool_)
    if len(starts):
        right = tries.correct[order]
        so_far = np.cumsum(right)
        solved[order] = so_far > np.repeat(so_far[starts] - right[starts], np.diff(starts, append=len(order)))
    rows = away & ~solved
    return _key(tries.place[rows], tries.learner[rows])
