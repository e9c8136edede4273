"""Training runs: what is under way, how far it has come, what came of the last one and of the last finished."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from sqlalchemy import and_, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import undefer

from app.store.database import at_exercise, lock_learner, now
from app.store.progress import mark_solved
from app.store.tables import Progress, TrainingRun

SILENCE = timedelta(seconds=20)
"""A live run is heard of every few seconds; after this long its owner is gone."""
FORGOTTEN = timedelta(hours=1)
"""A run that was left is gone on with by any server that runs within this time, and then no more."""

Wish = Literal["go on", "stop", "leave"]
"""What is wished of whoever records a run; to leave is to do nothing more: another has it, or nobody wants it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTrainingRun:
    """Start of a training run; the fields are those of `TrainingRun`."""

    lesson: str
    exercise: str
    preset: str
    attempt_id: int | None
    passing: bool
    run: str
    owner: str
    checkpoint: str


def is_live(run: TrainingRun) -> bool:
    """True if the run continues, or will once another server has seen that its lease expired."""
    return run.live and now() - run.lease_renewed_at < FORGOTTEN


def is_orphaned(run: TrainingRun) -> bool:
    """True if the run is live and its lease has expired, so that any server may claim it."""
    return is_live(run) and (run.owner is None or now() - run.lease_renewed_at > SILENCE)


async def training_of(db: AsyncSession, learner: int, lesson: str, exercise: str) -> TrainingRun | None:
    return await db.get(TrainingRun, (learner, lesson, exercise))


async def trainings_by(db: AsyncSession, learner: int) -> list[TrainingRun]:
    """The last run of each exercise, the latest first."""
    query = select(TrainingRun).where(TrainingRun.learner_id == learner)
    return list(await db.scalars(query.order_by(TrainingRun.began_at.desc())))


async def live_training(db: AsyncSession, learner: int) -> TrainingRun | None:
    """The run of *learner* that is under way, in whatever process."""
    query = select(TrainingRun).where(TrainingRun.learner_id == learner, TrainingRun.live.is_(True))
    return next((run for run in await db.scalars(query) if is_live(run)), None)


async def begin_training(db: AsyncSession, learner: int, begun: NewTrainingRun) -> bool:
    """Put a run in place of the last one of its exercise; False where another run of *learner* is under way."""
    await lock_learner(db, learner)
    if await live_training(db, learner) is not None:
        return False
    run = await training_of(db, learner, begun.lesson, begun.exercise)
    if run is None:
        run = TrainingRun(learner_id=learner, lesson=begun.lesson, exercise=begun.exercise)
        db.add(run)
    run.preset, run.attempt_id, run.passing, run.snapshot_json = (
        begun.preset,
        begun.attempt_id,
        begun.passing,
        begun.run,
    )
    run.live, run.stopping, run.owner, run.checkpoint_json = True, False, begun.owner, begun.checkpoint
    run.began_at = run.lease_renewed_at = now()
    await db.flush()
    return True


async def record_training(
    db: AsyncSession, learner: int, lesson: str, exercise: str, run: str, *,
    owner: str, live: bool, finished: bool = False, edition: str = "",
    checkpoint: str | None = None, leaving: bool = False,
) -> Wish:  # fmt: skip
    """Keep how far *owner* has come with a run; what is wished of it.

    A *finished* one stays until the next. What came of right gradients is never replaced by what came of wrong ones,
    and solves the exercise in the same moment.

    Args:
        edition: The exercise's as it is solved now.
        checkpoint: Where to go on from, if there is something new.
        leaving: Another server may claim it at once.
    """
    await lock_learner(db, learner)
    row = await db.get(TrainingRun, (learner, lesson, exercise), with_for_update=True)
    if row is None or row.owner != owner:
        return "leave"
    row.snapshot_json, row.live, row.lease_renewed_at = run, live, now()
    if checkpoint is not None or not live:
        row.checkpoint_json = checkpoint
    if leaving:
        row.owner = None
    if finished and (row.passing or not await _has_solved(db, learner, lesson, exercise)):
        row.finished_json = run
    if finished and row.passing:
        await mark_solved(db, learner, lesson, exercise, edition)
    return "stop" if row.stopping else "go on"


async def claim_orphaned_runs(db: AsyncSession, owner: str, most: int) -> list[TrainingRun]:
    """Make *owner* that of runs whose own is gone, *most* at a time; their checkpoints are loaded."""
    # Not its own: it drives them still, and was slow to write.
    gone = or_(
        TrainingRun.owner.is_(None), and_(TrainingRun.owner != owner, TrainingRun.lease_renewed_at < now() - SILENCE)
    )
    runs = select(TrainingRun).where(TrainingRun.live.is_(True), TrainingRun.lease_renewed_at > now() - FORGOTTEN, gone)
    some = runs.order_by(TrainingRun.lease_renewed_at).limit(most).with_for_update(skip_locked=True)
    taken = list(await db.scalars(some.options(undefer(TrainingRun.checkpoint_json))))
    for training_run in taken:
        training_run.owner, training_run.lease_renewed_at = owner, now()
    return taken


async def _has_solved(db: AsyncSession, learner: int, lesson: str, exercise: str) -> bool:
    """True if right gradients have trained this exercise to the end before."""
    row = await db.get(Progress, (learner, lesson, exercise))
    return bool(row and row.solved_at)


async def stop_training(db: AsyncSession, learner: int, lesson: str, exercise: str) -> None:
    """Ask a run to end."""
    run = update(TrainingRun).where(*at_exercise(TrainingRun, learner, lesson, exercise))
    await db.execute(run.values(stopping=True))
