"""Graders as child processes of the web process: the default transport, which needs nothing else.

A grader that dies is replaced. Whatever happens to one, each question gets an answer: a verdict, or an honest fault.
"""

import asyncio
import json
import os
import socket
import sys
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Any, Literal, Self, TypeVar

import structlog

from app.content.blocks import Forward
from app.engine.codec import plain, restored
from app.engine.frames import packed, read
from app.engine.grader import Nudge, Readiness, Run
from app.engine.stretch import LONGEST_SECONDS, Stretch, Stretched
from app.engine.task import AnyTask
from app.grading.facts import Facts
from app.grading.verdict import Verdict
from app.settings import Settings

log = structlog.get_logger()
T = TypeVar("T")
A = TypeVar("A", Verdict, Run)

FAULT = (
    "The grader stopped before it had an answer. That is our fault, not yours; your text is saved. Please try again."
)
BUSY = "Too many checks are waiting just now. Your text is saved; please try again in a few seconds."
STOPPED = "The server is stopping. Your text is saved; please try again in a minute."

WARMING = Readiness(state="warming", reason="The graders are starting.")

STARTUP_SECONDS = 60.0
GRACE_SECONDS = 20.0  # beyond the exercise's own limit: tape runs of a cold cache, and a slow machine
QUESTIONS_PER_GRADER = 64
SHORT_SECONDS = 0.2  # many times what a backward pass takes


class GraderDiedError(Exception):
    """The grader closed its socket, answered nonsense or took too long."""


class _Process:
    """One grader process and our end of its socket."""

    def __init__(self, options: dict[str, Any]) -> None:
        self._options = options
        self._process: asyncio.subprocess.Process | None = None
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    @property
    def pid(self) -> int:
        assert self._process is not None, "start() comes first"
        return self._process.pid

    async def start(self) -> dict[str, Any]:
        """Start the process and wait until its jail is warm; what it says of its protection."""
        ours, theirs = socket.socketpair()
        self._process = await asyncio.create_subprocess_exec(
            sys.executable, "-I", "-B", "-m", "app.engine.worker", str(theirs.fileno()), json.dumps(self._options),
            pass_fds=[theirs.fileno()], stdin=asyncio.subprocess.DEVNULL, env=_clean_environment(),
        )  # fmt: skip
        theirs.close()
        self._streams = await asyncio.open_connection(sock=ours)
        try:
            hello: dict[str, Any] = await asyncio.wait_for(read(self._streams[0]), STARTUP_SECONDS)
        except (asyncio.IncompleteReadError, TimeoutError, OSError, ValueError) as error:
            raise GraderDiedError from error
        return hello

    async def ask(self, question: bytes, seconds: float) -> Any:
        assert self._streams is not None, "start() comes first"
        reader, writer = self._streams
        try:
            writer.write(question)
            await writer.drain()
            return await asyncio.wait_for(read(reader), seconds)
        except (asyncio.IncompleteReadError, TimeoutError, OSError, ValueError) as error:
            raise GraderDiedError from error

    async def stop(self) -> None:
        if self._streams is not None:
            self._streams[1].close()
        if self._process is None:
            return
        try:
            await asyncio.wait_for(self._process.wait(), 2)
        except TimeoutError:
            self._process.kill()
            await self._process.wait()


class LocalGraders:
    """A pool of grader processes; an async context manager that implements `Grader`.

    Entering returns at once: processes warm up in the background, and a question that comes earlier waits for them.
    """

    def __init__(self, settings: Settings, *, gate: bool = True, keep_facts: bool = True, watch: bool = False) -> None:
        self._options = {
            "facts": str((settings.data_dir / "facts").absolute()) if keep_facts else "",
            "require_landlock": settings.require_landlock,
            "unsafe": settings.unsafe_no_sandbox,
            "watch": watch,
            "names": str(settings.names.absolute()) if settings.names else "",
        }
        self._gate = gate
        self._size = settings.graders
        self._free: asyncio.Queue[_Process] = asyncio.Queue()
        self._waiting = 0
        self._long = asyncio.Semaphore(max(1, self._size - 1))
        self._running: set[_Process] = set()
        self._stopped = asyncio.Event()
        self._known = WARMING
        self._tasks: set[asyncio.Task[Any]] = set()
        self._texts: dict[int, tuple[AnyTask, str]] = {}

    @property
    def readiness(self) -> Readiness:
        if self._stopped.is_set():
            return Readiness(state="stopped", reason=STOPPED, layers=self._known.layers)
        return self._known if self._running else WARMING

    @property
    def idle(self) -> int:
        """How many graders wait for a question."""
        return self._free.qsize()

    @property
    def pids(self) -> tuple[int, ...]:
        """Process ids of the graders that are up."""
        return tuple(process.pid for process in self._running)

    async def __aenter__(self) -> Self:
        for _ in range(self._size):
            self._spawn(self._bring_up(_Process(self._options)))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stopped.set()
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
        return await self._asked(
            question, task.seconds, Nudge, lambda outcome, message: Nudge(outcome=outcome, name=name, message=message)
        )

    async def facts(self, forward: Forward) -> Facts:
        question = {"ask": "facts", "forward": json.dumps(plain(forward))}
        return await self._asked(
            question, 2.0, Facts, lambda _, message: Facts(shapes={}, gradable=(), consumers={}, error=message)
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
        # A busy machine can spend the short time before the child is confined, which the jail calls a fault.
        late = answer.outcome == "timeout" or (answer.outcome == "fault" and answer.message != FAULT)
        if not late or seconds <= SHORT_SECONDS:
            return answer
        try:
            async with asyncio.timeout(STARTUP_SECONDS):
                await self._long.acquire()
        except TimeoutError:
            return instead("busy", BUSY)
        try:
            return await self._asked({**question, "seconds": None}, seconds, kind, instead)
        finally:
            self._long.release()

    async def _asked(
        self, question: dict[str, Any], seconds: float, kind: type[T], instead: Callable[[Any, str], T]
    ) -> T:
        if self._stopped.is_set():
            return instead("busy", STOPPED)
        if self._waiting >= self._size * QUESTIONS_PER_GRADER:
            return instead("busy", BUSY)
        self._waiting += 1
        try:
            # Cancelled here, a question has cost nothing; from the exchange on it is answered to the end.
            async with asyncio.timeout(STARTUP_SECONDS):
                process = await self._free.get()
            if self._known.state == "refused":
                self._free.put_nowait(process)
                return instead("refused", self._known.reason)
            exchange = self._spawn(self._exchange(process, packed(question), seconds + GRACE_SECONDS))
            # Shielded: a caller that goes away must not leave a half-read answer in the socket.
            return restored(kind, await asyncio.shield(exchange))
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

    async def _exchange(self, process: _Process, question: bytes, seconds: float) -> Any:
        try:
            answer = await process.ask(question, seconds)
        except GraderDiedError as error:
            log.warning("grader-replaced", cause=repr(error.__cause__))
            self._running.discard(process)
            self._spawn(self._replace(process))
            raise
        except BaseException:
            await process.stop()
            raise
        self._free.put_nowait(process)
        return answer

    async def _replace(self, process: _Process) -> None:
        await process.stop()
        await self._bring_up(_Process(self._options))

    async def _bring_up(self, process: _Process) -> None:
        pause = 0.1
        while True:
            try:
                hello = await process.start()
                break
            except GraderDiedError as error:
                log.warning("grader-did-not-start", cause=repr(error.__cause__))
                await process.stop()
                process = _Process(self._options)
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
        task.add_done_callback(self._tasks.discard)
        return task


def _clean_environment() -> dict[str, str]:
    # A grader gets no setting that it does not need: no database URL, no tokens.
    return {name: os.environ[name] for name in ("PATH", "LANG", "HOME", "TMPDIR") if name in os.environ}
