"""Client of the graders: builds requests, and the verdicts for those without a response. It does not carry them."""

import asyncio
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar

from app.cache import LruCache, Same
from app.content.blocks import Forward
from app.engine.codec import from_json_value, to_json_value
from app.engine.grader import Nudge, Readiness, RunResult
from app.engine.task import AnyTask
from app.engine.training_chunk import LONGEST_SECONDS, ChunkResult, TrainingChunk
from app.grading.forward.facts import Facts, Outcome
from app.grading.judge.line_shapes import InlayShapes
from app.grading.judge.verdict import Verdict

T = TypeVar("T")
A = TypeVar("A", Verdict, RunResult, Nudge)

UNREAD = "it could not be read just now"
FAULT = (
    "The grader stopped before it had an answer. That is our fault, not yours; your text is saved. Please try again."
)
BUSY = "Too many checks are waiting just now. Your text is saved; please try again in a few seconds."
NONE_UP = "No grader is up just now; the server starts them again. Your text is saved; please try again in a minute."
STOPPED = "The server is stopping. Your text is saved; please try again in a minute."

WARMING = Readiness(state="warming", reason="The graders are starting.")

STARTUP_SECONDS = 60.0
"""How long a question waits for a grader."""
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
        question = {"ask": "check", **self._asking(task, code)}
        return await self._submit(question, task.seconds, Verdict, Verdict)

    async def run(self, task: AnyTask, code: str) -> RunResult:
        question = {"ask": "run", **self._asking(task, code)}
        return await self._submit(question, task.seconds, RunResult, RunResult)

    async def nudge(self, task: AnyTask, code: str, name: str, entry: str) -> Nudge:
        question = {"ask": "nudge", "name": name, "entry": entry, **self._asking(task, code)}
        return await self._submit(question, task.seconds, Nudge, partial(Nudge, name=name))

    async def line_shapes(self, task: AnyTask, code: str) -> InlayShapes:
        question = {"ask": "told", **self._asking(task, code)}
        return await self._ask(question, SHORT_SECONDS, InlayShapes, lambda **_: InlayShapes())

    async def export_problems(self, texts: Sequence[str]) -> tuple[str, ...]:
        question = {"ask": "unfit", "texts": list(texts)}
        return await self._ask(question, 2.0, tuple[str, ...], lambda **_: (UNREAD,) * len(texts))

    async def facts(self, forward: Forward) -> Facts:
        question = {"ask": "facts", "forward": json.dumps(to_json_value(forward))}
        return await self._ask(
            question,
            2.0,
            Facts,
            lambda outcome, message: Facts(shapes={}, gradable=(), error=message, outcome=outcome),
        )

    async def train(self, stretch: TrainingChunk) -> ChunkResult:
        question = {"ask": "train", "stretch": to_json_value(stretch), "gate": self._gate}
        return await self._ask(question, LONGEST_SECONDS, ChunkResult, ChunkResult)

    async def _submit(self, question: dict[str, Any], seconds: float, kind: type[A], instead: Callable[..., A]) -> A:
        """The answer to a submission. A run that turns out to be long begins anew, when a long one may.

        Nobody knows beforehand which loop ends. A first try is short, and where there is more than one grader, long
        runs never hold all of them: a class does not wait for the endless loops of a few.
        """
        answer = await self._ask({**question, "seconds": SHORT_SECONDS}, seconds, kind, instead)
        if answer.outcome != "timeout" or seconds <= SHORT_SECONDS:
            return answer
        if self._full:
            return instead(outcome="busy", message=BUSY)
        self._waiting += 1
        try:
            async with asyncio.timeout(STARTUP_SECONDS):
                await self._long.acquire()
        except TimeoutError:
            return instead(outcome="busy", message=BUSY)
        finally:
            self._waiting -= 1
        try:
            return await self._ask({**question, "seconds": None}, seconds, kind, instead)
        finally:
            self._long.release()

    def _asking(self, task: AnyTask, code: str) -> dict[str, Any]:
        return {"kind": type(task).__name__, "task": self._text(task), "code": code, "gate": self._gate}

    def _text(self, task: AnyTask) -> str:
        return self._texts.of(Same(task), lambda: json.dumps(to_json_value(task)))

    async def _ask(self, question: dict[str, Any], seconds: float, kind: type[T], instead: Callable[..., T]) -> T:
        """An answer; where none comes, what *instead* makes of an `outcome` and a `message`."""
        try:
            return from_json_value(kind, await self.send_request(question, seconds))
        except NoResponseError as why:
            return instead(outcome=why.outcome, message=why.message)
        except ValueError:  # no answer of ours
            return instead(outcome="fault", message=FAULT)

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
