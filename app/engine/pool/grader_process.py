"""One grader as a child process of the web process, and our end of its socket.

What it says is heard at once, also between questions: the canaries of its watch, and its end.
"""

import asyncio
import contextlib
import json
import socket
import sys
from collections.abc import Callable, Mapping
from typing import Any

from app.engine.codec import from_json_value
from app.engine.grader import CanaryReport
from app.engine.pool.cancel import STOP
from app.engine.pool.grader_client import STARTUP_SECONDS
from app.engine.pool.grader_frames import encode_frame, read_frame

COMMAND = (sys.executable, "-I", "-B", "-m", "app.engine.pool.worker")
ENVIRONMENT = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
"""Of settings a grader has none: no database, no token. One thread, since it forks its reader, and forks have one."""
END_SECONDS = 2.0


class GraderDiedError(Exception):
    """The grader closed its socket, answered nonsense or took too long; its text says which."""


class GraderProcess:
    """A grader process; it answers one question at a time.

    Args:
        options: What the worker is told.
        looked: Called with each flight of its canaries.
        ended: Called once when it ends after its start, asked or not.
    """

    def __init__(
        self, options: dict[str, Any], looked: Callable[[CanaryReport], None], ended: Callable[["GraderProcess"], None]
    ) -> None:
        self._options = options
        self._looked = looked
        self._ended = ended
        self._process: asyncio.subprocess.Process | None = None
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
        self._listener: asyncio.Task[None] | None = None
        self._expected: asyncio.Future[dict[str, Any]] | None = None
        self._number = 0
        self.question: Mapping[str, Any] = {}
        self.alive = False

    @property
    def pid(self) -> int:
        assert self._process is not None, "start() comes first"
        return self._process.pid

    @property
    def status(self) -> int | None:
        """Exit status, as `subprocess` reports it; None while the process lives."""
        return self._process.returncode if self._process else None

    @property
    def answering(self) -> bool:
        return self._expected is not None and not self._expected.done()

    async def start(self) -> dict[str, Any]:
        """Start the process and wait until its jail is warm; what it says of its protection."""
        parent, child = socket.socketpair()
        self._process = await asyncio.create_subprocess_exec(
            *COMMAND, str(child.fileno()), json.dumps(self._options),
            pass_fds=[child.fileno()], stdin=asyncio.subprocess.DEVNULL, env=ENVIRONMENT,
        )  # fmt: skip
        child.close()
        self._streams = await asyncio.open_connection(sock=parent)
        self._expected = asyncio.get_running_loop().create_future()
        self._listener = asyncio.create_task(self._listen(self._streams[0]))
        hello = await self._next(STARTUP_SECONDS)
        if self._listener.done():
            raise GraderDiedError
        self.alive = True
        return hello

    async def ask(self, question: dict[str, Any], seconds: float) -> Any:
        """The answer to *question*; None where `give_up` came before it.

        Raises:
            GraderDiedError: It ended, or gave no answer within *seconds*.
        """
        assert self._streams is not None, "start() comes first"
        if not self.alive:
            raise GraderDiedError
        self._number += 1
        self.question = question
        self._expected = asyncio.get_running_loop().create_future()
        try:
            self._streams[1].write(encode_frame({**question, "number": self._number}))
            await self._streams[1].drain()
        except OSError as error:
            raise GraderDiedError from error
        message = await self._next(seconds)
        if message.get("number") != self._number:
            raise GraderDiedError("it answered another question")
        self.question = {}
        return message.get("answer")

    def give_up(self) -> None:
        """Tell the grader to stop what it is answering; an answer that is on its way comes all the same."""
        if self.alive and self._streams is not None:
            self._streams[1].write(encode_frame({"ask": STOP}))

    async def stop(self) -> None:
        """End the process."""
        self.alive = False
        if self._listener is not None:
            self._listener.cancel()
        if self._streams is not None:
            self._streams[1].close()
        if self._process is None:
            return
        try:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._process.wait(), END_SECONDS)
        finally:  # also where nobody waits for its end any more
            if self._process.returncode is None:
                self._process.kill()
        await self._process.wait()

    async def _next(self, seconds: float) -> dict[str, Any]:
        assert self._expected is not None, "a message is expected"
        try:
            return await asyncio.wait_for(self._expected, seconds)
        except TimeoutError as error:
            raise GraderDiedError(f"it gave no answer within {seconds:g} s") from error

    async def _listen(self, reader: asyncio.StreamReader) -> None:
        try:
            while True:
                message = await read_frame(reader)
                if "look" in message:
                    self._looked(from_json_value(CanaryReport, message["look"]))
                elif self._expected is not None and self.answering:
                    self._expected.set_result(message)
        except (asyncio.IncompleteReadError, OSError, ValueError, TypeError) as error:
            was_alive, self.alive = self.alive, False
            if self._expected is not None and self.answering:
                died = GraderDiedError(
                    "it ended" if isinstance(error, (asyncio.IncompleteReadError, OSError)) else "nonsense"
                )
                died.__cause__ = error
                self._expected.set_exception(died)
            if was_alive:
                self._ended(self)
