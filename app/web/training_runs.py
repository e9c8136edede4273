"""Training runs that this process drives, at most one for each learner: begun, watched, stopped, taken over.

A run goes on when its page is closed, and in another process when this one is gone: in another server, or in the same
when it has started again.
"""

import asyncio
import secrets
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import structlog

from app.engine.codec import from_json, to_json
from app.engine.grader import Grader
from app.engine.json_columns import decoded_snapshot, to_json_column
from app.engine.train.corpus_file import examples_for, floor_of, load_names
from app.engine.train.snapshot import Snapshot
from app.engine.train.training_run import Checkpoint, ReferenceRuns, Training, TrainingSpec
from app.engine.training_chunk import ChunkResult, TrainingChunk
from app.grading.train.corpus import NamesError
from app.store import trainings
from app.store.database import Database
from app.store.event_bus import EventBus
from app.store.tables import TrainingRun
from app.store.trainings import NewTrainingRun
from app.web.driven_run import (
    RECORD_SECONDS,
    LocalTrainingRun,
    TrainingRecorder,
    TrainingRequest,
    lost_snapshot,
    run_key,
    stop_key,
)
from app.web.middleware.visitor import RetryLaterError

log = structlog.get_logger()

SNAPSHOT_POLL_SECONDS = 0.4
MOST_RUNS = 64
WATCHERS, WATCH_SECONDS = 6, 10.0

ALREADY = "A training run of yours is under way. Stop it, or wait for its end, before you start another."
FULL_SECONDS = 60.0
FULL = "Too many training runs are under way on this server. Please try again in a few minutes."


class TrainingRuns:
    """The training runs of this process, at most one for each learner.

    Args:
        names: The list of names to train on; None means the census's.
        at_once: How many stretches may wait for graders or run at a time, so that checks find one free.
    """

    def __init__(self, grader: Grader, database: Database, bus: EventBus, names: Path | None, at_once: int) -> None:
        self._grader = grader
        self._ledger = TrainingRecorder(database, bus, secrets.token_hex(16))
        self.names = names
        self._turn = asyncio.Semaphore(at_once)
        self._references = ReferenceRuns()
        self._live: dict[int, LocalTrainingRun] = {}
        self._watchers: Counter[int] = Counter()
        self._closing = False

    @property
    def closing(self) -> bool:
        """True if the server is about to stop, so that every stream of events ends."""
        return self._closing

    @property
    def under_way(self) -> int:
        return len(self._live)

    def check_names(self) -> None:
        """Tell the operator at the start, and not the first learner who trains."""
        try:
            load_names(self.names)
        except NamesError as error:
            log.warning("names-unusable", error=str(error), effect="Training runs are refused; all else works.")

    async def begin(self, learner: int, order: TrainingRequest) -> str:
        """Start a run; why it was not started, or nothing.

        Raises:
            RetryLaterError: Too many runs are under way.
        """
        if learner in self._live:
            return ALREADY
        if self._closing or len(self._live) >= MOST_RUNS:
            raise RetryLaterError(FULL, FULL_SECONDS)
        try:
            training = await asyncio.to_thread(self._training, order.planned)
        except NamesError as error:
            return f"The names to train on cannot be used on this server: {error}"
        if learner in self._live:
            return ALREADY
        self._live[learner] = LocalTrainingRun(learner, order, training, self._ledger)
        begun = NewTrainingRun(
            lesson=order.lesson,
            exercise=order.exercise,
            preset=order.preset,
            attempt_id=order.attempt_id,
            passing=order.passing,
            run=to_json_column(training.snapshot),
            owner=self._ledger.owner,
            checkpoint=to_json(training.checkpoint),
        )
        try:
            async with self._ledger.database.write() as db:
                started = await trainings.begin_training(db, learner, begun)
            if started:
                self._drive(learner)
        finally:
            if self._live[learner].task is None:  # not begun, or begun and not committed
                del self._live[learner]
        return "" if started else ALREADY

    async def stop(self, learner: int, lesson: str, exercise: str) -> None:
        """End a run, wherever it goes on; returns when it has ended here."""
        place = learner, lesson, exercise
        async with self._ledger.database.write() as db:
            await trainings.stop_training(db, *place)
            row = await trainings.training_of(db, *place)
            snapshot = decoded_snapshot(row.snapshot_json) if row is not None and trainings.is_orphaned(row) else None
            if row is not None and snapshot is not None:
                row.snapshot_json, row.live = (
                    to_json_column(replace(snapshot, phase="stopped", seconds_left=None)),
                    False,
                )
                row.checkpoint_json = None
            await self._ledger.bus.publish(db, stop_key(*place))
        driven = self._live.get(learner)
        if driven is not None and driven.task is not None and driven.order.place == (lesson, exercise):
            await asyncio.wait({driven.task}, timeout=RECORD_SECONDS)

    async def look(self, learner: int, lesson: str, exercise: str) -> Snapshot | None:
        """Snapshot of the last run of an exercise."""
        if now := self._here(learner, lesson, exercise):
            return now
        async with self._ledger.database.read() as db:
            row = await trainings.training_of(db, learner, lesson, exercise)
        return None if row is None else self.stands(row)

    def stands(self, row: TrainingRun) -> Snapshot | None:
        """Present snapshot of the run in *row*."""
        if now := self._here(row.learner_id, row.lesson, row.exercise):
            return now
        snapshot = decoded_snapshot(row.snapshot_json)
        if snapshot is None or not snapshot.live:
            return snapshot
        if trainings.is_orphaned(row):
            return replace(snapshot, phase="waiting", seconds_left=None)
        return snapshot if trainings.is_live(row) else lost_snapshot(snapshot)

    def _here(self, learner: int, lesson: str, exercise: str) -> Snapshot | None:
        """Snapshot of a run that this process drives."""
        driven = self._live.get(learner)
        return driven.snapshot if driven is not None and driven.order.place == (lesson, exercise) else None

    async def watch(self, learner: int, lesson: str, exercise: str) -> AsyncIterator[Snapshot]:
        """Each new moment of a run, until it has ended or the server stops."""
        seen = None
        with self._ledger.bus.subscribe(run_key(learner, lesson, exercise)) as subscription:
            while not self._closing:
                is_own = learner in self._live
                now = await self.look(learner, lesson, exercise)
                if now is None:
                    return
                if now != seen:
                    yield now
                    seen = now
                if not now.live:
                    return
                await (asyncio.sleep(SNAPSHOT_POLL_SECONDS) if is_own else subscription.wait())

    @contextmanager
    def watching(self, learner: int, refusal: str) -> Iterator[None]:
        """Count a viewer.

        Raises:
            RetryLaterError: The same learner watches in too many places already; it says the *refusal*.
        """
        self._watchers[learner] += 1
        try:
            if self._watchers[learner] > WATCHERS:
                raise RetryLaterError(refusal, WATCH_SECONDS)
            yield
        finally:
            self._watchers[learner] -= 1
            if not self._watchers[learner]:
                del self._watchers[learner]

    def end_streams(self) -> None:
        """Let every stream of events come to its end: the server is about to stop."""
        self._closing = True
        self._ledger.bus.wake_all()

    async def take_over(self) -> None:
        """Go on with every run whose process is gone, as long as there is room."""
        async with self._ledger.database.write() as db:
            taken = await trainings.claim_orphaned_runs(db, self._ledger.owner, MOST_RUNS - len(self._live))
        for row in taken:
            await self._go_on_with(row)

    async def _go_on_with(self, row: TrainingRun) -> None:
        learner = row.learner_id
        try:
            checkpoint = from_json(Checkpoint, row.checkpoint_json or "")
            training = await asyncio.to_thread(self._training, checkpoint.planned)
            training.go_on_from(checkpoint)
        except (ValueError, NamesError) as error:
            log.warning("training-not-taken-over", error=type(error).__name__)
            snapshot = decoded_snapshot(row.snapshot_json)
            if snapshot is not None:
                await self._ledger.record(learner, (row.lesson, row.exercise), lost_snapshot(snapshot))
            return
        order = TrainingRequest(
            lesson=row.lesson, exercise=row.exercise, preset=row.preset, attempt_id=row.attempt_id,
            passing=row.passing, planned=checkpoint.planned,
        )  # fmt: skip
        log.info("training-taken-over", lesson=row.lesson, exercise=row.exercise, step=training.snapshot.step)
        self._live[learner] = LocalTrainingRun(learner, order, training, self._ledger)
        self._drive(learner)

    async def close(self) -> None:
        """Leave every run to be claimed by the next server."""
        self._closing = True
        tasks = [training_run.task for training_run in self._live.values() if training_run.task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _drive(self, learner: int) -> None:
        task = self._live[learner].task = asyncio.create_task(self._live[learner].drive())
        task.add_done_callback(lambda _: self._live.pop(learner, None))

    def _training(self, planned: TrainingSpec) -> Training:
        examples, table = examples_for(planned.setup, self.names), planned.setup.table
        rows = {part: len(some) for part, some in examples.items()}
        if table is None:
            names = load_names(self.names)
            source = f"{len(names.names):,} names, {names.source}"
        else:
            source = table.source
        floor = floor_of(planned.setup, examples["train"])
        return Training(planned, self._ask, rows, source, self._references, floor)

    async def _ask(self, stretch: TrainingChunk) -> ChunkResult:
        async with self._turn:
            return await self._grader.train(stretch)
