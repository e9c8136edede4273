"""Checks and runs of submissions: asked of the graders once, found again afterwards, and bounded per learner."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from app.content.blocks import CodeBox, Lesson
from app.engine.grader import Grader, Nudge, Run
from app.grading.verdict import Outcome, Verdict
from app.store.attempts import Answered
from app.web.said import JUDGED, LASTING
from app.web.stored import decoded_verdict, encoded
from app.web.tasks import Tasks

AT_ONCE = 2
BUSY = "Your earlier checks are still running. Your text is saved; wait for them, then check again."
TOO_LONG = "The text has more than {limit} characters. Shorten it; it is saved as it is."
CODE_CHARACTERS = 64_000


@dataclass(frozen=True, slots=True)
class Answer:
    """A verdict; *judged* is false where no grader was asked, *found* is true for a stored one."""

    verdict: Verdict
    judged: bool = True
    found: bool = False

    def as_attempt(self, code: str, task_key: str) -> Answered:
        """What is recorded. Under *task_key* the same text finds the verdict again, if it would be given again."""
        verdict = self.verdict
        return Answered(
            kind="code",
            text=code,
            verdict=encoded(verdict),
            correct=verdict.passed if self.judged and verdict.outcome in JUDGED else None,
            code=next((one.code for one in verdict.names if one.code), None),
            task_key=task_key if self.judged and verdict.outcome in LASTING else None,
        )


class Checks:
    """Asks the graders on behalf of learners."""

    def __init__(self, grader: Grader, tasks: Tasks) -> None:
        self._grader = grader
        self._tasks = tasks
        self._running: Counter[int] = Counter()

    async def check(self, learner: int, lesson: Lesson, exercise: CodeBox, code: str, *, stored: str | None) -> Answer:
        """The verdict on *code*: the *stored* one where the same text was checked before, by anybody."""
        outside = self._unasked(learner, code)
        if outside is not None:
            return Answer(Verdict(outcome=outside[0], message=outside[1]), judged=False)
        found = decoded_verdict(stored)
        if found is not None:
            return Answer(found, found=True)
        with self._counted(learner):
            verdict = await self._grader.check(self._tasks.task(lesson, exercise), code)
        # A machine that turned out to refuse code judged nothing; another day the same text may run.
        return Answer(verdict, judged=self._grader.readiness.state != "refused")

    async def run(self, learner: int, lesson: Lesson, exercise: CodeBox, code: str) -> Run:
        """What *code* computes on the lesson's own sizes; no verdict, nothing stored."""
        outside = self._unasked(learner, code)
        if outside is not None:
            return Run(outcome=outside[0], message=outside[1])
        with self._counted(learner):
            return await self._grader.run(self._tasks.task(lesson, exercise), code)

    async def nudge(self, learner: int, lesson: Lesson, exercise: CodeBox, code: str, name: str, entry: str) -> Nudge:
        """What becomes of the loss when one entry is moved; it counts as a check while it runs."""
        outside = self._unasked(learner, code)
        if outside is not None:
            return Nudge(outcome=outside[0], name=name, message=outside[1])
        with self._counted(learner):
            return await self._grader.nudge(self._tasks.task(lesson, exercise), code, name, entry)

    def _unasked(self, learner: int, code: str) -> tuple[Outcome, str] | None:
        """How a question ends that no grader is asked."""
        readiness = self._grader.readiness
        if readiness.state == "refused":
            return "refused", f"Code is not run on this server. {readiness.reason}"
        if len(code) > CODE_CHARACTERS:
            return "refused", TOO_LONG.format(limit=CODE_CHARACTERS)
        if self._running[learner] >= AT_ONCE:
            return "busy", BUSY
        return None

    @contextmanager
    def _counted(self, learner: int) -> Iterator[None]:
        self._running[learner] += 1
        try:
            yield
        finally:
            self._running[learner] -= 1
            if not self._running[learner]:
                del self._running[learner]
