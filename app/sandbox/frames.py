"""The bytes that cross the wall, in both directions, without numpy: the jailed side must stay small.

A job is a length, a JSON document and the raw arrays, each at a multiple of 64 bytes. A result is the greeting of the
armed child, then frames: a tensor, a text, or the end. Whatever comes back was written by code that is not trusted.
"""

import json
import struct
from collections.abc import Sequence
from typing import Any

ITEM_BYTES = {"float32": 4, "float64": 8, "int64": 8, "int32": 4, "bool": 1, "uint8": 1}
DTYPES = tuple(ITEM_BYTES)

ARMED = struct.Struct("<4sH")
ARMED_MARK = b"ARMD"
BOXED = b"BOXD"
FAULT = b"FALT"

NEXT, BARE = b"next", b"bare"  # what the grader asks of the zygote: a child, or a fork that does nothing

KEY_BYTES = 1024
TEXT_BYTES = 2**20
DIMENSIONS = 64

END_DONE = b"Zd"
END_MEMORY = b"Zm"

TENSOR_HEAD = struct.Struct("<cHBB")  # kind, length of the key, dtype, dimensions
TEXT_HEAD = struct.Struct("<cHI")  # kind, length of the key, length of the text

_LENGTH = struct.Struct("<8sQ")
_MAGIC = b"backhand"
_ALIGN = 64


def tensor_head(key: str, dtype: str, shape: Sequence[int]) -> bytes:
    """Everything of a tensor frame but its numbers."""
    name = key.encode("utf-8", "backslashreplace")[:KEY_BYTES]
    head = TENSOR_HEAD.pack(b"T", len(name), DTYPES.index(dtype), len(shape))
    return head + name + struct.pack(f"<{len(shape)}Q", *shape)


def text_frame(key: str, value: str) -> bytes:
    """A text frame; a text beyond the bound is cut."""
    name = key.encode("utf-8", "backslashreplace")[:KEY_BYTES]
    text = value[:TEXT_BYTES].encode("utf-8", "backslashreplace")[:TEXT_BYTES]
    return TEXT_HEAD.pack(b"S", len(name), len(text)) + name + text


def aligned_length(length: int) -> int:
    return -(-length // _ALIGN) * _ALIGN


def job_head(document: Any, arrays: Sequence[tuple[str, str, Sequence[int]]]) -> bytes:
    """The first part of a job; the raw bytes of each array follow, each padded by `aligned_length`."""
    body = json.dumps([document, [(key, dtype, list(shape)) for key, dtype, shape in arrays]]).encode()
    head = _LENGTH.pack(_MAGIC, len(body)) + body
    return head.ljust(aligned_length(len(head)), b"\0")


def split_job(job: bytearray) -> tuple[Any, list[tuple[str, str, list[int], int]]]:
    """The document of a job and, per array, key, dtype, shape and offset.

    Raises:
        ValueError: The bytes are not a job.
    """
    magic, length = _LENGTH.unpack_from(job)
    if magic != _MAGIC or _LENGTH.size + length > len(job):
        raise ValueError("not a job")
    document, listed = json.loads(job[_LENGTH.size : _LENGTH.size + length].decode())
    offset = aligned_length(_LENGTH.size + length)
    arrays = []
    for key, dtype, shape in listed:
        count = 1
        for size in shape:
            count *= size
        arrays.append((key, dtype, shape, offset))
        offset += aligned_length(count * ITEM_BYTES[dtype])
    if offset > len(job):
        raise ValueError("the job is shorter than its arrays")
    return document, arrays
