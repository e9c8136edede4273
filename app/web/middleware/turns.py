"""A line of bounded length before work that is dear, so that it cannot keep others waiting for long."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

from app.web.middleware.visitor import RetryLaterError

WAITING_SECONDS = 3
TOO_LONG_A_LINE = "Too many people sign in at this moment. Nothing was changed; try again in {seconds} s."


class Turns:
    """A line before work of which *at_once* may be done: no more than *most* wait in it."""

    def __init__(self, at_once: int, most: int) -> None:
        self._places = asyncio.Semaphore(at_once)
        self._most = most
        self._waiting = 0

    @contextlib.asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """
        Raises:
            RetryLaterError: As many wait as may.
        """
        if self._waiting >= self._most:
            raise RetryLaterError(TOO_LONG_A_LINE.format(seconds=WAITING_SECONDS), WAITING_SECONDS, saved=False)
        self._waiting += 1
        try:
            await self._places.acquire()
        finally:
            self._waiting -= 1
        try:
            yield
        finally:
            self._places.release()
