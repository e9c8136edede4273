"""Assignments of a class, and until when each of its learners has time."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from typing import NamedTuple, TypeVar

from sqlalchemy import delete, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.store.classes import HERE, RefusedError, record_event
from app.store.database import now
from app.store.lti_scores import queue_assignment
from app.store.progress import SITTINGS
from app.store.tables import Accommodation, Assignment, Class, Extension, GivenUnit, GradeOverride, Membership
from app.teaching.dates import days_later, format_moment

A = TypeVar("A", bound=Extension | GradeOverride)
EARLIEST, LATEST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
MOST_POINTS = 10_000
TWICE = "This lesson is assigned already, {due}: what is solved in it would count twice."
PAST = "It would be due {due}, and now it is {now}: nothing that is solved from here on would count in full."
NEVER_DUE = "It is never due, so nobody needs more time."


class Deadline(NamedTuple):
    """Until when it counts in full, and until when in part; None without an end."""

    due: datetime | None
    late_until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Times:
    """Extensions by assignment and learner, and extra days by learner: they move the dates of those who are *moved*."""

    timezone: str
    extensions: Mapping[tuple[int, int], Extension]
    extra_days: Mapping[int, int]
    moved: Set[int]

    def deadline(self, assignment: Assignment, learner: int) -> Deadline:
        """The date of all, moved by extra days and by an extension: of the two dates the later one counts."""
        due, late = assignment.due_at, assignment.late_until
        if due is None:
            return Deadline(None)
        # The window of a sitting is moved for one learner by hand, and never by days.
        if (days := self.extra_days.get(learner, 0)) and not assignment.lesson.startswith(SITTINGS):
            due, late = days_later(due, days, self.timezone), late and days_later(late, days, self.timezone)
        extension = self.extensions.get((assignment.id, learner))
        if extension is None:
            return Deadline(due, late)
        return Deadline(max(due, extension.due_at), last_of(late, extension.late_until))


def last_of(*moments: datetime | None) -> datetime | None:
    """The last of those that there are."""
    return max((moment for moment in moments if moment), default=None)


async def assignment_times(db: AsyncSession, group: Class, learner: int | None = None) -> Times:
    """The times of a class, or those of one learner alone."""
    extensions = select(Extension).join(Assignment).where(Assignment.class_id == group.id)
    extra = select(Accommodation).where(Accommodation.class_id == group.id)
    if learner is not None:
        extensions = extensions.where(Extension.learner_id == learner)
        extra = extra.where(Accommodation.learner_id == learner)
    by_both = {(extension.assignment_id, extension.learner_id): extension for extension in await db.scalars(extensions)}
    days = {
        accommodation.learner_id: accommodation.extra_days
        for accommodation in await db.scalars(extra)
        if accommodation.extra_days
    }
    return Times(group.timezone, by_both, days, days.keys() | {learner for _, learner in by_both})


async def assignments_of(db: AsyncSession, group: int) -> Sequence[Assignment]:
    """List the assignments of a class by due date; those that are never due come last."""
    query = select(Assignment).where(Assignment.class_id == group)
    rows = (await db.scalars(query)).all()
    return sorted(
        rows,
        key=lambda assignment: (
            assignment.due_at is None,
            assignment.due_at or assignment.opens_at or LATEST,
            assignment.id,
        ),
    )


def exercises_of(assignment: Assignment, known: Callable[[str], Sequence[str]]) -> Sequence[str]:
    """Which exercises of its lesson count, of those that are *known* of it."""
    of_lesson, chosen = known(assignment.lesson), exercises_chosen(assignment)
    return of_lesson if chosen is None else [name for name in of_lesson if name in chosen]


def exercises_chosen(assignment: Assignment) -> frozenset[str] | None:
    """The exercises of its lesson that alone count; None for all."""
    return None if assignment.exercises_json is None else frozenset(json.loads(assignment.exercises_json))


def counted_exercises(assignment: Assignment, known: Callable[[str], Sequence[str]]) -> tuple[Sequence[str], bool]:
    """The exercises that count, and whether the course has them still.

    Of a lesson that it has lost count those that were assigned: no points go because a file was renamed.
    """
    there = exercises_of(assignment, known)
    return (
        (there, True)
        if there
        else (json.loads(assignment.exercises_json or assignment.known_exercises_json or "[]"), False)
    )


@dataclass(frozen=True, slots=True)
class AssignmentSettings:
    """Settings of an assignment; the fields are those of `Assignment`, of which two are JSON there."""

    exercises: Sequence[str] | None
    opens_at: datetime | None
    due_at: datetime | None
    late_until: datetime | None
    late_share: float
    points: float
    solutions_at: datetime | None
    heading: str | None = None
    known_exercises: Sequence[str] | None = None

    def fault(self) -> str:
        """Say which settings contradict each other; "" if none do."""
        if not 0 <= self.points <= MOST_POINTS:
            return f"Points are from 0 to {MOST_POINTS}."
        if not 0 <= self.late_share <= 1:
            return "The late share is from 0 to 1."
        if self.exercises is not None and not self.exercises:
            return "Choose one exercise at least."
        if self.late_until and not self.due_at:
            return "Nothing is late without a date at which it is due."
        for before, after, what in (
            (self.opens_at, self.due_at, "It is due before it opens."),
            (self.due_at, self.late_until, "What is late would end before it is due."),
        ):
            if before and after and after <= before:
                return what
        return ""


@dataclass(frozen=True, slots=True)
class LostAssignment:
    """An assignment of a class that goes on, of whose *lesson* the course has nothing."""

    class_id: int
    class_name: str
    assignment_id: int
    lesson: str

    def __str__(self) -> str:
        return (
            f"The lesson {self.lesson!r} is assigned in class {self.class_id} ({self.class_name}), and the course has "
            "lost it. Its column keeps what was reached. Put the id back at the top of its file."
        )


async def lost_assignments(db: AsyncSession, known: Callable[[str], object]) -> list[LostAssignment]:
    """List assignments that the course has lost: *known* gives nothing for their lesson."""
    rows = await db.execute(
        select(Class.id, Class.name, Assignment.id, Assignment.lesson)
        .join(Assignment, Assignment.class_id == Class.id)
        .where(Class.archived_at.is_(None))
        .order_by(Class.id, Assignment.id)
    )
    return [LostAssignment(*row) for row in rows if not known(row.lesson)]


async def assignment_in(db: AsyncSession, group: int, assignment: int) -> Assignment | None:
    row: Assignment | None = await db.scalar(
        select(Assignment).where(Assignment.id == assignment, Assignment.class_id == group)
    )
    return row


async def assign_lesson(
    db: AsyncSession, group: int, lesson: str, terms: AssignmentSettings, actor: int | None
) -> Assignment:
    """
    Raises:
        RefusedError: The terms do not fit together.
    """
    row = Assignment(class_id=group, lesson=lesson)
    _apply_settings(row, terms)
    db.add(row)
    await db.flush()
    await record_event(db, group, actor, "assigned", row.id, lesson=lesson, due=terms.due_at)
    return row


async def assignment_doubts(db: AsyncSession, group: Class, lesson: str, terms: AssignmentSettings) -> list[str]:
    """List what looks like a slip in a new assignment, although it may be meant."""
    same = [assignment for assignment in await assignments_of(db, group.id) if assignment.lesson == lesson]
    twice = [TWICE.format(due=_due(same[0], group.timezone))] if same else []
    return [*twice, *date_doubts(group, terms)]


def date_doubts(group: Class, terms: AssignmentSettings, before: datetime | None = None) -> list[str]:
    """The same about its date, which was *before* another one, if any."""
    due = terms.due_at
    if due is None or due > now() or due == before:
        return []
    return [PAST.format(due=format_moment(due, group.timezone), now=format_moment(now(), group.timezone))]


def _due(row: Assignment, timezone: str) -> str:
    return f"due {format_moment(row.due_at, timezone)}" if row.due_at else "never due"


async def change_terms(db: AsyncSession, row: Assignment, terms: AssignmentSettings, actor: int | None) -> None:
    """
    Raises:
        RefusedError: The terms do not fit together.
    """
    before = row.due_at
    _apply_settings(row, terms)
    await record_event(db, row.class_id, actor, "assignment-changed", row.id, before=before, due=terms.due_at)
    await queue_assignment(db, row.id)


def _apply_settings(row: Assignment, terms: AssignmentSettings) -> None:
    if fault := terms.fault():
        raise RefusedError(fault)
    lists = ("exercises", "known_exercises")
    for field in fields(terms):
        if field.name not in lists:
            setattr(row, field.name, getattr(terms, field.name))
    for name in lists:
        names = getattr(terms, name)
        setattr(row, f"{name}_json", None if names is None else json.dumps(list(names)))


async def take_back(db: AsyncSession, row: Assignment, actor: int | None) -> None:
    """The assignment, with its extensions and what was graded by hand; what was solved stays."""
    await record_event(db, row.class_id, actor, "assignment-gone", row.id, lesson=row.lesson)
    await db.delete(row)


async def extend_due_date(
    db: AsyncSession,
    group: Class,
    row: Assignment,
    more: Sequence[tuple[int, datetime | int]],
    reason: str,
    actor: int | None,
) -> None:
    """More time for each of these learners, until a moment or by so many days of the class's clocks.

    Time is never taken away: who has longer already keeps it, where days are given, and late time of an extension
    before stays.

    Raises:
        RefusedError: A moment is not after the one until which they have time; nothing was changed.
    """
    if row.due_at is None:
        raise RefusedError(NEVER_DUE)
    time = await assignment_times(db, group)
    for learner, until in more:
        before = time.deadline(row, learner).due or row.due_at
        former = time.extensions.get((row.id, learner))
        late = former.late_until if former else None
        if isinstance(until, int):
            due = days_later(row.due_at, until, group.timezone)
            late = last_of(late, row.late_until and days_later(row.late_until, until, group.timezone))
            if due <= before:
                continue
        elif (due := until) <= before:
            raise RefusedError(_not_later(due, before, row.due_at, group.timezone))
        await db.merge(
            Extension(
                assignment_id=row.id,
                learner_id=learner,
                due_at=due,
                late_until=late,
                reason=reason,
                set_by=actor,
                set_at=now(),
            )
        )
        await record_event(db, group.id, actor, "extended", learner, assignment=row.id, until=due)
        await queue_assignment(db, row.id, learner)


def _not_later(due: datetime, before: datetime, for_all: datetime, timezone: str) -> str:
    whose = "when it is due for all" if before == for_all else "until when they have time already"
    return (
        f"{format_moment(due, timezone)} is not after {format_moment(before, timezone)}, {whose}. Choose a later date."
    )


async def withdraw_arrangement(
    db: AsyncSession, table: type[Extension | GradeOverride], row: Assignment, learner: int, actor: int | None
) -> None:
    """Take an extension back, or a grade that was set by hand."""
    event = "extension-gone" if table is Extension else "excuse-gone"
    await db.execute(delete(table).where(table.assignment_id == row.id, table.learner_id == learner))
    await record_event(db, row.class_id, actor, event, learner, assignment=row.id)
    await queue_assignment(db, row.id, learner)


async def override_grade(
    db: AsyncSession, row: Assignment, learner: int, points: float | None, reason: str, actor: int | None
) -> None:
    """Set the grade by hand: *points*, or None where it shall not count.

    Raises:
        RefusedError: There are not so many points.
    """
    if points is not None and not 0 <= points <= MOST_POINTS:
        raise RefusedError(f"A grade is from 0 to {MOST_POINTS} points.")
    await db.merge(
        GradeOverride(
            assignment_id=row.id, learner_id=learner, points=points, reason=reason, set_by=actor, set_at=now()
        )
    )
    await record_event(db, row.class_id, actor, "excused", learner, assignment=row.id, points=points)
    await queue_assignment(db, row.id, learner)


async def list_arrangements(db: AsyncSession, table: type[A], row: Assignment) -> Sequence[A]:
    """Extensions of an assignment, or the grades that were set by hand in it."""
    return (await db.scalars(select(table).where(table.assignment_id == row.id))).all()


async def lessons_seen(db: AsyncSession, learner: int, lessons_of: Callable[[str], Iterable[str]]) -> frozenset[str]:
    """The private lessons that *learner* may see: what their classes were assigned, once it opens.

    Instructors and assistants see it before, and instructors all lessons of a unit that the operator gave to a class of
    theirs, to assign them; *lessons_of* a unit are its lessons.
    """
    query = (
        select(Membership.role, Assignment.lesson, Assignment.opens_at)
        .join(Assignment, Assignment.class_id == Membership.class_id)
        .where(Membership.learner_id == learner, *HERE)
    )
    assigned = {
        lesson
        for role, lesson, opens in await db.execute(query)
        if role != "learner" or opens is None or opens <= now()
    }
    released = (
        select(GivenUnit.unit)
        .join(Membership, Membership.class_id == GivenUnit.class_id)
        .where(Membership.learner_id == learner, Membership.role == "instructor", *HERE)
    )
    return frozenset(assigned.union(*(lessons_of(unit) for unit in await db.scalars(released))))


async def units_given(db: AsyncSession, group: int) -> Sequence[str]:
    """The private units whose lessons a class may be assigned by its instructors."""
    return (await db.scalars(select(GivenUnit.unit).where(GivenUnit.class_id == group).order_by(GivenUnit.unit))).all()


async def give_unit(db: AsyncSession, group: int, unit: str, *, back: bool = False) -> None:
    """Let the instructors of a class see and assign a private unit, or not any more; what is assigned stays."""
    if back:
        await db.execute(delete(GivenUnit).where(GivenUnit.class_id == group, GivenUnit.unit == unit))
    else:
        await db.merge(GivenUnit(class_id=group, unit=unit))
    await record_event(db, group, None, "unit-taken-back" if back else "unit-given", unit)


@dataclass(frozen=True, slots=True)
class DueWork:
    """An assignment as one learner has it: the lesson, the exercises, and the date that holds for them."""

    group: Class
    assignment: Assignment
    deadline: Deadline


async def tasks_of(db: AsyncSession, learner: int, lesson: str | None = None) -> list[DueWork]:
    """List the due work of *learner* in the classes that go on, or in one *lesson* of them, the next due date first."""
    query = (
        select(Class, Assignment)
        .join(Membership, Membership.class_id == Class.id)
        .join(Assignment, Assignment.class_id == Class.id)
        .where(Membership.learner_id == learner, Membership.role == "learner", Class.archived_at.is_(None), *HERE)
    )
    if lesson is not None:
        query = query.where(Assignment.lesson == lesson)
    rows = (await db.execute(query)).all()
    time = {group.id: await assignment_times(db, group, learner) for group in {group for group, _ in rows}}
    due_works = [DueWork(group, assignment, time[group.id].deadline(assignment, learner)) for group, assignment in rows]
    return sorted(due_works, key=lambda due_work: (due_work.deadline.due or LATEST, due_work.assignment.id))


def solutions_open_at(tasks: Sequence[DueWork], exercise: str) -> DueWork | None:
    """The task that keeps the solution of *exercise* closed for the longest; None where it is open."""
    closing = [
        due_work
        for due_work in tasks
        if (due_work.assignment.solutions_at or EARLIEST) > now()
        and (due_work.assignment.exercises_json is None or exercise in json.loads(due_work.assignment.exercises_json))
    ]
    return max(closing, key=lambda due_work: due_work.assignment.solutions_at or EARLIEST, default=None)
