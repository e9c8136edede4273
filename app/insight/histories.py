"""Histories of many learners at the exercises of a course, as columns of numbers.

Moments are whole milliseconds. Learners, places (an exercise of a lesson) and mistakes are numbers from 0; what they
stand for is known to the caller.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Self

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]

SPAN = 1 << 42
"""More milliseconds than lie between any two moments."""
SOLUTION = 0
"""The opening of a solution; other openings are hints, from 1."""


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """Arrays of one length: a row of all of them is one thing that happened."""

    def take(self, index: Ints | Bools) -> Self:
        """The rows at *index*."""
        return type(self)(**{field.name: getattr(self, field.name)[index] for field in fields(self)})

    def __len__(self) -> int:
        column: Ints = getattr(self, fields(self)[0].name)
        return len(column)


@dataclass(frozen=True, slots=True, eq=False)
class Tries(Columns):
    """Tries that were judged; *number* is their order, *mistake* -1 where they were right."""

    number: Ints
    learner: Ints
    place: Ints
    mistake: Ints
    at: Ints

    @property
    def correct(self) -> Bools:
        return self.mistake < 0


@dataclass(frozen=True, slots=True, eq=False)
class Openings(Columns):
    """First openings of hints and solutions, by their number *hint*."""

    learner: Ints
    place: Ints
    hint: Ints
    at: Ints


@dataclass(frozen=True, slots=True, eq=False)
class Visits(Columns):
    """First times that learners opened the page of a lesson."""

    learner: Ints
    lesson: Ints
    at: Ints


@dataclass(frozen=True, slots=True, eq=False)
class Solved(Columns):
    """Exercises that count as solved, and since when."""

    learner: Ints
    place: Ints
    at: Ints


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Histories:
    """All that happened until *now*.

    Args:
        tries: As `in_order` gives them.
        lessons, units: The lesson and the unit of each place.
        editions: By place, since when each of its editions is served, ascending; () where that is not known.
    """

    lessons: Ints
    units: Ints
    editions: Sequence[Sequence[int]]
    tries: Tries
    openings: Openings
    visits: Visits
    solved: Solved
    now: int


def in_order(tries: Tries) -> Tries:
    """*tries* by learner and number; a clock that was set back stood still instead."""
    tries = tries.take(np.lexsort((tries.number, tries.learner)))
    if not len(tries):
        return tries
    rank = np.cumsum(np.diff(tries.learner, prepend=tries.learner[0]) != 0) * SPAN
    first = tries.at.min()
    steady = np.maximum.accumulate(tries.at - first + rank) - rank + first
    return Tries(tries.number, tries.learner, tries.place, tries.mistake, steady)


def group_starts(*keys: Ints) -> Ints:
    """Indices at which runs of rows begin that are alike in all *keys*."""
    changes = np.zeros(len(keys[0]), dtype=np.bool_)
    changes[:1] = True
    for key in keys:
        changes[1:] |= key[1:] != key[:-1]
    return np.flatnonzero(changes)


def edition_at(since: Sequence[int], at: Ints) -> Ints:
    """The edition that was served at each moment; the first one before it is known since when."""
    if len(since) < 2:
        return np.zeros(len(at), dtype=np.int64)
    return np.maximum(np.searchsorted(np.array(since), at, side="right") - 1, 0)
