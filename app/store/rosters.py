"""The roster of a class: what is changed about its people."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import delete, func, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from app.store.classes import HERE, RefusedError, Role, list_members, record_event
from app.store.former_members import keep_grades
from app.store.invitations import let_teach
from app.store.joining import end_membership, keep_an_instructor
from app.store.learners import create_learner
from app.store.lti_scores import queue_learner
from app.store.tables import (
    Accommodation,
    Class,
    Learner,
    LtiContext,
    LtiMember,
    Membership,
    RosterChange,
    Session,
)
from app.teaching.roster import MOST_DAYS, RosterEntry, matching_people

SAME_ID = "{name} has the id {id!r} already."


async def reserve_seat(db: AsyncSession, group: Class, name: str, role: Role) -> Membership:
    """A seat for one person who is to come."""
    learner = await create_learner(db)
    seat = Membership(class_id=group.id, learner_id=learner, role=role, name=name, blocked=False)
    db.add(seat)
    await record_event(db, group.id, None, "expected", learner, role=role)
    return seat


async def list_blocked(db: AsyncSession, group: int) -> Sequence[Membership]:
    query = select(Membership).where(Membership.class_id == group, Membership.blocked.is_(True))
    return (await db.scalars(query.order_by(Membership.name))).all()


async def change_person(
    db: AsyncSession,
    group: Class,
    person: Membership,
    entry: RosterEntry,
    role: Role,
    extra_days: int,
    actor: int | None,
) -> None:
    """
    Raises:
        RefusedError: The id is another person's, the class would be without an instructor, the days cannot be given, or
            they are out.
    """
    if person.left_at is not None:
        raise RefusedError(f"{person.name} is not in the class now. Let them in again first.")
    if not 0 <= extra_days <= MOST_DAYS:
        raise RefusedError(f"{extra_days} days cannot be given; 0 to {MOST_DAYS} can.")
    same = [
        membership
        for membership in matching_people(entry.external_id, await list_members(db, group.id))
        if membership.external_id == entry.external_id
    ]
    if entry.external_id and same and same[0].learner_id != person.learner_id:
        raise RefusedError(SAME_ID.format(name=same[0].name, id=entry.external_id))
    if role != "instructor":
        await keep_an_instructor(db, group, person)
    elif person.joined_at is not None:
        await let_teach(db, person.learner_id, actor)
    if role != person.role:
        await record_event(db, group.id, actor, "role-changed", person.learner_id, before=person.role, after=role)
    person.name, person.external_id, person.label = entry.name, entry.external_id or None, entry.label or None
    person.role = role
    conditions = (RosterChange.class_id == group.id, RosterChange.learner_id == person.learner_id)
    await db.execute(delete(RosterChange).where(*conditions))  # what was changed by hand since, no undo takes back
    await accommodate(db, group, person.learner_id, extra_days, actor)


async def accommodate(db: AsyncSession, group: Class, learner: int, extra_days: int, actor: int | None) -> None:
    """So many days more for everything that is due in the class."""
    row = await db.get(Accommodation, (group.id, learner))
    if (row.extra_days if row else 0) == extra_days:
        return
    if row is None:
        row = Accommodation(class_id=group.id, learner_id=learner)
        db.add(row)
    row.extra_days = extra_days
    await record_event(db, group.id, actor, "extra-days", learner, days=extra_days)
    await queue_learner(db, group.id, learner)


async def take_out(db: AsyncSession, group: Class, person: Membership, actor: int | None, *, block: bool) -> None:
    """Remove a person from a class, whose instructors no longer see their work.

    A seat without a learner is deleted; a blocked learner cannot join again.

    Raises:
        RefusedError: They are the only instructor.
    """
    await keep_an_instructor(db, group, person)
    await record_event(db, group.id, actor, "blocked" if block else "removed", person.learner_id)
    if person.joined_at is None:
        await db.execute(delete(Learner).where(Learner.id == person.learner_id))
        return
    await keep_grades(db, group, person, "removed")
    end_membership(person)
    person.blocked = block


async def unblock_member(db: AsyncSession, group: Class, person: Membership, actor: int | None) -> None:
    person.blocked = False
    await record_event(db, group.id, actor, "unblocked", person.learner_id)


async def seat_offers(db: AsyncSession, group: int) -> list[tuple[Membership, Membership]]:
    """Learners of a platform who are known there by the id of an expected learner, each with that seat.

    What a platform tells of its people is no proof that both are one, and so nothing but an offer.
    """
    seat = aliased(Membership)
    query = (
        select(Membership, seat)
        .join(LtiMember, LtiMember.learner_id == Membership.learner_id)
        .join(LtiContext, (LtiContext.id == LtiMember.lti_context_id) & (LtiContext.class_id == Membership.class_id))
        .join(seat, (seat.class_id == Membership.class_id) & (seat.external_id == LtiMember.expected_id))
        .where(Membership.class_id == group, Membership.role == "learner", *HERE)
        .where(seat.role == "learner", seat.joined_at.is_(None), seat.left_at.is_(None), seat.blocked.is_(False))
        .distinct()
        .order_by(Membership.name, Membership.learner_id)
    )
    return [(person, expected) for person, expected in await db.execute(query)]


async def last_seen(db: AsyncSession, group: int) -> dict[int, datetime]:
    """Last visit of each member of a class, to the day."""
    query = (
        select(Session.learner_id, func.max(Session.seen_at))
        .join(Membership, Membership.learner_id == Session.learner_id)
        .where(Membership.class_id == group)
        .group_by(Session.learner_id)
    )
    return {learner: moment for learner, moment in await db.execute(query) if moment is not None}


async def extra_days(db: AsyncSession, group: int) -> dict[int, int]:
    query = select(Accommodation).where(Accommodation.class_id == group)
    return {accommodation.learner_id: accommodation.extra_days for accommodation in await db.scalars(query)}
