"""Functions of torch in numpy, by what becomes of their entries.

`FUNCTIONS` act entry by entry. `MOVES` put entries of their first argument elsewhere, copy them or leave them out, so
that going back needs no rule of its own. `VALUES` are read for their value alone, in learners' lines. Each takes what
torch's function takes, with arrays for tensors; in-place methods stand under their name without the underscore.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from app.grading.reading.node import Array, Axes, erf, one_hot, sigmoid, swapped

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
    "copy": lambda x: x,
}
"""`copy` stands for clone, contiguous and the like."""


def sizes_of(sizes: Sequence[Any]) -> tuple[int, ...]:
    """The sizes of `f(2, 3)` or `f((2, 3))`."""
    return tuple(sizes[0]) if len(sizes) == 1 and isinstance(sizes[0], tuple | list) else tuple(sizes)


def _flattened(x: Array, start_dim: int = 0, end_dim: int = -1) -> Array:
    return x.reshape(*x.shape[:start_dim], -1, *x.shape[end_dim % x.ndim + 1 :])


def _expanded(x: Array, *sizes: Any) -> Array:
    wanted = sizes_of(sizes)
    # A new axis has no size that -1 could leave as it is.
    added = len(wanted) - x.ndim
    return np.broadcast_to(x, (*wanted[:added], *map(_kept, x.shape, wanted[added:])))


def _kept(old: int, new: int) -> int:
    return old if new == -1 else new


def _padded(x: Array, pad: Sequence[int], *_: Any) -> Array:
    pairs = [(pad[at], pad[at + 1]) for at in range(0, len(pad), 2)][::-1]
    return np.pad(x, [(0, 0)] * (x.ndim - len(pairs)) + pairs)


def _unfolded(x: Array, dim: int, size: int, step: int) -> Array:
    windows = np.lib.stride_tricks.sliding_window_view(x, size, dim)
    return windows[tuple(slice(None, None, step) if at == dim % x.ndim else slice(None) for at in range(windows.ndim))]


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
    "reshape": lambda x, *sizes: x.reshape(sizes_of(sizes)),
    "view_as": lambda x, y: x.reshape(y.shape),
    "reshape_as": lambda x, y: x.reshape(y.shape),
    "unsqueeze": lambda x, dim: np.expand_dims(x, dim),
    "squeeze": lambda x, dim=None: x.squeeze(dim),
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
    "expand_as": lambda x, y: np.broadcast_to(x, y.shape),
    "broadcast_to": _expanded,
    "repeat": lambda x, *sizes: np.tile(x, sizes_of(sizes)),
    "tile": lambda x, *sizes: np.tile(x, sizes_of(sizes)),
    "flip": lambda x, *dims: np.flip(x, sizes_of(dims)),
    "roll": lambda x, shifts, dims: np.roll(x, shifts, dims),
    "diagonal": _diagonal,
    "diag_embed": _spread_on_diagonal,
    "diag": np.diag,
    "tril": np.tril,
    "triu": np.triu,
    "pad": _padded,
    "unfold": _unfolded,
}
KINDS_OF_MOVE: Mapping[str, str] = {
    **dict.fromkeys(("view_as", "reshape_as", "unsqueeze", "squeeze", "flatten", "ravel"), "reshape"),
    **dict.fromkeys(("transpose", "t", "T", "mT", "movedim", "moveaxis"), "permute"),
}


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


def _like(fill: float) -> Callable[..., Array]:
    return lambda x, **_: np.full(np.shape(x), fill, dtype=float)


def _filled(fill: float) -> Callable[..., Array]:
    return lambda *sizes, **_: np.full(sizes_of(sizes), fill, dtype=float)


def _unchanged(x: Array, *_: Any, **__: Any) -> Array:
    return x


def _elu(x: Array, alpha: float = 1.0) -> Array:
    return np.where(x > 0, x, alpha * np.expm1(x))


def _norm(x: Array, p: float = 2, dim: Any = None, keepdim: bool = False) -> Array:
    return np.asarray((np.abs(x) ** p).sum(axis=dim, keepdims=keepdim) ** (1 / p))


def _fill_diagonal(x: Array, value: float) -> Array:
    full = np.array(x, dtype=float)
    np.fill_diagonal(full, value)
    return full


def standardise(x: Array, axes: Axes, eps: float) -> tuple[Array, Array]:
    """The input of a layer norm with mean 0 and variance 1, and the factor that made the variance 1."""
    factor = np.asarray((x.var(axis=axes, keepdims=True) + eps) ** -0.5)
    return (x - x.mean(axis=axes, keepdims=True)) * factor, factor


VALUES: Mapping[str, Callable[..., Any]] = {
    **dict.fromkeys(("zeros_like", "empty_like", "rand_like", "randn_like", "zero"), _like(0.0)),
    "ones_like": _like(1.0),
    "full_like": lambda x, fill, **_: np.full(np.shape(x), fill, dtype=float),
    "fill": lambda x, fill: np.full(np.shape(x), fill, dtype=float),
    **dict.fromkeys(("zeros", "empty", "rand", "randn"), _filled(0.0)),
    "ones": _filled(1.0),
    "full": lambda size, fill, **_: np.full(sizes_of((size,)), fill, dtype=float),
    "eye": lambda n, m=None, **_: np.eye(n, m),
    "arange": lambda *bounds, **_: np.arange(*bounds),
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
    "scatter": lambda x, dim, index, src: _written(x, gather_index(dim, index), src, add=False),
    "scatter_add": lambda x, dim, index, src: _written(x, gather_index(dim, index), src, add=True),
    "fill_diagonal": _fill_diagonal,
    "trace": np.trace,
    **dict.fromkeys(("inverse", "inv"), np.linalg.inv),
    "pinv": np.linalg.pinv,
    "solve": np.linalg.solve,
    "det": np.linalg.det,
    "logdet": lambda x: np.linalg.slogdet(x)[1],
    "one_hot": lambda x, num_classes=-1: one_hot(x, num_classes if num_classes > 0 else int(x.max()) + 1),
    "argmax": lambda x, dim=None, keepdim=False: np.argmax(x, axis=dim, keepdims=keepdim),
    "argmin": lambda x, dim=None, keepdim=False: np.argmin(x, axis=dim, keepdims=keepdim),
    "bincount": lambda x, weights=None, minlength=0: np.bincount(x, weights, minlength),
    "norm": _norm,
    "prod": lambda x, dim=None, keepdim=False: np.prod(x, axis=dim, keepdims=keepdim),
    **dict.fromkeys(("to", "type", "type_as", "item", "detach", "cpu", "requires_grad", "dropout"), _unchanged),
    **dict.fromkeys(("long", "int"), lambda x: x.astype(np.int64)),
    "bool": lambda x: x.astype(bool),
    "sign": np.sign,
    "round": np.round,
    "heaviside": np.heaviside,
    "floor": np.floor,
    "ceil": np.ceil,
    "nan_to_num": np.nan_to_num,
    "exp2": np.exp2,
    "tan": np.tan,
    "elu": _elu,
    "selu": lambda x: 1.0507009873554805 * _elu(x, 1.6732632423543772),
    "mish": lambda x: x * np.tanh(np.logaddexp(x, 0.0)),
    "leaky_relu": lambda x, negative_slope=0.01: np.where(x > 0, x, negative_slope * x),
    "relu6": lambda x: np.clip(x, 0.0, 6.0),
    "hardtanh": lambda x, min_val=-1.0, max_val=1.0: np.clip(x, min_val, max_val),
    "clamp_min": np.maximum,
    "clamp_max": np.minimum,
    "normalize": lambda x, p=2.0, dim=1: x / np.maximum(_norm(x, p, dim, keepdim=True), 1e-12),
    "fmod": np.fmod,
    "remainder": np.remainder,
    "atan2": np.arctan2,
    "hypot": np.hypot,
    "logaddexp": np.logaddexp,
    "argsort": lambda x, dim=-1: np.argsort(x, dim),
    "logical_and": np.logical_and,
    "logical_or": np.logical_or,
    "logical_not": np.logical_not,
    "isfinite": np.isfinite,
    "isnan": np.isnan,
    "isinf": np.isinf,
    "gt": np.greater,
    "lt": np.less,
    "ge": np.greater_equal,
    "le": np.less_equal,
    "eq": np.equal,
    "ne": np.not_equal,
}
