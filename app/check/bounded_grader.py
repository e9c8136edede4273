"""A grader asked a bounded number of questions at a time, so that a whole course never meets a full queue.

An answer that is the grader's own fault says nothing about a lesson, so the same question is asked again; but a task
of which no answer comes, again and again, is given up, for a long one would keep its author waiting for hours.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from app.cache import Same
from app.check.unanswered import UNANSWERED
from app.content.blocks import Forward
from app.engine.grader import ProvingGrader
from app.engine.task import AnyTask
from app.engine.training_chunk import ChunkResult, TrainingChunk
from app.grading.forward.facts import Facts
from app.grading.judge.verdict import Verdict

TRIES, GIVEN_UP = 3, 8
"""How often one question is asked at most, and after how many without an answer nothing more is asked of a task."""
T = TypeVar("T", Verdict, Facts)


class RetryingGrader:
    """Asks another grader.

    Args:
        answered: Called whenever a code was judged.
    """

    def __init__(self, grader: ProvingGrader, at_once: int = 16, answered: Callable[[], None] = lambda: None) -> None:
        self._grader, self._answered_one = grader, answered
        self._turn = asyncio.Semaphore(at_once)
        self._silent: dict[Same, list[Verdict]] = {}

    async def check(self, task: AnyTask, code: str) -> Verdict:
        verdict = await self._ask_with_retries(lambda: self._check_with_retries(task, code))
        self._answered_one()
        return verdict

    async def _check_with_retries(self, task: AnyTask, code: str) -> Verdict:
        silent = self._silent.setdefault(Same(task), [])
        if len(silent) >= GIVEN_UP:
            return silent[-1]
        verdict = await self._grader.check(task, code)
        if verdict.outcome in UNANSWERED:
            silent.append(verdict)
        return verdict

    async def facts(self, forward: Forward) -> Facts:
        return await self._ask_with_retries(lambda: self._grader.facts(forward))

    async def train(self, stretch: TrainingChunk) -> ChunkResult:
        async with self._turn:
            return await self._grader.train(stretch)

    async def _ask_with_retries(self, ask: Callable[[], Awaitable[T]]) -> T:
        async with self._turn:
            for _ in range(TRIES - 1):
                answer = await ask()
                if answer.outcome not in UNANSWERED:
                    return answer
            return await ask()
