"""Messages with arrays between a grader and its reader, in the format in which a job goes into the jail.

Each is a file in memory that is handed over: one wake-up of the other end, however large it is. Plain data only, as at
every wall: neither end can make the other run anything.
"""

import os
import socket
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from app.grading.judge.compare import Array
from app.sandbox.frames import split_job
from app.sandbox.wire import encoded

LARGEST = 256 * 2**20
"""Bytes of one message; a run may send back 64 MB, and a job is what an exercise holds."""
_PARTS = 64  # of one write


def put(connection: socket.socket, message: Any, arrays: Mapping[str, Array] | None = None) -> None:
    """Send *message* (JSON values) and *arrays*.

    Raises:
        OSError: The other end has closed, or there is no memory.
    """
    handed = os.memfd_create("message", os.MFD_CLOEXEC)
    try:
        _write(handed, encoded(message, {} if arrays is None else arrays))
        socket.send_fds(connection, [b"m"], [handed])
    finally:
        os.close(handed)


def take(connection: socket.socket) -> tuple[Any, dict[str, Array]] | None:
    """The next message and its arrays; None where the other end has closed.

    Raises:
        ValueError: What came is no message.
    """
    _, handed, _, _ = socket.recv_fds(connection, 1, 1)
    if not handed:
        return None
    try:
        length = os.fstat(handed[0]).st_size
        if length > LARGEST:
            raise ValueError(f"a message of {length} bytes was sent; the longest is {LARGEST}")
        whole = bytearray(length)
        os.preadv(handed[0], [whole], 0)
    finally:
        os.close(handed[0])
    message, listed = split_job(whole)
    return message, {key: _array(whole, dtype, shape, offset) for key, dtype, shape, offset in listed}


def _array(whole: bytearray, dtype: str, shape: Sequence[int], offset: int) -> Array:
    count = int(np.prod(shape, dtype=np.int64))
    return np.frombuffer(whole, dtype, count, offset).reshape(shape) if count else np.empty(shape, dtype)


def _write(handed: int, parts: Sequence[bytes | memoryview]) -> None:
    total = sum(len(part) for part in parts)
    if sum(os.writev(handed, parts[at : at + _PARTS]) for at in range(0, len(parts), _PARTS)) != total:
        raise OSError(28, "a message did not fit into memory")
