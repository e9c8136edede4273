"""A server in a thread for what authors and designers look at, with a grader that answers by rule."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager

from fastapi import FastAPI

from app.web.server import Server, configured
from tests.waiting import SECONDS

Beside = Callable[[FastAPI], AbstractAsyncContextManager[None]]


@asynccontextmanager
async def nothing(_: FastAPI) -> AsyncIterator[None]:
    yield


@contextmanager
def serving(make: Callable[[], FastAPI], beside: Beside = nothing) -> Iterator[str]:
    """The address of what *make* makes; *beside* it something else may go on."""
    ready: Future[tuple[Server, int]] = Future()
    with ThreadPoolExecutor(1) as thread:
        ended = thread.submit(lambda: asyncio.run(_serve(make, beside, ready)))
        server, port = ready.result(SECONDS)
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            server.should_exit = True
        ended.result(SECONDS)


async def _serve(make: Callable[[], FastAPI], beside: Beside, ready: "Future[tuple[Server, int]]") -> None:
    app = make()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = Server(configured(app), app)
        server.install_signal_handlers = lambda: None
        async with beside(app):
            ready.set_result((server, listener.getsockname()[1]))
            await server.serve(sockets=[listener])
