"""What reading a text may cost: entries that it makes, and time.

Texts are read outside of the jail, and a submission is anybody's. Every array is paid for before it is made, so that
neither memory nor time can be spent on a text beyond what is set aside for it.
"""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

LARGEST = 1_000_000
"""Entries of one array."""
TOTAL = 400_000_000
"""Entries that are made for one diagnosis, all tries together."""
SECONDS = 0.5
"""Of processor time for one diagnosis: wall time would make verdicts depend on what else the machine does."""


class CostError(Exception):
    """The text asks for more than it may have."""


class Purse:
    """What is left for one diagnosis."""

    def __init__(self) -> None:
        self._left = TOTAL
        self._until = time.process_time() + SECONDS

    @property
    def is_empty(self) -> bool:
        return self._left <= 0 or time.process_time() > self._until

    def pay(self, entries: int) -> None:
        """Pay for an array.

        Raises:
            CostError: It is too large, or nothing is left.
        """
        self._left -= entries
        if entries > LARGEST or self._left <= 0:
            raise CostError(f"{entries} entries")


def whole(number: Any) -> Any:
    """*number*, if it is one that arithmetic stays cheap with.

    Raises:
        CostError: An integer without bounds, or something that multiplies into a long text or list.
    """
    if isinstance(number, str | bytes | tuple | list) or (isinstance(number, int) and abs(number) >= 2**53):
        raise CostError("a number without bounds")
    return number


def joint(*values: Any) -> int:
    """How many entries values have that are spread over each other."""
    return math.prod(np.broadcast_shapes(*(np.shape(value) for value in values if isinstance(value, np.ndarray))))


def _made(sizes: Sequence[Any]) -> int:
    flat = sizes[0] if len(sizes) == 1 and isinstance(sizes[0], tuple | list) else sizes
    return math.prod(int(size) for size in flat)


def _padded(x: Any, pad: Sequence[int]) -> int:
    shape = list(x.shape)
    for rank in range(len(pad) // 2):
        shape[-1 - rank] += pad[2 * rank] + pad[2 * rank + 1]
    return math.prod(shape)


def _counted(x: Any, minlength: int = 0) -> int:
    return max(int(minlength), int(np.max(x, initial=0)) + 1)


COSTS: Mapping[str, Callable[..., int]] = {
    "zeros": lambda *sizes, **_: _made(sizes),
    "ones": lambda *sizes, **_: _made(sizes),
    "full": lambda size, *_, **__: _made([size]),
    "eye": lambda n, m=None, **_: int(n) * int(n if m is None else m),
    "arange": lambda *bounds, **_: max(abs(int(bound)) for bound in bounds),
    "outer": lambda a, b: int(np.size(a) * np.size(b)),
    "diag": lambda x, *_: int(np.size(x)) ** (2 if np.ndim(x) == 1 else 1),
    "diag_embed": lambda x: int(np.size(x)) * x.shape[-1],
    "pad": _padded,
    "repeat": lambda x, *sizes: int(np.size(x)) * _made(sizes),
    "tile": lambda x, *sizes: int(np.size(x)) * _made(sizes),
    "broadcast_to": lambda _x, size: _made([size]),
    "expand_as": lambda _x, y: int(np.size(y)),
    "one_hot": lambda x, num_classes=-1: int(np.size(x)) * max(int(num_classes), int(np.max(x, initial=0)) + 1),
    "bincount": lambda x, _weights=None, minlength=0, **_: _counted(x, minlength),
    "unfold": lambda x, _dim, size, _step: int(np.size(x)) * int(size),
    "addmm": lambda _x, a, b, **_: product(a, b),
    "baddbmm": lambda _x, a, b, **_: product(a, b),
    "linear": lambda x, w, *_: int(np.size(x)) // x.shape[-1] * w.shape[0],
    "index_add": lambda x, *_, **__: int(np.size(x)),
    "index_put": lambda x, *_, **__: int(np.size(x)),
    "scatter": lambda x, *_: int(np.size(x)),
    "scatter_add": lambda x, *_: int(np.size(x)),
    "gather": lambda _x, _dim, index: int(np.size(index)),
    "tensor": lambda data, **_: int(np.size(data)),
    "movedim": lambda x, *_: int(np.size(x)),
    "moveaxis": lambda x, *_: int(np.size(x)),
    "view_as": lambda x, _: int(np.size(x)),
    "reshape_as": lambda x, _: int(np.size(x)),
}
"""Entries that a function makes, where they are not as many as its arguments have together."""


def cost(op: str, arguments: Sequence[Any], words: Mapping[str, Any]) -> int:
    """Entries that the function *op* is about to make."""
    rule = COSTS.get(op)
    return int(rule(*arguments, **words)) if rule is not None else joint(*arguments, *words.values())


def product(a: Any, b: Any) -> int:
    """Entries of a matrix product, and steps on the way to each of them."""
    inner = a.shape[-1] if a.ndim else 1
    columns = b.shape[-1] if b.ndim > 1 else 1
    batch = math.prod(np.broadcast_shapes(a.shape[:-2], b.shape[:-2]))
    rows = a.shape[-2] if a.ndim > 1 else 1
    return int(max(batch * rows * columns, batch * rows * columns * inner // 16))


def picked(x: Any, index: Sequence[Any]) -> int:
    """Entries that *index* picks of *x*, at most."""
    arrays = [np.asarray(part) for part in index if isinstance(part, np.ndarray | list | tuple)]
    if not arrays:
        return int(np.size(x))
    places = [rank for rank, part in enumerate(index) if isinstance(part, np.ndarray | list | tuple)]
    rest = int(np.size(x)) // max(1, math.prod(x.shape[place] for place in places if place < x.ndim))
    return int(joint(*arrays) * max(rest, 1))


def letters(subscripts: str, operands: Sequence[Any]) -> int:
    """Steps of an einsum: one for each combination of its letters."""
    parts = subscripts.replace(" ", "").split("->")[0].split(",")
    sizes = {
        letter: size
        for part, one in zip(parts, operands, strict=True)
        for letter, size in zip(part, one.shape, strict=True)
    }
    return int(max(math.prod(sizes.values()) // 16, *(np.size(one) for one in operands)))
