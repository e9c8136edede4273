"""Graders as child processes of the web process: the default transport, which needs nothing else.

A grader that dies is replaced. Whatever happens to one, each question gets an answer: a verdict, or an honest fault.
"""

import asyncio
from collections.abc import Awaitable
from dataclasses import replace
from hashlib import sha256
from types import TracebackType
from typing import Any, Literal, Self, TypeVar

import structlog

from app.engine.grader import CanaryReport, Load, Readiness
from app.engine.pool.grader_client import (
    BUSY,
    FAULT,
    NONE_UP,
    STARTUP_SECONDS,
    STOPPED,
    WARMING,
    GraderClient,
    NoResponseError,
)
from app.engine.pool.grader_process import GraderDiedError, GraderProcess
from app.sandbox import kernel
from app.settings import Settings

log = structlog.get_logger()
T = TypeVar("T")

NOT_STARTING = Readiness(
    state="refused", reason="The graders do not start, so no code is run; the log and backhand doctor say why."
)
ELSEWHERE = Readiness(state="refused", reason=kernel.NEEDS_LINUX)
STARTS = 3  # how often a start may fail before that is said

GRACE_SECONDS = 20.0  # beyond the exercise's own limit: tape runs of a cold cache, and a slow machine
QUESTIONS_PER_GRADER = 64


class LocalGraders(GraderClient):
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
        super().__init__(gate=gate, at_once=max(1, settings.graders - 1))
        self._size = settings.graders
        self._free: asyncio.Queue[GraderProcess | None] = asyncio.Queue()
        self._running: set[GraderProcess] = set()
        self._replaced = 0
        self._look: CanaryReport | None = None
        self._stopped = asyncio.Event()
        self._known = WARMING
        self._tasks: set[asyncio.Task[Any]] = set()

    @property
    def readiness(self) -> Readiness:
        settled = self._running or self._known in (NOT_STARTING, ELSEWHERE)
        known = replace(self._known if settled else WARMING, look=self._look)
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
        """Number of graders without a request."""
        return sum(not process.answering for process in self._running)

    @property
    def pids(self) -> tuple[int, ...]:
        """Process ids of the graders that are up."""
        return tuple(process.pid for process in self._running)

    async def __aenter__(self) -> Self:
        if not kernel.LINUX:
            self._known = ELSEWHERE
            return self
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
            process = self._free.get_nowait()
            if process is not None:
                await process.stop()

    async def send_request(self, question: dict[str, Any], seconds: float) -> Any:
        if self._stopped.is_set():
            raise NoResponseError("busy", STOPPED)
        self._closed_where_refused()
        if self._full:
            raise NoResponseError("busy", BUSY)
        self._waiting += 1
        try:
            # Cancelled here, a question has cost nothing; from the exchange on the grader is told to stop.
            async with asyncio.timeout(STARTUP_SECONDS):
                process = await self._next_free()
            try:
                self._closed_where_refused()
            except NoResponseError:
                self._free.put_nowait(process)
                raise
            return await self._await_response(process, question, seconds + GRACE_SECONDS)
        except TimeoutError:
            raise NoResponseError("busy", BUSY if self._running else NONE_UP) from None
        except GraderDiedError:
            raise NoResponseError("fault", FAULT) from None
        except asyncio.CancelledError:
            if self._stopped.is_set():
                raise NoResponseError("busy", STOPPED) from None
            raise
        finally:
            self._waiting -= 1

    @property
    def _full(self) -> bool:
        return self._waiting >= self._size * QUESTIONS_PER_GRADER

    def _closed_where_refused(self) -> None:
        readiness = self.readiness
        if readiness.state == "refused":
            raise NoResponseError("refused", readiness.reason)

    async def _next_free(self) -> GraderProcess:
        while True:
            process = await self._free.get()
            if process is None:
                self._closed_where_refused()
            elif process.alive:  # one that died while it waited is being replaced
                return process

    def _wake(self) -> None:
        """Let those who wait for a grader look whether there will be one."""
        for _ in range(self._waiting):
            self._free.put_nowait(None)

    async def _await_response(self, process: GraderProcess, question: dict[str, Any], seconds: float) -> Any:
        """The answer of *process*; a caller that goes away ends the run, and the grader is free again at once."""
        exchange = self._spawn(self._exchange(process, question, seconds))
        try:
            # Shielded: the answer is read, whatever it is, or the next question would get it.
            return await asyncio.shield(exchange)
        except asyncio.CancelledError:
            if not exchange.done():
                process.give_up()
            raise

    async def _exchange(self, process: GraderProcess, question: dict[str, Any], seconds: float) -> Any:
        try:
            answer = await process.ask(question, seconds)
        except GraderDiedError as error:
            self._replace_once(process, str(error))
            raise
        except BaseException:
            await process.stop()
            raise
        self._free.put_nowait(process)
        return answer

    def _process(self) -> GraderProcess:
        return GraderProcess(self._options, self._on_canary_report, self._replace_once)

    def _on_canary_report(self, look: CanaryReport) -> None:
        """A hole that was found once stays found: no later flight of canaries opens the door again."""
        if look.refusal:
            log.critical("canary-attacks-succeeded", attacks=look.succeeded)
        if self._look is None or not self._look.refusal:
            self._look = look

    def _replace_once(self, process: GraderProcess, why: str = "it ended") -> None:
        """Replace *process*, once, however many callers noticed."""
        if process not in self._running:
            return
        self._running.discard(process)
        self._replaced += 1
        self._spawn(self._replace(process, why))

    async def _replace(self, process: GraderProcess, why: str) -> None:
        await process.stop()
        # The text itself is a learner's; by its hash it can be found among the drafts.
        text = sha256(str(process.question.get("code", "")).encode("utf-8", "surrogatepass")).hexdigest()
        request_kind = process.question.get("ask", "nothing")
        log.warning("grader-replaced", why=why, status=process.status, asked=request_kind, text_sha256=text)
        await self._bring_up(self._process())

    async def _bring_up(self, process: GraderProcess) -> None:
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
                    self._wake()
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

    def _spawn(self, work: Awaitable[T]) -> "asyncio.Task[T]":
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._on_task_end)
        return task

    def _on_task_end(self, task: "asyncio.Task[Any]") -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # whoever waits for it gets it; nobody may wait any more
