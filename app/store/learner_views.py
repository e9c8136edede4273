"""Instructors who look at pages as one of their learners sees them: each time is written down for that learner."""

import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from app.store.classes import find_class_member, record_event
from app.store.database import now
from app.store.learners import hash_of
from app.store.tables import Class, LearnerView, Membership

VIEW_STAYS = timedelta(hours=1)
MOST_TOLD = 20


@dataclass(frozen=True, slots=True)
class SeenLearner:
    """The learner, called *name* in a class, as whom an instructor looks at pages."""

    view: int
    learner: int
    name: str
    class_id: int
    class_name: str


async def begin_view(db: AsyncSession, class_id: int, viewer: int, learner: int) -> str | None:
    """Let *viewer* look at pages as *learner*; the token for the browser, None where that is no learner there."""
    seen = await find_class_member(db, class_id, learner)
    if seen is None or seen.person.role != "learner":
        return None
    token = secrets.token_urlsafe(32)
    db.add(
        LearnerView(learner_id=learner, class_id=class_id, seen_by=viewer, token_hash=hash_of(token), began_at=now())
    )
    await record_event(db, class_id, viewer, "seen-as", f"learner {learner}")
    return token


async def find_view(db: AsyncSession, token: str, viewer: int) -> SeenLearner | None:
    """Whom *viewer* sees pages as; None once that is over, or either is no longer what they were in the class."""
    seen, own = aliased(Membership), aliased(Membership)
    query = (
        select(LearnerView.id, seen.learner_id, seen.name, Class.id, Class.name)
        .join(Class, Class.id == LearnerView.class_id)
        .join(seen, (seen.class_id == Class.id) & (seen.learner_id == LearnerView.learner_id))
        .join(own, (own.class_id == Class.id) & (own.learner_id == LearnerView.seen_by))
        .where(LearnerView.token_hash == hash_of(token), LearnerView.seen_by == viewer)
        .where(LearnerView.ended_at.is_(None), LearnerView.began_at > now() - VIEW_STAYS)
        .where(seen.role == "learner", own.role == "instructor")
        .where(seen.left_at.is_(None), own.left_at.is_(None), seen.blocked.is_(False), own.blocked.is_(False))
    )
    row = (await db.execute(query)).one_or_none()
    return None if row is None else SeenLearner(*row)


async def views_of(db: AsyncSession, class_id: int, learner: int) -> list[tuple[str, datetime]]:
    """Instructors of a class, by their name there, who looked at pages as *learner*, and when; the newest first."""
    query = (
        select(Membership.name, LearnerView.began_at)
        .outerjoin(
            Membership, (Membership.learner_id == LearnerView.seen_by) & (Membership.class_id == LearnerView.class_id)
        )
        .where(LearnerView.class_id == class_id, LearnerView.learner_id == learner)
        .order_by(LearnerView.id.desc())
        .limit(MOST_TOLD)
    )
    return [(name or "An instructor", at) for name, at in await db.execute(query)]


async def end_view(db: AsyncSession, view: int) -> None:
    row = await db.get(LearnerView, view)
    if row is not None and row.ended_at is None:
        row.ended_at = now()
