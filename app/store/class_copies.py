"""Assignments that a class takes over from an earlier one: of next term, or of a course that was copied."""

from collections import Counter
from collections.abc import Collection, Sequence
from datetime import date, datetime

from sqlalchemy import ColumnElement, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.store.assignments import assignments_of
from app.store.classes import ClassMember, find_class_member, record_event
from app.store.lti_scores import queue_assignment
from app.store.progress import SITTINGS
from app.store.sittings import copy_sitting
from app.store.tables import Assignment, Class, LtiContext
from app.teaching.dates import days_later, to_local

MAX_DAYS_LATER = 3660
COPIED = ("heading", "late_share", "points", "known_exercises_json")
DATES = ("opens_at", "due_at", "late_until", "solutions_at")


async def earlier_class(
    db: AsyncSession, context: LtiContext, contexts: Sequence[str], group: str, learner: int
) -> ClassMember | None:
    """The class of a course that *context* was copied from, if *learner* is its instructor: newest first.

    Args:
        contexts: The ids of earlier courses, as the platform tells them.
        group: The number of a class, as a link that was copied tells it; "" if it does not.
    """
    of_platform = LtiContext.platform_id == context.platform_id
    known: ColumnElement[bool] = LtiContext.context_id.in_(contexts)
    if group.isascii() and group.isdecimal() and len(group) < 10:
        known = known | (LtiContext.class_id == int(group))
    query = select(LtiContext.class_id).where(of_platform, known, LtiContext.class_id != context.class_id)
    for number in (await db.scalars(query.order_by(LtiContext.id.desc()))).all():
        member = await find_class_member(db, number, learner)
        if member is not None and member.is_at_least("instructor"):
            return member
    return None


async def take_over_assignments(
    db: AsyncSession, earlier: Class, into: Class, actor: int, days: int, *, left_out: Collection[str]
) -> int:
    """Give the class *into* the assignments of an *earlier* one, their dates *days* later; how many.

    What is assigned in both is one: what was linked already gets the dates, and where it is a whole lesson also the
    exercises that the earlier class was given of it. Lessons in *left_out* stay behind: a class has those of private
    units from the operator alone.
    """
    present = {_what_is_assigned(row): row for row in await assignments_of(db, into.id)}
    taken = [row for row in await assignments_of(db, earlier.id) if row.lesson not in left_out]
    times = Counter(row.lesson for row in taken)
    for row in taken:
        copy, is_sitting = present.get(_what_is_assigned(row)), row.lesson.startswith(SITTINGS)
        if copy is None and times[row.lesson] == 1:
            copy = present.get((row.lesson, None))
        if is_new := copy is None:
            copy = Assignment(class_id=into.id, lesson=row.lesson, exercises_json=row.exercises_json)
            db.add(copy)
        copy.exercises_json = row.exercises_json
        for name in COPIED:
            setattr(copy, name, getattr(row, name))
        for name in DATES:
            setattr(copy, name, _later(getattr(row, name), days, earlier.timezone))
        if is_new and is_sitting:
            await db.flush()
            await copy_sitting(db, row, copy)
    into.timezone = earlier.timezone
    await db.flush()
    await record_event(db, into.id, actor, "assignments-taken-over", earlier.id, count=len(taken), days=days)
    for row in await assignments_of(db, into.id):
        await queue_assignment(db, row.id)
    return len(taken)


def _what_is_assigned(row: Assignment) -> tuple[str | None, str | None]:
    """What two assignments are the same by: a sitting is drawn anew for each class, and known by its heading."""
    return (row.heading, SITTINGS) if row.lesson.startswith(SITTINGS) else (row.lesson, row.exercises_json)


async def first_day(db: AsyncSession, group: Class) -> date | None:
    """The first day on which something opens or is due in a class, by its clocks; None where nothing ever does."""
    rows = await assignments_of(db, group.id)
    moments = [moment for row in rows for moment in (row.opens_at, row.due_at) if moment is not None]
    return to_local(min(moments), group.timezone).date() if moments else None


def _later(moment: datetime | None, days: int, timezone: str) -> datetime | None:
    return days_later(moment, days, timezone) if moment is not None and days else moment
