"""The roster of a class: a list that is laid over it, and what is changed about one person."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from sqlalchemy import delete, func, insert, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.store.classes import RefusedError, Role, people, record
from app.store.database import now
from app.store.invitations import let_teach
from app.store.joining import give_up, keep_an_instructor
from app.store.tables import Accommodation, Class, Learner, Membership, Session
from app.teaching.roster import MOST_DAYS, Entry, whom

SAME_ID = "{name} has the id {id!r} already."


@dataclass(frozen=True, slots=True)
class Change:
    """What one line of a list does to the roster; *person* is whom it means, None for somebody new."""

    kind: Literal["new", "changed", "same"]
    entry: Entry
    person: Membership | None = None


def changes(entries: Sequence[Entry], listed: Sequence[Membership]) -> tuple[Change, ...]:
    """What *entries* would change: whom a line means is known by id, else by a name that one person alone has."""
    by_id = {one.external_id: one for one in listed if one.external_id}
    named: dict[str, list[Membership]] = {}
    for one in listed:
        named.setdefault(one.name.casefold(), []).append(one)
    taken: set[int] = set()
    return tuple(_change(entry, by_id, named, taken) for entry in entries)


def _change(
    entry: Entry, by_id: Mapping[str, Membership], named: Mapping[str, list[Membership]], taken: set[int]
) -> Change:
    person = by_id.get(entry.external_id)
    if person is None:
        same = [one for one in named.get(entry.name.casefold(), ()) if not (entry.external_id and one.external_id)]
        person = same[0] if len(same) == 1 and same[0].learner_id not in taken else None
    if person is None:
        return Change("new", entry)
    taken.add(person.learner_id)
    before = (person.name, person.external_id or "", person.label or "")
    after = (entry.name, entry.external_id or before[1], entry.label or before[2])
    return Change("same" if before == after else "changed", entry, person)


async def apply(db: AsyncSession, group: Class, entries: Sequence[Entry], actor: int | None) -> tuple[Change, ...]:
    """Lay *entries* over the roster: who is new is expected from now on; nobody is taken off it."""
    planned = changes(entries, await people(db, group.id))
    new = [one.entry for one in planned if one.kind == "new"]
    if new:
        seats = insert(Learner).returning(Learner.id)
        ids = (await db.scalars(seats, [{"created_at": now()} for _ in new])).all()
        rows = [
            {
                "class_id": group.id,
                "learner_id": learner,
                "role": "learner",
                "name": entry.name,
                "external_id": entry.external_id or None,
                "label": entry.label or None,
                "blocked": False,
            }
            for learner, entry in zip(ids, new, strict=True)
        ]
        await db.execute(insert(Membership), rows)
    for one in planned:
        if one.kind == "changed" and one.person is not None:
            one.person.name = one.entry.name
            one.person.external_id = one.entry.external_id or one.person.external_id
            one.person.label = one.entry.label or one.person.label
    changed = sum(one.kind == "changed" for one in planned)
    await record(db, group.id, actor, "roster-listed", group.id, new=len(new), changed=changed)
    return planned


async def expect(db: AsyncSession, group: Class, name: str, role: Role) -> Membership:
    """A seat for one person who is to come."""
    learner = Learner(created_at=now())
    db.add(learner)
    await db.flush()
    seat = Membership(class_id=group.id, learner_id=learner.id, role=role, name=name, blocked=False)
    db.add(seat)
    await record(db, group.id, None, "expected", learner.id, role=role)
    return seat


async def person_in(db: AsyncSession, group: int, learner: int) -> Membership | None:
    """Somebody who is in a class, was, or is expected; also who is blocked."""
    return await db.get(Membership, (group, learner))


async def blocked(db: AsyncSession, group: int) -> Sequence[Membership]:
    asked = select(Membership).where(Membership.class_id == group, Membership.blocked.is_(True))
    return (await db.scalars(asked.order_by(Membership.name))).all()


async def change_person(
    db: AsyncSession, group: Class, person: Membership, entry: Entry, role: Role, extra_days: int, actor: int | None
) -> None:
    """
    Raises:
        RefusedError: The id is somebody else's, the class would be without an instructor, the days cannot be given, or
            they are out.
    """
    if person.left_at is not None:
        raise RefusedError(f"{person.name} is not in the class now. Let them in again first.")
    if not 0 <= extra_days <= MOST_DAYS:
        raise RefusedError(f"{extra_days} days cannot be given; 0 to {MOST_DAYS} can.")
    same = [one for one in whom(entry.external_id, await people(db, group.id)) if one.external_id == entry.external_id]
    if entry.external_id and same and same[0].learner_id != person.learner_id:
        raise RefusedError(SAME_ID.format(name=same[0].name, id=entry.external_id))
    if role != "instructor":
        await keep_an_instructor(db, group, person)
    elif person.joined_at is not None:
        await let_teach(db, person.learner_id, actor)
    if role != person.role:
        await record(db, group.id, actor, "role-changed", person.learner_id, before=person.role, after=role)
    person.name, person.external_id, person.label = entry.name, entry.external_id or None, entry.label or None
    person.role = role
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
    await record(db, group.id, actor, "extra-days", learner, days=extra_days)


async def take_out(db: AsyncSession, group: Class, person: Membership, actor: int | None, *, block: bool) -> None:
    """Nobody sees their work here any more. Who was only expected is gone; who is blocked cannot come back.

    Raises:
        RefusedError: They are the only instructor.
    """
    await keep_an_instructor(db, group, person)
    await record(db, group.id, actor, "blocked" if block else "removed", person.learner_id)
    if person.joined_at is None:
        await db.execute(delete(Learner).where(Learner.id == person.learner_id))
        return
    give_up(person)
    person.blocked = block


async def unblock(db: AsyncSession, group: Class, person: Membership, actor: int | None) -> None:
    person.blocked = False
    await record(db, group.id, actor, "unblocked", person.learner_id)


async def last_seen(db: AsyncSession, group: int) -> dict[int, datetime]:
    """When each of a class was here last, to the day."""
    asked = (
        select(Session.learner_id, func.max(Session.seen_at))
        .join(Membership, Membership.learner_id == Session.learner_id)
        .where(Membership.class_id == group)
        .group_by(Session.learner_id)
    )
    return {learner: at for learner, at in await db.execute(asked) if at is not None}


async def extra_days(db: AsyncSession, group: int) -> dict[int, int]:
    asked = select(Accommodation).where(Accommodation.class_id == group)
    return {one.learner_id: one.extra_days for one in await db.scalars(asked)}
