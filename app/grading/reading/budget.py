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

from app.grading.reading.collisions import broadcast_shape, check_axes, check_fit, product_shape

LARGEST = 1_000_000
"""Entries of one array."""
TOTAL = 400_000_000
"""Entries that are made for one check, all tries of all its diagnoses together."""
SECONDS, SECONDS_OF_ONE = 1.0, 0.5
"""Of processor time, for one check and for one diagnosis: the wall's would make verdicts depend on the machine."""
ENTRIES_BETWEEN_LOOKS, STEP_ENTRIES = 20_000, 500
"""Between two looks at the clock; a step takes as long as so many entries, whatever it makes."""


class CostError(Exception):
    """The text asks for more than it may have."""


class SpentError(CostError):
    """Nothing is left."""


class DataSizeError(CostError):
    """The numbers in a tensor would decide how many entries there are, or which way is taken."""


class EntryBudget:
    """Entries left for one check.

    Args:
        data_sizes: Whether the numbers in tensors may decide a size, as with a mask, or which way is taken.
        largest: Entries of one array, at most.
        total, seconds: Entries of all of them, and processor time, at most.
    """

    def __init__(
        self,
        *,
        data_sizes: bool = True,
        largest: int = LARGEST,
        total: int = TOTAL,
        seconds: float | None = None,
    ) -> None:
        self.data_sizes = data_sizes
        self._largest = largest
        self._left = total
        self._before_look = 0
        self._seconds = SECONDS
        self._until = time.process_time() + (SECONDS_OF_ONE if seconds is None else seconds)

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

    def is_spent(self, entries: int = 0) -> bool:
        """`is_empty`, but for the time since the last look at the clock: a look takes longer than most operations."""
        self._before_look -= entries + STEP_ENTRIES
        if self._before_look > 0:
            return self._left <= 0
        self._before_look = ENTRIES_BETWEEN_LOOKS
        return self.is_empty

    def pay_for_pick(self, x: Any, index: Any) -> None:
        """Pay for what *index* picks of *x*, at most.

        Raises:
            CostError: See `pay`.
        """
        parts = index if isinstance(index, tuple) else (index,)
        self.refuse_data(*(part for part in parts if isinstance(part, np.ndarray) and part.dtype.kind == "b"))
        self.pay(picked(x, parts))

    def refuse_data(self, *values: Any) -> None:
        """Say no to *values* as sizes, or as a truth, where numbers of tensors decide none.

        Raises:
            DataSizeError: One of them is, or has, a tensor, or a number that was taken out of one.
        """
        if not self.data_sizes and any(map(_is_data, values)):
            raise DataSizeError("as many entries as the numbers say")

    def pay(self, entries: int, steps: int = 0) -> None:
        """Pay for an array, and for the *steps* on the way to it where they are more than its entries.

        Raises:
            CostError: It is too large.
            SpentError: Nothing is left.
        """
        self._left -= max(entries, steps) + 1
        if entries > self._largest:
            raise CostError(f"{entries} entries")
        if self.is_spent(max(entries, steps)):
            raise SpentError(f"{entries} entries")


def _is_data(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return any(map(_is_data, value))
    return isinstance(value, np.ndarray | np.generic)


HELD_MAX = 10_000
"""Values in one list, those in its lists and so on included: lists of the same lists may be large beyond measure."""


def bounded_list(values: Any) -> Any:
    """*values*, if they are not too many.

    Raises:
        CostError: They are.
    """
    waiting, count = [values], 0
    while waiting:
        value = waiting.pop()
        count += 1
        if isinstance(value, list | tuple):
            waiting += value
        if count + len(waiting) > HELD_MAX:
            raise CostError("too many items")
    return values


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
    return entry_count(broadcast_shape(*(value.shape for value in values if isinstance(value, np.ndarray))))


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


Cost = tuple[int, int]
"""Entries of an array, and steps on the way to them."""


def _added(x: Any, a: Any, b: Any, *_: Any, **__: Any) -> Cost:
    check_fit(np.shape(x), product_shape(a.shape, b.shape), "+")
    return product_cost(a, b)


def _linear(x: Any, w: Any, b: Any = None) -> Cost:
    check_axes(x.shape, w.shape, (-1, -1), "F.linear")
    return _added(0.0 if b is None else b, x, w.T)


def _contracted(a: Any, b: Any, dims: Any = 2) -> Cost:
    count = dims if isinstance(dims, int) else int(np.size(dims[0]))
    axes = range(a.ndim - count, a.ndim) if isinstance(dims, int) else np.atleast_1d(dims[0])
    inner = entry_count(tuple(a.shape[axis] for axis in axes))
    entries = entry_count(a.shape) * entry_count(b.shape) // max(1, inner) ** 2
    return entries, entries * inner // 16


def _distances(a: Any, b: Any) -> int:
    check_axes(a.shape, b.shape, (-1, -1), "cdist")
    return entry_count(broadcast_shape((*a.shape[:-1], 1, a.shape[-1]), (*b.shape[:-2], 1, *b.shape[-2:])))


def _attended(q: Any, k: Any, v: Any) -> int:
    heaps = broadcast_shape(q.shape[:-2], k.shape[:-2], v.shape[:-2], how="@")
    return entry_count(heaps) * entry_count(q.shape[-2]) * max(entry_count(k.shape[-2]), entry_count(v.shape[-1]))


def _repeated(x: Any, *sizes: Any) -> int:
    return max(1, int(np.size(x))) * entry_count(*sizes)


COSTS: Mapping[str, Callable[..., int | Cost]] = {
    **dict.fromkeys(("zeros", "ones", "empty", "rand", "randn"), lambda *sizes, **_: entry_count(*sizes)),
    "randint": lambda *bounds, **_: entry_count(*bounds[-1:]),
    "full": lambda size, *_, **__: entry_count(size),
    **dict.fromkeys(("tensor", "as_tensor"), lambda data, **_: entry_count(np.shape(data))),
    "eye": lambda n, m=None, **_: entry_count(n, n if m is None else m),
    "arange": _ranged,
    "outer": lambda a, b: entry_count(np.size(a), np.size(b)),
    "diag": lambda x, *_: max(1, int(np.size(x))) ** (2 if np.ndim(x) == 1 else 1),
    "diag_embed": lambda x: _of_first(x) * entry_count(x.shape[-1]),
    "pad": _padded,
    **dict.fromkeys(("repeat", "tile"), _repeated),
    **dict.fromkeys(("broadcast_to", "expand"), lambda x, *size: _of_first(x) + entry_count(*size)),
    "expand_as": lambda _x, y: _of_first(y),
    "repeat_interleave": lambda x, repeats, *_, **__: entry_count(x.shape) * entry_count(repeats),
    "tensordot": _contracted,
    "kron": lambda a, b: max(1, int(np.size(a))) * max(1, int(np.size(b))),
    "inner": lambda a, b: entry_count(a.shape[:-1]) * entry_count(b.shape[:-1]),
    "cdist": _distances,
    "linspace": lambda _start, _end, steps, **_: entry_count(steps),
    "randperm": lambda n, **_: entry_count(n),
    **dict.fromkeys(("new_zeros", "new_ones", "new_empty"), lambda _x, *sizes, **_: entry_count(*sizes)),
    "new_full": lambda _x, size, *_, **__: entry_count(size),
    "take_along_dim": lambda _x, index, _dim: _of_first(index),
    **dict.fromkeys(("hstack", "vstack"), lambda parts: sum(int(np.size(part)) for part in parts)),
    "scaled_dot_product_attention": _attended,
    "one_hot": _classes,
    "bincount": lambda x, _weights=None, minlength=0, **_: max(abs(int(minlength)), int(np.max(x, initial=0)) + 1),
    "unfold": lambda x, _dim, size, _step: _repeated(x, size),
    **dict.fromkeys(("addmm", "baddbmm"), _added),
    "linear": _linear,
    **dict.fromkeys(("inv", "inverse", "det", "logdet"), lambda x: (_of_first(x), _of_first(x) * x.shape[-1] // 4)),
    "pinv": lambda x: (_of_first(x), _of_first(x) * min(x.shape[-2:])),
    "solve": lambda a, b: (_of_first(a) + _of_first(b), _of_first(a) * a.shape[-1] // 4 + _of_first(b) * a.shape[-1]),
    "gather": lambda _x, _dim, index: _of_first(index),
    "index_select": lambda x, _dim, index: _of_first(x) * _of_first(index),
    **dict.fromkeys(("type_as", "to", "index_copy", "prelu"), _of_first),
    **dict.fromkeys(("index_add", "index_put", "scatter", "scatter_add", "movedim", "moveaxis"), _of_first),
    **dict.fromkeys(("view", "view_as", "reshape_as", "reshape", "transpose", "flip", "roll", "permute"), _of_first),
    **dict.fromkeys(("unsqueeze", "squeeze", "flatten", "tril", "triu", "diagonal", "narrow", "select"), _of_first),
}
"""Entries that a function makes, where they are not as many as its arguments have when spread over each other."""


def entry_cost(op: str, arguments: Sequence[Any], words: Mapping[str, Any]) -> Cost:
    """Entries that the function *op* is about to make."""
    rule = COSTS.get(op)
    cost = rule(*arguments, **words) if rule is not None else broadcast_entries(*arguments, *words.values())
    return cost if isinstance(cost, tuple) else (int(cost), 0)


def product_cost(a: Any, b: Any) -> Cost:
    """Entries of a matrix product, and steps on the way to them."""
    produced = entry_count(product_shape(a.shape, b.shape))
    return produced, produced * a.shape[-1] // 16


def picked(x: Any, index: Sequence[Any]) -> int:
    """Entries that *index* picks of *x*, at most."""
    places = [rank for rank, part in enumerate(index) if isinstance(part, np.ndarray | list | tuple)]
    if not places:
        return int(np.size(x))
    rest = int(np.size(x)) // max(1, math.prod(x.shape[place] for place in places if place < x.ndim))
    shapes = (np.shape(index[place]) for place in places)
    return int(entry_count(broadcast_shape(*shapes, how="pick together")) * max(rest, 1))


def einsum_steps(subscripts: str, operands: Sequence[Any]) -> int:
    """Steps of an einsum: one for each combination of its letters."""
    parts = subscripts.replace(" ", "").split("->")[0].split(",")
    sizes = _letter_sizes(parts, operands)
    produced = entry_count(tuple(sizes[letter] for letter in subscripts.replace(" ", "").partition("->")[2]))
    return max(produced, entry_count(tuple(sizes.values())) // 16, *(int(np.size(operand)) for operand in operands))


def _letter_sizes(parts: Sequence[str], operands: Sequence[Any]) -> dict[str, int]:
    """The size of each letter of an einsum."""
    places: dict[str, tuple[tuple[int, ...], int]] = {}
    for part, operand in zip(parts, operands, strict=True):
        for axis, (letter, size) in enumerate(zip(part, operand.shape, strict=True)):
            shape, before = places.setdefault(letter, (operand.shape, axis))
            if 1 not in (shape[before], size):
                check_axes(shape, operand.shape, (before, axis), f"einsum, letter {letter}")
            if shape[before] == 1:
                places[letter] = operand.shape, axis
    return {letter: shape[axis] for letter, (shape, axis) in places.items()}
