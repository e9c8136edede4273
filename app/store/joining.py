"""Coming into a class by its code or by a seat that was kept, and leaving it."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal

from sqlalchemy import func, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.store.classes import RefusedError, Role, list_members, new_member, record_event
from app.store.database import lock_learner, now
from app.store.former_members import drop_grades, keep_grades
from app.store.invitations import USED, let_teach
from app.store.tables import (
    Accommodation,
    Class,
    Extension,
    GradeOverride,
    Learner,
    Membership,
    RosterChange,
    SittingRecord,
)
from app.teaching.text_input import plain_letters

OVER = "The class {name} is over; nobody joins it any more."
CLOSED = "Nobody can join {name} at the moment. Ask your instructor to open it."
BLOCKED = "You cannot join {name}. Ask your instructor."
LISTED_ONLY = "Only those who are on its list can join {name}. Give the id under which your school knows you."
NOT_LISTED = "Nobody with the id {id!r} is expected in {name}. Look at it again, or ask your instructor."
TAKEN = "Somebody has joined {name} with the id {id!r} already. If that was not you, tell your instructor."
BY_LINK = "The id {id!r} can join {name} only by a personal link. Ask your instructor for it."
NOT_TYPED = "On this server ids come from signing in and are not typed. Sign in, and join again."
NOT_CLAIMED = "Only those who are on its list can join {name}. Sign in where your school knows your id, and join again."
LAST_INSTRUCTOR = "You are the only instructor of {name}. Make somebody else one before you leave."

ARRANGED: Mapping[Any, Sequence[str]] = {
    **{table: table.__table__.c.keys() for table in (Accommodation, Extension, GradeOverride, RosterChange)},
    SittingRecord: ("assignment_id", "extra_percent", "extra_minutes", "opens_at", "until", "switches_allowed"),
}
"""Columns, by table, of what is set for a seat; of a sitting its time: who comes back may have begun it before."""

Proven = Literal["name", "id", "claim", "link"]
"""By what somebody was taken to be the one who was expected."""


async def class_of_code(db: AsyncSession, code: str) -> Class | None:
    group: Class | None = await db.scalar(select(Class).where(Class.join_code == code))
    return group


async def wants_id(db: AsyncSession, group: int) -> bool:
    """True if the class expects a learner who is known by an id."""
    query = select(func.count()).where(
        Membership.class_id == group, Membership.joined_at.is_(None), Membership.external_id.is_not(None)
    )
    return bool(await db.scalar(query))


async def join_class(
    db: AsyncSession,
    group: Class,
    learner: int,
    name: str,
    external_id: str = "",
    claimed: Collection[str] | None = None,
) -> Membership:
    """Join *learner* to *group*, in their reserved seat if there is one; a member stays what they are.

    Args:
        name: What they are called in the class.
        external_id: Under which their school knows them; "" where they did not say.
        claimed: The ids that a provider says are theirs, on a server where none is typed; else None.

    Raises:
        RefusedError: They cannot join.
    """
    await lock_learner(db, learner)
    membership = await db.get(Membership, (group.id, learner))
    if group.archived_at:
        raise RefusedError(OVER.format(name=group.name))
    if membership is not None and membership.blocked:
        raise RefusedError(BLOCKED.format(name=group.name))
    if membership is not None and membership.left_at is None:
        return membership
    if group.joining == "closed":
        raise RefusedError(CLOSED.format(name=group.name))
    if external_id and claimed is not None:
        raise RefusedError(NOT_TYPED)
    listed = await list_members(db, group.id)
    by: Proven
    seat: Membership | None
    if claimed is None:
        seat, by = _seat_of_id(group, listed, external_id) if external_id else None, "id"
    else:
        seat, by = _seat_of_claim(group, listed, claimed), "claim"
    if seat is None and not external_id:
        seat, by = _seat_of_name(group, listed, name, with_id=claimed is None), "name"
    if seat is not None:
        taken = await take_seat(db, seat, learner, name, by=by)
        taken.external_id = taken.external_id or (min(claimed) if claimed else None)
        return taken
    if group.joining == "invited" and membership is None:
        refusal = LISTED_ONLY if claimed is None else NOT_LISTED if claimed else NOT_CLAIMED
        raise RefusedError(refusal.format(name=group.name, id=", ".join(claimed or ())))
    if membership is None:
        membership = new_member(group.id, learner, "learner", name)
        db.add(membership)
    membership.left_at, membership.name = None, name
    if claimed:
        membership.external_id, membership.seated_by = min(claimed), "claim"
    await _came(db, membership, name)
    return membership


def _seat_of_id(group: Class, listed: Sequence[Membership], external_id: str) -> Membership:
    """Find the seat that is reserved for an id. Others may know the id too, so it never gives a role above learner."""
    seat = next((membership for membership in listed if membership.external_id == external_id), None)
    if seat is None:
        raise RefusedError(NOT_LISTED.format(id=external_id, name=group.name))
    if seat.joined_at is not None:
        raise RefusedError(TAKEN.format(id=external_id, name=group.name))
    if seat.role != "learner":
        raise RefusedError(BY_LINK.format(id=external_id, name=group.name))
    return seat


def _seat_of_claim(group: Class, listed: Sequence[Membership], claimed: Collection[str]) -> Membership | None:
    known = [membership.external_id for membership in listed if membership.external_id in claimed]
    return _seat_of_id(group, listed, known[0]) if known and known[0] else None


def _seat_of_name(group: Class, listed: Sequence[Membership], name: str, *, with_id: bool) -> Membership | None:
    """By a name that only one of the expected has; never where a list says who may, or ids are proved otherwise."""
    free = [membership for membership in listed if membership.joined_at is None and membership.role == "learner"]
    free = free if with_id else [membership for membership in free if not membership.external_id]
    named = [membership for membership in free if _same(membership.name, name)]
    named = named or [membership for membership in free if plain_letters(membership.name) == plain_letters(name)]
    return named[0] if len(named) == 1 and group.joining == "open" else None


def _same(name: str, other: str) -> bool:
    return name.casefold().split() == other.casefold().split()


async def take_seat(db: AsyncSession, seat: Membership, learner: int, name: str, *, by: Proven = "link") -> Membership:
    """Move all that is stored for a reserved seat to *learner*, with *by* as the proof; the roster's name stays.

    Raises:
        RefusedError: The seat is taken already, or *learner* has another seat in the class.
    """
    await lock_learner(db, learner)
    group, kept_for = seat.class_id, seat.learner_id
    before = await db.get(Membership, (group, learner))
    if before is not None and before.blocked:
        raise RefusedError(BLOCKED.format(name=(await db.get_one(Class, group)).name))
    if before is not None and before.left_at is None:
        return before
    if before is not None:
        await db.delete(before)
        await db.flush()
    db.expunge(seat)
    free = (Membership.class_id == group, Membership.learner_id == kept_for, Membership.joined_at.is_(None))
    taken = update(Membership).where(*free).values(learner_id=learner, joined_at=now(), seated_by=by)
    taken = taken.returning(Membership.learner_id)
    if await db.scalar(taken) is None:
        raise RefusedError(USED)
    for table, names in ARRANGED.items():
        for row in (await db.scalars(select(table).where(table.learner_id == kept_for))).all():
            await db.merge(table(**{name: getattr(row, name) for name in names} | {"learner_id": learner}))
    await db.delete(await db.get_one(Learner, kept_for))
    membership = await db.get_one(Membership, (group, learner))
    await _came(db, membership, name)
    return membership


async def _came(db: AsyncSession, membership: Membership, name: str) -> None:
    learner = await db.get_one(Learner, membership.learner_id)
    learner.name = learner.name or name
    await drop_grades(db, membership.class_id, membership.learner_id)
    if membership.role == "instructor":
        await let_teach(db, membership.learner_id)
    await record_event(
        db, membership.class_id, membership.learner_id, "joined", membership.learner_id, role=membership.role
    )


async def leave_class(db: AsyncSession, group: Class, learner: int) -> None:
    """
    Raises:
        RefusedError: No instructor would be left to look after the class.
    """
    membership = await db.get_one(Membership, (group.id, learner))
    await keep_an_instructor(db, group, membership)
    await keep_grades(db, group, membership, "left")
    end_membership(membership)
    await record_event(db, group.id, learner, "left", learner)


def end_membership(membership: Membership) -> None:
    """End a membership: the learner has no role there any more, and their id is free for another."""
    membership.left_at, membership.external_id, membership.role = now(), None, "learner"


async def keep_an_instructor(db: AsyncSession, group: Class, going: Membership) -> None:
    """
    Raises:
        RefusedError: *going* is the only instructor who is there.
    """
    role: Role = "instructor"
    # Two who go at once: the second one looks when the first is gone.
    await db.execute(select(Class.id).where(Class.id == group.id).with_for_update())
    others = [
        membership
        for membership in await list_members(db, group.id)
        if membership.role == role and membership.joined_at is not None
    ]
    if (
        group.archived_at is None
        and going.role == role
        and [membership.learner_id for membership in others] == [going.learner_id]
    ):
        raise RefusedError(LAST_INSTRUCTOR.format(name=group.name))
