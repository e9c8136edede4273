"""Every answer and every check, with what was said about it."""

from dataclasses import dataclass
from typing import Any, Literal, cast

from sqlalchemy import ColumnElement, Select, Table, bindparam, case, func, insert, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.store.learners import now
from app.store.tables import Attempt

Kind = Literal["quiz", "code"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """What is to be recorded; the fields are those of `Attempt`."""

    kind: Kind
    text: str
    verdict: str
    correct: bool | None
    code: str | None = None
    task_key: str | None = None


@dataclass(frozen=True, slots=True)
class Tries:
    """The attempts at one exercise: how many, how many failed, and the newest."""

    count: int
    failed: int
    newest: Attempt


async def record_attempt(db: AsyncSession, learner: int, lesson: str, exercise: str, answered: Answered) -> Attempt:
    """Keep one attempt, whatever came before it."""
    values = {
        "learner_id": learner,
        "lesson": lesson,
        "exercise": exercise,
        "kind": answered.kind,
        "text": answered.text,
        "verdict": answered.verdict,
        "correct": answered.correct,
        "code": answered.code,
        "task_key": answered.task_key,
        "created_at": now(),
    }
    # Straight into the table: nobody changes the row again, and the session's bookkeeping costs more than the insert.
    await db.execute(_INSERT, values)
    return Attempt(**values)


async def record_check(
    db: AsyncSession, learner: int, lesson: str, exercise: str, answered: Answered, *, found: bool = False
) -> Tries:
    """Keep one check; all tries with it.

    Args:
        found: The verdict was found and not made. Then the same text as in the last check is nothing new.
    """
    if found:
        before = (await tries_of(db, learner, lesson, exercise)).get(exercise)
        if before and before.newest.task_key == answered.task_key:
            return before
    count, failed = (await db.execute(_COUNTS_AT, {"learner": learner, "lesson": lesson, "exercise": exercise})).one()
    attempt = await record_attempt(db, learner, lesson, exercise, answered)
    return Tries(count + 1, (failed or 0) + (answered.correct is False), attempt)


async def stored_verdict(db: AsyncSession, task_key: str) -> str | None:
    """The verdict (JSON) that anybody's same text for the same task already got."""
    return await db.scalar(_STORED_VERDICT, {"task_key": task_key})


async def attempts_at(db: AsyncSession, learner: int, lesson: str, exercise: str) -> list[Attempt]:
    """Oldest first."""
    mine = (Attempt.learner_id == learner, Attempt.lesson == lesson, Attempt.exercise == exercise)
    return list(await db.scalars(select(Attempt).where(*mine).order_by(Attempt.id)))


async def tries_of(db: AsyncSession, learner: int, lesson: str, exercise: str | None = None) -> dict[str, Tries]:
    """By exercise, for all exercises of a lesson that were tried, or for one."""
    mine = {"learner": learner, "lesson": lesson}
    rows = await (
        db.execute(_TRIES, mine) if exercise is None else db.execute(_TRIES_AT_ONE, {**mine, "exercise": exercise})
    )
    return {attempt.exercise: Tries(count, failed, attempt) for attempt, count, failed in rows}


async def right_texts(db: AsyncSession, learner: int, lesson: str) -> dict[str, str]:
    """By exercise, the newest text or answer that was right."""
    mine = (Attempt.learner_id == learner, Attempt.lesson == lesson, Attempt.correct.is_(True))
    newest = select(func.max(Attempt.id)).where(*mine).group_by(Attempt.exercise)
    rows = await db.execute(select(Attempt.exercise, Attempt.text).where(Attempt.id.in_(newest)))
    return {row.exercise: row.text for row in rows}


_MINE = (Attempt.learner_id == bindparam("learner"), Attempt.lesson == bindparam("lesson"))
_AT_ONE = (*_MINE, Attempt.exercise == bindparam("exercise"))
_FAILED = func.sum(case((Attempt.correct.is_(False), 1), else_=0))


def _tries(*mine: ColumnElement[bool]) -> Select[Any]:
    counted = select(func.max(Attempt.id).label("newest"), func.count().label("count"), _FAILED.label("failed"))
    counts = counted.where(*mine).group_by(Attempt.exercise).subquery()
    return select(Attempt, counts.c.count, counts.c.failed).join(counts, Attempt.id == counts.c.newest)


# Made once: to put a statement together takes longer than to run it, and every check asks these.
_TRIES, _TRIES_AT_ONE = _tries(*_MINE), _tries(*_AT_ONE)
_COUNTS_AT = select(func.count(), _FAILED).where(*_AT_ONE)
_INSERT = insert(cast(Table, Attempt.__table__))
_STORED_VERDICT = (
    select(Attempt.verdict).where(Attempt.task_key == bindparam("task_key")).order_by(Attempt.id.desc()).limit(1)
)
