"""Costs of operations: the entries that each makes, told before it makes them, and the steps on the way to them."""

import math
from typing import Any

import numpy as np

from app.grading.operations.collisions import broadcast_shape, product_shape
from app.grading.operations.row import Cost


def entry_count(*sizes: Any) -> int:
    """Entries of an array of *sizes*; an axis of size 0 is priced as one of size 1, for its neighbours are made too."""
    flat = sizes[0] if len(sizes) == 1 and isinstance(sizes[0], tuple | list) else sizes
    return math.prod(max(1, abs(int(size))) for size in flat)


def broadcast_entries(*values: Any) -> int:
    """Number of entries of values that are broadcast over each other."""
    shape = broadcast_shape(*[value.shape for value in values if isinstance(value, np.ndarray) and value.shape])
    return math.prod(shape) or entry_count(shape)


def of_first(x: Any, *_: Any, **__: Any) -> int:
    """As many entries as the first argument has."""
    return entry_count(np.shape(x))


def repeated_entries(x: Any, *sizes: Any) -> int:
    """The entries of *x*, as often as *sizes* say together."""
    return max(1, int(np.size(x))) * entry_count(*sizes)


def product_cost(a: Any, b: Any) -> Cost:
    """Entries of a matrix product, and steps on the way to them."""
    produced = entry_count(product_shape(a.shape, b.shape))
    return produced, produced * a.shape[-1] // 16
