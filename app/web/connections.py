"""Limit of open connections, and a listener that survives running out of descriptors."""

import asyncio
import contextlib
import errno
import os
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import structlog

log = structlog.get_logger()

MAX_CONNECTIONS = 10_000
FEWEST = 8
ELSEWHERE = 256
"""On Windows, whose event loop waits for some hundreds of sockets."""
TAKEN = 64
"""Descriptors in use where no folder lists them: more than a server has that was just started."""
BACKLOG = 128
OUT = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})
PAUSE_SECONDS = 0.5
"""Less than asyncio waits before it listens again."""
SILENT_SECONDS = 60.0
FIX = "Raise the limit of open files of the service (LimitNOFILE, ulimit -n), or bound connections in a proxy."


def raise_descriptor_limit() -> None:
    """Let this process have as many descriptors as it may: many services begin with 1,024. Windows has no limit."""
    with contextlib.suppress(ModuleNotFoundError):
        _raise_limit()


def _raise_limit() -> None:
    import resource

    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def most_connections() -> int:
    """Largest number of open connections: half of the free descriptors, at most `MAX_CONNECTIONS`.

    The other half is for the database, for files, and for the run of accepted connections that asyncio takes at once.
    """
    try:
        import resource
    except ModuleNotFoundError:
        return ELSEWHERE
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if soft == resource.RLIM_INFINITY:
        return MAX_CONNECTIONS
    listing = next((folder for folder in map(Path, ("/proc/self/fd", "/dev/fd")) if folder.is_dir()), None)
    taken = len(list(listing.iterdir())) if listing else TAKEN
    return min(MAX_CONNECTIONS, max(FEWEST, (soft - taken) // 2))


class Listener(socket.socket):
    """Listening socket whose `accept` reports no client for a moment after it ran out of descriptors.

    asyncio asks for as many connections as its backlog holds, and sets a timer for each that fails; each timer begins
    such a row again, until nothing else is done.
    """

    _until = 0.0

    def listen(self, backlog: int = BACKLOG, /) -> None:
        """The kernel's row is longer than that of asyncio."""
        super().listen(max(backlog, BACKLOG))

    def accept(self) -> tuple[socket.socket, Any]:
        if time.monotonic() < self._until:
            raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        try:
            return super().accept()
        except OSError as error:
            if error.errno in OUT:
                self._until = time.monotonic() + PAUSE_SECONDS
            raise


class LoopErrors:
    """The exception handler of an event loop: a full table of descriptors is one line of the log a minute."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._silent_until = 0.0

    def __call__(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if not isinstance(error, OSError) or error.errno not in OUT:
            loop.default_exception_handler(context)
        elif self._clock() >= self._silent_until:
            self._silent_until = self._clock() + SILENT_SECONDS
            log.error("out-of-descriptors", error=str(error), fix=FIX)
