"""What a class has to do, and until when each of its learners has time."""

import json
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from typing import NamedTuple

from sqlalchemy import delete, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.store.classes import HERE, RefusedError, record
from app.store.database import now
from app.store.tables import Accommodation, Assignment, Class, Excuse, Extension, Membership
from app.teaching.dates import days_later, written

EARLIEST, LATEST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
MOST_POINTS = 10_000
NEVER_DUE = "It is never due, so nobody needs more time."


class Deadline(NamedTuple):
    """Until when it counts in full, and until when in part; None without an end."""

    due: datetime | None
    late_until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Times:
    """What moves the dates of those who are *moved*: extensions by assignment and learner, extra days by learner."""

    timezone: str
    extensions: Mapping[tuple[int, int], Extension]
    extra_days: Mapping[int, int]
    moved: Set[int]

    def deadline(self, assignment: Assignment, learner: int) -> Deadline:
        """An extension, where there is one; else the date of all, so many days later by the clocks of the class."""
        if assignment.due_at is None:
            return Deadline(None)
        extension = self.extensions.get((assignment.id, learner))
        if extension is not None:
            return Deadline(extension.due_at, extension.late_until or assignment.late_until)
        days = self.extra_days.get(learner, 0)
        if not days:
            return Deadline(assignment.due_at, assignment.late_until)
        late = assignment.late_until
        return Deadline(
            days_later(assignment.due_at, days, self.timezone), late and days_later(late, days, self.timezone)
        )


async def times(db: AsyncSession, group: Class, learner: int | None = None) -> Times:
    """The times of a class, or those of one learner alone."""
    extensions = select(Extension).join(Assignment).where(Assignment.class_id == group.id)
    extra = select(Accommodation).where(Accommodation.class_id == group.id)
    if learner is not None:
        extensions = extensions.where(Extension.learner_id == learner)
        extra = extra.where(Accommodation.learner_id == learner)
    by_both = {(one.assignment_id, one.learner_id): one for one in await db.scalars(extensions)}
    days = {one.learner_id: one.extra_days for one in await db.scalars(extra) if one.extra_days}
    return Times(group.timezone, by_both, days, days.keys() | {learner for _, learner in by_both})


async def assignments_of(db: AsyncSession, group: int) -> Sequence[Assignment]:
    """What a class has to do, by date; what is never due comes last."""
    asked = select(Assignment).where(Assignment.class_id == group)
    rows = (await db.scalars(asked)).all()
    return sorted(rows, key=lambda one: (one.due_at is None, one.due_at or one.opens_at or LATEST, one.id))


def exercises_of(assignment: Assignment, known: Callable[[str], Sequence[str]]) -> Sequence[str]:
    """Which exercises of its lesson count, of those that are *known* of it."""
    of_lesson = known(assignment.lesson)
    if assignment.exercises is None:
        return of_lesson
    chosen = set(json.loads(assignment.exercises))
    return [one for one in of_lesson if one in chosen]


@dataclass(frozen=True, slots=True)
class Terms:
    """What can be set about an assignment; the fields are those of `Assignment`."""

    exercises: Sequence[str] | None
    opens_at: datetime | None
    due_at: datetime | None
    late_until: datetime | None
    late_share: float
    points: float
    solutions_at: datetime | None

    def fault(self) -> str:
        """What does not fit together; "" where all does."""
        if not 0 <= self.points <= MOST_POINTS:
            return f"Points are from 0 to {MOST_POINTS:,}."
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


async def assignment_in(db: AsyncSession, group: int, assignment: int) -> Assignment | None:
    found: Assignment | None = await db.scalar(
        select(Assignment).where(Assignment.id == assignment, Assignment.class_id == group)
    )
    return found


async def assign(db: AsyncSession, group: int, lesson: str, terms: Terms, actor: int | None) -> Assignment:
    """
    Raises:
        RefusedError: The terms do not fit together.
    """
    row = Assignment(class_id=group, lesson=lesson)
    _set(row, terms)
    db.add(row)
    await db.flush()
    await record(db, group, actor, "assigned", row.id, lesson=lesson, due=terms.due_at)
    return row


async def change_terms(db: AsyncSession, row: Assignment, terms: Terms, actor: int | None) -> None:
    """
    Raises:
        RefusedError: The terms do not fit together.
    """
    before = row.due_at
    _set(row, terms)
    await record(db, row.class_id, actor, "assignment-changed", row.id, before=before, due=terms.due_at)


def _set(row: Assignment, terms: Terms) -> None:
    if fault := terms.fault():
        raise RefusedError(fault)
    for one in fields(terms):
        setattr(row, one.name, getattr(terms, one.name))
    row.exercises = None if terms.exercises is None else json.dumps(list(terms.exercises))


async def take_back(db: AsyncSession, row: Assignment, actor: int | None) -> None:
    """The assignment, with its extensions; what was solved stays."""
    await record(db, row.class_id, actor, "assignment-gone", row.id, lesson=row.lesson)
    await db.delete(row)


async def extend(
    db: AsyncSession,
    group: Class,
    row: Assignment,
    more: Sequence[tuple[int, datetime | int]],
    reason: str,
    actor: int | None,
) -> None:
    """More time for each of these learners, until a moment or by so many days of the class's clocks.

    Raises:
        RefusedError: A new date is not after the one of all; nothing was changed.
    """
    if row.due_at is None:
        raise RefusedError(NEVER_DUE)
    for learner, until in more:
        due = days_later(row.due_at, until, group.timezone) if isinstance(until, int) else until
        if due <= row.due_at:
            raise RefusedError(
                f"{written(due, group.timezone)} is not after {written(row.due_at, group.timezone)}, when it is due "
                "for all. Choose a later date."
            )
        late = row.late_until
        late = days_later(late, until, group.timezone) if late and isinstance(until, int) else None
        await db.merge(
            Extension(
                assignment_id=row.id,
                learner_id=learner,
                due_at=due,
                late_until=late,
                reason=reason,
                by=actor,
                at=now(),
            )
        )
        await record(db, group.id, actor, "extended", learner, assignment=row.id, until=due)


async def shorten(db: AsyncSession, row: Assignment, learner: int, actor: int | None) -> None:
    """Take an extension back."""
    await db.execute(delete(Extension).where(Extension.assignment_id == row.id, Extension.learner_id == learner))
    await record(db, row.class_id, actor, "extension-gone", learner, assignment=row.id)


async def excuse(
    db: AsyncSession, row: Assignment, learner: int, points: float | None, reason: str, actor: int | None
) -> None:
    """Set the grade by hand: *points*, or None where it shall not count.

    Raises:
        RefusedError: There are not so many points.
    """
    if points is not None and not 0 <= points <= MOST_POINTS:
        raise RefusedError(f"A grade is from 0 to {MOST_POINTS:,} points.")
    await db.merge(Excuse(assignment_id=row.id, learner_id=learner, points=points, reason=reason, by=actor, at=now()))
    await record(db, row.class_id, actor, "excused", learner, assignment=row.id, points=points)


async def excuse_no_more(db: AsyncSession, row: Assignment, learner: int, actor: int | None) -> None:
    await db.execute(delete(Excuse).where(Excuse.assignment_id == row.id, Excuse.learner_id == learner))
    await record(db, row.class_id, actor, "excuse-gone", learner, assignment=row.id)


async def excuses_of(db: AsyncSession, row: Assignment) -> Sequence[Excuse]:
    return (await db.scalars(select(Excuse).where(Excuse.assignment_id == row.id))).all()


async def lessons_seen(db: AsyncSession, learner: int) -> frozenset[str] | None:
    """The private lessons that *learner* may see: what their classes were given, once it opens; None for all.

    An instructor sees all, to assign them; an assistant also what is not open yet.
    """
    asked = (
        select(Membership.role, Assignment.lesson, Assignment.opens_at)
        .outerjoin(Assignment, Assignment.class_id == Membership.class_id)
        .where(Membership.learner_id == learner, *HERE)
    )
    rows = (await db.execute(asked)).all()
    if any(role == "instructor" for role, *_ in rows):
        return None
    return frozenset(
        lesson for role, lesson, opens in rows if lesson and (role == "assistant" or opens is None or opens <= now())
    )


@dataclass(frozen=True, slots=True)
class Task:
    """What one learner has to do in a class, until when."""

    group: Class
    assignment: Assignment
    deadline: Deadline


async def tasks_of(db: AsyncSession, learner: int, lesson: str | None = None) -> list[Task]:
    """What *learner* has to do in the classes that go on, or in one *lesson* of them, what is due first at the top."""
    asked = (
        select(Class, Assignment)
        .join(Membership, Membership.class_id == Class.id)
        .join(Assignment, Assignment.class_id == Class.id)
        .where(Membership.learner_id == learner, Membership.role == "learner", Class.archived_at.is_(None), *HERE)
    )
    if lesson is not None:
        asked = asked.where(Assignment.lesson == lesson)
    rows = (await db.execute(asked)).all()
    time = {group.id: await times(db, group, learner) for group in {group for group, _ in rows}}
    found = [Task(group, one, time[group.id].deadline(one, learner)) for group, one in rows]
    return sorted(found, key=lambda one: (one.deadline.due or LATEST, one.assignment.id))


def solutions_open_at(tasks: Sequence[Task], exercise: str) -> Task | None:
    """The task that keeps the solution of *exercise* closed for the longest; None where it is open."""
    closing = [
        one
        for one in tasks
        if (one.assignment.solutions_at or EARLIEST) > now()
        and (one.assignment.exercises is None or exercise in json.loads(one.assignment.exercises))
    ]
    return max(closing, key=lambda one: one.assignment.solutions_at or EARLIEST, default=None)
