"""One run down the loss: the state after some steps, and what can be asked of a grader about it.

With the learner's code the gradients are the learner's; without, they are torch's. Either way the start and the batches
come from the same seed.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from app.engine.run_setup import Setup
from app.engine.training_chunk import Array, ChunkResult, EncodedTensor, TrainingChunk, array_of, numbers_of
from app.grading.train.corpus import spell_name

Ask = Callable[[TrainingChunk], Awaitable[ChunkResult]]
Held = Mapping[str, EncodedTensor]

CALIBRATION_ROWS = 32_768
"""Rows of one calibration or evaluation: about a tenth of a second."""


class StretchFailedError(Exception):
    """A stretch did not do what was asked; it carries the answer."""

    def __init__(self, answer: ChunkResult) -> None:
        super().__init__(answer.message)
        self.answer = answer


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedRunState:
    """State of a training run, as numbers with which any server can continue it.

    Args:
        losses: Of each step that was done; None where none was. The *state* is then empty as well.
        seconds: Computing time so far.
    """

    losses: EncodedTensor | None = None
    state: Mapping[str, EncodedTensor] = field(default_factory=dict)
    seconds: float = 0.0


NOWHERE = SavedRunState()


class RunState:
    """A run of *steps* steps, as far as it has come."""

    def __init__(self, setup: Setup, steps: int, code: str | None = None, forbid: tuple[str, ...] = ()) -> None:
        self.setup = setup
        self.steps = steps
        self.step = 0
        self.seconds = 0.0
        self._losses = np.empty(steps, np.float32)
        self._state: Mapping[str, EncodedTensor] = {}
        self._plain = TrainingChunk(setup=setup, part="start", half=steps // 2)
        self._own = replace(self._plain, code=code, forbid=forbid)

    @property
    def losses(self) -> NDArray[np.float32]:
        """The loss of each step that was done."""
        return self._losses[: self.step]

    @property
    def reached(self) -> SavedRunState:
        losses = numbers_of(self.losses) if self.step else None
        return SavedRunState(losses=losses, state=self._state if self.step else {}, seconds=self.seconds)

    def go_on_from(self, reached: SavedRunState) -> None:
        """Be where another descent of the same kind was.

        Raises:
            ValueError: It was none of this kind.
        """
        if reached.losses is None:
            return
        losses = array_of(reached.losses)
        self._losses[: len(losses)] = losses
        self.step, self.seconds, self._state = len(losses), reached.seconds, reached.state

    async def start(self, ask: Ask) -> None:
        """Draw the parameters of the first step, unless the run has some already."""
        if not self._state:
            self._state = await self._answer(ask, self._plain)

    async def advance(self, ask: Ask, stop: int) -> None:
        """Do one stretch of steps, up to *stop* at most.

        Raises:
            StretchFailedError: The code failed in some step; the steps before it count.
        """
        await self.start(ask)
        question = replace(self._own, part="steps", state=self._state, first=self.step, stop=min(stop, self.steps))
        answer = await ask(question)
        self.seconds += answer.wall_ms / 1000
        done = dict(answer.state)
        losses = done.pop("losses", None)
        if losses is not None:
            array = array_of(losses)
            self._losses[self.step : self.step + len(array)] = array
            self.step += len(array)
            self._state = {**self._state, **done}
        if answer.outcome != "graded":
            raise StretchFailedError(answer)

    async def calibrated(self, ask: Ask, rows: int) -> Held:
        """Mean and variance over the first *rows* rows of the training data, to be held from here on."""
        setup = self.setup
        if setup.mean is None or setup.variance is None:
            return {}
        held: dict[str, EncodedTensor] = {}
        for first in range(0, rows, CALIBRATION_ROWS):
            stop = min(first + CALIBRATION_ROWS, rows)
            question = replace(self._plain, part="calibrate", state=self._parameters | held, first=first, stop=stop)
            answer = await self._answer(ask, question)
            held = {f"h/{setup.mean}": answer["mean"], f"h/{setup.variance}": answer["variance"]}
        return {key: numbers_of(array_of(encoded_tensor).astype(np.float32)) for key, encoded_tensor in held.items()}

    async def loss(self, ask: Ask, split: str, rows: int, held: Held) -> float:
        """The mean loss over all *rows* rows of *split*."""
        total = 0.0
        for first in range(0, rows, CALIBRATION_ROWS):
            stop = min(first + CALIBRATION_ROWS, rows)
            state = self._parameters | dict(held)
            question = replace(self._plain, part="evaluate", state=state, split=split, first=first, stop=stop)
            total += float(array_of((await self._answer(ask, question))["total"]))
        return total / rows

    async def names(self, ask: Ask, count: int, held: Held) -> tuple[str, ...]:
        """Names that the model invents."""
        question = replace(self._plain, part="sample", state=self._parameters | dict(held), count=count)
        answer = await self._answer(ask, question)
        return tuple(spell_name(row) for row in array_of(answer["names"]).tolist())

    async def gradients(self, ask: Ask, other: "RunState | None" = None) -> dict[str, Array]:
        """The gradients of the next batch, by parameter; with *other*, those that its code gives on this state."""
        answer = await self._answer(ask, replace((other or self)._own, part="gradients", state=self._state))
        return {key.removeprefix("d/"): array_of(encoded_tensor) for key, encoded_tensor in answer.items()}

    @property
    def _parameters(self) -> dict[str, EncodedTensor]:
        return {key: encoded_tensor for key, encoded_tensor in self._state.items() if key.startswith("p/")}

    async def _answer(self, ask: Ask, question: TrainingChunk) -> Mapping[str, EncodedTensor]:
        answer = await ask(question)
        if answer.outcome != "graded":
            raise StretchFailedError(answer)
        return answer.state
