"""An application behind a port, as `serve` has it, for what a client of tests would never send."""

import contextlib
import socket
import threading
from collections.abc import Iterator

import uvicorn
from fastapi import FastAPI

from app.web.server import configured
from tests.waiting import until


@contextlib.contextmanager
def listening(app: FastAPI, listener: socket.socket | None = None) -> Iterator[int]:
    """The port at which *app* answers, from a thread of its own. It must not run elsewhere: it would not start."""
    with listener or socket.socket() as opened:
        opened.bind(("127.0.0.1", 0))
        config = configured(app)
        config.timeout_graceful_shutdown = 1
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [opened]})
        thread.start()
        try:
            until(lambda: server.started or not thread.is_alive())
            assert server.started, "The server did not start: its reason stands in the log."
            yield int(opened.getsockname()[1])
        finally:
            server.should_exit = True
            thread.join()
