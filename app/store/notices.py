"""Notices: what was done to an account or a seat that its learner must hear of, and answers to what they reported."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from sqlalchemy import delete, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.store.database import now
from app.store.tables import Notice

Kind = Literal["password", "seat", "answer"]
SHOWN_FOR = timedelta(days=7)
"""On every page, at least: until then nobody can put a notice away, since a thief would. An answer can be at once."""
STAY = timedelta(days=400)


@dataclass(frozen=True, slots=True)
class NoticeView:
    """A notice as its learner reads it; *removable* once it was shown for long enough."""

    kind: str
    at: datetime
    data: dict[str, Any]
    read: bool

    @property
    def removable(self) -> bool:
        return not self.read and (self.kind == "answer" or now() - self.at >= SHOWN_FOR)


async def add_notice(db: AsyncSession, learner: int, kind: Kind, **data: Any) -> None:
    """Have *learner* hear of it on every page, from now on."""
    db.add(Notice(learner_id=learner, created_at=now(), kind=kind, data_json=json.dumps(data)))


async def notices_of(db: AsyncSession, learner: int) -> Sequence[NoticeView]:
    """The newest first."""
    query = select(Notice).where(Notice.learner_id == learner).order_by(Notice.id.desc())
    return [
        NoticeView(notice.kind, notice.created_at, json.loads(notice.data_json), notice.read_at is not None)
        for notice in await db.scalars(query)
    ]


async def mark_read(db: AsyncSession, learner: int) -> None:
    """Mark notices that were shown for long enough as read; they stay on the page of stored data."""
    removable = or_(Notice.kind == "answer", Notice.created_at <= now() - SHOWN_FOR)
    conditions = (Notice.learner_id == learner, Notice.read_at.is_(None), removable)
    await db.execute(update(Notice).where(*conditions).values(read_at=now()))


async def forget_notices(db: AsyncSession, before: datetime) -> None:
    await db.execute(delete(Notice).where(Notice.created_at < before))
