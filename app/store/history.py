"""All texts that ever stood in a code box and were checked or replaced, oldest first."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from app.store.tables import Attempt, Kept


@dataclass(frozen=True, slots=True)
class Mark:
    """One stored text, by its table and id."""

    kind: Literal["check", "kept"]
    id: int
    at: datetime


@dataclass(frozen=True, slots=True)
class Past:
    """The text behind a mark: of a check with its verdict (JSON), or kept for a *reason*."""

    text: str
    verdict: str | None = None
    reason: str | None = None


async def marks_of(db: AsyncSession, learner: int, lesson: str, exercise: str) -> list[Mark]:
    checks = select(Attempt.id, Attempt.created_at).where(
        Attempt.learner_id == learner, Attempt.lesson == lesson, Attempt.exercise == exercise, Attempt.kind == "code"
    )
    kept = select(Kept.id, Kept.kept_at).where(
        Kept.learner_id == learner, Kept.lesson == lesson, Kept.exercise == exercise
    )
    marks = [Mark("check", row.id, row.created_at) for row in await db.execute(checks)]
    marks += [Mark("kept", row.id, row.kept_at) for row in await db.execute(kept)]
    return sorted(marks, key=lambda mark: (mark.at, mark.kind, mark.id))


async def past(db: AsyncSession, mark: Mark) -> Past:
    """The text of a mark from `marks_of`."""
    if mark.kind == "check":
        attempt = await db.get_one(Attempt, mark.id)
        return Past(attempt.text, verdict=attempt.verdict)
    kept = await db.get_one(Kept, mark.id)
    return Past(kept.text, reason=kept.reason)
