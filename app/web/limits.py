"""What one learner may ask of the graders: how much, and for how long.

What cannot be answered now was saved before: the answer is 429, says so, and tells in `Retry-After` when to come again.
A browser that aborts a request, by its Stop button or because the page was closed, closes the connection. That is the
only sign there is, it needs no second address, and it reaches the very process that does the work.
"""

import asyncio
import math
import time
from collections.abc import Callable, Coroutine, Hashable
from hashlib import sha256
from typing import Any, TypeVar

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

MINUTE = 60.0
FAULT_SECONDS = 600.0
FAULTY = "Graders stopped over this very text, more than once. It is saved; change it, or come again in ten minutes."
REMEMBERED = 10_000
TOO_MANY_CHANGES = "More than {limit} changes came within a minute. This one was not saved; go on in {seconds} s."
TOO_MANY_LEARNERS = "More than {limit} new learners came from your network within a minute. Begin in {seconds} s."
TOO_MANY = "More than {limit} checks and runs were asked for within a minute. Your text is saved; go on in {seconds} s."


class NotNowError(HTTPException):
    """Not answered now, and nobody's mistake. *seconds* from now it may be.

    An `HTTPException`, so that a plain form gets it as a page; where a fragment was asked for, the box shows it.
    """

    def __init__(self, message: str, seconds: float, *, saved: bool = True) -> None:
        headers = {"retry-after": str(max(1, math.ceil(seconds)))}
        super().__init__(429, message, headers if saved else {**headers, "not-saved": "1"})

    def said_by(self, response: Response) -> Response:
        """*response*, with the status and the time."""
        response.status_code = self.status_code
        response.headers.update(self.headers or {})
        return response


class Allowance:
    """A bucket of tokens for each learner, or address: it holds a minute's worth and fills up evenly.

    Args:
        a_minute: Tokens a minute; 0 for no limit.
        said: What is told where none is left, with `{limit}` and `{seconds}`.
    """

    def __init__(self, a_minute: int, clock: Callable[[], float] = time.monotonic, *, said: str = TOO_MANY) -> None:
        self._a_minute = a_minute
        self._clock = clock
        self._said = said
        self._full_at: dict[Hashable, float] = {}

    def spend(self, learner: Hashable) -> None:
        """Take one token.

        Raises:
            NotNowError: None is left.
        """
        if not self._a_minute:
            return
        now = self._clock()
        # A bucket is known by the moment at which it would be full again; each token puts that off.
        early = self._full(learner, now, 1) - now - MINUTE
        if early > 1e-9:
            message = self._said.format(limit=self._a_minute, seconds=max(1, math.ceil(early)))
            raise NotNowError(message, early, saved=self._said == TOO_MANY)
        self.charge(learner, 1)

    def charge(self, learner: Hashable, tokens: int) -> None:
        """Take *tokens*, whether they are there or not."""
        if not self._a_minute:
            return
        now = self._clock()
        if len(self._full_at) >= REMEMBERED:
            self._full_at = {one: at for one, at in self._full_at.items() if at > now}
        self._full_at[learner] = self._full(learner, now, tokens)

    def _full(self, learner: Hashable, now: float, tokens: int) -> float:
        return max(now, self._full_at.get(learner, now)) + tokens * MINUTE / self._a_minute


class Faults:
    """Texts over which graders came to their end; one that did it again is left alone for a while."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._ends: dict[bytes, list[float]] = {}

    def note(self, text: str) -> None:
        if len(self._ends) >= REMEMBERED:
            self._ends = {key: ends for key, ends in self._ends.items() if ends[-1] > self._clock()}
        self._ends.setdefault(_digest(text), []).append(self._clock() + FAULT_SECONDS)

    def refuse(self, text: str) -> None:
        """
        Raises:
            NotNowError: Graders ended over *text* more than once not long ago. Once may have been bad luck.
        """
        ends = [one for one in self._ends.get(_digest(text), ()) if one > self._clock()]
        if len(ends) > 1:
            raise NotNowError(FAULTY, ends[1] - self._clock())


def _digest(text: str) -> bytes:
    return sha256(text.encode("utf-8", "surrogatepass")).digest()


T = TypeVar("T")


async def while_wanted(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """What *work* returns; it is cancelled when nobody waits for the answer any more.

    The form must have been read: what is left to receive is the end.

    Raises:
        ClientDisconnect: Nobody waits.
    """
    working, leaving = asyncio.ensure_future(work), asyncio.ensure_future(_left(request))
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientDisconnect
        return working.result()
    finally:
        for one in (working, leaving):
            one.cancel()
        await asyncio.gather(working, leaving, return_exceptions=True)


async def _left(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
