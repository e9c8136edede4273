"""Grades, computed for each request: only points that an instructor set by hand are stored.

One rule. Of the points of an assignment counts the share of its exercises that were solved until they were due; those
solved later, as long as that is allowed, count for a part. A regrade after a lesson was mended is the same question
again.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, NamedTuple

from sqlalchemy import and_, func, or_, select, tuple_
from sqlalchemy.ext.asyncio import AsyncSession

from app.store.assignments import LATEST, Deadline, Times, assignment_times, assignments_of, counted_exercises
from app.store.classes import list_members
from app.store.database import now
from app.store.former_members import counts_of, deadlines_of, former_members, overrides_of
from app.store.sitting_results import list_ungraded
from app.store.tables import Assignment, Class, FormerMember, GradeOverride, Membership, Progress
from app.teaching.dates import to_local

NONE_SOLVED = (0, 0)
Exercises = Callable[[str], Sequence[str]]
"""The exercises of a lesson by its name; none where there is no such lesson."""


State = Literal["counted", "by-hand", "excused", "open", "absent", "unknown"]
"""`open` is not due yet, and nothing was done; `absent` is a seat that nobody took; of what is `unknown` the course has
lost the exercises, and no list of them was kept."""


class Grade(NamedTuple):
    """Grade of one learner for one assignment.

    *points* are None where it does not count for them, or not yet: see *state*. Of *total* exercises so many were
    solved *in time*, and so many *late*. *override* is what was set by hand, if anything.
    """

    points: float | None
    in_time: int
    late: int
    total: int
    deadline: Deadline
    override: GradeOverride | None
    state: State


@dataclass(frozen=True, slots=True)
class GradebookRow:
    """One learner's grades, in the order of the assignments; *points* of the *possible* ones in all.

    Who *left_at* some moment, by the clocks of the class, is no member any more: of the person, there are name, id and
    label.
    """

    person: Membership
    grades: tuple[Grade, ...]
    points: float
    possible: float
    left_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Gradebook:
    """The course has lost the lessons of the assignments in *gone*, by their ids."""

    assignments: tuple[Assignment, ...]
    rows: tuple[GradebookRow, ...]
    gone: frozenset[int] = frozenset()


async def build_gradebook(
    db: AsyncSession, group: Class, exercises: Exercises, learner: int | None = None, moment: datetime | None = None
) -> Gradebook:
    """The grades of all learners of a class, by name, then of those who left; or those of one *learner*, as of *at*."""
    moment = moment or now()
    everybody = await list_members(db, group.id)
    shown = [
        membership
        for membership in everybody
        if membership.role == "learner" and learner in (None, membership.learner_id)
    ]
    assignment_rows = [
        _AssignmentRow(assignment, counted_exercises(assignment, exercises))
        for assignment in await assignments_of(db, group.id)
    ]
    time = await assignment_times(db, group, learner)
    set_by_hand = select(GradeOverride).join(Assignment).where(Assignment.class_id == group.id)
    overrides = {
        (grade_override.assignment_id, grade_override.learner_id): grade_override
        for grade_override in await db.scalars(set_by_hand)
    }
    solved = await _solved_counts(db, group.id, assignment_rows, time, learner)
    ungraded = await list_ungraded(db, group.id)
    rows = []
    for person in shown:
        who, joined = person.learner_id, person.joined_at is not None
        grades = tuple(
            grade(
                assignment_row,
                solved.get((who, assignment_row.id), NONE_SOLVED),
                _deadline(assignment_row, time, who, ungraded),
                overrides.get((assignment_row.id, who)),
                moment if joined else None,
            )
            for assignment_row in assignment_rows
        )
        rows.append(_row(person, assignment_rows, grades))
    if learner is None:
        rows += [_former_row(former, assignment_rows, group.timezone) for former in await former_members(db, group.id)]
    gone = frozenset(assignment_row.id for assignment_row in assignment_rows if not assignment_row.there)
    return Gradebook(tuple(assignment_row.assignment for assignment_row in assignment_rows), tuple(rows), gone)


def _deadline(assignment_row: "_AssignmentRow", time: Times, learner: int, ungraded: Set[tuple[int, int]]) -> Deadline:
    if (assignment_row.id, learner) in ungraded:
        return Deadline(None)
    return time.deadline(assignment_row.assignment, learner) if learner in time.moved else assignment_row.deadline


class _AssignmentRow:
    """One assignment with what is read of it for every learner: to ask the row itself takes longer than to count."""

    def __init__(self, assignment: Assignment, counted: tuple[Sequence[str], bool]) -> None:
        self.assignment, self.exercises, self.there = assignment, frozenset(counted[0]), counted[1]
        self.deadline = Deadline(assignment.due_at, assignment.late_until)
        self.id, self.points, self.late_share = assignment.id, assignment.points, assignment.late_share
        self.total = len(self.exercises)


def grade(
    assignment_row: _AssignmentRow,
    solved: Sequence[int],
    deadline: Deadline,
    override: GradeOverride | None,
    moment: datetime | None,
) -> Grade:
    """Compute a grade from how many exercises were *solved* in time, and late; *moment* is None for an empty seat.

    Who did nothing has no points until it is due, and then none of them: an empty cell is no zero.
    """
    in_time, late = solved
    state = _state(assignment_row, in_time + late, deadline.due, override, moment)
    points = override.points if override else None
    if state == "counted":
        points = assignment_row.points * (in_time + late * assignment_row.late_share) / assignment_row.total
    return Grade(points, in_time, late, assignment_row.total, deadline, override, state)


def _state(
    assignment_row: _AssignmentRow,
    done: int,
    due: datetime | None,
    override: GradeOverride | None,
    moment: datetime | None,
) -> State:
    if override is not None:
        return "excused" if override.points is None else "by-hand"
    if moment is None:
        return "absent"
    if not assignment_row.total:
        return "unknown"
    return "counted" if done or (due is not None and due < moment) else "open"


def _row(
    person: Membership,
    assignment_rows: Sequence[_AssignmentRow],
    grades: tuple[Grade, ...],
    left_at: datetime | None = None,
) -> GradebookRow:
    counts = [
        (assignment_row.points, got.points)
        for assignment_row, got in zip(assignment_rows, grades, strict=True)
        if got.points is not None
    ]
    return GradebookRow(person, grades, sum(got for _, got in counts), sum(most for most, _ in counts), left_at)


def _former_row(former: FormerMember, assignment_rows: Sequence[_AssignmentRow], timezone: str) -> GradebookRow:
    counts = counts_of(former, {assignment_row.id: assignment_row.exercises for assignment_row in assignment_rows})
    overrides, deadlines = overrides_of(former), deadlines_of(former)
    # As it was then: what was due later is no zero of theirs, but for a sitting that they had begun.
    grades = tuple(
        grade(
            assignment_row,
            counts.get(assignment_row.id, NONE_SOLVED),
            deadlines.get(assignment_row.id, assignment_row.deadline),
            overrides.get(assignment_row.id),
            LATEST if assignment_row.id in counts else former.left_at,
        )
        for assignment_row in assignment_rows
    )
    person = Membership(
        class_id=former.class_id, learner_id=former.learner_id, role="learner", name=former.name,
        external_id=former.external_id, label=former.label, joined_at=former.left_at, left_at=former.left_at,
    )  # fmt: skip
    return _row(person, assignment_rows, grades, to_local(former.left_at, timezone))


async def _solved_counts(
    db: AsyncSession, group: int, assignment_rows: Sequence[_AssignmentRow], time: Times, learner: int | None
) -> Mapping[tuple[int, int], Sequence[int]]:
    """Count the exercises solved in time and late, by learner and assignment."""
    counted = await _counts_by_own_dates(db, group, assignment_rows, learner)
    return {**counted, **await _counted_for(db, assignment_rows, time, learner)} if time.moved else counted


async def _counts_by_own_dates(
    db: AsyncSession, group: int, assignment_rows: Sequence[_AssignmentRow], learner: int | None
) -> Mapping[tuple[int, int], Sequence[int]]:
    """By the assignments' own dates. The database counts: a row for each exercise is three times what is needed."""
    # Of the tables and not of their classes, which would look at every row once more.
    rows, members, assignments = Progress.__table__.c, Membership.__table__.c, Assignment.__table__.c
    in_time = or_(assignments.due_at.is_(None), rows.solved_at <= assignments.due_at)
    late = and_(rows.solved_at > assignments.due_at, rows.solved_at <= assignments.late_until)
    wanted = [(assignment_row.id, name) for assignment_row in assignment_rows for name in assignment_row.exercises]
    counted = (
        select(rows.learner_id, assignments.id, func.count().filter(in_time), func.count().filter(late))
        .where(rows.learner_id == members.learner_id, members.class_id == group)
        .where(
            rows.lesson == assignments.lesson,
            tuple_(assignments.id, rows.exercise).in_(wanted),
            rows.solved_at.is_not(None),
        )
        .group_by(rows.learner_id, assignments.id)
    )
    if learner is not None:
        counted = counted.where(rows.learner_id == learner)
    return {(who, which): (early, after) for who, which, early, after in await db.execute(counted)}


async def _counted_for(
    db: AsyncSession, assignment_rows: Sequence[_AssignmentRow], time: Times, learner: int | None
) -> Mapping[tuple[int, int], Sequence[int]]:
    """By the dates of those who have more time than others."""
    rows = Progress.__table__.c
    whose = time.moved if learner is None else time.moved & {learner}
    solved = select(rows.learner_id, rows.lesson, rows.exercise, rows.solved_at).where(
        rows.learner_id.in_(whose), rows.solved_at.is_not(None)
    )
    about: dict[tuple[str, str], list[_AssignmentRow]] = defaultdict(list)
    for assignment_row in assignment_rows:
        for name in assignment_row.exercises:
            about[assignment_row.assignment.lesson, name].append(assignment_row)
    counts: dict[tuple[int, int], list[int]] = defaultdict(lambda: [0, 0])
    for who, lesson, exercise, solved_at in await db.execute(solved):
        for assignment_row in about.get((lesson, exercise), ()):
            due, late_until = time.deadline(assignment_row.assignment, who)
            if due is None or solved_at <= due:
                counts[who, assignment_row.id][0] += 1
            elif late_until is not None and solved_at <= late_until:
                counts[who, assignment_row.id][1] += 1
    return counts
