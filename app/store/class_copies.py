"""Assignments that a class takes over from an earlier one, of which its course was copied."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.store.assignments import assignments_of
from app.store.classes import ClassMember, find_class_member, record_event
from app.store.lti_scores import queue_assignment
from app.store.tables import Assignment, Class, LtiContext
from app.teaching.dates import days_later

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


async def take_over_assignments(db: AsyncSession, earlier: Class, into: Class, actor: int, days: int) -> int:
    """Give the class *into* the assignments of an *earlier* one, their dates *days* later; how many.

    What is assigned in both is one: what was linked already gets the dates.
    """
    present = {(row.lesson, row.exercises_json): row for row in await assignments_of(db, into.id)}
    taken = await assignments_of(db, earlier.id)
    for row in taken:
        copy = present.get((row.lesson, row.exercises_json))
        if copy is None:
            copy = Assignment(class_id=into.id, lesson=row.lesson, exercises_json=row.exercises_json)
            db.add(copy)
        for name in COPIED:
            setattr(copy, name, getattr(row, name))
        for name in DATES:
            setattr(copy, name, _later(getattr(row, name), days, earlier.timezone))
    into.timezone = earlier.timezone
    await db.flush()
    await record_event(db, into.id, actor, "assignments-taken-over", earlier.id, count=len(taken), days=days)
    for row in await assignments_of(db, into.id):
        await queue_assignment(db, row.id)
    return len(taken)


def _later(moment: datetime | None, days: int, timezone: str) -> datetime | None:
    return days_later(moment, days, timezone) if moment is not None and days else moment
