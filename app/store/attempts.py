"""Every answer and every check, with what was said about it."""

from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import Select, bindparam, case, func, select
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
    attempt = Attempt(
        learner_id=learner,
        lesson=lesson,
        exercise=exercise,
        kind=answered.kind,
        text=answered.text,
        verdict=answered.verdict,
        correct=answered.correct,
        code=answered.code,
        task_key=answered.task_key,
        created_at=now(),
    )
    db.add(attempt)
    await db.flush()
    return attempt


async def record_check(
    db: AsyncSession, learner: int, lesson: str, exercise: str, answered: Answered, *, found: bool = False
) -> Tries:
    """Keep one check; all tries with it.

    Args:
        found: The verdict was found and not made. Then the same text as in the last check is nothing new.
    """
    before = (await tries_of(db, learner, lesson, exercise)).get(exercise)
    if found and before and before.newest.task_key == answered.task_key:
        return before
    attempt = await record_attempt(db, learner, lesson, exercise, answered)
    count, failed = (before.count, before.failed) if before else (0, 0)
    return Tries(count + 1, failed + (answered.correct is False), attempt)


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


def _tries(one: bool) -> Select[Any]:
    mine = [Attempt.learner_id == bindparam("learner"), Attempt.lesson == bindparam("lesson")]
    if one:
        mine.append(Attempt.exercise == bindparam("exercise"))
    failed = func.sum(case((Attempt.correct.is_(False), 1), else_=0))
    counted = select(func.max(Attempt.id).label("newest"), func.count().label("count"), failed.label("failed"))
    counts = counted.where(*mine).group_by(Attempt.exercise).subquery()
    return select(Attempt, counts.c.count, counts.c.failed).join(counts, Attempt.id == counts.c.newest)


# Made once: to put a statement together takes longer than to run it, and every check asks these.
_TRIES, _TRIES_AT_ONE = _tries(one=False), _tries(one=True)
_STORED_VERDICT = (
    select(Attempt.verdict).where(Attempt.task_key == bindparam("task_key")).order_by(Attempt.id.desc()).limit(1)
)
