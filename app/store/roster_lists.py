"""A list that is laid over the roster of a class, and taken back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from sqlalchemy import delete, insert, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.store.classes import LISTED, list_members, record_event
from app.store.database import now
from app.store.tables import Class, Learner, Membership, RosterChange
from app.teaching.roster import RosterEntry


@dataclass(frozen=True, slots=True)
class Change:
    """Effect of one line of a list on the roster; *person* is the member it means, None for a new one."""

    kind: Literal["new", "changed", "same"]
    entry: RosterEntry
    person: Membership | None = None


def roster_changes(entries: Sequence[RosterEntry], listed: Sequence[Membership]) -> tuple[Change, ...]:
    """Compute what *entries* would change: a line is matched by id, else by a name that only one person has."""
    by_id = {membership.external_id: membership for membership in listed if membership.external_id}
    named: dict[str, list[Membership]] = {}
    for membership in listed:
        named.setdefault(membership.name.casefold(), []).append(membership)
    taken: set[int] = set()
    return tuple(_change(entry, by_id, named, taken) for entry in entries)


def _change(
    entry: RosterEntry, by_id: Mapping[str, Membership], named: Mapping[str, list[Membership]], taken: set[int]
) -> Change:
    person = by_id.get(entry.external_id)
    if person is None:
        same = [
            membership
            for membership in named.get(entry.name.casefold(), ())
            if not (entry.external_id and membership.external_id)
        ]
        person = same[0] if len(same) == 1 and same[0].learner_id not in taken else None
    if person is None:
        return Change("new", entry)
    taken.add(person.learner_id)
    before = (person.name, person.external_id or "", person.label or "")
    after = (entry.name, entry.external_id or before[1], entry.label or before[2])
    return Change("same" if before == after else "changed", entry, person)


async def apply_list(
    db: AsyncSession, group: Class, entries: Sequence[RosterEntry], actor: int | None
) -> tuple[Change, ...]:
    """Apply *entries* to the roster: new names are expected from now on; no one is removed."""
    planned = roster_changes(entries, await list_members(db, group.id))
    await db.execute(delete(RosterChange).where(RosterChange.class_id == group.id))
    new = [change.entry for change in planned if change.kind == "new"]
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
        copied_columns = ("class_id", "learner_id", "name", "external_id", "label")
        changes = [
            {**{name: row[name] for name in copied_columns}, "is_new": True, "changed_at": now()} for row in rows
        ]
        await db.execute(insert(RosterChange), changes)
    for change in planned:
        if change.kind == "changed" and change.person is not None:
            db.add(_before(change.person))
            change.person.name = change.entry.name
            change.person.external_id = change.entry.external_id or change.person.external_id
            change.person.label = change.entry.label or change.person.label
    changed = sum(change.kind == "changed" for change in planned)
    await record_event(db, group.id, actor, "roster-listed", group.id, new=len(new), changed=changed)
    return planned


def _before(person: Membership) -> RosterChange:
    return RosterChange(
        class_id=person.class_id,
        learner_id=person.learner_id,
        changed_at=now(),
        is_new=False,
        name=person.name,
        external_id=person.external_id,
        label=person.label,
    )


@dataclass(frozen=True, slots=True)
class LastList:
    """Changes of the last list that can still be undone: seats without a learner, and changed members."""

    at: datetime
    new: int
    changed: int


async def last_list(db: AsyncSession, group: int) -> LastList | None:
    """The last list that was laid over the roster; None where nothing of it can be taken back."""
    rows = await _last_changes(db, group)
    new = sum(change.is_new for change, _ in rows)
    return LastList(max(change.changed_at for change, _ in rows), new, len(rows) - new) if rows else None


async def _last_changes(db: AsyncSession, group: int) -> list[tuple[RosterChange, Membership]]:
    same = (Membership.class_id == RosterChange.class_id) & (Membership.learner_id == RosterChange.learner_id)
    query = select(RosterChange, Membership).join(Membership, same).where(RosterChange.class_id == group, *LISTED)
    rows = [(change, person) for change, person in await db.execute(query)]
    return [(change, person) for change, person in rows if not (change.is_new and person.joined_at is not None)]


async def undo_list(db: AsyncSession, group: Class, actor: int | None) -> LastList | None:
    """Undo the last list: its seats without a learner are deleted, other members get back their names.

    Who joined stays.
    """
    last, rows = await last_list(db, group.id), await _last_changes(db, group.id)
    seats = [person.learner_id for change, person in rows if change.is_new]
    for change, person in rows:
        if not change.is_new:
            person.name, person.external_id, person.label = change.name, change.external_id, change.label
    await db.flush()
    gone = delete(Learner).where(Learner.id.in_(seats)).execution_options(synchronize_session=False)
    await db.execute(gone)
    await db.execute(delete(RosterChange).where(RosterChange.class_id == group.id))
    if last is not None:
        await record_event(db, group.id, actor, "roster-list-undone", group.id, new=last.new, changed=last.changed)
    return last
