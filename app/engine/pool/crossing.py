"""Messages between a grader and its reader: JSON, and with it, if there is one, a file in memory.

A file is handed over and not copied: the other end wakes up once, however large it is, and a job goes on into the jail
as it is. Plain data only, as at every wall: neither end can make the other run anything.
"""

import json
import os
import socket
from typing import Any

from app.sandbox.wire import held

LARGEST = 256 * 2**20
"""Bytes of one file; a run may send back 64 MB, and a job is what an exercise holds."""


def put(connection: socket.socket, message: Any, file: int | None = None) -> None:
    """Send *message* (JSON values) and *file*.

    Raises:
        OSError: The other end has closed, or there is no memory.
    """
    with held([json.dumps(message, separators=(",", ":")).encode()]) as letter:
        socket.send_fds(connection, [b"m"], [letter] if file is None else [letter, file])


def take(connection: socket.socket) -> tuple[Any, int | None] | None:
    """The next message and its file, which belongs to the caller; None where the other end has closed.

    Raises:
        ValueError: What came is no message.
    """
    _, files, _, _ = socket.recv_fds(connection, 1, 2)
    if not files:
        return None
    return json.loads(contents(files[0])), files[1] if len(files) > 1 else None


def contents(file: int) -> bytes:
    """What *file* holds; it is closed.

    Raises:
        ValueError: It holds too much.
    """
    with os.fdopen(file, "rb"):
        size = os.fstat(file).st_size
        if size > LARGEST:
            raise ValueError(f"a file of {size} bytes was sent; the longest is {LARGEST}")
        return os.pread(file, size, 0)
