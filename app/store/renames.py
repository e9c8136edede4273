"""Renames of exercises (`was`): rows stored under a former name are moved to the present one."""

import json
from collections.abc import Awaitable, Callable, Mapping

from sqlalchemy import select, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.store.database import at_exercise
from app.store.drafts import store_replaced_text
from app.store.progress import ResumePoint, progress_of
from app.store.tables import (
    Attempt,
    Comparison,
    Draft,
    ExerciseEdition,
    FormerMember,
    Learner,
    Moment,
    ProblemReport,
    Progress,
    ReplacedText,
    TrainingRun,
    WrittenSentence,
)


async def adopt_renames(db: AsyncSession, renames: Mapping[ResumePoint, ResumePoint]) -> None:
    """Carry over what was stored under former names and in former lessons: *renames* maps each to the current place.

    Where both places have a draft, the newer one's text stays in the box and the other one is kept; of two training
    runs the current place's stays, and one that went to its end is not lost.
    """
    if not renames:
        return
    lessons = {old.lesson for old in renames}
    for table in (Attempt, ReplacedText, ProblemReport, Progress, Moment, Draft, TrainingRun):
        stored = await db.execute(
            select(table.learner_id, table.lesson, table.exercise).where(table.lesson.in_(lessons)).distinct()
        )
        for learner, lesson, exercise in stored.all():
            new = renames.get(ResumePoint(lesson, exercise))
            if new is not None:
                await _ADOPTS.get(table, _adopt_rows(table))(db, (learner, lesson, exercise), new)
    await _adopt_former(db, renames)
    for old, new in renames.items():
        if old.lesson != new.lesson:
            opened = update(Learner).where(Learner.opened_lesson == old.lesson)
            await db.execute(opened.values(opened_lesson=new.lesson))
        for nobodys in (ExerciseEdition, WrittenSentence, Comparison):
            former = (nobodys.lesson == old.lesson, nobodys.exercise == old.exercise)
            await db.execute(update(nobodys).where(*former).values(lesson=new.lesson, exercise=new.exercise))


async def _adopt_former(db: AsyncSession, renames: Mapping[ResumePoint, ResumePoint]) -> None:
    """Rename exercises in the stored grades of former members, too."""
    for former in await db.scalars(select(FormerMember)):
        solved = json.loads(former.solved_json)
        for item in solved:
            new = renames.get(ResumePoint(item["lesson"], item["exercise"]))
            if new is not None:
                item["lesson"], item["exercise"] = new.lesson, new.exercise
        former.solved_json = json.dumps(solved)


PlacedRow = Attempt | ReplacedText | ProblemReport | Progress | Moment | Draft | TrainingRun
Key = tuple[int, str, str]
"""Learner, lesson and exercise."""
Adopt = Callable[[AsyncSession, Key, ResumePoint], Awaitable[None]]


def _adopt_rows(table: type[PlacedRow]) -> Adopt:
    async def adopt(db: AsyncSession, old: Key, new: ResumePoint) -> None:
        moved = update(table).where(*at_exercise(table, *old))
        await db.execute(moved.values(lesson=new.lesson, exercise=new.exercise))

    return adopt


async def _adopt_progress(db: AsyncSession, old: Key, new: ResumePoint) -> None:
    former = await db.get_one(Progress, old)
    row = await progress_of(db, old[0], new.lesson, str(new.exercise))
    row.edition = row.edition if row.solved_at else former.edition
    row.solved_at = row.solved_at or former.solved_at
    row.solution_at = row.solution_at or former.solution_at
    row.hints = max(row.hints, former.hints)
    await db.delete(former)


async def _adopt_moments(db: AsyncSession, old: Key, new: ResumePoint) -> None:
    for former in (await db.scalars(select(Moment).where(*at_exercise(Moment, *old)))).all():
        row = await db.get(Moment, (old[0], new.lesson, new.exercise, former.what))
        if row is None:
            former.lesson, former.exercise = new.lesson, str(new.exercise)
            continue
        row.happened_at = min(row.happened_at, former.happened_at)
        await db.delete(former)


async def _adopt_draft(db: AsyncSession, old: Key, new: ResumePoint) -> None:
    former = await db.get_one(Draft, old)
    if await db.get(Draft, (old[0], new.lesson, new.exercise)) is None:
        former.lesson, former.exercise = new.lesson, str(new.exercise)
        return
    former_draft = Draft(learner_id=old[0], lesson=new.lesson, exercise=str(new.exercise), text=former.text)
    await store_replaced_text(db, former_draft, "other-tab")
    await db.delete(former)


async def _adopt_training(db: AsyncSession, old: Key, new: ResumePoint) -> None:
    former = await db.get_one(TrainingRun, old)
    run = await db.get(TrainingRun, (old[0], new.lesson, new.exercise))
    if run is None:
        former.lesson, former.exercise = new.lesson, str(new.exercise)
        return
    run.finished_json = run.finished_json or former.finished_json
    await db.delete(former)


_ADOPTS: Mapping[type, Adopt] = {
    Progress: _adopt_progress,
    Moment: _adopt_moments,
    Draft: _adopt_draft,
    TrainingRun: _adopt_training,
}
