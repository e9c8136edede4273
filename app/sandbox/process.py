"""The grader's end of a zygote: its process, its control socket, the child that waits, the result pipe of a run."""

import contextlib
import json
import os
import random
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from app.sandbox import frames
from app.sandbox.wire import DecodedFrames, Job, decode_result

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
_CHUNK = 2**16  # all that a pipe holds; the rest of a larger piece stays taken, a page for a single byte
_ENDS = (frames.END_DONE, frames.END_MEMORY)
_LOOKS = 4  # numbers can look like an end on purpose; to read everything again each time would cost us, not the child


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
class ChildExit:
    """End of a child process, as `wait4` reports it."""

    pid: int
    status: int
    cpu_seconds: float
    over_memory: bool = False


def start_process(command: Sequence[str], control: socket.socket) -> "subprocess.Popen[bytes]":
    """Start *command* as a process that inherits nothing but *control*, whose number is its last argument."""
    return subprocess.Popen(
        [*command, str(control.fileno())],
        env=ENVIRONMENT,
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=[control.fileno()],
    )


class Zygote:
    """Starts at once, warms up on its own time; every method that needs it warm waits for that."""

    def __init__(self, command: Sequence[str] = COMMAND) -> None:
        self._control, child_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with child_end:
            self._process = start_process(command, child_end)
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
        """True if the zygote has served long enough: its children share one address layout."""
        return time.monotonic() > self._expires

    def is_warm(self, seconds: float = 0.0) -> bool:
        """True if a child waits, after up to *seconds*."""
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

    def discard_child(self, child: Child) -> None:
        """Done with *child*, however it ends: have the next one made at once, and wait for nothing."""
        child.close()
        self._ask(frames.NEXT)

    def exit_of(self, child: Child, seconds: float) -> ChildExit:
        """Wait for the report of *child*'s end."""
        try:
            message, _ = self._next_message("exit", seconds, child.pid)
        except TimeoutError:
            raise ZygoteGoneError("the zygote does not answer") from None
        message.pop("kind")
        return ChildExit(**message)

    def bare_fork(self) -> float:
        """Seconds of one fork-and-exit of this zygote, asked for and answered over the socket."""
        self.is_warm(WARM_SECONDS)
        started = time.perf_counter()
        self._ask(frames.BARE)
        self._next_message("bare", WARM_SECONDS)
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
        message, (pidfd, channel) = self._next_message("ready", seconds)
        return Child(message["pid"], pidfd, socket.socket(fileno=channel))

    def _next_message(self, kind: str, seconds: float, pid: int | None = None) -> tuple[dict[str, Any], list[int]]:
        """Receive the next message of *kind*, about *pid* if it is given; ends of older runs are dropped."""
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


class RunCancelledError(BaseException):
    """The run was stopped, and with it everything that needed it.

    No `Exception`: it is no fault, and what recovers from faults must not recover from it.
    """


class Interrupt(Protocol):
    """Something that can be polled beside a run."""

    def fileno(self) -> int: ...

    def asked(self) -> bool:
        """True if the run is to stop; called when `fileno` can be read, and must read something from it."""
        ...


class ResultPipe:
    """The read end of one run."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._chunks: list[bytes] = []
        self._bytes, self._most = 0, sys.maxsize
        self._looks = _LOOKS
        self.ended: DecodedFrames | None = None
        os.set_blocking(descriptor, False)

    def follow(self, child: Child, job: Job, interrupt: Interrupt | None = None) -> str:
        """Read until *child* has ended; kill it when *job* gives it no more time or it says too much, and return which.

        A child that says that it is done is killed at once, and what it said is in `ended`. None that was killed is
        waited for: taking down its memory can take longer than the next run, and whatever it might still do would be
        nothing that was asked for.

        Raises:
            RunCancelledError: *interrupt* asked for it; the child is killed.
        """
        poll = select.poll()
        poll.register(self._descriptor, select.POLLIN)
        poll.register(child.pidfd, select.POLLIN)
        if interrupt is not None:
            poll.register(interrupt.fileno(), select.POLLIN)
        self._most = job.output_bytes
        clock = _Clock(child, job)
        while True:
            left = clock.seconds_left()
            ready = dict(poll.poll(max(0.0, left) * 1000))
            if interrupt is not None and interrupt.fileno() in ready and interrupt.asked():
                _kill(child)
                raise RunCancelledError
            if child.pidfd in ready:
                return ""
            if self._descriptor in ready and not self._read_once():
                poll.unregister(self._descriptor)  # closed is not ended: the deadline still counts
            ending = "flood" if self._bytes > self._most else "" if self._says_done() else "deadline"
            if ending != "deadline" or left <= 0:
                _kill(child)
                return ending

    def drain(self) -> bytes:
        """Everything that was written before the end; of one that is still dying, no more than is wanted."""
        while self._bytes <= self._most and self._read_once():
            pass
        return b"".join(self._chunks)

    def close(self) -> None:
        os.close(self._descriptor)

    def _says_done(self) -> bool:
        """True if the last frame is the one that ends a result, and not numbers that look like it."""
        if self._chunks and self._chunks[-1].endswith(_ENDS) and self._looks:
            self._looks -= 1
            result = decode_result(b"".join(self._chunks), contents=False)
            self.ended = result if result.ended and not result.malformed else None
        return self.ended is not None

    def _read_once(self) -> bool:
        """Read once; False where nothing more can come, or nothing is there now."""
        try:
            chunk = os.read(self._descriptor, _CHUNK)
        except BlockingIOError:
            return False
        self._chunks.append(chunk)
        self._bytes += len(chunk)
        return bool(chunk)


class _Clock:
    """The time of a run: of the wall, and of the processor, which is looked at when it may have passed."""

    def __init__(self, child: Child, job: Job) -> None:
        self._child = child
        self._deadline = time.monotonic() + job.seconds
        self._cpu = _cpu_seconds(child) + job.cpu_seconds
        self._look = time.monotonic() + job.cpu_seconds

    def seconds_left(self) -> float:
        """Seconds until the run has to be looked at again; none where its time is over."""
        now = time.monotonic()
        if self._look <= now < self._deadline:
            self._look = now + self._cpu - _cpu_seconds(self._child)
        return min(self._look, self._deadline) - now


def _cpu_seconds(child: Child) -> float:
    try:
        return processor_seconds(child.pid)
    except OSError:  # it has ended
        return 0.0


def _kill(child: Child) -> None:
    with contextlib.suppress(ProcessLookupError):
        signal.pidfd_send_signal(child.pidfd, signal.SIGKILL)


def processor_seconds(pid: int) -> float:
    """Processor time that the process *pid* has used.

    Raises:
        OSError: There is no such process.
    """
    return time.clock_gettime(~pid << 3 | 2)
