"""Waiting for what must come to pass, on a machine however busy: it takes as long as it takes, and hangs are told."""

import asyncio
import os
import time
import traceback
from collections.abc import Callable

SECONDS = 300.0
"""No machine is so busy that what these tests wait for takes as long. A test as a whole that takes twice that hangs for
another reason: `pyproject.toml` ends it, with the stack of every thread."""


def forked(work: Callable[[], object]) -> int:
    """The pid of a fork that does *work* and ends; whatever is raised there, it never goes on as a test run."""
    pid = os.fork()
    if pid == 0:
        try:
            work()
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(1)
    return pid


def until(claim: Callable[[], object]) -> None:
    end = time.monotonic() + SECONDS
    while not claim():
        assert time.monotonic() < end, "it never came to pass"
        time.sleep(0.03)  # what is asked for is often a page


async def comes(claim: Callable[[], object]) -> None:
    async with asyncio.timeout(SECONDS):
        while not claim():
            await asyncio.sleep(0.01)
