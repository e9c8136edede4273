"""Training runs that this process drives: begun, watched, stopped, and written down while they go on.

A run goes on when its page is closed. How far it has come is stored every few seconds, so a page that another process
serves can show it, and where to go on from a little less often: a run whose process ended goes on in another, or in the
same when it has started again.
"""

import asyncio
import json
import secrets
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import structlog
from sqlalchemy.exc import SQLAlchemyError

from app.engine.codec import plain, restored
from app.engine.grader import Grader
from app.engine.stretch import Stretch, Stretched
from app.engine.train.corpus_file import load_examples, load_names
from app.engine.train.snapshot import Snapshot
from app.engine.train.training_run import Halt, Planned, References, Training
from app.grading.train.corpus import NamesError
from app.store import progress, trainings
from app.store.bus import Bus
from app.store.database import Database
from app.store.tables import TrainingRun
from app.store.trainings import Begun, Wish
from app.web.json_columns import decoded_snapshot, encoded
from app.web.middleware.visitor import NotNowError

log = structlog.get_logger()

RECORD_SECONDS = 2.0
HALT_SECONDS = 10.0
LOOK_SECONDS = 0.4
MOST_RUNS = 64
WATCHERS = 6

ALREADY = "A training run of yours is under way. Stop it, or wait for its end, before you start another."
FULL_SECONDS = 60.0
FULL = "Too many training runs are under way on this server. Please try again in a few minutes."
LOST = "The server ended while this run was going, so it ended at step {step:,}. Start it again."


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """A run that is asked for."""

    lesson: str
    exercise: str
    preset: str
    attempt_id: int | None
    passing: bool
    planned: Planned

    @property
    def place(self) -> tuple[str, str]:
        return self.lesson, self.exercise


class Runs:
    """The training runs of this process, at most one for each learner.

    Args:
        names: The list of names to train on; None means the census's.
        at_once: How many stretches may wait for graders or run at a time, so that checks find one free.
    """

    def __init__(self, grader: Grader, database: Database, bus: Bus, names: Path | None, at_once: int) -> None:
        self._grader = grader
        self._database = database
        self._bus = bus
        self._me = secrets.token_hex(16)
        self.names = names
        self._turn = asyncio.Semaphore(at_once)
        self._references = References()
        self._live: dict[int, tuple[Order, Training]] = {}
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._watchers: Counter[int] = Counter()
        self._closing = False

    @property
    def under_way(self) -> int:
        return len(self._live)

    def check_names(self) -> None:
        """Tell the operator at the start, and not the first learner who trains."""
        try:
            load_names(self.names)
        except NamesError as error:
            log.warning("names-unusable", error=str(error), effect="Training runs are refused; all else works.")

    async def begin(self, learner: int, order: Order) -> str:
        """Start a run; why it was not started, or nothing.

        Raises:
            NotNowError: Too many runs are under way.
        """
        if learner in self._live:
            return ALREADY
        if self._closing or len(self._live) >= MOST_RUNS:
            raise NotNowError(FULL, FULL_SECONDS)
        try:
            training = await asyncio.to_thread(self._training, order.planned)
        except NamesError as error:
            return f"The names to train on cannot be used on this server: {error}"
        if learner in self._live:
            return ALREADY
        self._live[learner] = (order, training)
        begun = Begun(
            lesson=order.lesson,
            exercise=order.exercise,
            preset=order.preset,
            attempt_id=order.attempt_id,
            passing=order.passing,
            run=encoded(training.snapshot),
            owner=self._me,
            halt=_written(training.halt),
        )
        started = False
        try:
            async with self._database.write() as db:
                started = await trainings.begin_training(db, learner, begun)
        finally:
            if not started:
                del self._live[learner]
        if started:
            self._tasks[learner] = asyncio.create_task(self._drive(learner, order, training))
        return "" if started else ALREADY

    async def stop(self, learner: int, lesson: str, exercise: str) -> None:
        """End a run, wherever it goes on; returns when it has ended here."""
        async with self._database.write() as db:
            await trainings.stop_training(db, learner, lesson, exercise)
            row = await trainings.training_of(db, learner, lesson, exercise)
            kept = decoded_snapshot(row.run) if row is not None and trainings.left(row) else None
            if row is not None and kept is not None:
                row.run, row.live = encoded(replace(kept, phase="stopped", seconds_left=None)), False
            await self._bus.tell(db, _stop(learner, lesson, exercise))
        live, task = self._live.get(learner), self._tasks.get(learner)
        if live is not None and task is not None and live[0].place == (lesson, exercise):
            await asyncio.wait({task}, timeout=RECORD_SECONDS)

    async def look(self, learner: int, lesson: str, exercise: str) -> Snapshot | None:
        """The last run of an exercise as it stands now."""
        if now := self._here(learner, lesson, exercise):
            return now
        async with self._database.read() as db:
            row = await trainings.training_of(db, learner, lesson, exercise)
        return None if row is None else self.stands(row)

    def stands(self, row: TrainingRun) -> Snapshot | None:
        """The run of *row* as it stands now."""
        if now := self._here(row.learner_id, row.lesson, row.exercise):
            return now
        kept = decoded_snapshot(row.run)
        if kept is None or not kept.live:
            return kept
        if trainings.left(row):
            return replace(kept, phase="waiting", seconds_left=None)
        return kept if trainings.alive(row) else lost(kept)

    def _here(self, learner: int, lesson: str, exercise: str) -> Snapshot | None:
        """How far a run is that this process drives."""
        order, training = self._live.get(learner, (None, None))
        if order is None or training is None or order.place != (lesson, exercise):
            return None
        # Nothing is said to have ended before what came of it has been written down.
        return training.snapshot if training.snapshot.live else replace(training.snapshot, phase="judging")

    async def watch(self, learner: int, lesson: str, exercise: str) -> AsyncIterator[Snapshot]:
        """Each new moment of a run, until it has ended or the server stops."""
        seen = None
        with self._bus.hearing(_key(learner, lesson, exercise)) as told:
            while not self._closing:
                here = learner in self._live
                now = await self.look(learner, lesson, exercise)
                if now is None:
                    return
                if now != seen:
                    yield now
                    seen = now
                if not now.live:
                    return
                await (asyncio.sleep(LOOK_SECONDS) if here else told.wait())

    @contextmanager
    def watching(self, learner: int) -> Iterator[bool]:
        """Count somebody who watches; False where the same learner watches in too many places already."""
        self._watchers[learner] += 1
        try:
            yield self._watchers[learner] <= WATCHERS
        finally:
            self._watchers[learner] -= 1
            if not self._watchers[learner]:
                del self._watchers[learner]

    def end_streams(self) -> None:
        """Let every stream of events come to its end: the server is about to stop."""
        self._closing = True

    async def take_over(self) -> None:
        """Go on with every run whose process is gone, as long as there is room."""
        async with self._database.write() as db:
            taken = await trainings.take_over(db, self._me, MOST_RUNS - len(self._live))
        for row in taken:
            await self._go_on_with(row)

    async def _go_on_with(self, row: TrainingRun) -> None:
        learner = row.learner_id
        try:
            halt = restored(Halt, json.loads(row.halt or ""))
            training = await asyncio.to_thread(self._training, halt.planned)
            training.go_on_from(halt)
        except (ValueError, NamesError) as error:
            log.warning("training-not-taken-over", error=type(error).__name__)
            kept = decoded_snapshot(row.run)
            if kept is not None:
                await self._record(learner, (row.lesson, row.exercise), lost(kept))
            return
        order = Order(
            lesson=row.lesson, exercise=row.exercise, preset=row.preset, attempt_id=row.attempt_id,
            passing=row.passing, planned=halt.planned,
        )  # fmt: skip
        log.info("training-taken-over", step=training.snapshot.step)
        self._live[learner] = (order, training)
        self._tasks[learner] = asyncio.create_task(self._drive(learner, order, training))

    async def close(self) -> None:
        """Leave every run to whoever starts next."""
        self._closing = True
        tasks = tuple(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _training(self, planned: Planned) -> Training:
        examples = load_examples(self.names, planned.setup.width)
        names = load_names(self.names)
        rows = {part: len(some) for part, some in examples.items()}
        source = f"{len(names.names):,} names, {names.source}"
        return Training(planned, self._ask, rows, source, self._references)

    async def _ask(self, stretch: Stretch) -> Stretched:
        async with self._turn:
            return await self._grader.train(stretch)

    async def _drive(self, learner: int, order: Order, training: Training) -> None:
        run = asyncio.ensure_future(training.run())
        try:
            wish = await self._recording(learner, order, training, run)
            if wish != "leave":
                wish = await self._record(learner, order.place, run.result())
            if order.passing and wish != "leave" and run.result().phase == "finished":
                await self._solve(learner, order)
        except asyncio.CancelledError:
            await self._record(learner, order.place, training.snapshot, training.halt, leaving=True)
            raise
        except Exception as error:
            log.exception("training-failed")
            failed = replace(training.snapshot, phase="failed", message=f"A fault of ours: {type(error).__name__}.")
            await self._record(learner, order.place, failed)
        finally:
            run.cancel()
            self._live.pop(learner, None)
            self._tasks.pop(learner, None)

    async def _recording(self, learner: int, order: Order, training: Training, run: asyncio.Future[Snapshot]) -> Wish:
        """Write down how far *run* is, until it has ended or is somebody else's."""
        kept, clock = training.halt, asyncio.get_running_loop().time
        again = clock() + HALT_SECONDS
        with self._bus.hearing(_stop(learner, *order.place)) as told:
            while True:
                word = asyncio.ensure_future(told.wait(RECORD_SECONDS))
                either: tuple[asyncio.Future[Any], ...] = (run, word)
                await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
                word.cancel()
                if run.done():
                    return "go on"
                halt = training.halt if clock() > again and training.halt is not kept else None
                wish = await self._record(learner, order.place, training.snapshot, halt)
                if halt is not None:
                    kept, again = halt, clock() + HALT_SECONDS
                if wish == "leave":
                    return wish
                if wish == "stop":
                    training.stop()

    async def _record(
        self,
        learner: int,
        place: tuple[str, str],
        snapshot: Snapshot,
        halt: Halt | None = None,
        *,
        leaving: bool = False,
    ) -> Wish:
        """Write *snapshot* down; what is wished."""
        written = None if halt is None else await asyncio.to_thread(_written, halt)
        try:
            async with self._database.write() as db:
                wish = await trainings.record_training(
                    db, learner, *place, encoded(snapshot), owner=self._me, live=snapshot.live,
                    finished=snapshot.phase == "finished", halt=written, leaving=leaving,
                )  # fmt: skip
                await self._bus.tell(db, _key(learner, *place))
        except SQLAlchemyError as error:
            log.warning("training-not-recorded", error=str(error)[:200])
            return "go on"
        return wish

    async def _solve(self, learner: int, order: Order) -> None:
        async with self._database.write() as db:
            await progress.mark_solved(db, learner, *order.place)


def _key(learner: int, lesson: str, exercise: str) -> str:
    return f"run {learner}/{lesson}/{exercise}"


def _stop(learner: int, lesson: str, exercise: str) -> str:
    return f"stop {learner}/{lesson}/{exercise}"


def _written(halt: Halt) -> str:
    return json.dumps(plain(halt), separators=(",", ":"))


def lost(snapshot: Snapshot) -> Snapshot:
    """A run whose server is gone."""
    return replace(snapshot, phase="lost", seconds_left=None, message=LOST.format(step=snapshot.step))
