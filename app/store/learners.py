"""Learners and their session tokens.

A token is known to the browser alone; here is its hash. A token that is not in the table is no learner's and is never
adopted, so no browser can be made to use a session that another one knows.
"""

import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any, cast

from sqlalchemy import ColumnElement, CursorResult, bindparam, delete, exists, func, or_, select, true, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.store.database import now
from app.store.moments import SEEN
from app.store.tables import (
    Attempt,
    Base,
    Credential,
    Draft,
    Learner,
    Membership,
    Moment,
    Notice,
    OneTimeToken,
    Session,
)

SEEN_EVERY = timedelta(days=1)
EMBEDDED_STAY = timedelta(hours=8)
"""How long a session lasts that began in the frame of a learning platform: it begins anew with every launch."""
TRIED_CHARACTERS = 20_000
"""More than fits into pages that a database has already."""


@dataclass(frozen=True, slots=True)
class SessionLearner:
    """The learner of a session. *stale* when the session was last seen more than a day ago.

    An *account* is a learner with a way to sign in. A learner who is *in a class* has something due, perhaps. Who
    must hear of something has a *notice* of that kind: before an answer, of what was done to their account. An
    *embedded* session is one of a frame, and of nothing else.
    """

    learner: int
    stale: bool
    name: str | None = None
    account: bool = False
    in_class: bool = False
    notice: str = ""
    embedded: bool = False


def hash_of(token: str) -> str:
    return sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


async def create_learner(db: AsyncSession) -> int:
    """The id of a new learner."""
    learner = Learner(created_at=now())
    db.add(learner)
    await db.flush()
    return learner.id


async def begin_session(db: AsyncSession, *, embedded: bool = False) -> tuple[int, str]:
    """A new learner with one session: their id and the token for the browser."""
    learner = await create_learner(db)
    return learner, await open_session(db, learner, embedded=embedded)


async def open_session(
    db: AsyncSession, learner: int, *, label: str | None = None, via: int | None = None, embedded: bool = False
) -> str:
    """One more session of *learner*; its token."""
    token = secrets.token_urlsafe(32)
    row = {
        "token_hash": hash_of(token),
        "learner_id": learner,
        "label": label,
        "credential_id": via,
        "embedded": embedded,
    }
    db.add(Session(**row, created_at=now(), seen_at=now()))
    await db.flush()
    return token


_HAS_CREDENTIAL = exists().where(Credential.learner_id == Learner.id)
_IN_CLASS = exists().where(Membership.learner_id == Learner.id, Membership.left_at.is_(None))
_NOTICE = (
    # Of `answer`, `password` and `seat` the last that there is.
    select(func.max(Notice.kind)).where(Notice.learner_id == Learner.id, Notice.read_at.is_(None)).scalar_subquery()
)
_KNOWN = (
    select(
        Session.learner_id,
        Session.seen_at,
        Session.created_at,
        Session.embedded,
        Learner.name,
        _HAS_CREDENTIAL.label("account"),
        _IN_CLASS.label("in_class"),
        _NOTICE.label("notice"),
    )
    .join(Learner, Learner.id == Session.learner_id)
    .where(Session.token_hash == bindparam("token_hash"))
)


async def find_session_learner(db: AsyncSession, token: str) -> SessionLearner | None:
    row = (await db.execute(_KNOWN, {"token_hash": hash_of(token)})).one_or_none()
    if row is None or (row.embedded and now() - row.created_at > EMBEDDED_STAY):
        return None
    stale = now() - row.seen_at > SEEN_EVERY
    return SessionLearner(
        row.learner_id, stale, row.name, row.account, row.in_class, row.notice or "", embedded=row.embedded
    )


async def was_rotated(db: AsyncSession, token: str) -> bool:
    """True if *token* was the session of a browser until it signed in, a moment ago."""
    conditions = (
        OneTimeToken.token_hash == hash_of(token),
        OneTimeToken.purpose == "rotated",
        OneTimeToken.expires_at > now(),
    )
    return await db.scalar(select(OneTimeToken.token_hash).where(*conditions)) is not None


async def count_sessions(db: AsyncSession) -> int:
    """Count the sessions."""
    return await db.scalar(select(func.count()).select_from(Session)) or 0


async def mark_seen(db: AsyncSession, token: str) -> None:
    await db.execute(update(Session).where(Session.token_hash == hash_of(token)).values(seen_at=now()))


async def try_writing(db: AsyncSession) -> None:
    """Write a row like those of learners and roll it back; raises the error of the database, if it has one."""
    learner = await create_learner(db)
    db.add(Draft(learner_id=learner, lesson="", exercise="", text="x" * TRIED_CHARACTERS, revision=1, saved_at=now()))
    await db.flush()
    await db.execute(delete(Learner).where(Learner.id == learner).execution_options(synchronize_session=False))


async def forget_empty(db: AsyncSession, before: datetime) -> int:
    """Delete learners who left nothing behind but wrong choices, and were not here since *before*; how many."""
    tables = (table for table in Base.metadata.sorted_tables if "learner_id" in table.c and table.name != "session")
    worth = {
        Attempt.__tablename__: or_(Attempt.kind != "quiz", Attempt.correct.is_(True)),
        Moment.__tablename__: Moment.what != SEEN,
    }
    traces = [exists().where(table.c.learner_id == Learner.id, worth.get(table.name, true())) for table in tables]
    traces.append(exists().where(Session.learner_id == Learner.id, Session.seen_at >= before))
    # The database counts them: their ids in a list can be more than a statement may hold.
    opened_at = func.coalesce(Learner.opened_at, Learner.created_at)
    empty = delete(Learner).where(opened_at < before, Learner.teaches.is_(False), *(~trace for trace in traces))
    gone = await db.execute(empty.execution_options(synchronize_session=False))
    return cast(CursorResult[Any], gone).rowcount


def _lost_conditions(before: datetime) -> tuple[ColumnElement[bool], ...]:
    recent_session = exists().where(Session.learner_id == Learner.id, Session.seen_at >= before)
    return Learner.created_at < before, ~recent_session, ~_HAS_CREDENTIAL


async def lost_members(db: AsyncSession, before: datetime) -> list[int]:
    """Of the learners whom no browser knows since *before*, those who are in a class."""
    return list(await db.scalars(select(Learner.id).where(*_lost_conditions(before), _IN_CLASS)))


async def forget_lost(db: AsyncSession, before: datetime) -> int:
    """Delete learners whom no browser knows since *before*; how many there were. An account is never lost."""
    lost = delete(Learner).where(*_lost_conditions(before))
    gone = await db.execute(lost.execution_options(synchronize_session=False))
    return cast(CursorResult[Any], gone).rowcount


async def delete_begun(db: AsyncSession, before: datetime) -> None:
    """Delete all learners who came before that, and what they wrote."""
    await db.execute(delete(Learner).where(Learner.created_at < before).execution_options(synchronize_session=False))


async def forget_sessions(db: AsyncSession, before: datetime) -> None:
    """Delete sessions that were not seen since *before*, as no browser keeps a cookie for so long, and ended ones."""
    ended = Session.embedded.is_(True) & (Session.created_at < now() - EMBEDDED_STAY)
    await db.execute(delete(Session).where((Session.seen_at < before) | ended))


async def end_session(db: AsyncSession, token: str) -> None:
    await db.execute(delete(Session).where(Session.token_hash == hash_of(token)))


async def sessions_of(db: AsyncSession, learner: int) -> list[Session]:
    """The one that was seen last first."""
    query = select(Session).where(Session.learner_id == learner)
    return list(await db.scalars(query.order_by(Session.seen_at.desc(), Session.token_hash)))


async def end_device(db: AsyncSession, learner: int, beginning: str) -> None:
    """End the sessions of *learner* whose hash begins so."""
    await db.execute(
        delete(Session).where(Session.learner_id == learner, Session.token_hash.startswith(beginning, autoescape=True))
    )


async def set_display_name(db: AsyncSession, learner: int, name: str | None) -> None:
    await db.execute(update(Learner).where(Learner.id == learner).values(name=name))
