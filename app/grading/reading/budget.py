"""Budget of reading a text: the entries that it makes, and time.

A submission is anybody's. Every array is paid for before it is made, so that neither memory nor time can be spent on a
text beyond what is set aside for it.
"""

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

LARGEST = 1_000_000
"""Entries of one array."""
TOTAL = 400_000_000
"""Entries that are made for one check, all tries of all its diagnoses together."""
SECONDS, SECONDS_OF_ONE = 1.0, 0.5
"""Of processor time, for one check and for one diagnosis: the wall's would make verdicts depend on the machine."""


class CostError(Exception):
    """The text asks for more than it may have."""


class EntryBudget:
    """Entries left for one check.

    Args:
        masks: Whether entries may be picked by truth values, so that a shape depends on numbers.
        largest: Entries of one array, at most.
    """

    def __init__(self, *, masks: bool = True, largest: int = LARGEST) -> None:
        self.masks = masks
        self._largest = largest
        self._left = TOTAL
        self._seconds = SECONDS
        self._until = time.process_time() + SECONDS_OF_ONE

    @contextmanager
    def one(self) -> Iterator["EntryBudget"]:
        """For one diagnosis of several: what it takes is missing to the others."""
        began = time.process_time()
        self._until = began + min(SECONDS_OF_ONE, self._seconds)
        try:
            yield self
        finally:
            self._seconds -= time.process_time() - began

    @property
    def is_empty(self) -> bool:
        return self._left <= 0 or time.process_time() > self._until

    def pay_for_pick(self, x: Any, index: Any) -> None:
        """Pay for what *index* picks of *x*, at most.

        Raises:
            CostError: See `pay`.
        """
        parts = index if isinstance(index, tuple) else (index,)
        if not self.masks and any(isinstance(part, np.ndarray) and part.dtype.kind == "b" for part in parts):
            raise CostError("as many entries as the numbers say")
        self.pay(picked(x, parts))

    def pay(self, entries: int) -> None:
        """Pay for an array.

        Raises:
            CostError: It is too large, or nothing is left.
        """
        self._left -= entries + 1
        if entries > self._largest or self.is_empty:
            raise CostError(f"{entries} entries")


def bounded_number(value: Any) -> Any:
    """*value*, if arithmetic stays cheap with it.

    Raises:
        CostError: An integer without bounds.
    """
    if isinstance(value, int) and abs(value) >= 2**53:
        raise CostError("a number without bounds")
    return value


def as_operand(value: Any) -> Any:
    """*value* as an operand of arithmetic.

    Raises:
        CostError: Something that multiplies into a long text or list, or an integer without bounds.
    """
    if isinstance(value, str | bytes | tuple | list):
        raise CostError("no number")
    return bounded_number(value)


def entry_count(*sizes: Any) -> int:
    """Entries of an array of *sizes*; an axis of size 0 is priced as one of size 1, for its neighbours are made too."""
    flat = sizes[0] if len(sizes) == 1 and isinstance(sizes[0], tuple | list) else sizes
    return math.prod(max(1, abs(int(size))) for size in flat)


def broadcast_entries(*values: Any) -> int:
    """Number of entries of values that are broadcast over each other."""
    return entry_count(np.broadcast_shapes(*(np.shape(value) for value in values if isinstance(value, np.ndarray))))


def _padded(x: Any, pad: Sequence[int], *_: Any, **__: Any) -> int:
    added = [0] * (np.ndim(x) - len(pad) // 2) + [abs(pad[at]) + abs(pad[at + 1]) for at in range(0, len(pad), 2)][::-1]
    return entry_count([size + more for size, more in zip(np.shape(x), added, strict=True)])


def _ranged(*bounds: float) -> int:
    start, stop, step = (0, *bounds, 1)[:3] if len(bounds) == 1 else (*bounds, 1)[:3]
    return math.ceil(abs((stop - start) / step)) + 1


def _classes(x: Any, num_classes: int = -1) -> int:
    return max(1, int(np.size(x))) * max(abs(int(num_classes)), int(np.max(x, initial=0)) + 1)


def _of_first(x: Any, *_: Any, **__: Any) -> int:
    return entry_count(np.shape(x))


def _added(x: Any, a: Any, b: Any, *_: Any, **__: Any) -> int:
    return max(product_steps(a, b), entry_count(np.broadcast_shapes(np.shape(x), (*a.shape[:-1], b.shape[-1]))))


def _linear(x: Any, w: Any, b: Any = 0.0) -> int:
    return _added(b, x, np.swapaxes(w, -1, -2))


def _repeated(x: Any, *sizes: Any) -> int:
    return max(1, int(np.size(x))) * entry_count(*sizes)


COSTS: Mapping[str, Callable[..., int]] = {
    **dict.fromkeys(("zeros", "ones", "empty", "rand", "randn"), lambda *sizes, **_: entry_count(*sizes)),
    "full": lambda size, *_, **__: entry_count(size),
    "tensor": lambda data, **_: entry_count(np.shape(data)),
    "eye": lambda n, m=None, **_: entry_count(n, n if m is None else m),
    "arange": _ranged,
    "outer": lambda a, b: entry_count(np.size(a), np.size(b)),
    "diag": lambda x, *_: max(1, int(np.size(x))) ** (2 if np.ndim(x) == 1 else 1),
    "diag_embed": lambda x: _of_first(x) * entry_count(x.shape[-1]),
    "pad": _padded,
    **dict.fromkeys(("repeat", "tile"), _repeated),
    **dict.fromkeys(("broadcast_to", "expand"), lambda x, *size: _of_first(x) + entry_count(*size)),
    "expand_as": lambda _x, y: _of_first(y),
    "one_hot": _classes,
    "bincount": lambda x, _weights=None, minlength=0, **_: max(abs(int(minlength)), int(np.max(x, initial=0)) + 1),
    "unfold": lambda x, _dim, size, _step: _repeated(x, size),
    **dict.fromkeys(("addmm", "baddbmm"), _added),
    "linear": _linear,
    "solve": lambda a, b: _of_first(a) + _of_first(b),
    "gather": lambda _x, _dim, index: _of_first(index),
    "index_select": lambda x, _dim, index: _of_first(x) * _of_first(index),
    **dict.fromkeys(("index_add", "index_put", "scatter", "scatter_add", "movedim", "moveaxis"), _of_first),
    **dict.fromkeys(("view_as", "reshape_as", "reshape", "transpose", "flip", "roll", "permute"), _of_first),
    **dict.fromkeys(("unsqueeze", "squeeze", "flatten", "tril", "triu", "diagonal", "narrow", "select"), _of_first),
}
"""Entries that a function makes, where they are not as many as its arguments have when spread over each other."""


def entry_cost(op: str, arguments: Sequence[Any], words: Mapping[str, Any]) -> int:
    """Entries that the function *op* is about to make."""
    rule = COSTS.get(op)
    return int(rule(*arguments, **words)) if rule is not None else broadcast_entries(*arguments, *words.values())


def product_steps(a: Any, b: Any) -> int:
    """Entries of a matrix product, and steps on the way to each of them."""
    inner = a.shape[-1] if a.ndim else 1
    columns = b.shape[-1] if b.ndim > 1 else 1
    produced = (
        entry_count(np.broadcast_shapes(a.shape[:-2], b.shape[:-2]))
        * entry_count(a.shape[-2:-1])
        * entry_count(columns)
    )
    return max(produced, produced * inner // 16)


def picked(x: Any, index: Sequence[Any]) -> int:
    """Entries that *index* picks of *x*, at most."""
    places = [rank for rank, part in enumerate(index) if isinstance(part, np.ndarray | list | tuple)]
    if not places:
        return int(np.size(x))
    rest = int(np.size(x)) // max(1, math.prod(x.shape[place] for place in places if place < x.ndim))
    return int(broadcast_entries(*(np.asarray(index[place]) for place in places)) * max(rest, 1))


def einsum_steps(subscripts: str, operands: Sequence[Any]) -> int:
    """Steps of an einsum: one for each combination of its letters."""
    parts = subscripts.replace(" ", "").split("->")[0].split(",")
    sizes = {
        letter: size
        for part, operand in zip(parts, operands, strict=True)
        for letter, size in zip(part, operand.shape, strict=True)
    }
    produced = entry_count(tuple(sizes[letter] for letter in subscripts.replace(" ", "").partition("->")[2]))
    return max(produced, entry_count(tuple(sizes.values())) // 16, *(int(np.size(operand)) for operand in operands))
