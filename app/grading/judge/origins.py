"""Which entries of the tensors that a line reads an entry of its result came from.

The line is read on the lesson's sizes and on positive numbers, and gone back over by the rules of its operations from
that one entry: where nothing comes back, nothing went in. Nothing is executed.
"""

from collections.abc import Collection, Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from math import prod

import numpy as np

from app.cache import LruCache
from app.grading.forward.driver_jobs import HEAD
from app.grading.judge.parsed_submission import ParsedSubmission
from app.grading.operations.numerics import Array
from app.grading.reading.budget import CostError, EntryBudget
from app.grading.reading.interpreter import Interpreter
from app.grading.reading.node import OpNode, UntracedError
from app.grading.reading.plain_tracer import READING_ERRORS
from app.grading.reading.tracer import Tracer
from app.grading.reading.walk import sent_gradients
from app.syntax import Statement, syntax_key, value_left_by

LARGEST = 20_000
"""Entries of a tensor whose entries are followed."""
NAMED = 4
MOST_LINES = 1024
"""Lines that are remembered: who runs a text again has changed few of them."""
_KNOWN = LruCache[Hashable, list["Origin"]](MOST_LINES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Origins of the entries of one gradient in one tensor that its line reads.

    Args:
        name, tensor: Such as `dW` and `X`, whose *shape* that is.
        places: For each entry that is shown, row by row: an index such as `[:, 2]`; empty where it took nothing there.
    """

    name: str
    tensor: str
    shape: tuple[int, ...]
    places: tuple[str, ...]


def entry_origins(
    plan: ParsedSubmission, scope: Mapping[str, Array], dims: Mapping[str, int], names: Sequence[str]
) -> tuple[Origin, ...]:
    """Origins of the first entries of *names*; those that cannot be followed have none.

    Args:
        scope: The tensors before the text, on the lesson's own sizes.
    """
    reading = Interpreter({name: _positive(array) for name, array in scope.items()}, dims, EntryBudget())
    origins: list[Origin] = []
    for at, line in enumerate(plan.lines):
        asked = next((name for name in names if plan.last.get(name) == at), None)
        with np.errstate(all="ignore"), suppress(UntracedError, *READING_ERRORS):
            origins += _cached_origins(asked, line.node, line.reads, reading) if asked else ()
        try:
            reading.run([line.node])
        except UntracedError:
            reading.forget(line.writes)
        # What the text makes may be zero where nothing depends on it: that is no reason not to be followed.
        made = {name: reading.arrays[name] for name in line.writes & reading.arrays.keys()}
        reading.arrays |= {name: _positive(array) for name, array in made.items()}
    return tuple(origins)


def _positive(array: Array) -> Array:
    return np.random.default_rng(array.size).uniform(0.5, 1.5, array.shape) if array.dtype.kind == "f" else array


def _cached_origins(name: str, statement: Statement, reads: Collection[str], reading: Interpreter) -> list[Origin]:
    """Origins of *statement*, cached: they depend on its text and on what it reads, and on nothing else."""
    others = {text: reading.others[text] for text in reads & reading.others.keys()}
    if any(type(value) is not int for value in others.values()):
        return _trace_origins(name, statement, reading)
    arrays = frozenset((text, _mark(reading.arrays[text])) for text in reads & reading.arrays.keys())
    key = name, syntax_key(statement), frozenset(others.items()), arrays
    return _KNOWN.of(key, lambda: _trace_origins(name, statement, reading))


def _mark(array: Array) -> Hashable:
    """Cache key of a value; the numbers of a real one are made from its shape."""
    return array.shape, array.dtype.str, b"" if array.dtype.kind == "f" else blake2b(array.tobytes()).digest()


def _trace_origins(name: str, statement: Statement, reading: Interpreter) -> list[Origin]:
    made = value_left_by(statement)
    if made is None:
        return []
    node = Tracer(reading.arrays, reading.others, reading.budget).node(made)
    shape = node.value.shape
    places_by_tensor: dict[str, list[str]] = {}
    entries = _shown_entries(shape)
    for rank, entry in enumerate(entries):
        for tensor, mask in _behind(node, entry, reading.budget).items():
            place = _place_of(mask.shape, np.packbits(mask).tobytes())
            places_by_tensor.setdefault(tensor, [""] * len(entries))[rank] = place
    sizes = {tensor: reading.arrays[tensor].shape for tensor in places_by_tensor}
    return [
        Origin(name=name, tensor=text, shape=sizes[text], places=tuple(places))
        for text, places in places_by_tensor.items()
    ]


def _shown_entries(shape: Sequence[int]) -> list[tuple[int, ...]]:
    """The entries that a table of the first rows and columns shows, row by row."""
    columns = shape[-1] if shape else 1
    rows = prod(shape[:-1])
    flat = [row * columns + column for row in range(min(rows, HEAD)) for column in range(min(columns, HEAD))]
    return [tuple(int(item) for item in np.unravel_index(at, shape)) if shape else () for at in flat]


def _behind(node: OpNode, entry: tuple[int, ...], budget: EntryBudget) -> dict[str, Array]:
    """By tensor: which of its entries *entry* came from."""
    if node.value.size > LARGEST:
        raise CostError("too large to follow")
    budget.pay(node.value.size)
    start = np.zeros(node.value.shape)
    start[entry] = 1.0
    masks: dict[str, Array] = {}
    for tensor, share in sent_gradients(node, start):
        mask = share != 0
        masks[tensor] = masks[tensor] | mask if tensor in masks else mask
    return masks


@lru_cache(maxsize=8192)  # gradients of one shape take the same entries from what they read
def _place_of(shape: tuple[int, ...], bits: bytes) -> str:
    return place_of(np.unpackbits(np.frombuffer(bits, np.uint8), count=prod(shape)).reshape(shape).astype(bool))


def place_of(mask: Array) -> str:
    """The entries of *mask* that are true, as an index such as `[:, 2]`; what is no block is called `some of` one."""
    if not mask.any() or not mask.ndim:
        return "all of it" if mask.any() else ""
    axes = [
        np.flatnonzero(mask.any(axis=tuple(at for at in range(mask.ndim) if at != axis))) for axis in range(mask.ndim)
    ]
    block = prod(len(axis) for axis in axes) == int(mask.sum())
    parts = ", ".join(_part(axis.tolist(), size) for axis, size in zip(axes, mask.shape, strict=True))
    return f"[{parts}]" if block else f"some of [{parts}]"


def _part(places: list[int], size: int) -> str:
    if len(places) == 1:
        return str(places[0])
    if len(places) == size:
        return ":"
    if places == list(range(places[0], places[-1] + 1)):
        return f"{places[0]}:{places[-1] + 1}"
    return f"[{', '.join(map(str, places[:NAMED]))}{', …' * (len(places) > NAMED)}]"
