"""Length-prefixed JSON between the web process and a grader: four bytes of length, then UTF-8 text."""

import json
import socket
import struct
from asyncio import StreamReader
from typing import Any

LENGTH = struct.Struct("!I")
LONGEST_FRAME = 32 * 2**20


def encode_frame(message: Any) -> bytes:
    """*message* as a frame. NaN and infinity travel as JSON's common extension; both ends are ours."""
    body = json.dumps(message, separators=(",", ":")).encode()
    return LENGTH.pack(len(body)) + body


def receive_frame(connection: socket.socket) -> Any | None:
    """The next message; None where the other end has closed."""
    head = _exactly(connection, LENGTH.size)
    if head is None:
        return None
    body = _exactly(connection, _length(head))
    return None if body is None else json.loads(body)


async def read_frame(stream: StreamReader) -> Any:
    """The next message.

    Raises:
        asyncio.IncompleteReadError: The other end closed before the message was whole.
    """
    head = await stream.readexactly(LENGTH.size)
    return json.loads(await stream.readexactly(_length(head)))


def _length(head: bytes) -> int:
    length: int = LENGTH.unpack(head)[0]
    if length > LONGEST_FRAME:
        raise ValueError(f"a frame of {length} bytes was announced; the longest is {LONGEST_FRAME}")
    return length


def _exactly(connection: socket.socket, size: int) -> bytes | None:
    parts = bytearray()
    while len(parts) < size:
        part = connection.recv(size - len(parts))
        if not part:
            return None
        parts += part
    return bytes(parts)
