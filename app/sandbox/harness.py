"""The program inside the jail: it loads a job, runs its driver and streams what the driver hands over.

It is trusted to start with, but it shares a process with code that is not: all it sends is only numbers
and text.
"""

import contextlib
import ctypes
import importlib
import io
import os
import random
import sys
import traceback
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import torch

from app.sandbox import frames, probe, rehearsal
from app.sandbox.seccomp import RESULT_FD

Arrays = dict[str, torch.Tensor]
Driver = Callable[[dict[str, Any], Arrays, "FrameWriter"], None]

PRINTED_CHARACTERS = 20_000
FLOOD_CHARACTERS = 200_000
ESCAPED_CHARACTERS = 8_000
_SMALL = 32 * 1024
_DTYPES = {getattr(torch, name): name for name in frames.DTYPES}
_NO_MEMORY = "can't allocate memory"  # how torch words it, in a RuntimeError

DRIVERS: dict[str, Driver] = {"probe": probe.run}
_RESERVE = [bytearray(2**20)]


def register(name: str, module: str) -> None:
    """Import *module* now, in the zygote; a module that is not written yet is left out."""
    try:
        DRIVERS[name] = importlib.import_module(module).run
    except ModuleNotFoundError as error:
        if error.name != module:
            raise


class Printed(io.StringIO):
    """A stream that keeps the first characters and counts the rest; a flood is an error of the code that prints."""

    def __init__(self, room: int) -> None:
        super().__init__()
        self.room = room
        self.lost = 0

    def write(self, text: str) -> int:
        written = super().write(text[: self.room])
        self.room -= written
        self.lost += len(text) - written
        if self.lost > FLOOD_CHARACTERS:
            raise RuntimeError(f"more than {FLOOD_CHARACTERS:,} characters were printed")
        return len(text)


class FrameWriter:
    """Writer of the result frames that a driver may send."""

    def __init__(self, output_bytes: int) -> None:
        self._output_bytes = output_bytes
        self._pending = bytearray()

    def tensor(self, key: str, value: object) -> None:
        """Send the numbers of *value*, or under `!key` the reason why it has none to send."""
        unfit = self._unfit(value)
        if unfit or not isinstance(value, torch.Tensor):
            self.text("!" + key, unfit)
            return
        plain = value.detach().resolve_conj().resolve_neg().contiguous()
        head = frames.tensor_head(key, _DTYPES[plain.dtype], plain.shape)
        size = plain.numel() * plain.element_size()
        if size <= _SMALL:
            self._send(head + (ctypes.string_at(plain.data_ptr(), size) if size else b""))
        else:
            self._send(head)
            self._send(memoryview((ctypes.c_char * size).from_address(plain.data_ptr())).cast("B"))

    def text(self, key: str, value: str) -> None:
        self._send(frames.text_frame(key, value))

    def flush(self) -> None:
        """Write what was said and not yet written."""
        pending, self._pending = self._pending, bytearray()
        _write(pending)

    def _send(self, data: bytes | memoryview) -> None:
        # Together: every write wakes the reader, which then competes with the run.
        if len(data) <= _SMALL:
            self._pending += data
        if len(self._pending) > _SMALL or len(data) > _SMALL:
            self.flush()
        if len(data) > _SMALL:
            _write(data)

    @contextlib.contextmanager
    def capture(self, characters: int = PRINTED_CHARACTERS) -> Iterator[Printed]:
        """Collect what is printed inside, up to a bound."""
        printed = Printed(characters)
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            yield printed

    def _unfit(self, value: object) -> str:
        """Say why *value* is not a plain strided CPU tensor of a known dtype and an honest size; empty if it is."""
        if type(value) is not torch.Tensor:
            return f"type {type(value).__name__}"[:200]
        if value.layout is not torch.strided or value.device.type != "cpu" or value.is_quantized:
            return f"layout {value.layout} on {value.device}"
        if value.dtype not in _DTYPES:
            return f"dtype {value.dtype}, shape {tuple(value.shape)}"
        # Before .contiguous(): a tensor that was expanded from one number can claim any size.
        if value.numel() * value.element_size() > self._output_bytes or value.dim() > frames.DIMENSIONS:
            return f"too large: shape {tuple(value.shape)}"[:200]
        return ""


def _write(data: bytes | bytearray | memoryview) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(RESULT_FD, rest) :]


def load(job: bytearray) -> tuple[Any, Arrays]:
    """The document of *job* and its tensors, which share the job's memory."""
    document, listed = frames.split_job(job)
    arrays = {}
    for key, dtype, shape, offset in listed:
        count = 1
        for size in shape:
            count *= size
        kind = getattr(torch, dtype)
        flat = torch.frombuffer(job, dtype=kind, count=count, offset=offset) if count else torch.empty(0, dtype=kind)
        arrays[key] = flat.reshape(shape)
    return document, arrays


def rehearse() -> None:
    """Run the job of `rehearsal` in a zygote. All that stays of it is code that the interpreter has fitted."""
    job = bytearray(frames.job_head(["", {}, 0], [("x", "float64", (2, 2))]) + bytes(64))
    load(job)
    driver = DRIVERS.get(rehearsal.DRIVER)
    try:
        if driver:
            driver(
                rehearsal.HEADER, rehearsal.rehearsal_arrays(), FrameWriter(2**20)
            )  # too little to be sent before it is asked for
    finally:
        torch.set_default_dtype(torch.float32)


def reseed() -> None:
    """Children of one zygote must not draw the same numbers; `torch.manual_seed` would cost a millisecond more."""
    random.seed()
    torch.default_generator.manual_seed(int.from_bytes(os.getrandom(8), "little"))


def serve(job: bytearray) -> NoReturn:
    """Run *job* in this confined process and end it."""
    try:
        (driver, header, output_bytes), arrays = load(job)
        sys.stdout = sys.stderr = Printed(0)
        output = FrameWriter(output_bytes)
        try:
            DRIVERS[driver](header, arrays, output)
        except Exception as error:
            if _is_memory(error):
                raise MemoryError from None
            output.text("escaped", "".join(traceback.format_exception(error))[-ESCAPED_CHARACTERS:])
        output.flush()
        _write(frames.END_DONE)
    except MemoryError:
        _RESERVE.clear()
        os.write(RESULT_FD, frames.END_MEMORY)
    finally:
        os._exit(0)


def _is_memory(error: BaseException) -> bool:
    return isinstance(error, MemoryError) or (isinstance(error, RuntimeError) and _NO_MEMORY in str(error))
