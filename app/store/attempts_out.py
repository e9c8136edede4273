"""Attempts of a class that leave the server, under pseudonyms: a switch of the class, and the rows."""

from collections.abc import AsyncIterator, Sequence

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from app.store import board
from app.store.classes import record_event
from app.store.database import Database
from app.store.tables import Attempt, Class

LEARNERS_AT_ONCE = 20


async def let_attempts_out(db: AsyncSession, group: Class, actor: int, *, allowed: bool) -> None:
    """Let the attempts of a class be taken out from now on, or not any more."""
    if group.attempts_out != allowed:
        group.attempts_out = allowed
        await record_event(db, group.id, actor, "attempts-out", group.id, may=allowed)


async def attempt_pages(database: Database, class_id: int) -> AsyncIterator[Sequence[Attempt]]:
    """Pages of the attempts of a class in lessons that are assigned: some learners after the others."""
    async with database.read() as db:
        learners = sorted(person.learner_id for person in await board.list_learners(db, class_id))
        assigned = await board.assigned_exercises(db, class_id)
    for start in range(0, len(learners), LEARNERS_AT_ONCE):
        some = learners[start : start + LEARNERS_AT_ONCE]
        query = select(Attempt).where(Attempt.learner_id.in_(some), Attempt.lesson.in_(assigned))
        async with database.read() as db:
            rows = (await db.scalars(query.order_by(Attempt.learner_id, Attempt.id))).all()
        yield [row for row in rows if board.has_exercise(assigned, row.lesson, row.exercise)]
