"""One training run that this process drives, and that is written down while it goes on.

How far it has come is stored every few seconds, so a page that another process serves can show it; where to go on from
a little less often, so another process can drive it when this one is gone.
"""

import asyncio
from dataclasses import dataclass, replace
from typing import Any

import structlog
from sqlalchemy.exc import SQLAlchemyError

from app.engine.codec import to_json
from app.engine.json_columns import to_json_column
from app.engine.train.snapshot import Snapshot
from app.engine.train.training_run import Checkpoint, Training, TrainingSpec
from app.store import trainings
from app.store.database import Database
from app.store.event_bus import EventBus
from app.store.trainings import Wish

log = structlog.get_logger()

RECORD_SECONDS = 2.0
CHECKPOINT_SECONDS = 10.0
LOST = "The server ended while this run was going, so it ended at step {step:,}. Start it again."


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingRequest:
    """A run that is asked for."""

    lesson: str
    exercise: str
    preset: str
    attempt_id: int | None
    passing: bool
    planned: TrainingSpec

    @property
    def place(self) -> tuple[str, str]:
        return self.lesson, self.exercise


@dataclass(frozen=True, slots=True)
class TrainingRecorder:
    """Recorder of training runs: it stores and publishes them, as *owner*, this process."""

    database: Database
    bus: EventBus
    owner: str

    async def record(
        self,
        learner: int,
        place: tuple[str, str],
        snapshot: Snapshot,
        checkpoint: Checkpoint | None = None,
        *,
        edition: str = "",
        leaving: bool = False,
    ) -> Wish:
        """Write *snapshot* down; what is wished."""
        text = None if checkpoint is None else await asyncio.to_thread(to_json, checkpoint)
        try:
            async with self.database.write() as db:
                wish = await trainings.record_training(
                    db, learner, *place, to_json_column(snapshot), owner=self.owner, live=snapshot.live,
                    finished=snapshot.phase == "finished", edition=edition, checkpoint=text, leaving=leaving,
                )  # fmt: skip
                await self.bus.publish(db, run_key(learner, *place))
        except SQLAlchemyError as error:
            log.warning("training-not-recorded", error=str(error)[:200])
            return "go on"
        return wish


class LocalTrainingRun:
    """Training run of *learner* on this server, until it ends or another server claims it.

    Attributes:
        task: What drives it; None until it has been written down for the first time.
    """

    def __init__(self, learner: int, order: TrainingRequest, training: Training, ledger: TrainingRecorder) -> None:
        self.order = order
        self._learner = learner
        self._training = training
        self._ledger = ledger
        self.task: asyncio.Task[None] | None = None
        self._checkpoint = training.checkpoint
        self._renew_checkpoint = 0.0

    @property
    def snapshot(self) -> Snapshot:
        """Snapshot of the run; it is not reported as ended before its result is stored."""
        now = self._training.snapshot
        return now if now.live else replace(now, phase="judging")

    async def drive(self) -> None:
        """Drive the run to its end. If this is cancelled, the lease expires and another server claims the run."""
        run = asyncio.ensure_future(self._training.run())
        try:
            if await self._follow(run) != "leave":
                await self._record(run.result())
        except asyncio.CancelledError:
            await self._record(self._training.snapshot, self._training.checkpoint, leaving=True)
            raise
        except Exception as error:
            log.exception("training-failed")
            message = f"A fault of ours: {type(error).__name__}."
            await self._record(replace(self._training.snapshot, phase="failed", message=message))
        finally:
            run.cancel()

    async def _follow(self, run: asyncio.Future[Snapshot]) -> Wish:
        """Write down how far *run* is, now and then and when it is to stop, until it has ended."""
        with self._ledger.bus.subscribe(stop_key(self._learner, *self.order.place)) as subscription:
            while True:
                word = asyncio.ensure_future(subscription.wait(RECORD_SECONDS))
                either: tuple[asyncio.Future[Any], ...] = (run, word)
                try:
                    await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
                finally:
                    word.cancel()
                if run.done():
                    return "go on"
                wish = await self._record(self._training.snapshot, self._new_checkpoint())
                if wish == "leave":
                    return wish
                if wish == "stop":
                    self._training.stop()

    def _new_checkpoint(self) -> Checkpoint | None:
        """Checkpoint to continue from, if it was not stored lately."""
        now, checkpoint = asyncio.get_running_loop().time(), self._training.checkpoint
        if checkpoint is self._checkpoint or now < self._renew_checkpoint:
            return None
        self._checkpoint, self._renew_checkpoint = checkpoint, now + CHECKPOINT_SECONDS
        return checkpoint

    async def _record(self, snapshot: Snapshot, checkpoint: Checkpoint | None = None, *, leaving: bool = False) -> Wish:
        return await self._ledger.record(
            self._learner, self.order.place, snapshot, checkpoint, edition=self.order.planned.edition, leaving=leaving
        )


def run_key(learner: int, lesson: str, exercise: str) -> str:
    """The word that a run has come further."""
    return f"run {learner}/{lesson}/{exercise}"


def stop_key(learner: int, lesson: str, exercise: str) -> str:
    """The word that a run is to end."""
    return f"stop {learner}/{lesson}/{exercise}"


def lost_snapshot(snapshot: Snapshot) -> Snapshot:
    """Snapshot of a run whose server is gone, and that no server continues."""
    return replace(snapshot, phase="lost", seconds_left=None, message=LOST.format(step=snapshot.step))
