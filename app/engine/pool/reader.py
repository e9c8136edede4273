"""The process that reads: whatever a learner wrote is parsed, planned, judged and explained there, and nowhere else.

A grader forks it, gives it one question at a time and keeps the jail to itself: a reader asks for its runs. The kernel
bounds its processor time and its memory, so that a text can at worst end the reader. Then the verdict stands as far as
it had come, and the next question gets a fresh reader, which takes milliseconds: everything is imported already.
"""

import contextlib
import logging
import math
import os
import resource
import select
import signal
import socket
import time
from collections.abc import Callable
from typing import Any, NoReturn, Protocol

from app.engine.grade.jail_runs import JailRunner
from app.engine.pool.memfd_messages import read_memory_file, receive_message, send_message
from app.sandbox import kernel
from app.sandbox.process import RunCancelledError
from app.sandbox.wire import Job, RawReply, Reply, encode_job, memory_file

CPU_SECONDS = 3
"""Of processor time for one question, at least; the kernel counts whole seconds, so it may be one more."""
CPU_CLOCK = -8
"""The clock of this process that the kernel bounds: CPUCLOCK_PROF in its `posix-timers.h`.

It counts whole ticks, so that in a process that lives long it comes to lie seconds beside `process_time`, the more the
busier the machine is.
"""
MEMORY_BYTES = 512 * 2**20
"""Beyond what a reader begins with."""
SILENT_SECONDS = 12.0
"""Of a clock, between two things that a reader says: on a busy machine its processor time takes long."""

_SPENT = (signal.SIGXCPU, signal.SIGABRT, signal.SIGSEGV, signal.SIGBUS)
"""How a text ends its reader: by the clock, without memory, or with an overflowing stack."""

_LOG = logging.getLogger(__name__)
Say = Callable[[Any], None]
Answer = Callable[[dict[str, Any]], Any]
Make = Callable[[JailRunner, Say], Answer]


class RawJobRunner(Protocol):
    """A jail that takes a job as it is written."""

    def run_raw(self, source: int, limits: Job) -> RawReply: ...


class ReaderDiedError(Exception):
    """The reader ended over a question.

    Args:
        said: What it had told until then; None where that is nothing.
        spent: It met a limit, of time or memory or of how deep a parser goes, so that the text is to blame.
    """

    def __init__(self, last_message: Any, spent: bool) -> None:
        super().__init__("a reader ended over a question")
        self.said = last_message
        self.spent = spent


class ReaderProcess:
    """A grader's end of its reader; begun where it is needed, and begun anew where it has ended.

    Args:
        jail: Does the runs that the reader asks for.
        make: Called in the reader, with its way to the jail and its way to tell something before the answer is there.
    """

    def __init__(self, jail: RawJobRunner, make: Make) -> None:
        self._jail = jail
        self._make = make
        self._pid = 0
        self._connection: socket.socket | None = None

    def ask(self, question: dict[str, Any]) -> Any:
        """The reader's answer to *question*.

        Raises:
            ReaderDiedError: It came to its end over it.
            RunCancelledError: The request was cancelled.
        """
        connection = self._connection or self._begin()
        last_message: Any = None
        try:
            send_message(connection, question)
            while True:
                message, job = self._next(connection)
                if job is not None:
                    self._run_job(connection, job, message["limits"])
                elif "said" in message:
                    last_message = message["said"]
                elif "stopped" in message:
                    raise RunCancelledError
                else:
                    return message["answer"]
        except (OSError, EOFError, ValueError, KeyError) as error:
            ended = self.close()
            spent = ended in _SPENT or isinstance(error, TimeoutError)
            _LOG.warning("a reader ended over a question: %s, signal %d", "too much" if spent else repr(error), ended)
            raise ReaderDiedError(last_message, spent) from error

    def close(self) -> int:
        """End the process; the signal that ended it."""
        if self._connection is None:
            return 0
        self._connection.close()
        self._connection = None
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGKILL)
        _, status = os.waitpid(self._pid, 0)
        return os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0

    def _next(self, connection: socket.socket) -> tuple[dict[str, Any], int | None]:
        if not select.select([connection], [], [], SILENT_SECONDS)[0]:
            raise TimeoutError
        received = receive_message(connection)
        if received is None:
            raise EOFError
        return received

    def _run_job(self, connection: socket.socket, job: int, limits: dict[str, Any]) -> None:
        try:
            came = self._jail.run_raw(job, Job(driver="", header={}, **limits))
        except RunCancelledError:
            send_message(connection, {"stopped": True})
            return
        finally:
            os.close(job)
        with memory_file([came.blob]) as blob:
            send_message(connection, {"ending": came.ending, "wall_ms": came.wall_ms, "detail": came.detail}, blob)

    def _begin(self) -> socket.socket:
        parent_end, child_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        grader = os.getpid()
        self._pid = os.fork()
        if self._pid == 0:
            _live(child_end, grader, self._make)
        child_end.close()
        self._connection = parent_end
        return parent_end


class _Asking:
    """The jail as a reader has it: the grader does the run."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection

    def run(self, job: Job) -> Reply:
        limits = {name: getattr(job, name) for name in ("seconds", "cpu_seconds", "output_bytes")}
        with memory_file(encode_job(job)) as source:
            send_message(self._connection, {"limits": limits}, source)
        received = receive_message(self._connection)
        if received is None:
            os._exit(0)
        message, blob = received
        if blob is None:
            raise RunCancelledError
        return RawReply(blob=read_memory_file(blob), **message).reply


def _live(connection: socket.socket, grader: int, make: Make) -> NoReturn:
    """Answer until the grader closes its end, or a limit is met."""
    try:
        _give_up_the_rest(connection, grader)
        answer = make(_Asking(connection), lambda message: send_message(connection, {"said": message}))
        while (received := receive_message(connection)) is not None:
            _allow(CPU_SECONDS)
            try:
                done = {"answer": answer(received[0])}
            except RunCancelledError:
                done = {"stopped": True}
            send_message(connection, done)
    except ConnectionError:
        pass
    except MemoryError:
        os.abort()  # said by how it ends, as with every other limit
    except BaseException:
        _LOG.exception("a reader failed")
    finally:
        os._exit(0)


def _give_up_the_rest(connection: socket.socket, grader: int) -> None:
    """Keep the one connection and standard error, and no right of root's; end with the grader; bound the memory."""
    kernel.prctl("PR_SET_PDEATHSIG", kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != grader:
        os._exit(0)
    keep = connection.fileno()
    os.closerange(3, keep)
    kernel.close_from(keep + 1)
    kernel.bound_capabilities()
    kernel.keep_capabilities()
    most = kernel.private_bytes() + MEMORY_BYTES
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _allow(seconds: int) -> None:
    soft = math.ceil(time.clock_gettime(CPU_CLOCK)) + seconds
    with contextlib.suppress(ValueError, OSError):  # an operator's own limit is lower
        resource.setrlimit(resource.RLIMIT_CPU, (soft, resource.RLIM_INFINITY))
