"""Assignments that a class takes over from an earlier one: of next term, or of a course that was copied."""

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

    What is assigned in both is one: what was linked already gets the dates, and the exercises that the earlier class
    was given by the same link. Lessons in *left_out* stay behind: a class has those of private units from the operator
    alone.
    """
    present = await assignments_of(db, into.id)
    taken = [row for row in await assignments_of(db, earlier.id) if row.lesson not in left_out]
    for row in taken:
        copy, is_sitting = find_counterpart(row, present), row.lesson.startswith(SITTINGS)
        if is_new := copy is None:
            copy = Assignment(class_id=into.id, lesson=row.lesson, exercises_json=row.exercises_json)
            db.add(copy)
        copy.exercises_json = row.exercises_json
        copy.resource_id = row.resource_id or copy.resource_id
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


def find_counterpart(row: Assignment, present: Sequence[Assignment]) -> Assignment | None:
    """The assignment in *present* that is *row* in another class: that of the same link, or of the same exercises.

    A sitting is drawn anew for each class, and known by its heading.
    """
    if row.lesson.startswith(SITTINGS):
        return next(
            (item for item in present if (item.lesson[: len(SITTINGS)], item.heading) == (SITTINGS, row.heading)), None
        )
    if row.resource_id is not None:
        linked = next((item for item in present if item.resource_id == row.resource_id), None)
        if linked is not None:
            return linked
    same = [item for item in present if (item.lesson, item.exercises_json) == (row.lesson, row.exercises_json)]
    return next((item for item in same if None in (row.resource_id, item.resource_id)), None)


async def first_day(db: AsyncSession, group: Class) -> date | None:
    """The first day on which something opens or is due in a class, by its clocks; None where nothing ever does."""
    rows = await assignments_of(db, group.id)
    moments = [moment for row in rows for moment in (row.opens_at, row.due_at) if moment is not None]
    return to_local(min(moments), group.timezone).date() if moments else None


def _later(moment: datetime | None, days: int, timezone: str) -> datetime | None:
    return days_later(moment, days, timezone) if moment is not None and days else moment
