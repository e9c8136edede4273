"""Coming back: what an instructor can do for learners who cannot get in any more.

Who has an account with a password gets a link to set a new one; who has none gets a personal link to their seat in the
class. The right to it is checked when a link is made and again when it is used. Of a seat moves what its class sees:
the place on the roster, in assigned lessons what was solved and checked, and its sittings whole. Everything else stays
in its browser.
"""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from sqlalchemy import and_, delete, exists, false, insert, literal, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from app.accounts import one_time_tokens
from app.accounts.credentials import VerifiedIdentity, list_credentials
from app.accounts.merge import merge_learners
from app.store import invitations
from app.store.assignments import assignments_of, exercises_chosen
from app.store.classes import HERE, ClassMember, RefusedError, find_class_member, record_event
from app.store.database import lock_learner
from app.store.learners import create_learner, hash_of
from app.store.notices import add_notice
from app.store.tables import (
    Accommodation,
    Assignment,
    Attempt,
    Base,
    Class,
    Credential,
    Draft,
    Extension,
    GradeOverride,
    Learner,
    Membership,
    Progress,
    ReplacedText,
    RosterChange,
    Session,
    Sitting,
    SittingAnswer,
    SittingRecord,
)

RESET_LIVES = timedelta(hours=24)
SEAT_LIVES = timedelta(days=7)
OPERATOR = "The operator of this server"

USED = "This link was used already, is older than a day, or is void by now. Ask your instructor for a new one."
SEAT_USED = "This link was used already, is older than a week, or is void by now. Ask your instructor for a new one."
NOT_YOURS = "Only an instructor of a class that they learn in can make a link for somebody."
TEACHES = "They teach, so no other instructor can make a link into their account."
ELSEWHERE = (
    "They also learn in a class that you do not teach, and a new password would open that to you. The operator of this "
    "server can make the link: backhand person reset."
)
OTHER_WAYS = "They can sign in without a password: with a passkey, or by a provider, a code or a proxy."
NO_PASSWORD = "They have no account, so there is no password to set anew."
HAS_ACCOUNT = "They have an account, so they sign in to come back."
IN_ALREADY = "This browser is in {name} already, as {as_name}. Open the link where {other} learns."

WITH_SEAT: Mapping[str, Sequence[Any]] = {
    "class_id": (Membership, RosterChange, Accommodation),
    "assignment_id": (Extension, GradeOverride, SittingRecord, SittingAnswer),
    "lesson": (Draft, ReplacedText),
}
"""Tables whose rows move with a seat, by the column that tells whether one is of its class."""


async def has_account(db: AsyncSession, learner: int) -> bool:
    return bool(await db.scalar(select(exists().where(Credential.learner_id == learner))))


async def reset_fault(db: AsyncSession, learner: int, by: int | None) -> str:
    """Say why *by*, an instructor or None for the operator, may not reset the password of *learner*; "" if they may."""
    kinds = {credential.kind for credential in await list_credentials(db, learner)}
    if kinds - {"password"}:
        return OTHER_WAYS
    if by is not None and (fault := await _right_fault(db, learner, by)):
        return fault
    return "" if kinds else NO_PASSWORD


async def _right_fault(db: AsyncSession, learner: int, by: int) -> str:
    subject, own = aliased(Membership), aliased(Membership)
    current = (subject.learner_id == learner, subject.joined_at.is_not(None), subject.left_at.is_(None))
    taught = exists().where(
        own.class_id == subject.class_id, own.learner_id == by, own.role == "instructor", own.left_at.is_(None)
    )
    goes_on = exists().where(Class.id == subject.class_id, Class.archived_at.is_(None))
    if await db.scalar(select(subject.class_id).where(*current, subject.role == "learner", taught, goes_on)) is None:
        return NOT_YOURS
    teaches = (await db.get_one(Learner, learner)).teaches
    if teaches or await db.scalar(select(subject.class_id).where(*current, subject.role != "learner")) is not None:
        return TEACHES
    return ELSEWHERE if await db.scalar(select(subject.class_id).where(*current, ~taught)) is not None else ""


async def reset_link(db: AsyncSession, *, learner: int, by: int | None) -> str:
    """A token with which *learner* sets a new password.

    It goes to `/sign-in/reset?token=`, works once, for a day, and as long as *by* may and the password is the same.

    Raises:
        RefusedError: *by* may not, or there is nothing to reset.
    """
    if fault := await reset_fault(db, learner, by):
        raise RefusedError(fault)
    await record_event(db, None, by, "reset", f"learner {learner}")
    data = {"learner": learner, "by": by, "of": hash_of((await _password(db, learner)).secret or "")}
    return await one_time_tokens.issue(db, "reset", data, lives=RESET_LIVES)


async def _password(db: AsyncSession, learner: int) -> Credential:
    return next(credential for credential in await list_credentials(db, learner) if credential.kind == "password")


async def _valid(db: AsyncSession, data: dict[str, Any] | None) -> Credential:
    if data is None or await reset_fault(db, data["learner"], data["by"]):
        raise RefusedError(USED)
    credential = await _password(db, data["learner"])
    if hash_of(credential.secret or "") != data["of"]:  # another link was used meanwhile
        raise RefusedError(USED)
    return credential


async def name_to_reset(db: AsyncSession, token: str) -> str:
    """The name that the learner of a reset signs in with.

    Raises:
        RefusedError: The link is used, too old or void.
    """
    return (await _valid(db, await one_time_tokens.peek(db, "reset", token))).subject


async def set_new_password(db: AsyncSession, token: str, secret: str) -> VerifiedIdentity:
    """Take the ticket of a reset: *secret* is what is kept of the password of its learner, whose sessions end.

    Raises:
        RefusedError: The link is used, too old or void.
    """
    data = await one_time_tokens.redeem(db, "reset", token)
    if data is not None:
        await lock_learner(db, data["learner"])
    credential = await _valid(db, data)
    credential.secret = secret
    learner = credential.learner_id
    await db.execute(delete(Session).where(Session.learner_id == learner))
    by = data["by"] if data else None
    await add_notice(db, learner, "password", by=await _name_of(db, by, learner))
    await record_event(db, None, by, "reset-used", f"learner {learner}")
    return VerifiedIdentity(kind="password", issuer="", subject=credential.subject)


async def _name_of(db: AsyncSession, instructor: int | None, learner: int) -> str:
    """Name of *instructor* in a class that both are in, else their display name."""
    if instructor is None:
        return OPERATOR
    subject = aliased(Membership)
    shared = (
        select(Membership.name)
        .join(subject, subject.class_id == Membership.class_id)
        .where(Membership.learner_id == instructor, subject.learner_id == learner, *HERE)
    )
    return await db.scalar(shared.limit(1)) or (await db.get_one(Learner, instructor)).name or "Your instructor"


async def seat_link(db: AsyncSession, group: Class, person: Membership, by: int) -> str:
    """A word that gives the seat of *person*, who has no account, to another browser. It goes to `/join/`.

    Raises:
        RefusedError: They have an account, or are no learner who is there.
    """
    if await has_account(db, person.learner_id):
        raise RefusedError(HAS_ACCOUNT)
    if person.joined_at is None or person.left_at is not None or person.role != "learner":
        raise RefusedError(NOT_YOURS)
    await record_event(db, group.id, by, "seat-link", person.learner_id)
    return await invitations.issue(db, {"class": group.id, "learner": person.learner_id, "by": by}, SEAT_LIVES)


async def seat_behind(db: AsyncSession, word: str) -> ClassMember | None:
    """The seat that *word* gives to another browser, as long as who made it may, and its learner has no account."""
    data = await invitations.data_of(db, word) or {}
    if "by" not in data:
        return None
    seat, maker = (
        await find_class_member(db, data["class"], data["learner"]),
        await find_class_member(db, data["class"], data["by"]),
    )
    if seat is None or maker is None or maker.person.role != "instructor" or seat.group.archived_at is not None:
        return None
    if seat.person.role != "learner" or await has_account(db, data["learner"]):
        return None
    return seat


async def move_seat(db: AsyncSession, word: str, learner: int) -> Membership:
    """Give the seat that *word* is for to *learner*, in another browser; whose it was keeps their session and texts.

    Raises:
        RefusedError: The word is used, too old or void, or *learner* is in the class already.
    """
    data = await invitations.data_of(db, word) or {}
    before = data.get("learner", learner)
    await lock_learner(db, before)
    seat = await seat_behind(db, word)
    if seat is None:
        raise RefusedError(SEAT_USED)
    group = seat.group
    if learner == before:
        return seat.person
    membership = await db.get(Membership, (group.id, learner))
    if membership is not None and (membership.left_at is None or membership.blocked):
        raise RefusedError(IN_ALREADY.format(name=group.name, as_name=membership.name, other=seat.person.name))
    await invitations.redeem(db, word)
    by = await _name_of(db, data["by"], before)
    between = await create_learner(db)
    await _copy_seen_work(db, group.id, before, between)
    await _move_seat(db, group.id, before, between)
    db.expunge_all()
    await merge_learners(db, between, learner)
    await add_notice(db, before, "seat", by=by, group=group.name)
    await record_event(db, group.id, data["by"], "seat-moved", learner, before=before)
    person = await db.get_one(Membership, (group.id, learner))
    person.seated_by = "link"
    return person


async def _move_seat(db: AsyncSession, group: int, before: int, after: int) -> None:
    of_class = select(Assignment).where(Assignment.class_id == group)
    within: dict[str, Any] = {
        "class_id": [group],
        "assignment_id": of_class.with_only_columns(Assignment.id),
        # Of texts those of its sittings alone: a lesson that it was assigned is a learner's own beside that.
        "lesson": of_class.join(Sitting).with_only_columns(Assignment.lesson),
    }
    for name, tables in WITH_SEAT.items():
        for table in tables:
            own = (table.learner_id == before, getattr(table, name).in_(within[name]))
            moved = update(table).where(*own).values(learner_id=after)
            await db.execute(moved.execution_options(synchronize_session=False))


async def _copy_seen_work(db: AsyncSession, group: int, before: int, after: int) -> None:
    """Copy the work that instructors see of *before*: solved, answered, checked in what the class was assigned."""
    assigned = await assignments_of(db, group)
    for table in (Base.metadata.tables[item.__tablename__] for item in (Progress, Attempt)):
        own = [column for column in table.c if column.name not in ("id", "learner_id")]
        visible = or_(
            *(
                and_(
                    table.c.lesson == assignment.lesson,
                    table.c.exercise.in_(chosen) if chosen is not None else literal(True),
                )
                for assignment in assigned
                for chosen in (exercises_chosen(assignment),)
            )
        )
        rows = select(literal(after), *own).where(table.c.learner_id == before, visible if assigned else false())
        if "id" in table.c:
            rows = rows.order_by(table.c.id)
        await db.execute(insert(table).from_select(["learner_id", *(column.name for column in own)], rows))
