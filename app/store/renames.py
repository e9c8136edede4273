"""What was stored under an exercise's old name (`:was:`), carried over to the current one."""

from collections.abc import Iterable, Mapping

from sqlalchemy import select, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.store.drafts import keep
from app.store.progress import progress_of
from app.store.tables import Attempt, Draft, Kept, Progress, TrainingRun


async def has_state_under(db: AsyncSession, learner: int, lesson: str, names: Iterable[str]) -> bool:
    wanted = tuple(names)
    for table in (Progress, Draft, Attempt, TrainingRun):
        mine = (table.learner_id == learner, table.lesson == lesson, table.exercise.in_(wanted))
        if await db.scalar(select(table.exercise).where(*mine).limit(1)) is not None:
            return True
    return False


async def adopt_renames(db: AsyncSession, learner: int, lesson: str, renames: Mapping[str, str]) -> None:
    """Carry over what was stored under an exercise's old name (`:was:`): *renames* maps old names to the current one.

    Where both names have a draft, the newer one's text stays in the box and the other one is kept; of two training
    runs the current name's stays, and one that went to its end is not lost.
    """
    for old, new in renames.items():
        for table in (Attempt, Kept):
            await db.execute(
                update(table)
                .where(table.learner_id == learner, table.lesson == lesson, table.exercise == old)
                .values(exercise=new)
            )
        await _adopt_progress(db, learner, lesson, old, new)
        await _adopt_draft(db, learner, lesson, old, new)
        await _adopt_training(db, learner, lesson, old, new)


async def _adopt_progress(db: AsyncSession, learner: int, lesson: str, old: str, new: str) -> None:
    former = await db.get(Progress, (learner, lesson, old))
    if former is None:
        return
    row = await progress_of(db, learner, lesson, new)
    row.solved_at = row.solved_at or former.solved_at
    row.solution_at = row.solution_at or former.solution_at
    row.hints = max(row.hints, former.hints)
    await db.delete(former)


async def _adopt_draft(db: AsyncSession, learner: int, lesson: str, old: str, new: str) -> None:
    former = await db.get(Draft, (learner, lesson, old))
    if former is None:
        return
    if await db.get(Draft, (learner, lesson, new)) is None:
        former.exercise = new
        return
    former_text = Draft(learner_id=learner, lesson=lesson, exercise=new, text=former.text)
    await keep(db, former_text, "other-tab")
    await db.delete(former)


async def _adopt_training(db: AsyncSession, learner: int, lesson: str, old: str, new: str) -> None:
    former = await db.get(TrainingRun, (learner, lesson, old))
    if former is None:
        return
    run = await db.get(TrainingRun, (learner, lesson, new))
    if run is None:
        former.exercise = new
        return
    run.finished = run.finished or former.finished
    await db.delete(former)
