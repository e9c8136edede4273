"""Work for an answer that somebody still waits for.

A browser that aborts a request, by its Stop button or because the page was closed, closes the connection. That is
the only sign there is, it needs no second address, and it reaches the very process that does the work.
"""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from starlette.requests import ClientDisconnect, Request

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
