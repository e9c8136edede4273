"""Operations that pick entries by number, add them up at numbered places, or look at them through windows."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from app.grading.operations.costs import of_first
from app.grading.operations.numerics import Array, gather_index, one_hot
from app.grading.operations.row import Operation, OperationExercise

PICKS = "picks"
SEVERAL_TIMES = " several times gets the sum of the gradients of all these places."
WINDOWS = "input weight bias stride padding dilation groups"
WINDOWS_BACK = "input weight bias stride padding output_padding none dilation"
"""Of groups nothing is known here."""
POOLED = "input kernel_size stride padding"


def _index_add(x: Array, dim: int, index: Array, source: Array, alpha: float = 1.0) -> Array:
    full = np.moveaxis(np.array(x, dtype=float), dim, 0)
    np.add.at(full, index, alpha * np.moveaxis(source, dim, 0))
    return np.moveaxis(full, 0, dim)


def _index_put(x: Array, indices: Sequence[Array], values: Array, accumulate: bool = False) -> Array:
    return _written(x, tuple(indices), values, accumulate)


def _written(x: Array, index: Any, values: Any, add: bool) -> Array:
    full = np.array(x, dtype=float)
    if add:
        np.add.at(full, index, values)
    else:
        full[index] = values
    return full


def _scattered(x: Array, dim: int, index: Array, src: Any, add: bool) -> Array:
    # Of a source that is larger than the index, the first entries count.
    used = src[tuple(map(slice, index.shape))] if isinstance(src, np.ndarray) else src
    return _written(x, gather_index(dim, index), used, add)


def _index_copied(x: Array, dim: int, index: Array, source: Array) -> Array:
    return _written(x, (*(slice(None),) * (dim % x.ndim), index), source, add=False)


def _classes(x: Any, num_classes: int = -1) -> int:
    return max(1, int(np.size(x))) * max(abs(int(num_classes)), int(np.max(x, initial=0)) + 1)


def _bins(x: Any, _weights: Any = None, minlength: int = 0, **_: Any) -> int:
    return max(abs(int(minlength)), int(np.max(x, initial=0)) + 1)


PICKING = (
    Operation(
        "embedding", "lookup", takes="index input", group=PICKS,
        exercises=(OperationExercise(
            family="index", points=4, level=2, weight=2, forward="{0}[{1}]", gives="=",
            back=("torch.zeros_like(x).index_add_(0, z, g)",), shapes=("a b, c:ints(a) -> c b",),
            slips="scatter-overwrite",
            principle="A row that was looked up" + SEVERAL_TIMES,
        ),),
    ),
    Operation("index_select", "lookup", takes="input dim index", group=PICKS),
    Operation(
        "gather", "gather", takes="input dim index", group=PICKS,
        exercises=(OperationExercise(
            family="index", points=4, level=2, weight=2, forward="{0}.gather(1, {1})", gives="=",
            back=("torch.zeros_like(x).scatter_add_(1, z, g)",), shapes=("a b, a c:ints(b) -> a c",),
            principle="An entry that was picked" + SEVERAL_TIMES,
            slips="scatter-overwrite",
        ),),
    ),
    Operation(
        "take_along_dim", "value", lambda x, index, dim: x[gather_index(dim, index)],
        cost=lambda _x, index, _dim: of_first(index),
    ),
    Operation(
        "index_add", "value", _index_add, cost=of_first,
        exercises=(OperationExercise(
            name="scatter", family="index", points=3, level=2, weight=2, gives="",
            forward="torch.zeros({c}, {b}).index_add(0, {1}, {0})", back=("g[z]",), shapes=("a b, a:ints(c) -> c b",),
            principle="Every row that was added to a place gets all of the upstream gradient at that place.",
        ),),
    ),
    Operation("index_put", "value", _index_put, cost=of_first),
    Operation("index_copy", "value", _index_copied, cost=of_first),
    Operation("scatter", "value", lambda x, dim, index, src: _scattered(x, dim, index, src, add=False), cost=of_first),
    Operation(
        "scatter_add", "value", lambda x, dim, index, src: _scattered(x, dim, index, src, add=True), cost=of_first
    ),
    Operation(
        "one_hot", "value", lambda x, num_classes=-1: one_hot(x, num_classes if num_classes > 0 else int(x.max()) + 1),
        cost=_classes, sizes=slice(1, None), group=PICKS,
    ),
    Operation(
        "bincount", "value", lambda x, weights=None, minlength=0: np.bincount(x, weights, minlength), cost=_bins,
        sizes=slice(0, None),
    ),
    *(Operation(f"conv{rank}d", "convolution", takes=WINDOWS, known_as="conv") for rank in (1, 2, 3)),
    *(Operation(f"conv_transpose{rank}d", "transposed convolution", takes=WINDOWS_BACK) for rank in (1, 2, 3)),
    *(Operation(f"{kind}_pool{rank}d", "pool", takes=POOLED) for kind in ("avg", "max") for rank in (1, 2)),
)  # fmt: skip
