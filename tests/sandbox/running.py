"""A child while it runs, seen from outside: what the kernel says of it in /proc."""

import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import TypeVar

from remote import RemoteJail

from app.sandbox.runner import Jail
from app.sandbox.wire import Job
from tests.waiting import SECONDS

T = TypeVar("T")
WAITS = """
import _thread
lock = _thread.allocate_lock()
lock.acquire()
lock.acquire()
"""
"""A run that goes on, and leaves the processor to others."""


def status(pid: int) -> dict[str, str]:
    """Nothing for a process that is gone."""
    with contextlib.suppress(OSError):
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}
    return {}


def children(zygote: int) -> list[int]:
    return [int(pid) for pid in Path(f"/proc/{zygote}/task/{zygote}/children").read_text().split()]


def confined(zygote: int) -> int | None:
    """The child that has given everything up."""
    return next((pid for pid in children(zygote) if status(pid).get("Seccomp") == "2"), None)


def eventually(claim: Callable[[], T]) -> T:
    limit = time.monotonic() + SECONDS
    while not (found := claim()) and time.monotonic() < limit:
        time.sleep(0.01)
    return found


@contextmanager
def running(jail: Jail | RemoteJail) -> Iterator[int]:
    """The child of a run that would go on for long; killed at the end."""
    run = Thread(target=_run, args=[jail])
    run.start()
    pid = eventually(lambda: confined(jail.zygote_pid))
    try:
        assert pid, "nothing runs"
        yield pid
    finally:
        if pid:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        run.join()


def _run(jail: Jail | RemoteJail) -> None:
    with contextlib.suppress(EOFError, ValueError):  # the jail was killed, and its pipe closed at the same moment
        jail.run(Job(driver="probe", header={"source": WAITS}, seconds=SECONDS))
