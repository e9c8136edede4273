"""A training run from the first step to the last comparison, as a row of stretches that wait their turn like checks.

Nothing here knows a web page or a database: the run is driven by its caller, and can be looked at at any moment.
"""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.cache import LruCache
from app.engine.run_setup import Setup
from app.engine.train.run_state import NOWHERE, Ask, Held, RunState, SavedRunState, StretchFailedError
from app.engine.train.snapshot import GradientComparison, Phase, Point, SampledNames, Snapshot, SplitLoss, chart_span
from app.engine.training_chunk import ChunkResult, TrainingChunk
from app.grading.judge.compare import Reference, closeness
from app.grading.operations.numerics import magnitude
from app.grading.train.corpus import PARTS

MILESTONES = (200, 2_000, 20_000)
SAMPLED_NAMES = 20
POINTS = 100
CALIBRATION_ROWS = 8_192
MOST_SECONDS = 900.0
RETRIES = 20
PAUSE_SECONDS = 0.5
KEPT = 8

FULL = "The graders are busy with checks. The run was stopped at this step; start it again in a while."
RUN_OFF = (
    ": the steps went too far, and each one further, or a gradient has entries that are no numbers. "
    "Look for a sign, a factor or a division by zero in the gradients that trained."
)


class ReferenceRuns:
    """The runs with torch's gradients, each made once and shared by every run of the same setup."""

    def __init__(self, capacity: int = KEPT) -> None:
        self._runs = LruCache[tuple[str, int], SharedReferenceRun](capacity)

    def of(self, setup: Setup, steps: int) -> "SharedReferenceRun":
        return self._runs.of((repr(setup), steps), lambda: SharedReferenceRun(setup, steps))


class SharedReferenceRun:
    """Reference run shared by several training runs; the first that needs a further step computes it for all."""

    def __init__(self, setup: Setup, steps: int) -> None:
        self._descent = RunState(setup, steps)
        self._turn = asyncio.Lock()
        self._judged: dict[str, float] = {}

    @property
    def losses(self) -> NDArray[np.float32]:
        return self._descent.losses

    @property
    def descent(self) -> RunState:
        return self._descent

    def go_on_from(self, reached: SavedRunState) -> None:
        """Continue from the state of another process, unless this one is further; no step may be under way."""
        if not self._turn.locked() and reached.losses and self._descent.step < reached.losses.shape[0]:
            self._descent.go_on_from(reached)

    async def reach(self, ask: Ask, step: int) -> None:
        while self._descent.step < step:
            async with self._turn:
                if self._descent.step < step:
                    await self._descent.advance(ask, self._descent.steps)

    async def judged(self, ask: Ask, rows: Mapping[str, int]) -> Mapping[str, float]:
        """The loss of each part of the data after the last step."""
        async with self._turn:
            if not self._judged:
                held = await self._descent.calibrated(ask, rows["train"])
                losses = {part: await self._descent.loss(ask, part, rows[part], held) for part in PARTS}
                self._judged = losses
        return self._judged


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingSpec:
    """Specification of a training run: *steps* steps of *setup* with the gradients of *code*, for this *edition*."""

    setup: Setup
    steps: int
    code: str
    forbid: tuple[str, ...] = ()
    edition: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """A run between two stretches: all that another process needs to go on with it."""

    planned: TrainingSpec
    snapshot: Snapshot
    own: SavedRunState = NOWHERE
    reference: SavedRunState = NOWHERE


class Training:
    """One run with the learner's own gradients.

    Args:
        ask: How a stretch reaches a grader.
        rows: How many examples each part of the data has; *source* says in words where they come from.
        floor: The least loss over the training data that a model of this kind can have, where that is known.
    """

    def __init__(
        self,
        planned: TrainingSpec,
        ask: Ask,
        rows: Mapping[str, int],
        source: str,
        references: ReferenceRuns,
        floor: float | None = None,
    ) -> None:
        self._own = RunState(planned.setup, planned.steps, planned.code, planned.forbid)
        self._shared = references.of(planned.setup, planned.steps)
        self._grader = ask
        self._rows = rows
        self._began = time.monotonic()
        self._began_at = 0
        self._stopping = False
        self._snapshot = Snapshot(
            phase="waiting",
            steps=planned.steps,
            numbers=planned.setup.numbers,
            examples=rows["train"],
            source=source,
            floor=floor,
        )
        self._checkpoint = Checkpoint(planned=planned, snapshot=self._snapshot)

    @property
    def snapshot(self) -> Snapshot:
        return self._snapshot

    @property
    def checkpoint(self) -> Checkpoint:
        """Checkpoint of the run after its last whole chunk."""
        return self._checkpoint

    def go_on_from(self, checkpoint: Checkpoint) -> None:
        """Be where another training of the same plan was.

        Raises:
            ValueError: It was none of the same plan.
        """
        self._own.go_on_from(checkpoint.own)
        self._shared.go_on_from(checkpoint.reference)
        self._began_at = self._own.step
        self._checkpoint, self._snapshot = checkpoint, replace(checkpoint.snapshot, phase="waiting", seconds_left=None)

    def stop(self) -> None:
        """End the run after the stretch that is under way."""
        self._stopping = True

    async def run(self) -> Snapshot:
        """Go to the end, whatever that is; never raises for anything that a submission does."""
        self._began = time.monotonic()
        try:
            phase = await self._train()
            if phase == "finished":
                self._see(phase="judging", seconds_left=None)
                await self._judge()
            self._see(phase="stopped" if self._stopping and phase != "finished" else phase, seconds_left=None)
        except StretchFailedError as failed:
            self._look()
            answer = failed.answer
            self._see(phase="failed", message=answer.message, line=answer.line, seconds_left=None)
        return self._snapshot

    async def _train(self) -> Phase:
        own = self._own
        stops = [*(milestone for milestone in MILESTONES if milestone < own.steps), own.steps]
        if not own.step:
            await own.start(self._ask)
            await self._sample_on_the_way()
        while own.step < own.steps:
            if self._stopping:
                return "stopped"
            if own.seconds > MOST_SECONDS:
                self._see(capped=True)
                return "finished"
            await own.advance(self._ask, next(stop for stop in stops if stop > own.step))
            if not np.isfinite(own.losses).all():
                first = int(np.argmin(np.isfinite(own.losses))) + 1
                self._look()
                self._see(message=f"Since step {first:,} the loss is no longer a number{RUN_OFF}")
                return "diverged"
            await self._shared.reach(self._ask, own.step)
            if own.step in stops and own.step < own.steps:
                await self._sample_on_the_way()
            self._look()
            shared = self._shared.descent.reached
            self._checkpoint = replace(self._checkpoint, snapshot=self._snapshot, own=own.reached, reference=shared)
        return "finished"

    async def _judge(self) -> None:
        own, ask = self._own, self._ask
        held = await own.calibrated(ask, self._rows["train"])
        await self._sample(held)
        if own.step == own.steps:
            reference = await self._shared.judged(ask, self._rows)
            for part in PARTS:
                loss = await own.loss(ask, part, self._rows[part], held)
                judged = SplitLoss(part=part, rows=self._rows[part], own=loss, reference=reference[part])
                self._see(judged=(*self._snapshot.judged, judged))
        self._see(compared=await self._compare())

    async def _sample_on_the_way(self) -> None:
        if self._own.setup.logits:
            await self._sample(await self._own.calibrated(self._ask, min(CALIBRATION_ROWS, self._rows["train"])))

    async def _sample(self, held: Held) -> None:
        if not self._own.setup.logits:
            return
        names = await self._own.names(self._ask, SAMPLED_NAMES, held)
        self._see(sampled=(*self._snapshot.sampled, SampledNames(step=self._own.step, names=names)))

    async def _compare(self) -> tuple[GradientComparison, ...]:
        """The learner's gradients of a fresh batch beside torch's, at the same parameters."""
        own_gradients = await self._own.gradients(self._ask)
        torchs = await self._own.gradients(self._ask, self._shared.descent)
        # A parameter whose gradient is zero has only rounding to show: it is judged beside the others.
        noise = max(magnitude(torch) for torch in torchs.values())
        rows = []
        for name, gradient in torchs.items():
            close = closeness(own_gradients[name], Reference(gradient=gradient, noise=noise))
            assert close is not None, "both are there"
            rows.append(
                GradientComparison(
                    name=name, shape=gradient.shape, exact=close.exact, approx=close.approx, maxdiff=close.maxdiff
                )
            )
        return tuple(rows)

    async def _ask(self, stretch: TrainingChunk) -> ChunkResult:
        """Ask, and ask again where the answer says nothing about the code: a full queue, a grader that died."""
        for attempt in range(RETRIES):
            answer = await self._grader(stretch)
            lost = answer.outcome == "fault" and not answer.wall_ms and attempt < 2
            if answer.outcome != "busy" and not lost:
                return answer
            if self._stopping:
                return replace(answer, message="")
            await asyncio.sleep(PAUSE_SECONDS)
        return ChunkResult(outcome="busy", message=FULL)

    def _look(self) -> None:
        """Bring the snapshot up to the last step."""
        own, reference = self._own.losses, self._shared.losses
        shared = min(len(own), len(reference))
        gap = float(np.abs(own[:shared] - reference[:shared]).max()) if shared else None
        elapsed = max(time.monotonic() - self._began, 1e-3)
        done = self._own.step
        steps_done = done - self._began_at
        self._see(
            phase="training",
            step=done,
            steps_per_second=steps_done / elapsed,
            seconds_left=elapsed / steps_done * (self._own.steps - done) if steps_done else None,
            points=points(own, reference, self._own.steps),
            gap=gap if gap is None or np.isfinite(gap) else None,
        )

    def _see(self, **changes: Any) -> None:
        self._snapshot = replace(self._snapshot, **changes)


def points(own: NDArray[np.float32], reference: NDArray[np.float32], steps: int) -> tuple[Point, ...]:
    """Means of the losses over equal parts of a run; a single batch scatters too much to be looked at."""
    size = max(1, chart_span(len(own), steps) // POINTS)
    ends = range(size, len(own) + 1, size)
    rows = [(end, _mean(own[end - size : end], size), _mean(reference[end - size : end], size)) for end in ends]
    return tuple(Point(step=end, own=own, reference=torchs) for end, own, torchs in rows if own is not None)


def _mean(losses: NDArray[np.float32], wanted: int) -> float | None:
    """The mean of *wanted* losses, where they are there and numbers."""
    if len(losses) < wanted or not np.isfinite(losses).all():
        return None
    return round(float(losses.mean(dtype=np.float64)), 5)
