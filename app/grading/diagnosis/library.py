"""Functions of torch by their values alone, for reading what a learner wrote; they have no rule here and need none.

Each takes what torch's function takes, with arrays for tensors, `dim` as `axis`-less keyword names of torch, and gives
an array. In-place methods stand under their name without the underscore: what they leave is their value.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from app.grading.diagnosis.evidence import Array
from app.grading.diagnosis.rules import one_hot


def _sizes(sizes: Sequence[Any]) -> tuple[int, ...]:
    return tuple(sizes[0]) if len(sizes) == 1 and isinstance(sizes[0], tuple | list) else tuple(sizes)


def _index_add(x: Array, dim: int, index: Array, source: Array, alpha: float = 1.0) -> Array:
    full = np.moveaxis(np.array(x, dtype=float), dim, 0)
    np.add.at(full, index, alpha * np.moveaxis(source, dim, 0))
    return np.moveaxis(full, 0, dim)


def _index_put(x: Array, indices: Sequence[Array], values: Array, accumulate: bool = False) -> Array:
    full = np.array(x, dtype=float)
    if accumulate:
        np.add.at(full, tuple(indices), values)
    else:
        full[tuple(indices)] = values
    return full


def _along(dim: int, index: Array) -> tuple[Any, ...]:
    places: list[Any] = list(np.indices(index.shape, sparse=True))
    places[dim] = index
    return tuple(places)


def _scatter(x: Array, dim: int, index: Array, src: Array | float) -> Array:
    full = np.array(x, dtype=float)
    full[_along(dim, index)] = src
    return full


def _scatter_add(x: Array, dim: int, index: Array, src: Array) -> Array:
    full = np.array(x, dtype=float)
    np.add.at(full, _along(dim, index), src)
    return full


def _fill_diagonal(x: Array, value: float) -> Array:
    full = np.array(x, dtype=float)
    np.fill_diagonal(full, value)
    return full


def _pad(x: Array, pad: Sequence[int]) -> Array:
    pairs = [(pad[at], pad[at + 1]) for at in range(0, len(pad), 2)][::-1]
    return np.pad(x, [(0, 0)] * (x.ndim - len(pairs)) + pairs)


def _unfold(x: Array, dim: int, size: int, step: int) -> Array:
    windows = np.lib.stride_tricks.sliding_window_view(x, size, dim)
    return windows[tuple(slice(None, None, step) if at == dim % x.ndim else slice(None) for at in range(windows.ndim))]


def _like(fill: float) -> Callable[..., Array]:
    return lambda x, **_: np.full(np.shape(x), fill, dtype=float)


def _filled(fill: float) -> Callable[..., Array]:
    return lambda *sizes, **_: np.full(_sizes(sizes), fill, dtype=float)


def _norm(x: Array, p: float = 2, dim: Any = None, keepdim: bool = False) -> Array:
    return np.asarray((np.abs(x) ** p).sum(axis=dim, keepdims=keepdim) ** (1 / p))


def _bincount(x: Array, weights: Array | None = None, minlength: int = 0) -> Array:
    return np.bincount(x, weights, minlength)


LIBRARY: Mapping[str, Callable[..., Any]] = {
    "zeros_like": _like(0.0),
    "ones_like": _like(1.0),
    "empty_like": _like(0.0),
    "zero": _like(0.0),
    "full_like": lambda x, fill, **_: np.full(np.shape(x), fill, dtype=float),
    "fill": lambda x, fill: np.full(np.shape(x), fill, dtype=float),
    "zeros": _filled(0.0),
    "ones": _filled(1.0),
    "full": lambda size, fill, **_: np.full(tuple(size), fill, dtype=float),
    "eye": lambda n, m=None, **_: np.eye(n, m),
    "tensor": lambda data, **_: np.asarray(data),
    "add": lambda x, y, alpha=1.0: x + alpha * y,
    "sub": lambda x, y, alpha=1.0: x - alpha * y,
    "copy": lambda _x, y: np.asarray(y),
    "outer": np.multiply.outer,
    "addmm": lambda x, a, b, beta=1.0, alpha=1.0: beta * x + alpha * (a @ b),
    "addcmul": lambda x, a, b, value=1.0: x + value * a * b,
    "addcdiv": lambda x, a, b, value=1.0: x + value * a / b,
    "baddbmm": lambda x, a, b: x + a @ b,
    "linear": lambda x, w, b=0.0: x @ w.T + b,
    "index_add": _index_add,
    "index_put": _index_put,
    "scatter": _scatter,
    "scatter_add": _scatter_add,
    "gather": lambda x, dim, index: np.take_along_axis(x, index, dim),
    "fill_diagonal": _fill_diagonal,
    "diag": np.diag,
    "diag_embed": lambda x: x[..., None] * np.eye(x.shape[-1]),
    "trace": np.trace,
    "pad": _pad,
    "unfold": _unfold,
    "repeat": lambda x, *sizes: np.tile(x, _sizes(sizes)),
    "tile": lambda x, *sizes: np.tile(x, _sizes(sizes)),
    "expand_as": lambda x, y: np.broadcast_to(x, y.shape),
    "view_as": lambda x, y: x.reshape(y.shape),
    "reshape_as": lambda x, y: x.reshape(y.shape),
    "broadcast_to": lambda x, size: np.broadcast_to(x, tuple(size)),
    "ravel": np.ravel,
    "movedim": np.moveaxis,
    "moveaxis": np.moveaxis,
    "tril": np.tril,
    "triu": np.triu,
    "one_hot": lambda x, num_classes=-1: one_hot(x, num_classes if num_classes > 0 else int(x.max()) + 1),
    "argmax": lambda x, dim=None, keepdim=False: np.argmax(x, axis=dim, keepdims=keepdim),
    "argmin": lambda x, dim=None, keepdim=False: np.argmin(x, axis=dim, keepdims=keepdim),
    "bincount": _bincount,
    "norm": _norm,
    "prod": lambda x, dim=None, keepdim=False: np.prod(x, axis=dim, keepdims=keepdim),
    "to": lambda x, *_, **__: x,
    "type": lambda x, *_: x,
    "type_as": lambda x, *_: x,
    "long": lambda x: x.astype(np.int64),
    "int": lambda x: x.astype(np.int64),
    "bool": lambda x: x.astype(bool),
    "item": lambda x: x,
    "detach": lambda x: x,
    "sign": np.sign,
    "round": np.round,
    "heaviside": np.heaviside,
    "logical_not": np.logical_not,
    "isfinite": np.isfinite,
    "gt": np.greater,
    "lt": np.less,
    "ge": np.greater_equal,
    "le": np.less_equal,
    "eq": np.equal,
    "ne": np.not_equal,
}
