"""A grader asked a bounded number of questions at a time, so that a whole course never meets a full queue.

An answer that is the grader's own fault says nothing about a lesson, so the same question is asked again.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from app.check.unanswered import UNANSWERED
from app.content.blocks import Forward
from app.engine.grader import Grader, Load, Nudge, Readiness, Run
from app.engine.stretch import Stretch, Stretched
from app.engine.task import AnyTask
from app.grading.forward.facts import Facts
from app.grading.judge.told import Told
from app.grading.judge.verdict import Verdict

TRIES = 3
T = TypeVar("T", Verdict, Facts)


class Patient:
    """Implements `Grader` on top of another one."""

    def __init__(self, grader: Grader, at_once: int = 16) -> None:
        self._grader = grader
        self._turn = asyncio.Semaphore(at_once)

    @property
    def readiness(self) -> Readiness:
        return self._grader.readiness

    @property
    def load(self) -> Load:
        return self._grader.load

    async def check(self, task: AnyTask, code: str) -> Verdict:
        return await self._answered(lambda: self._grader.check(task, code))

    async def run(self, task: AnyTask, code: str) -> Run:
        async with self._turn:
            return await self._grader.run(task, code)

    async def nudge(self, task: AnyTask, code: str, name: str, entry: str) -> Nudge:
        async with self._turn:
            return await self._grader.nudge(task, code, name, entry)

    async def told(self, task: AnyTask, code: str) -> Told:
        async with self._turn:
            return await self._grader.told(task, code)

    async def unfit(self, texts: Sequence[str]) -> tuple[str, ...]:
        async with self._turn:
            return await self._grader.unfit(texts)

    async def facts(self, forward: Forward) -> Facts:
        return await self._answered(lambda: self._grader.facts(forward))

    async def train(self, stretch: Stretch) -> Stretched:
        async with self._turn:
            return await self._grader.train(stretch)

    async def _answered(self, ask: Callable[[], Awaitable[T]]) -> T:
        async with self._turn:
            for _ in range(TRIES - 1):
                answer = await ask()
                if answer.outcome not in UNANSWERED:
                    return answer
            return await ask()
