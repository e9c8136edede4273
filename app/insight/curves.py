"""Learning curves: how often a family of operations goes wrong at the first meeting, at the second, and so on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from app.content.blocks import Bug, Grad, Lesson
from app.insight.histories import Columns, Ints, group_starts
from app.practice.taught import family_at

MOST_MEETINGS = 10


@dataclass(frozen=True, slots=True, eq=False)
class FamilyMeetings(Columns):
    """Meetings of learners with families of operations; *slip* is what went wrong first, -1 where nothing did."""

    learner: Ints
    family: Ints
    at: Ints
    slip: Ints


@dataclass(frozen=True, slots=True, kw_only=True)
class CurvePoint:
    """So many *people* had an n-th meeting, and it went *wrong* for so many."""

    people: int
    wrong: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LearningCurve:
    """Points of a family from the first meeting on, and of each slip in it."""

    family: str
    points: tuple[CurvePoint, ...]
    slips: Mapping[str, tuple[CurvePoint, ...]]


def learning_curves(
    meetings: FamilyMeetings, families: Sequence[str], slips: Sequence[str], least: int
) -> tuple[LearningCurve, ...]:
    """The curve of each family, as far as at least *least* people came."""
    meetings = meetings.take(np.lexsort((meetings.at, meetings.learner, meetings.family)))
    starts = group_starts(meetings.family, meetings.learner)
    number = np.arange(len(meetings)) - np.repeat(starts, np.diff(starts, append=len(meetings)))
    meetings, number = meetings.take(number < MOST_MEETINGS), number[number < MOST_MEETINGS]
    curves = []
    for family in np.unique(meetings.family):
        rows = meetings.family == family
        people = np.bincount(number[rows], minlength=MOST_MEETINGS)
        length = int((people >= least).sum())
        if length:
            slip_numbers, nth = meetings.slip[rows], number[rows]
            by_slip = {
                slips[slip]: _points(people, nth[slip_numbers == slip], length)
                for slip in np.unique(slip_numbers[slip_numbers >= 0])
                if (slip_numbers == slip).sum() >= least
            }
            curves.append(
                LearningCurve(
                    family=families[family], points=_points(people, nth[slip_numbers >= 0], length), slips=by_slip
                )
            )
    return tuple(curves)


def _points(people: Ints, wrong: Ints, length: int) -> tuple[CurvePoint, ...]:
    counts = np.bincount(wrong, minlength=MOST_MEETINGS)
    return tuple(CurvePoint(people=int(people[n]), wrong=int(counts[n])) for n in range(length))


def families_met(lesson: Lesson, exercise: str) -> tuple[str, ...]:
    """Families of operations whose gradients a box asks for."""
    box = lesson.named.get(exercise)
    forward = lesson.forwards.get(box.forward) if isinstance(box, Grad | Bug) else None
    if forward is None or not isinstance(box, Grad | Bug):
        return ()
    families = (family_at(forward, name.removeprefix("d"), "") for name in box.require)
    return tuple(dict.fromkeys(family for family in families if family))


def family_of_code(lesson: Lesson, exercise: str, code: str, slip: str) -> str | None:
    """Family of operations that the gradient in a diagnosis *code* comes back through."""
    box = lesson.named.get(exercise)
    forward = lesson.forwards.get(box.forward) if isinstance(box, Grad | Bug) else None
    return family_at(forward, code.partition(":")[0].removeprefix("d"), slip) if forward else None
