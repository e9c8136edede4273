"""Waiting for what must come to pass, on a machine however busy: it takes as long as it takes, and hangs are told."""

import asyncio
import time
from collections.abc import Callable

SECONDS = 600.0
"""No machine is so busy that what these tests wait for takes as long."""


def until(claim: Callable[[], object]) -> None:
    end = time.monotonic() + SECONDS
    while not claim():
        assert time.monotonic() < end, "it never came to pass"
        time.sleep(0.01)


async def comes(claim: Callable[[], object]) -> None:
    async with asyncio.timeout(SECONDS):
        while not claim():
            await asyncio.sleep(0.01)
