"""Messages that may cross the sandbox wall: a Job in, a Reply out, tensors as raw bytes.

Never pickle: unpickling what untrusted code wrote would run it on our side of the wall. The reader of results is total:
any bytes at all give a `Result`, in time and memory proportional to them.
"""

import math
import os
import struct
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from app.sandbox import frames

Array = NDArray[Any]
Ending = Literal["done", "timeout", "memory", "flood", "denied", "crashed", "fault"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One run in the jail.

    Args:
        driver: Which trusted program of the zygote runs it: `tape` or `attempt`.
        header: What the driver is told, as JSON values.
        arrays: Tensors by key.
        seconds: Wall-clock limit.
        cpu_seconds: Of processor time: what else the machine does must not make a run look long.
        output_bytes: Cap on everything the child may send back.
    """

    driver: str
    header: Mapping[str, Any]
    arrays: Mapping[str, Array] = field(default_factory=dict)
    seconds: float = 2.0
    cpu_seconds: float = math.inf
    output_bytes: int = 64 * 2**20


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """Reply of a run.

    *arrays* and *texts* are those that arrived whole before the end; never trusted beyond being bytes.
    """

    ending: Ending
    arrays: Mapping[str, Array] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)
    wall_ms: float = 0.0
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RawReply:
    """Reply of a run as it was sent: *blob* is what the child wrote."""

    ending: Ending
    blob: bytes = b""
    wall_ms: float = 0.0
    detail: str = ""

    @property
    def reply(self) -> Reply:
        result = decode_result(self.blob)
        return Reply(
            ending=self.ending, arrays=result.arrays, texts=result.texts, wall_ms=self.wall_ms, detail=self.detail
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodedFrames:
    """The bytes of one child, read.

    Args:
        layers: Bits of `jail` that the child reported before anything untrusted ran; None if it never got there.
        filtered: The system call filter was in force.
        ended: What the harness said last, or "" where it did not come to that.
        malformed: Some bytes were no frame; everything from there on was ignored.
        fault: What the child said when its confinement failed.
    """

    layers: int | None = None
    filtered: bool = False
    arrays: Mapping[str, Array] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)
    ended: Literal["", "done", "memory"] = ""
    malformed: bool = False
    fault: str = ""


FRAMES = 20_000
"""More than any driver sends; a flood of tiny frames must not cost the reader more than it cost the sender."""

_ELEMENTS = 2**40
_NOTHING = np.empty(0)
_PLAIN = {name: np.dtype(name).newbyteorder("<") for name in frames.DTYPES}
_NAMES = {np.dtype(name): name for name in frames.DTYPES}  # to ask a dtype for its name takes numpy long


def encode_job(job: Job) -> list[bytes | memoryview]:
    """The parts of *job* as they are written, one after the other.

    Raises:
        ValueError: An array has a dtype that does not cross.
    """
    listed = []
    parts: list[bytes | memoryview] = []
    for key, array in job.arrays.items():
        name = _NAMES.get(array.dtype) or array.dtype.name
        if name not in _PLAIN:
            raise ValueError(f"array {key!r} has dtype {array.dtype}")
        plain = np.ascontiguousarray(array, dtype=_PLAIN[name])
        listed.append((key, name, array.shape))
        if plain.nbytes:
            parts.append(plain.reshape(-1).view(np.uint8).data)
            parts.append(bytes(frames.aligned_length(plain.nbytes) - plain.nbytes))
    return [frames.job_head([job.driver, job.header, job.output_bytes], listed), *parts]


@contextmanager
def memory_file(parts: Sequence[bytes | memoryview]) -> Iterator[int]:
    """A file in memory that holds *parts* one after the other, which are not joined for it.

    Raises:
        OSError: There is no memory for it.
    """
    file = os.memfd_create("held", os.MFD_CLOEXEC)
    try:
        written = sum(os.writev(file, parts[place : place + 64]) for place in range(0, len(parts), 64))
        if written != sum(len(part) for part in parts):
            raise OSError(28, "it did not fit into memory")
        yield file
    finally:
        os.close(file)


def decode_result(blob: bytes, *, contents: bool = True) -> DecodedFrames:
    """Read everything that a child wrote, whatever it is.

    Args:
        contents: Keep the tensors and the texts; without, they are looked at only as far as where they end.
    """
    if blob.startswith(frames.FAULT):
        return DecodedFrames(fault=blob[len(frames.FAULT) : 600].decode("utf-8", "replace"))
    if len(blob) < frames.ARMED.size or not blob.startswith(frames.ARMED_MARK):
        return DecodedFrames()
    layers: int = frames.ARMED.unpack_from(blob)[1]
    start = frames.ARMED.size
    if blob.startswith(frames.FAULT, start):
        return DecodedFrames(fault=blob[start + len(frames.FAULT) : start + 600].decode("utf-8", "replace"))
    filtered = blob.startswith(frames.BOXED, start)
    arrays: dict[str, Array] = {}
    texts: dict[str, str] = {}
    ended, whole = _read_frames(blob, start + len(frames.BOXED) * filtered, arrays, texts, contents)
    return DecodedFrames(layers=layers, filtered=filtered, arrays=arrays, texts=texts, ended=ended, malformed=not whole)


def _read_frames(
    blob: bytes, place: int, arrays: dict[str, Array], texts: dict[str, str], contents: bool
) -> tuple[Literal["", "done", "memory"], bool]:
    """Fill *arrays* and *texts*; return how it ended and whether every byte belonged to a whole frame."""
    for _ in range(FRAMES):
        if place == len(blob):
            return "", True
        kind = blob[place : place + 1]
        try:
            if kind == b"Z":
                mark, last = blob[place : place + 2], place + 2 == len(blob)
                return ("done" if mark == frames.END_DONE else "memory" if mark == frames.END_MEMORY else ""), last
            if kind == b"T":
                place = _read_tensor(blob, place, arrays, texts, contents)
            elif kind == b"S":
                place = _read_text(blob, place, arrays, texts, contents)
            else:
                return "", False
        except (ValueError, struct.error):  # cut short, a wrong size, a key twice
            return "", False
    return "", False


def _read_tensor(blob: bytes, place: int, arrays: dict[str, Array], texts: Mapping[str, str], contents: bool) -> int:
    _, key_bytes, dtype, dimensions = frames.TENSOR_HEAD.unpack_from(blob, place)
    place += frames.TENSOR_HEAD.size
    if key_bytes > frames.KEY_BYTES or dtype >= len(frames.DTYPES) or dimensions > frames.DIMENSIONS:
        raise ValueError("not a tensor head")
    key = _key(blob, place, key_bytes, arrays, texts)
    place += key_bytes
    shape = struct.unpack_from(f"<{dimensions}Q", blob, place)
    place += 8 * dimensions
    if math.prod(max(size, 1) for size in shape) > _ELEMENTS:
        raise ValueError("no such tensor")
    name = frames.DTYPES[dtype]
    end = place + math.prod(shape) * frames.ITEM_BYTES[name]
    if end > len(blob):
        raise ValueError("cut short")
    if not contents:
        arrays[key] = _NOTHING
        return int(end)
    raw = blob[place:end]  # a copy of its own: aligned, and it does not keep the whole result alive
    numbers = np.frombuffer(raw, np.uint8) != 0 if name == "bool" else np.frombuffer(raw, _PLAIN[name])
    arrays[key] = numbers.reshape(shape)
    return int(end)


def _read_text(blob: bytes, place: int, arrays: Mapping[str, Array], texts: dict[str, str], contents: bool) -> int:
    _, key_bytes, text_bytes = frames.TEXT_HEAD.unpack_from(blob, place)
    place += frames.TEXT_HEAD.size
    end = place + key_bytes + text_bytes
    if key_bytes > frames.KEY_BYTES or text_bytes > frames.TEXT_BYTES or end > len(blob):
        raise ValueError("not a text")
    key = _key(blob, place, key_bytes, arrays, texts)
    texts[key] = blob[place + key_bytes : end].decode("utf-8", "replace") if contents else ""
    return int(end)


def _key(blob: bytes, place: int, length: int, arrays: Mapping[str, Array], texts: Mapping[str, str]) -> str:
    key = blob[place : place + length].decode("utf-8", "replace")
    if len(blob) < place + length or key in arrays or key in texts:
        raise ValueError("a key cut short, or twice")
    return key
