"""Graders as child processes of the web process: the default transport, which needs nothing else.

A grader that dies is replaced. Whatever happens to one, each question gets an answer: a verdict, or an honest fault.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from hashlib import sha256
from types import TracebackType
from typing import Any, Literal, Self, TypeVar

import structlog

from app.content.blocks import Forward
from app.engine.codec import plain, restored
from app.engine.grader import Load, Look, Nudge, Readiness, Run
from app.engine.pool.grader_process import STARTUP_SECONDS, GraderDiedError, Process
from app.engine.stretch import LONGEST_SECONDS, Stretch, Stretched
from app.engine.task import AnyTask
from app.grading.forward.facts import Facts
from app.grading.judge.verdict import Verdict
from app.settings import Settings

log = structlog.get_logger()
T = TypeVar("T")
A = TypeVar("A", Verdict, Run, Nudge)

UNREAD = "it could not be read just now"
FAULT = (
    "The grader stopped before it had an answer. That is our fault, not yours; your text is saved. Please try again."
)
BUSY = "Too many checks are waiting just now. Your text is saved; please try again in a few seconds."
STOPPED = "The server is stopping. Your text is saved; please try again in a minute."

WARMING = Readiness(state="warming", reason="The graders are starting.")
NOT_STARTING = Readiness(
    state="refused", reason="The graders do not start, so no code is run; the log and backhand doctor say why."
)
STARTS = 3  # how often a start may fail before that is said

GRACE_SECONDS = 20.0  # beyond the exercise's own limit: tape runs of a cold cache, and a slow machine
QUESTIONS_PER_GRADER = 64
SHORT_SECONDS = 0.2  # of processor time; many times what a backward pass takes


class LocalGraders:
    """A pool of grader processes; an async context manager that implements `Grader`.

    Entering returns at once: processes warm up in the background, and a question that comes earlier waits for them.

    Args:
        secret: Draw hidden numbers under the secret in the data folder, which is made where there is none.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        gate: bool = True,
        keep_facts: bool = True,
        watch: bool = False,
        secret: bool = False,
    ) -> None:
        self._options = {
            "facts": str((settings.data_dir / "facts").absolute()) if keep_facts else "",
            "require_landlock": settings.require_landlock,
            "unsafe": settings.unsafe_no_sandbox,
            "cgroup": str(settings.cgroup.absolute()) if settings.cgroup else "",
            "watch": watch,
            "secrets": str(settings.data_dir.absolute()) if secret else "",
            "names": str(settings.names.absolute()) if settings.names else "",
        }
        self._gate = gate
        self._size = settings.graders
        self._free: asyncio.Queue[Process] = asyncio.Queue()
        self._waiting = 0
        self._long = asyncio.Semaphore(max(1, self._size - 1))
        self._running: set[Process] = set()
        self._replaced = 0
        self._look: Look | None = None
        self._stopped = asyncio.Event()
        self._known = WARMING
        self._tasks: set[asyncio.Task[Any]] = set()
        self._texts: dict[int, tuple[AnyTask, str]] = {}

    @property
    def readiness(self) -> Readiness:
        known = replace(self._known if self._running or self._known is NOT_STARTING else WARMING, look=self._look)
        if self._stopped.is_set():
            return replace(known, state="stopped", reason=STOPPED, layers=self._known.layers)
        if self._look is not None and self._look.refusal:
            return replace(known, state="refused", reason=self._look.refusal, layers=self._known.layers)
        return known

    @property
    def load(self) -> Load:
        return Load(
            up=len(self._running),
            idle=self.idle,
            waiting=max(0, self._waiting + self.idle - len(self._running)),
            replaced=self._replaced,
        )

    @property
    def idle(self) -> int:
        """How many graders wait for a question."""
        return sum(not process.answering for process in self._running)

    @property
    def pids(self) -> tuple[int, ...]:
        """Process ids of the graders that are up."""
        return tuple(process.pid for process in self._running)

    async def __aenter__(self) -> Self:
        for _ in range(self._size):
            self._spawn(self._bring_up(self._process()))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stopped.set()
        while self._tasks:  # the end of one may be what another begins with
            for task in tuple(self._tasks):
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
        while not self._free.empty():
            await self._free.get_nowait().stop()

    async def check(self, task: AnyTask, code: str) -> Verdict:
        question = {"ask": "check", **self._asking(task, code)}
        return await self._submitted(
            question, task.seconds, Verdict, lambda outcome, message: Verdict(outcome=outcome, message=message)
        )

    async def run(self, task: AnyTask, code: str) -> Run:
        question = {"ask": "run", **self._asking(task, code)}
        return await self._submitted(
            question, task.seconds, Run, lambda outcome, message: Run(outcome=outcome, message=message)
        )

    async def nudge(self, task: AnyTask, code: str, name: str, entry: str) -> Nudge:
        question = {"ask": "nudge", "name": name, "entry": entry, **self._asking(task, code)}
        return await self._submitted(
            question, task.seconds, Nudge, lambda outcome, message: Nudge(outcome=outcome, name=name, message=message)
        )

    async def unfit(self, texts: Sequence[str]) -> tuple[str, ...]:
        question = {"ask": "unfit", "texts": list(texts)}
        return await self._asked(question, 2.0, tuple[str, ...], lambda *_: (UNREAD,) * len(texts))

    async def facts(self, forward: Forward) -> Facts:
        question = {"ask": "facts", "forward": json.dumps(plain(forward))}
        return await self._asked(
            question,
            2.0,
            Facts,
            lambda outcome, message: Facts(shapes={}, gradable=(), consumers={}, error=message, outcome=outcome),
        )

    async def train(self, stretch: Stretch) -> Stretched:
        question = {"ask": "train", "stretch": plain(stretch), "gate": self._gate}
        return await self._asked(
            question,
            LONGEST_SECONDS,
            Stretched,
            lambda outcome, message: Stretched(outcome=outcome, message=message),
        )

    async def _submitted(
        self, question: dict[str, Any], seconds: float, kind: type[A], instead: Callable[[Any, str], A]
    ) -> A:
        """The answer to a submission. A run that turns out to be long begins anew, when a long one may.

        Nobody knows beforehand which loop ends. A first try is short, and where there is more than one grader, long
        runs never hold all of them: a class does not wait for the endless loops of a few.
        """
        answer = await self._asked({**question, "seconds": SHORT_SECONDS}, seconds, kind, instead)
        if answer.outcome != "timeout" or seconds <= SHORT_SECONDS:
            return answer
        if self._full:
            return instead("busy", BUSY)
        self._waiting += 1
        try:
            async with asyncio.timeout(STARTUP_SECONDS):
                await self._long.acquire()
        except TimeoutError:
            return instead("busy", BUSY)
        finally:
            self._waiting -= 1
        try:
            return await self._asked({**question, "seconds": None}, seconds, kind, instead)
        finally:
            self._long.release()

    async def _asked(
        self, question: dict[str, Any], seconds: float, kind: type[T], instead: Callable[[Any, str], T]
    ) -> T:
        if self._stopped.is_set():
            return instead("busy", STOPPED)
        if reason := self._refusal():
            return instead("refused", reason)
        if self._full:
            return instead("busy", BUSY)
        self._waiting += 1
        try:
            # Cancelled here, a question has cost nothing; from the exchange on the grader is told to stop.
            async with asyncio.timeout(STARTUP_SECONDS):
                process = await self._next_free()
            if reason := self._refusal():
                self._free.put_nowait(process)
                return instead("refused", reason)
            return restored(kind, await self._heard_out(process, question, seconds + GRACE_SECONDS))
        except TimeoutError:
            return instead("busy", BUSY)
        except GraderDiedError:
            return instead("fault", FAULT)
        except asyncio.CancelledError:
            if self._stopped.is_set():
                return instead("busy", STOPPED)
            raise
        finally:
            self._waiting -= 1

    @property
    def _full(self) -> bool:
        return self._waiting >= self._size * QUESTIONS_PER_GRADER

    def _refusal(self) -> str:
        readiness = self.readiness
        return readiness.reason if readiness.state == "refused" else ""

    async def _next_free(self) -> Process:
        while True:
            process = await self._free.get()
            if process.alive:  # one that died while it waited is being replaced
                return process

    async def _heard_out(self, process: Process, question: dict[str, Any], seconds: float) -> Any:
        """The answer of *process*; a caller that goes away ends the run, and the grader is free again at once."""
        exchange = self._spawn(self._exchange(process, question, seconds))
        try:
            # Shielded: the answer is read, whatever it is, or the next question would get it.
            return await asyncio.shield(exchange)
        except asyncio.CancelledError:
            if not exchange.done():
                process.give_up()
            raise

    async def _exchange(self, process: Process, question: dict[str, Any], seconds: float) -> Any:
        try:
            answer = await process.ask(question, seconds)
        except GraderDiedError as error:
            self._lost(process, str(error))
            raise
        except BaseException:
            await process.stop()
            raise
        self._free.put_nowait(process)
        return answer

    def _process(self) -> Process:
        return Process(self._options, self._looked, self._lost)

    def _looked(self, look: Look) -> None:
        """A hole that was found once stays found: no later flight of canaries opens the door again."""
        if look.refusal:
            log.critical("canary-attacks-succeeded", attacks=look.succeeded)
        if self._look is None or not self._look.refusal:
            self._look = look

    def _lost(self, process: Process, why: str = "it ended") -> None:
        """Replace *process*, once, whoever noticed first."""
        if process not in self._running:
            return
        self._running.discard(process)
        self._replaced += 1
        self._spawn(self._replace(process, why))

    async def _replace(self, process: Process, why: str) -> None:
        await process.stop()
        # The text itself is a learner's; by its hash it can be found among the drafts.
        text = sha256(str(process.question.get("code", "")).encode("utf-8", "surrogatepass")).hexdigest()
        asked = process.question.get("ask", "nothing")
        log.warning("grader-replaced", why=why, status=process.status, asked=asked, text_sha256=text)
        await self._bring_up(self._process())

    async def _bring_up(self, process: Process) -> None:
        pause, failed = 0.1, 0
        while True:
            try:
                hello = await process.start()
                break
            except GraderDiedError as error:
                log.warning("grader-did-not-start", cause=repr(error.__cause__))
                failed += 1
                if failed >= STARTS and not self._running:
                    self._known = NOT_STARTING
                await process.stop()
                process = self._process()
                await asyncio.sleep(pause)
                pause = min(30.0, pause * 2)
            except BaseException:
                await process.stop()
                raise
        state: Literal["refused", "ready"] = "refused" if hello["refusal"] else "ready"
        layers = tuple((str(name), str(value)) for name, value in hello["layers"])
        self._running.add(process)
        self._known = Readiness(state=state, reason=hello["refusal"], layers=layers)
        self._free.put_nowait(process)

    def _asking(self, task: AnyTask, code: str) -> dict[str, Any]:
        return {"kind": type(task).__name__, "task": self._text(task), "code": code, "gate": self._gate}

    def _text(self, task: AnyTask) -> str:
        # By identity: a task's text is long, and the web holds one Task per exercise for its whole life.
        kept = self._texts.get(id(task))
        if kept is None or kept[0] is not task:
            kept = self._texts[id(task)] = (task, json.dumps(plain(task)))
        return kept[1]

    def _spawn(self, work: Awaitable[T]) -> "asyncio.Task[T]":
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: "asyncio.Task[Any]") -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # whoever waits for it gets it; nobody may wait any more
