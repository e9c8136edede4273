"""Courses of platforms and the class that each belongs to: another one than its first launch made, where it is told."""

from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from app.lti.enrolment import become_member
from app.store.assignments import assignments_of
from app.store.class_copies import find_counterpart
from app.store.classes import HERE, ROLES, RefusedError, record_event
from app.store.database import now
from app.store.lti_scores import queue_assignment
from app.store.tables import Assignment, Class, LtiContext, LtiLineItem, LtiMember, LtiPlatform, Membership

SAME_CLASS = "The course {course!r} of {platform} belongs to class {group} already."
ARCHIVED = "Class {group} has ended: nobody comes into it."


async def list_courses(db: AsyncSession) -> Sequence[tuple[LtiContext, Class]]:
    """Courses that have a class, by platform."""
    query = select(LtiContext, Class).join(Class, Class.id == LtiContext.class_id)
    rows = await db.execute(query.order_by(LtiContext.platform_id, LtiContext.id))
    return [(context, group) for context, group in rows]


async def set_class(db: AsyncSession, platform: LtiPlatform, course: str, group: Class) -> int | None:
    """Let the *course* of a platform, by its id there, belong to the class *group*: the next launch leads to it.

    Who came from the course becomes a member, with the role of their newest launch; columns of the same assignments
    go along. What is in the class that the course had before stays there.

    Returns:
        The number of that class; None if the course had none.

    Raises:
        RefusedError: It is this class already, or one that has ended.
    """
    if group.archived_at is not None:
        raise RefusedError(ARCHIVED.format(group=group.id))
    same = (LtiContext.platform_id == platform.id, LtiContext.context_id == course)
    context = await db.scalar(select(LtiContext).where(*same).with_for_update())
    before = context.class_id if context is not None else None
    if before == group.id:
        raise RefusedError(SAME_CLASS.format(course=course, platform=platform.name, group=group.id))
    if context is None:
        context = LtiContext(platform_id=platform.id, context_id=course, title="", launched_at=now())
        db.add(context)
    context.class_id, context.roster_read_at = group.id, None
    await db.flush()
    if before is not None:
        await _bring_people(db, context, before, group)
        await _bring_columns(db, context, group)
    await record_event(db, group.id, None, "course-tied", course, platform=platform.id, before=before)
    return before


async def _bring_people(db: AsyncSession, context: LtiContext, before: int, group: Class) -> None:
    there = (Membership.learner_id == LtiMember.learner_id) & (Membership.class_id == before)
    query = select(LtiMember, Membership.name).join(Membership, there)
    for member, name in (await db.execute(query.where(LtiMember.lti_context_id == context.id, *HERE))).all():
        (role,) = (role for role in ROLES if role == member.role)
        await become_member(db, group, member.learner_id, role, name)


async def _bring_columns(db: AsyncSession, context: LtiContext, group: Class) -> None:
    """Of what the new class was not given the columns are forgotten: the next launch of their links names them."""
    present = await assignments_of(db, group.id)
    query = select(LtiLineItem, Assignment).join(Assignment, Assignment.id == LtiLineItem.assignment_id)
    for item, assignment in (await db.execute(query.where(LtiLineItem.lti_context_id == context.id))).all():
        counterpart = find_counterpart(assignment, present)
        if counterpart is None:
            await db.delete(item)
            continue
        item.assignment_id = counterpart.id
        await db.flush()
        await queue_assignment(db, counterpart.id)
