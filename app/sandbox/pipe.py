"""The grader's end of the result pipe of one run: read what comes, watch the deadline, kill."""

import contextlib
import os
import select
import signal
import time

from app.sandbox.frames import END_DONE, END_MEMORY
from app.sandbox.interrupt import Interrupt, StoppedError
from app.sandbox.process import Child
from app.sandbox.wire import Result, decode_result

_CHUNK = 2**16  # all that a pipe holds; the rest of a larger piece stays taken, a page for a single byte
_ENDS = (END_DONE, END_MEMORY)
_LOOKS = 4  # numbers can look like an end on purpose; to read everything again each time would cost us, not the child


class Pipe:
    """The read end of one run."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._chunks: list[bytes] = []
        self._bytes = self._most = 0
        self._looks = _LOOKS
        self.ended: Result | None = None
        os.set_blocking(descriptor, False)

    def follow(self, child: Child, deadline: float, most_bytes: int, interrupt: Interrupt | None = None) -> str:
        """Read until *child* has ended; kill it at the deadline or when it says too much, and return which, or "".

        A child that says that it is done is killed at once, and what it said is in `ended`. None that was killed is
        waited for: taking down its memory can take longer than the next run, and whatever it might still do would be
        nothing that anybody asked for.

        Raises:
            StoppedError: *interrupt* asked for it; the child is killed.
        """
        poll = select.poll()
        poll.register(self._descriptor, select.POLLIN)
        poll.register(child.pidfd, select.POLLIN)
        if interrupt is not None:
            poll.register(interrupt.fileno(), select.POLLIN)
        self._most = most_bytes
        while True:
            left = deadline - time.monotonic()
            ready = dict(poll.poll(max(0.0, left) * 1000))
            if interrupt is not None and interrupt.fileno() in ready and interrupt.asked():
                _kill(child)
                raise StoppedError
            if child.pidfd in ready:
                return ""
            if self._descriptor in ready and not self._read():
                poll.unregister(self._descriptor)  # closed is not ended: the deadline still counts
            ending = "flood" if self._bytes > most_bytes else "" if self._says_done() else "deadline"
            if ending != "deadline" or left <= 0:
                _kill(child)
                return ending

    def drain(self) -> bytes:
        """Everything that was written before the end; of one that is still dying, no more than is wanted."""
        while self._bytes <= self._most and self._read():
            pass
        return b"".join(self._chunks)

    def close(self) -> None:
        os.close(self._descriptor)

    def _says_done(self) -> bool:
        """Whether the last frame is the one that ends a result, and not numbers that look like it."""
        if self._chunks and self._chunks[-1].endswith(_ENDS) and self._looks:
            self._looks -= 1
            result = decode_result(b"".join(self._chunks))
            self.ended = result if result.ended and not result.malformed else None
        return self.ended is not None

    def _read(self) -> bool:
        """Read once; False where nothing more can come, or nothing is there now."""
        try:
            chunk = os.read(self._descriptor, _CHUNK)
        except BlockingIOError:
            return False
        self._chunks.append(chunk)
        self._bytes += len(chunk)
        return bool(chunk)


def _kill(child: Child) -> None:
    with contextlib.suppress(ProcessLookupError):
        signal.pidfd_send_signal(child.pidfd, signal.SIGKILL)
