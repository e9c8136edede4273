"""Client of the graders: builds requests, and the verdicts for those without a response. It does not carry them."""

import asyncio
import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, TypeVar

from app.cache import LruCache, Same
from app.content.blocks import Forward
from app.engine.codec import from_json_value, to_json_value
from app.engine.grader import Nudge, Readiness, RunResult
from app.engine.pool.questions import (
    CHECK,
    EXPORT_PROBLEMS,
    FACTS,
    LINE_SHAPES,
    NUDGE,
    RUN,
    TRAIN,
    Fields,
    GraderQuestion,
)
from app.engine.task import PATIENCE, AnyTask
from app.engine.training_chunk import LONGEST_SECONDS, ChunkResult, TrainingChunk
from app.grading.forward.facts import Facts, Outcome
from app.grading.judge.line_shapes import InlayShapes
from app.grading.judge.verdict import Verdict

T = TypeVar("T")
A = TypeVar("A", Verdict, RunResult, Nudge)

FAULT = (
    "The grader stopped before it had an answer. That is our fault, not yours; your text is saved. Please try again."
)
BUSY = "Too many checks are waiting just now. Your text is saved; please try again in a few seconds."
NONE_UP = "No grader is up just now; the server starts them again. Your text is saved; please try again in a minute."
STOPPED = "The server is stopping. Your text is saved; please try again in a minute."

WARMING = Readiness(state="warming", reason="The graders are starting.")

STARTUP_SECONDS = 60.0
"""How long a question waits for a grader."""
READING_SECONDS = 2.0
SHORT_SECONDS = 0.2
"""Of processor time; many times what a backward pass takes."""

MOST_TEXTS = 1024
"""Tasks whose text for a grader is kept at hand: a course has hundreds, practice draws new ones for ever."""


class NoResponseError(Exception):
    """No answer comes: *outcome* and *message* are what is said instead."""

    def __init__(self, outcome: Outcome, message: str) -> None:
        super().__init__(message)
        self.outcome: Outcome = outcome
        self.message = message


class GraderClient(ABC):
    """The questions of `Grader`, in JSON.

    Args:
        gate: Judge texts by the courtesy gate before they run.
        at_once: How many long runs may go on at a time.
    """

    def __init__(self, *, gate: bool, at_once: int) -> None:
        self._gate = gate
        self._waiting = 0
        self._long = asyncio.Semaphore(at_once)
        self._texts = LruCache[Same, str](MOST_TEXTS)

    async def check(self, task: AnyTask, code: str) -> Verdict:
        return await self._submit(CHECK, self._fields(task, code), task.seconds)

    async def run(self, task: AnyTask, code: str) -> RunResult:
        return await self._submit(RUN, self._fields(task, code), task.seconds)

    async def nudge(self, task: AnyTask, code: str, name: str, entry: str) -> Nudge:
        return await self._submit(NUDGE, {"name": name, "entry": entry, **self._fields(task, code)}, task.seconds)

    async def line_shapes(self, task: AnyTask, code: str) -> InlayShapes:
        return await self._ask(LINE_SHAPES, self._fields(task, code), SHORT_SECONDS)

    async def export_problems(self, texts: Sequence[str]) -> tuple[str, ...]:
        return await self._ask(EXPORT_PROBLEMS, {"texts": list(texts)}, READING_SECONDS)

    async def facts(self, forward: Forward) -> Facts:
        return await self._ask(FACTS, {"forward": json.dumps(to_json_value(forward))}, READING_SECONDS)

    async def train(self, stretch: TrainingChunk) -> ChunkResult:
        return await self._ask(
            TRAIN, {"stretch": to_json_value(stretch), "gate": self._gate}, PATIENCE * LONGEST_SECONDS
        )

    async def _submit(self, question: GraderQuestion[A], fields: Fields, seconds: float) -> A:
        """The answer to a submission. A run that turns out to be long begins anew, when a long one may.

        Which loop ends is not known beforehand. A first try is short, and where there is more than one grader, long
        runs never hold all of them: a class does not wait for the endless loops of a few.
        """
        answer = await self._ask(question, {**fields, "seconds": SHORT_SECONDS}, PATIENCE * seconds)
        if answer.outcome != "timeout" or seconds <= SHORT_SECONDS:
            return answer
        if self._full:
            return question.instead(fields, "busy", BUSY)
        self._waiting += 1
        try:
            async with asyncio.timeout(STARTUP_SECONDS):
                await self._long.acquire()
        except TimeoutError:
            return question.instead(fields, "busy", BUSY)
        finally:
            self._waiting -= 1
        try:
            return await self._ask(question, {**fields, "seconds": None}, PATIENCE * seconds)
        finally:
            self._long.release()

    def _fields(self, task: AnyTask, code: str) -> dict[str, Any]:
        return {"kind": type(task).__name__, "task": self._text(task), "code": code, "gate": self._gate}

    def _text(self, task: AnyTask) -> str:
        return self._texts.of(Same(task), lambda: json.dumps(to_json_value(task)))

    async def _ask(self, question: GraderQuestion[T], fields: Fields, seconds: float) -> T:
        try:
            return from_json_value(question.kind, await self.send_request({"ask": question.name, **fields}, seconds))
        except NoResponseError as why:
            return question.instead(fields, why.outcome, why.message)
        except ValueError:  # no answer of ours
            return question.instead(fields, "fault", FAULT)

    @abstractmethod
    async def send_request(self, question: dict[str, Any], seconds: float) -> Any:
        """A grader's answer to *question*, which takes its run *seconds* at most; both in JSON.

        Raises:
            NoResponseError: There is none.
        """

    @property
    @abstractmethod
    def _full(self) -> bool:
        """True if the queue is full."""
