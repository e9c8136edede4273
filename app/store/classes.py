"""Classes and who is in them.

A person who is expected in a class is a learner without a browser until they come; what was arranged for them then
becomes theirs. Every change leaves an `Event`.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any, Literal, get_args

from sqlalchemy import delete, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.store.database import now
from app.store.tables import AuditEvent, Class, Learner, Membership
from app.teaching.codes import fresh_code
from app.teaching.dates import to_local, zone_fault
from app.teaching.text_input import one_line, plain_letters

Role = Literal["learner", "assistant", "instructor"]
ROLES: tuple[Role, ...] = get_args(Role)
"""Each may do what the ones before it may."""
NO_CLASS_NAME = "Write what the class is called."
NOTICE = timedelta(days=7)
"""From setting the day until which a class is kept to the day itself, at least."""
TOO_SOON = (
    "{day!r} is {when}. A class is kept for a week at least, so that its people hear of it: until {first} or later. "
    "To have it forgotten now, delete it."
)
OTHER_NAME = "The name that was typed is {typed!r}, and not that of this class. Nothing was deleted."


class RefusedError(Exception):
    """A request that cannot be met; the message says why, and what to do."""


@dataclass(frozen=True, slots=True)
class ClassMember:
    """A class, as one of its people."""

    group: Class
    person: Membership

    def is_at_least(self, role: Role) -> bool:
        return ROLES.index(role) <= ROLES.index(self.person.role)


async def record_event(
    db: AsyncSession, group: int | None, actor: int | None, verb: str, subject: object = "", **data: Any
) -> None:
    """Note who did what; never what a learner wrote, and no secret."""
    db.add(
        AuditEvent(
            recorded_at=now(),
            class_id=group,
            actor=actor,
            verb=verb,
            subject=str(subject),
            data_json=json.dumps(data, default=str),
        )
    )


async def create_class(db: AsyncSession, name: str, timezone: str, creator: int | None, called: str = "") -> Class:
    """A new class; *creator*, who is *called* so in it, is its instructor."""
    group = Class(
        name=name,
        timezone=timezone,
        join_code=fresh_code(),
        joining="open",
        created_by=creator,
        created_at=now(),
    )
    db.add(group)
    await db.flush()
    if creator is not None:
        db.add(new_member(group.id, creator, "instructor", called))
    await record_event(db, group.id, creator, "class-made", group.id, name=name)
    return group


def new_member(group: int, learner: int, role: Role, name: str) -> Membership:
    return Membership(
        class_id=group,
        learner_id=learner,
        role=role,
        name=name,
        joined_at=now(),
        blocked=False,
    )


LISTED = (Membership.left_at.is_(None), Membership.blocked.is_(False))
HERE = (Membership.joined_at.is_not(None), *LISTED)


async def find_class_member(db: AsyncSession, group: int, learner: int) -> ClassMember | None:
    """Find the class as *learner* sees it; None if they are not a member."""
    query = (
        select(Class, Membership)
        .join(Membership, Membership.class_id == Class.id)
        .where(Class.id == group, Membership.learner_id == learner, *HERE)
    )
    row = (await db.execute(query)).one_or_none()
    return None if row is None else ClassMember(row[0], row[1])


async def classes_of(db: AsyncSession, learner: int) -> list[ClassMember]:
    """Every class that *learner* is in, those that go on first."""
    query = (
        select(Class, Membership)
        .join(Membership, Membership.class_id == Class.id)
        .where(Membership.learner_id == learner, *HERE)
        .order_by(Class.archived_at.is_not(None), Class.name, Class.id)
    )
    return [ClassMember(group, person) for group, person in await db.execute(query)]


async def list_members(db: AsyncSession, group: int) -> Sequence[Membership]:
    """List the members of a class and the learners it expects, by name."""
    query = select(Membership).where(Membership.class_id == group, *LISTED)
    rows = (await db.scalars(query)).all()
    return sorted(
        rows,
        key=lambda membership: (-ROLES.index(membership.role), plain_letters(membership.name), membership.learner_id),
    )


@dataclass(frozen=True, slots=True)
class ClassSettings:
    """Settings of a class. The class and all its data are deleted after *keep_until*."""

    name: str
    timezone: str
    keep_until: date | None
    archived: bool
    assistants_grade: bool = False


async def change_class(db: AsyncSession, group: Class, terms: ClassSettings, actor: int | None) -> None:
    """
    Raises:
        RefusedError: It has no name, there is no such time zone, or it would be forgotten without notice.
    """
    if fault := zone_fault(terms.timezone) or ("" if terms.name else NO_CLASS_NAME):
        raise RefusedError(fault)
    if terms.keep_until != group.keep_until and (fault := day_fault(terms.keep_until, today_of(terms.timezone))):
        raise RefusedError(fault)
    if terms.archived != (group.archived_at is not None):
        group.archived_at = now() if terms.archived else None
        await record_event(db, group.id, actor, "archived" if terms.archived else "brought-back", group.id)
    if terms.keep_until != group.keep_until:
        await record_event(db, group.id, actor, "kept-until", group.id, day=terms.keep_until)
    if terms.assistants_grade != group.assistants_grade:
        group.assistants_grade = terms.assistants_grade
        await record_event(db, group.id, actor, "assistants-grade", group.id, may=terms.assistants_grade)
    group.name, group.timezone, group.keep_until = terms.name, terms.timezone, terms.keep_until
    await record_event(db, group.id, actor, "class-changed", group.id, name=terms.name, timezone=terms.timezone)


def today_of(timezone: str) -> date:
    """The day that it is there."""
    return to_local(now(), timezone).date()


def day_fault(keep_until: date | None, today: date) -> str:
    """Say why a class cannot be kept until that day; "" if it can."""
    first = today + NOTICE
    if keep_until is None or keep_until >= first:
        return ""
    when = "past" if keep_until < today else "today" if keep_until == today else "less than a week away"
    return TOO_SOON.format(day=str(keep_until), when=when, first=first)


async def let_in(
    db: AsyncSession, group: int, audience: Literal["open", "invited", "closed", "rotate"], actor: int | None
) -> None:
    """Set who may join with the class code; *rotate* replaces the code, and the old one no longer works."""
    row = await db.get_one(Class, group)
    if audience == "rotate":
        row.join_code = fresh_code()
    else:
        row.joining = audience
    await record_event(db, group, actor, "joining", group, whom=audience)


async def forget_over(db: AsyncSession, moment: datetime) -> int:
    """Delete the classes that were to be kept until a day that is past in their own time zone; how many."""
    last_days = select(Class.id, Class.timezone, Class.keep_until).where(Class.keep_until <= moment.date())
    over = [
        number
        for number, timezone, last in await db.execute(last_days)
        if last and last < to_local(moment, timezone).date()
    ]
    await _forget(db, over)
    for number in over:
        await record_event(db, None, None, "class-forgotten", number)
    return len(over)


async def delete_class(db: AsyncSession, group: Class, typed: str, actor: int | None) -> None:
    """Delete a class at once, for an instructor who has *typed* its name.

    Raises:
        RefusedError: It has another name.
    """
    if one_line(typed) != group.name:
        raise RefusedError(OTHER_NAME.format(typed=one_line(typed)[:80]))
    await _forget(db, [group.id])
    await record_event(db, None, actor, "class-deleted", group.id)


async def _forget(db: AsyncSession, groups: Sequence[int]) -> None:
    """Delete classes with all that was arranged in them; what their learners wrote is theirs and stays."""
    seats = select(Membership.learner_id).where(Membership.class_id.in_(groups), Membership.joined_at.is_(None))
    await db.execute(delete(Learner).where(Learner.id.in_(seats)).execution_options(synchronize_session=False))
    await db.execute(delete(Class).where(Class.id.in_(groups)).execution_options(synchronize_session=False))
