"""Messages between a grader and its reader: JSON, and with it, if there is one, a file in memory.

A file is handed over and not copied: the other end wakes up once, however large it is, and a job goes on into the jail
as it is. A long message is such a file too. Plain data only, as at every wall: neither end can make the other run
anything.
"""

import json
import os
import socket
from typing import Any

from app.sandbox.wire import memory_file

MAX_MESSAGE_BYTES = 256 * 2**20
"""Bytes of one file; a run may send back 64 MB, and a job is what an exercise holds."""
LETTER = 32 * 2**10
"""Bytes of a message that needs no file of its own."""
_IN_A_FILE = b"f"  # no JSON is this alone


def send_message(connection: socket.socket, message: Any, file: int | None = None) -> None:
    """Send *message* (JSON values) and *file*.

    Raises:
        OSError: The other end has closed, or there is no memory.
    """
    letter, files = json.dumps(message, separators=(",", ":")).encode(), [] if file is None else [file]
    if len(letter) <= LETTER:
        socket.send_fds(connection, [letter], files)
        return
    with memory_file([letter]) as long:
        socket.send_fds(connection, [_IN_A_FILE], [long, *files])


def receive_message(connection: socket.socket) -> tuple[Any, int | None] | None:
    """The next message and its file, which belongs to the caller; None where the other end has closed.

    Raises:
        ValueError: What came is no message.
    """
    letter, files, _, _ = socket.recv_fds(connection, LETTER, 2)
    if not letter:
        return None
    if letter == _IN_A_FILE and files:
        letter = read_memory_file(files.pop(0))
    return json.loads(letter), files[0] if files else None


def read_memory_file(file: int) -> bytes:
    """Read all of *file* and close it.

    Raises:
        ValueError: It holds too much.
    """
    with os.fdopen(file, "rb"):
        size = os.fstat(file).st_size
        if size > MAX_MESSAGE_BYTES:
            raise ValueError(f"a file of {size} bytes was sent; the longest is {MAX_MESSAGE_BYTES}")
        return os.pread(file, size, 0)
