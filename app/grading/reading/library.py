"""Functions of torch in numpy, by what becomes of their entries.

`FUNCTIONS` act entry by entry. `MOVES` put entries of their first argument elsewhere, copy them or leave them out, so
that going back needs no rule of its own. Each takes what torch's function takes, with arrays for tensors; in-place
methods stand under their name without the underscore.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from app.grading.reading.collisions import check_axes, refilled_shape
from app.grading.reading.node import Array, erf, sigmoid, swapped

GELU_INNER, GELU_CUBE = math.sqrt(2 / math.pi), 0.044715


def normal_density(x: Array) -> Array:
    """The density of the normal distribution."""
    return np.asarray(np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi))


def normal_area(x: Array) -> Array:
    """The area under `bell`, up to *x*."""
    return np.asarray(0.5 * (1 + erf(x / math.sqrt(2))))


def gelu_tanh_argument(x: Array) -> Array:
    """Argument of the tanh in the approximate gelu."""
    return np.asarray(GELU_INNER * (x + GELU_CUBE * x**3))


FUNCTIONS: Mapping[str, Callable[[Array], Array]] = {
    "neg": np.negative,
    "exp": np.exp,
    "log": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "log1p": np.log1p,
    "expm1": np.expm1,
    "tanh": np.tanh,
    "sigmoid": sigmoid,
    "relu": lambda x: np.maximum(x, 0.0),
    "softplus": lambda x: np.logaddexp(x, 0.0),
    "logsigmoid": lambda x: -np.logaddexp(-x, 0.0),
    "gelu": lambda x: x * normal_area(x),
    "gelu_tanh": lambda x: x * 0.5 * (1 + np.tanh(gelu_tanh_argument(x))),
    "erf": erf,
    "silu": lambda x: x * sigmoid(x),
    "sqrt": np.sqrt,
    "rsqrt": lambda x: np.asarray(x) ** -0.5,
    "reciprocal": lambda x: 1.0 / x,
    "abs": np.abs,
    "sin": np.sin,
    "cos": np.cos,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "copy": lambda x: np.asarray(x, order="C"),
}
"""`copy` stands for clone, contiguous and the like."""


def sizes_of(sizes: Sequence[Any]) -> tuple[int, ...]:
    """The sizes of `f(2, 3)` or `f((2, 3))`."""
    return tuple(sizes[0]) if len(sizes) == 1 and isinstance(sizes[0], tuple | list) else tuple(sizes)


def _reshaped(x: Array, *sizes: Any) -> Array:
    return x.reshape(refilled_shape(x.shape, sizes_of(sizes), "reshape"))


def _viewed(x: Array, *sizes: Any) -> Array:
    # Like torch, and unlike `reshape`, it copies nothing.
    return x.reshape(refilled_shape(x.shape, sizes_of(sizes), "view"), copy=False)


def _flattened(x: Array, start_dim: int = 0, end_dim: int = -1) -> Array:
    start, end = start_dim % max(x.ndim, 1), end_dim % max(x.ndim, 1)
    if start > end:
        raise ValueError("the axes are the wrong way round")
    return x.reshape(*x.shape[:start], math.prod(x.shape[start : end + 1]), *x.shape[end + 1 :])


def _expanded(x: Array, *sizes: Any) -> Array:
    wanted = sizes_of(sizes)
    # A new axis has no size that -1 could leave as it is.
    added = len(wanted) - x.ndim
    full = (*wanted[:added], *map(_kept, x.shape, wanted[added:]))
    if min(full, default=0) >= 0:
        for axis, size in enumerate(x.shape):
            if size != 1:
                check_axes(x.shape, full, (axis, axis + added), "expand")
    return np.broadcast_to(x, full)


def _kept(old: int, new: int) -> int:
    return old if new == -1 else new


def _squeezed(x: Array, dim: Any = None) -> Array:
    axes = range(x.ndim) if dim is None else [axis % max(x.ndim, 1) for axis in np.atleast_1d(dim)]
    return x.squeeze(tuple(axis for axis in axes if x.ndim and x.shape[axis] == 1))


def _padded(x: Array, pad: Sequence[int], *_: Any) -> Array:
    pairs = [(pad[at], pad[at + 1]) for at in range(0, len(pad), 2)][::-1]
    return np.pad(x, [(0, 0)] * (x.ndim - len(pairs)) + pairs)


def _unfolded(x: Array, dim: int, size: int, step: int) -> Array:
    windows = np.lib.stride_tricks.sliding_window_view(x, size, dim)
    return windows[tuple(slice(None, None, step) if at == dim % x.ndim else slice(None) for at in range(windows.ndim))]


def _unflattened(x: Array, dim: int, sizes: Sequence[int]) -> Array:
    axis = dim % x.ndim
    inner = refilled_shape(x.shape[axis : axis + 1], sizes, "unflatten")
    return x.reshape(*x.shape[:axis], *inner, *x.shape[axis + 1 :])


def _pixel_unshuffled(x: Array, factor: int) -> Array:
    *before, height, width = x.shape
    apart = x.reshape(*before, height // factor, factor, width // factor, factor)
    places = np.moveaxis(apart, (-3, -1), (-4, -3))
    return places.reshape(*before[:-1], before[-1] * factor**2, height // factor, width // factor)


def _diagonal(x: Array) -> Array:
    if x.ndim != 2:
        raise ValueError("a diagonal of more than a matrix")
    return np.diagonal(x)


def _spread_on_diagonal(x: Array) -> Array:
    full = np.zeros((*x.shape, x.shape[-1]))
    full[..., np.arange(x.shape[-1]), np.arange(x.shape[-1])] = x
    return full


def gather_index(dim: int, index: Array) -> tuple[Any, ...]:
    """The index of `x.gather(dim, index)`, as numpy has it."""
    places: list[Any] = list(np.indices(index.shape, sparse=True))
    places[dim] = index
    return tuple(places)


MOVES: Mapping[str, Callable[..., Array]] = {
    "reshape": _reshaped,
    "view": _viewed,
    "view_as": lambda x, y: _viewed(x, y.shape),
    "reshape_as": lambda x, y: _reshaped(x, y.shape),
    "unsqueeze": lambda x, dim: np.expand_dims(x, dim),
    "squeeze": _squeezed,
    "flatten": _flattened,
    "ravel": np.ravel,
    "permute": lambda x, *order: x.transpose(sizes_of(order)),
    "transpose": np.swapaxes,
    "t": np.transpose,
    "T": np.transpose,
    "mT": swapped,
    "H": swapped,
    "movedim": np.moveaxis,
    "moveaxis": np.moveaxis,
    "expand": _expanded,
    "expand_as": lambda x, y: _expanded(x, *y.shape),
    "broadcast_to": _expanded,
    "repeat": lambda x, *sizes: np.tile(x, sizes_of(sizes)),
    "tile": lambda x, *sizes: np.tile(x, sizes_of(sizes)),
    "flip": lambda x, *dims: np.flip(x, sizes_of(dims)),
    "roll": lambda x, shifts, dims=None: np.roll(x, shifts, dims),
    "repeat_interleave": lambda x, repeats, dim=None: np.repeat(x, repeats, dim),
    "diagonal": _diagonal,
    "diag_embed": _spread_on_diagonal,
    "diag": np.diag,
    "tril": np.tril,
    "triu": np.triu,
    "pad": _padded,
    "unfold": _unfolded,
    "narrow": lambda x, dim, start, length: x[(*(slice(None),) * (dim % x.ndim), slice(start, start + length))],
    "select": lambda x, dim, index: x[(*(slice(None),) * (dim % x.ndim), index)],
    "unflatten": _unflattened,
    "pixel_unshuffle": _pixel_unshuffled,
}
KINDS_OF_MOVE: Mapping[str, str] = {
    **dict.fromkeys(("view", "view_as", "reshape_as", "unsqueeze", "squeeze", "flatten", "ravel"), "reshape"),
    **dict.fromkeys(("transpose", "t", "T", "mT", "movedim", "moveaxis"), "permute"),
}
