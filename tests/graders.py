"""One warm jail, and one pool of graders for every test that kills none of them.

The pool lives on an event loop of its own, in a thread: a test may ask it from any loop, and from none.
"""

import asyncio
import inspect
import math
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import pytest

from app.engine.pool.local_graders import LocalGraders
from app.sandbox.runner import Jail
from app.settings import Settings
from tests.waiting import SECONDS


class SharedGraders:
    """Has the face of the pool; to enter and to leave it starts and ends nothing."""

    def __init__(self, pool: LocalGraders, loop: asyncio.AbstractEventLoop) -> None:
        self._pool, self._loop = pool, loop

    def holds(self, claim: Callable[[LocalGraders], Awaitable[None]]) -> None:
        """Make *claim* on the loop of the pool, where all of it can be reached."""

        async def made() -> None:
            await claim(self._pool)

        asyncio.run_coroutine_threadsafe(made(), self._loop).result()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None: ...

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._pool, name)
        if not inspect.iscoroutinefunction(found):
            return found

        async def asked(*args: Any, **options: Any) -> Any:
            return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(found(*args, **options), self._loop))

        return asked


@contextmanager
def warm_jail() -> Iterator[Jail]:
    jail = Jail()
    if jail.refusal:
        pytest.skip(f"code is refused here: {jail.refusal}")
    assert jail.is_warm(SECONDS), jail._failure
    jail._zygote._expires = math.inf  # one that took its place amid a test would have another pid, and other files
    yield jail
    jail.close()


@contextmanager
def shared_graders(folder: Path, graders: int) -> Iterator[SharedGraders]:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    pool = LocalGraders(Settings(graders=graders, data_dir=folder))
    asyncio.run_coroutine_threadsafe(pool.__aenter__(), loop).result()
    try:
        yield SharedGraders(pool, loop)
    finally:
        asyncio.run_coroutine_threadsafe(pool.__aexit__(None, None, None), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
