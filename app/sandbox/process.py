"""The grader's end of one zygote: its process, its control socket and the child that it keeps waiting."""

import contextlib
import json
import os
import random
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from app.sandbox import frames

COMMAND = (sys.executable, "-I", "-B", "-m", "app.sandbox.zygote")
ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "LC_ALL": "C.UTF-8",
    "PYTHONHASHSEED": "random",
}
WARM_SECONDS = 60.0
LIFE_SECONDS = (300.0, 600.0)
"""Each draws its own: to warm one up takes seconds of a processor, and graders must not do it all at once."""
_CLOSE_SECONDS = 3.0


class ZygoteGoneError(Exception):
    """The zygote ended, never started, or does not answer."""


@dataclass(slots=True)
class Child:
    """A forked child that waits for its job. Closing it twice is harmless."""

    pid: int
    pidfd: int
    channel: socket.socket

    def close(self) -> None:
        if self.pidfd >= 0:
            os.close(self.pidfd)
            self.pidfd = -1
        self.channel.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class Exit:
    """How a child ended, as `wait4` says it."""

    pid: int
    status: int
    cpu_seconds: float


class Zygote:
    """Starts at once, warms up on its own time; every method that needs it warm waits for that."""

    def __init__(self, command: Sequence[str] = COMMAND) -> None:
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [*command, str(theirs.fileno())],
                env=ENVIRONMENT,
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
            )
        self._child: Child | None = None
        self._ask(frames.NEXT)
        self._expires = time.monotonic() + random.uniform(*LIFE_SECONDS)
        self.hello: dict[str, Any] = {}
        self.served = False

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_old(self) -> bool:
        """Whether it has served long enough: its children share one address layout."""
        return time.monotonic() > self._expires

    def is_warm(self, seconds: float = 0.0) -> bool:
        """Whether a child waits, after waiting up to *seconds* for it."""
        try:
            self._child = self._child or self._next_child(seconds)
        except TimeoutError:
            return False
        return True

    def take_child(self) -> Child:
        """The waiting child, which now belongs to the caller."""
        if not self.is_warm(WARM_SECONDS):
            raise ZygoteGoneError("the zygote did not start in time")
        child, self._child = self._child, None
        assert child is not None
        self.served = True
        return child

    def release(self, child: Child) -> None:
        """Done with *child*, however it ends: have the next one made at once, and wait for nothing."""
        child.close()
        self._ask(frames.NEXT)

    def exit_of(self, child: Child, seconds: float) -> Exit:
        """Wait for the report of *child*'s end."""
        try:
            message, _ = self._heard("exit", seconds, child.pid)
        except TimeoutError:
            raise ZygoteGoneError("the zygote does not answer") from None
        return Exit(pid=message["pid"], status=message["status"], cpu_seconds=message["cpu_seconds"])

    def bare_fork(self) -> float:
        """Seconds of one fork-and-exit of this zygote, asked for and answered over the socket."""
        self.is_warm(WARM_SECONDS)
        started = time.perf_counter()
        self._ask(frames.BARE)
        self._heard("bare", WARM_SECONDS)
        return time.perf_counter() - started

    def close(self) -> None:
        """End the process; the kernel ends its child with it."""
        if self._child:
            self._child.close()
            self._child = None
        self._control.close()
        try:
            self._process.wait(_CLOSE_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _ask(self, question: bytes) -> None:
        with contextlib.suppress(OSError):  # one that is gone says so where its answer is waited for
            self._control.send(question)

    def _next_child(self, seconds: float) -> Child:
        message, (pidfd, channel) = self._heard("ready", seconds)
        return Child(message["pid"], pidfd, socket.socket(fileno=channel))

    def _heard(self, kind: str, seconds: float, pid: int | None = None) -> tuple[dict[str, Any], list[int]]:
        """The next message of *kind*, about *pid* if that is given; the ends of older runs are nobody's question."""
        limit = time.monotonic() + seconds
        while True:
            message, descriptors = self._receive(max(0.0, limit - time.monotonic()))
            if message["kind"] == kind and pid in (None, message.get("pid")):
                return message, descriptors
            if message["kind"] == "hello":
                self.hello = message
            elif message["kind"] == "failed":
                raise ZygoteGoneError(message["reason"])

    def _receive(self, seconds: float) -> tuple[dict[str, Any], list[int]]:
        self._control.settimeout(seconds)
        try:
            data, descriptors, _, _ = socket.recv_fds(self._control, 65536, 2)
        except BlockingIOError:
            raise TimeoutError from None
        except TimeoutError:
            raise
        except OSError as error:
            raise ZygoteGoneError(str(error)) from error
        finally:
            with contextlib.suppress(OSError):
                self._control.settimeout(None)
        if not data:
            raise ZygoteGoneError("the zygote ended")
        message: dict[str, Any] = json.loads(data)
        return message, descriptors
