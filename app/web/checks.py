"""Checks and runs of submissions: asked of the graders once, found again afterwards, and bounded per learner.

A learner may ask so many at once and so many a minute; what the store answers is free. What cannot be answered now is
put off by a `RetryLaterError` and is no attempt. A verdict is found again under a key of the task, the text and the
sources of everything that judges it: after an update of either, the same text is graded again.
"""

import json
import time
from asyncio import CancelledError
from collections import Counter
from collections.abc import Awaitable, Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from typing import TypeVar

from app.cache import LruCache
from app.content.blocks import CodeBox, Course, Lesson
from app.engine.codec import to_json_value
from app.engine.grader import Grader, Nudge, RunResult
from app.engine.grader_version import sources_digest
from app.engine.json_columns import decoded_verdict, to_json_column
from app.engine.task import AnyTask, task_of
from app.grading.judge.line_shapes import InlayShapes
from app.grading.judge.verdict import OTHER_ROAD, Verdict
from app.sandbox.gate import MAX_GATED_CHARS
from app.store.progress import NewAttempt
from app.web.middleware.metrics import Metrics
from app.web.middleware.visitor import Quarantine, RateLimit, RetryLaterError
from app.web.verdict_words import JUDGED, LASTING

MOST_OTHERS = 512
"""Tasks of practice that are kept at hand."""
AT_ONCE = 2
TYPED_A_MINUTE = 600
"""Texts of one learner whose shapes are told: one 150 ms after each keystroke at most makes 400."""
FAULT_COSTS = 4
"""Questions that a learner cannot ask within the minute, where a grader ended over one."""
AT_ONCE_SECONDS = 2.0  # what a run may take
QUEUE_SECONDS, RESTART_SECONDS = 5.0, 30.0
BUSY = "Your earlier checks are still running. Your text is saved; wait for them, then check again."
CLOSED = (
    "No code is run on this server just now, so this says nothing about yours. It is saved. Tell your instructor, or "
    "the operator of this server: {reason}"
)
TOO_LONG = "The text has {length:,} characters; a box takes {most:,}. Shorten it; it is saved as it is."

A = TypeVar("A", Verdict, RunResult, Nudge)


class TaskRegistry:
    """Every task of a course, made once: graders recognise a task by identity.

    Args:
        mark: Of the hidden numbers that answers are judged on.
    """

    def __init__(self, course: Course, mark: str = "") -> None:
        self._judged_by = sources_digest() + mark.encode()
        self._others = LruCache[tuple[str, str], tuple[AnyTask, str]](MOST_OTHERS)
        self.take(course)

    def take(self, course: Course) -> None:
        """Know the tasks of *course*, and no others."""
        self._course = {
            (lesson.name, exercise.name): self._made(lesson, exercise)
            for lesson in course.lessons
            for exercise in lesson.boxes
        }

    def task(self, lesson: Lesson, exercise: CodeBox) -> AnyTask:
        return self._of(lesson, exercise)[0]

    def key(self, lesson: Lesson, exercise: CodeBox, code: str) -> str:
        key = f"{self._of(lesson, exercise)[1]}\0{code}"
        return sha256(key.encode("utf-8", "surrogatepass")).hexdigest()

    def _of(self, lesson: Lesson, exercise: CodeBox) -> tuple[AnyTask, str]:
        """Of the course, or of an item of practice, which is met here for the first time."""
        place = lesson.name, exercise.name
        return self._course.get(place) or self._others.of(place, lambda: self._made(lesson, exercise))

    def _made(self, lesson: Lesson, exercise: CodeBox) -> tuple[AnyTask, str]:
        task = task_of(lesson, exercise)
        return task, sha256(self._judged_by + json.dumps(to_json_value(task), sort_keys=True).encode()).hexdigest()


@dataclass(slots=True)
class GraderCall:
    """One question to the graders; *outcome* is how it ended."""

    outcome: str = "fault"


@dataclass(frozen=True, slots=True)
class CheckResult:
    """A verdict; *judged* is false where no grader was asked, *found* is true for a stored one."""

    verdict: Verdict
    judged: bool = True
    found: bool = False

    def as_attempt(self, code: str, task_key: str, revision: int | None = None) -> NewAttempt:
        """Attempt to be stored. Under *task_key* the same text finds its verdict again, if it would be given again.

        Args:
            revision: Of the draft that was checked.
        """
        verdict = self.verdict
        return NewAttempt(
            kind="code",
            text=code,
            verdict=to_json_column(verdict),
            correct=verdict.passed if self.judged and verdict.outcome in JUDGED else None,
            code=next(
                (
                    name_verdict.key or name_verdict.code
                    for name_verdict in verdict.names
                    if name_verdict.code and not name_verdict.code.endswith(f":{OTHER_ROAD}")
                ),
                None,
            ),
            task_key=task_key if self.judged and verdict.outcome in LASTING else None,
            revision=revision,
        )


class CheckService:
    """Asks the graders on behalf of learners.

    Args:
        a_minute: How many questions a learner may ask of the graders in a minute; 0 for no limit.
    """

    def __init__(self, grader: Grader, tasks: TaskRegistry, metrics: Metrics, a_minute: int = 0) -> None:
        self._grader = grader
        self._tasks = tasks
        self._metrics = metrics
        self._allowance = RateLimit(a_minute)
        self._keys = RateLimit(TYPED_A_MINUTE)
        self._typing: Counter[Hashable] = Counter()
        self._faults = Quarantine()
        self._running: Counter[Hashable] = Counter()

    async def check(
        self, learner: int, lesson: Lesson, exercise: CodeBox, code: str, *, stored: str | None
    ) -> CheckResult:
        """Check *code*; returns the *stored* verdict if the same text was checked before.

        Raises:
            RetryLaterError: No grader could be asked now. So do the others.
        """
        self.ensure_open()
        if refusal := self._refusal(code):
            return CheckResult(Verdict(outcome="refused", message=refusal), judged=False)
        stored_verdict = decoded_verdict(stored)
        if stored_verdict is not None:
            self._metrics.checks.labels("check", "stored").inc()
            return CheckResult(stored_verdict, found=True)
        task = self._tasks.task(lesson, exercise)
        verdict = await self._asked("check", learner, code, lambda: self._grader.check(task, code))
        return CheckResult(verdict)

    async def run(self, learner: int, lesson: Lesson, exercise: CodeBox, code: str) -> RunResult:
        """Run *code* on the lesson's own sizes; no verdict, nothing stored."""
        if refusal := self._refusal(code):
            return RunResult(outcome="refused", message=refusal)
        task = self._tasks.task(lesson, exercise)
        return await self._asked("run", learner, code, lambda: self._grader.run(task, code))

    async def nudge(self, learner: int, lesson: Lesson, exercise: CodeBox, code: str, name: str, entry: str) -> Nudge:
        """Measure how the loss changes when one entry is moved; it counts as a check while it runs."""
        if refusal := self._refusal(code):
            return Nudge(outcome="refused", name=name, message=refusal)
        task = self._tasks.task(lesson, exercise)
        return await self._asked("nudge", learner, code, lambda: self._grader.nudge(task, code, name, entry))

    async def line_shapes(self, asker: Hashable, lesson: Lesson, exercise: CodeBox, code: str) -> InlayShapes | None:
        """The shapes that the lines of *code* give; None while earlier questions of *asker* are on their way.

        It counts as no check: it is asked after every few keystrokes.

        Args:
            asker: The learner, or the network of a visitor who is none yet, as on the title page.
        """
        if self._refusal(code):
            return InlayShapes()
        # A newer text drops the question about an older one, which may still be on its way.
        if self._typing[asker] >= AT_ONCE:
            return None
        self._keys.consume(asker)
        self._faults.refuse(code)
        with _one_more(self._typing, asker):
            return await self._grader.line_shapes(self._tasks.task(lesson, exercise), code)

    async def export_problems(self, learner: int, texts: Sequence[str]) -> tuple[str, ...]:
        """Reasons why each of *texts* cannot be part of a Python file; it counts as a check while it runs."""
        with self._counted(learner):
            return await self._grader.export_problems(texts)

    def spend(self, learner: int) -> None:
        """Count one more question of *learner*.

        Raises:
            RetryLaterError: There were too many within a minute.
        """
        self._allowance.consume(learner)

    def ensure_open(self) -> None:
        """
        Raises:
            RetryLaterError: This server runs no code. Another day the same text may run, so nothing was judged.
        """
        readiness = self._grader.readiness
        if readiness.state == "refused":
            raise RetryLaterError(CLOSED.format(reason=readiness.reason), RESTART_SECONDS)

    def _refusal(self, code: str) -> str:
        """Reason why no grader is asked about *code*; "" if one may be."""
        return TOO_LONG.format(length=len(code), most=MAX_GATED_CHARS) if len(code) > MAX_GATED_CHARS else ""

    @contextmanager
    def _counted(self, learner: int) -> Iterator[None]:
        if self._running[learner] >= AT_ONCE:
            raise RetryLaterError(BUSY, AT_ONCE_SECONDS)
        self.spend(learner)
        with _one_more(self._running, learner):
            yield

    @contextmanager
    def _question(self, kind: str) -> Iterator[GraderCall]:
        """Count and time one question of *kind*, however it ends."""
        began, question = time.perf_counter(), GraderCall()
        try:
            yield question
            self._metrics.seconds.labels(kind).observe(time.perf_counter() - began)
        except RetryLaterError:
            question.outcome = "put-off"
            raise
        except CancelledError:
            question.outcome = "stopped"
            raise
        finally:
            self._metrics.checks.labels(kind, question.outcome).inc()

    def _observe(self, answer: Verdict | RunResult, seconds: float) -> None:
        """Count where the *seconds* until *answer* went."""
        wall, jail = answer.wall_ms / 1000, answer.jail_ms / 1000
        for part, took in {"waiting": seconds - wall, "jail": jail, "judging": wall - jail}.items():
            self._metrics.parts.labels(part).observe(max(0.0, took))

    async def _asked(self, kind: str, learner: int, code: str, ask: Callable[[], Awaitable[A]]) -> A:
        with self._question(kind) as question:
            self.ensure_open()
            self._faults.refuse(code)
            with self._counted(learner):
                began = time.perf_counter()
                answer = await ask()
            if answer.outcome == "refused":
                self.ensure_open()  # which it is no more, if the graders found out meanwhile
            if not isinstance(answer, Nudge) and answer.wall_ms:
                self._observe(answer, time.perf_counter() - began)
            question.outcome = answer.outcome
            if answer.outcome == "fault":
                self._faults.note(code)
                self._allowance.charge(learner, FAULT_COSTS)
            if answer.outcome == "busy":
                crowded = self._grader.readiness.state == "ready"
                raise RetryLaterError(answer.message, QUEUE_SECONDS if crowded else RESTART_SECONDS)
            return answer


@contextmanager
def _one_more(running: Counter[Hashable], asker: Hashable) -> Iterator[None]:
    running[asker] += 1
    try:
        yield
    finally:
        running[asker] -= 1
        if not running[asker]:
            del running[asker]
