"""Functions of torch in numpy that are read for their value alone, in learners' lines: what goes back is not known.

Each takes what torch's function takes, with arrays for tensors; in-place methods stand under their name without the
underscore.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from app.grading.reading.collisions import CollisionError, check_axes
from app.grading.reading.library import gather_index, sizes_of
from app.grading.reading.node import Array, Axes, erf, one_hot, sigmoid, softmax, swapped


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


def _contracted(a: Array, b: Array, dims: Any = 2) -> Array:
    axes, others = dims if isinstance(dims, tuple | list) else (range(a.ndim - dims, a.ndim), range(dims))
    for axis, other in zip(np.atleast_1d(axes), np.atleast_1d(others), strict=True):
        check_axes(a.shape, b.shape, (int(axis), int(other)), "tensordot")
    return np.tensordot(a, b, (axes, others))


def _square(x: Array) -> Array:
    if x.ndim > 1 and x.shape[-1] != x.shape[-2]:
        raise CollisionError((x.shape, x.shape[-1:] * 2), (x.ndim - 2, 0), "be square")
    return x


def _fill_diagonal(x: Array, value: float) -> Array:
    full = np.array(x, dtype=float)
    np.fill_diagonal(full, value)
    return full


def standardise(x: Array, axes: Axes, eps: float) -> tuple[Array, Array]:
    """The input of a layer norm with mean 0 and variance 1, and the factor that made the variance 1."""
    factor = np.asarray((x.var(axis=axes, keepdims=True) + eps) ** -0.5)
    return (x - x.mean(axis=axes, keepdims=True)) * factor, factor


def _distances(a: Array, b: Array) -> Array:
    return np.asarray(np.sqrt(((a[..., :, None, :] - b[..., None, :, :]) ** 2).sum(-1)))


def _attention(q: Array, k: Array, v: Array) -> Array:
    return np.asarray(softmax(q @ swapped(k) / math.sqrt(q.shape[-1]), -1) @ v)


def _root_mean_square_norm(x: Array, sizes: Sequence[int], weight: Any = 1.0, eps: float = 2.0**-52) -> Array:
    axes = tuple(range(-len(sizes), 0))
    return np.asarray(x * ((x**2).mean(axes, keepdims=True) + eps) ** -0.5 * weight)


def _gated(x: Array, dim: int = -1) -> Array:
    value, gate = np.split(x, 2, dim)
    return np.asarray(value * sigmoid(gate))


def _of_channels(weight: Array, x: Array) -> Array:
    return np.broadcast_to(weight.reshape(1, -1, *(1,) * (x.ndim - 2)), x.shape)


def _index_copied(x: Array, dim: int, index: Array, source: Array) -> Array:
    return _written(x, (*(slice(None),) * (dim % x.ndim), index), source, add=False)


SAME_IN_NUMPY = (
    "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctanh", "trunc", "sinc", "deg2rad", "rad2deg", "signbit",
    "floor_divide", "float_power", "fmax", "fmin", "copysign", "logaddexp2", "logical_xor", "bitwise_and",
    "bitwise_or", "bitwise_xor", "isneginf", "isposinf", "kron", "inner", "fliplr", "flipud",
)  # fmt: skip
VALUES: Mapping[str, Callable[..., Any]] = {
    **{name: getattr(np, name) for name in SAME_IN_NUMPY},
    "frac": lambda x: x - np.trunc(x),
    "logit": lambda x: np.log(x / (1 - x)),
    "softsign": lambda x: x / (1 + np.abs(x)),
    "celu": lambda x, alpha=1.0: np.where(x > 0, x, alpha * np.expm1(x / alpha)),
    "lerp": lambda x, y, weight: x + weight * (y - x),
    "prelu": lambda x, weight: np.where(x > 0, x, x * _of_channels(weight, x)),
    "glu": _gated,
    "rms_norm": _root_mean_square_norm,
    "cdist": _distances,
    "scaled_dot_product_attention": _attention,
    "cumprod": lambda x, dim: x.cumprod(dim),
    "all": lambda x, dim=None, keepdim=False: np.all(x, axis=dim, keepdims=keepdim),
    "any": lambda x, dim=None, keepdim=False: np.any(x, axis=dim, keepdims=keepdim),
    "count_nonzero": lambda x, dim=None: np.count_nonzero(x, axis=dim),
    "vector_norm": lambda x, p=2, dim=None, keepdim=False: _norm(x, p, dim, keepdim),
    "take_along_dim": lambda x, index, dim: x[gather_index(dim, index)],
    "index_copy": _index_copied,
    "hstack": np.hstack,
    "vstack": np.vstack,
    "linspace": lambda start, end, steps, **_: np.linspace(start, end, steps),
    "randperm": lambda n, **_: np.arange(n),
    "as_tensor": lambda data, **_: np.asarray(data),
    **dict.fromkeys(("new_zeros", "new_empty"), lambda _x, *sizes, **_: np.zeros(sizes_of(sizes))),
    "new_ones": lambda _x, *sizes, **_: np.ones(sizes_of(sizes)),
    "new_full": lambda _x, size, fill, **_: np.full(sizes_of((size,)), fill, dtype=float),
    **dict.fromkeys(("zeros_like", "empty_like", "rand_like", "randn_like", "zero"), _like(0.0)),
    "ones_like": _like(1.0),
    "full_like": lambda x, fill, **_: np.full(np.shape(x), fill, dtype=float),
    "fill": lambda x, fill: np.full(np.shape(x), fill, dtype=float),
    **dict.fromkeys(("zeros", "empty", "rand", "randn"), _filled(0.0)),
    "ones": _filled(1.0),
    "full": lambda size, fill, **_: np.full(sizes_of((size,)), fill, dtype=float),
    "randint": lambda *bounds, **_: np.zeros(sizes_of(bounds[-1:]), dtype=np.int64),
    "eye": lambda n, m=None, **_: np.eye(n, m),
    "arange": lambda *bounds, **_: np.arange(*bounds),
    "tensor": lambda data, **_: np.asarray(data),
    "add": lambda x, y, alpha=1.0: x + alpha * y,
    "sub": lambda x, y, alpha=1.0: x - alpha * y,
    "copy": lambda x, y: np.broadcast_to(y, x.shape),
    "outer": np.multiply.outer,
    "tensordot": _contracted,
    "addmm": lambda x, a, b, beta=1.0, alpha=1.0: beta * x + alpha * (a @ b),
    "addcmul": lambda x, a, b, value=1.0: x + value * a * b,
    "addcdiv": lambda x, a, b, value=1.0: x + value * a / b,
    "baddbmm": lambda x, a, b: x + a @ b,
    "linear": lambda x, w, b=None: x @ w.T if b is None else x @ w.T + b,
    "index_add": _index_add,
    "index_put": _index_put,
    "scatter": lambda x, dim, index, src: _scattered(x, dim, index, src, add=False),
    "scatter_add": lambda x, dim, index, src: _scattered(x, dim, index, src, add=True),
    "fill_diagonal": _fill_diagonal,
    "trace": np.trace,
    **dict.fromkeys(("inverse", "inv"), lambda x: np.linalg.inv(_square(x))),
    "pinv": np.linalg.pinv,
    "solve": lambda a, b: np.linalg.solve(_square(a), b),
    "det": lambda x: np.linalg.det(_square(x)),
    "logdet": lambda x: np.linalg.slogdet(_square(x))[1],
    "one_hot": lambda x, num_classes=-1: one_hot(x, num_classes if num_classes > 0 else int(x.max()) + 1),
    "argmax": lambda x, dim=None, keepdim=False: np.argmax(x, axis=dim, keepdims=keepdim),
    "argmin": lambda x, dim=None, keepdim=False: np.argmin(x, axis=dim, keepdims=keepdim),
    "bincount": lambda x, weights=None, minlength=0: np.bincount(x, weights, minlength),
    "norm": _norm,
    "prod": lambda x, dim=None, keepdim=False: np.prod(x, axis=dim, keepdims=keepdim),
    **dict.fromkeys(("item", "detach", "cpu", "requires_grad", "dropout"), _unchanged),
    "type_as": lambda x, y: x.astype(y.dtype),
    **dict.fromkeys(("to", "type"), lambda x, *_, **__: x * 1.0 if x.dtype.kind == "b" else x),
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
    "erfc": lambda x: 1 - erf(x),
    "hardswish": lambda x: x * np.clip(x + 3, 0.0, 6.0) / 6,
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


def _sorted(x: Array, dim: int = -1, descending: bool = False) -> tuple[Array, Array]:
    order = np.argsort(-x if descending else x, dim)
    return np.take_along_axis(x, order, dim), order


def _largest(x: Array, k: int, dim: int = -1, largest: bool = True) -> tuple[Array, Array]:
    first = (*(slice(None),) * (dim % x.ndim), slice(k))
    values, order = _sorted(x, dim, largest)
    return values[first], order[first]


SEVERAL: Mapping[str, Callable[..., tuple[Array, ...]]] = {"sort": _sorted, "topk": _largest}
"""Functions that give more than one tensor: the values, and where they are from."""
_MAKERS = "zeros ones empty rand randn eye arange bincount randint linspace randperm"
_SIZED_MOVES = (
    "reshape view expand broadcast_to repeat tile unfold pad repeat_interleave narrow unflatten new_zeros new_ones "
    "new_empty one_hot"
)
SIZED: Mapping[str, slice] = {
    **dict.fromkeys(_MAKERS.split(), slice(0, None)),
    **dict.fromkeys(_SIZED_MOVES.split(), slice(1, None)),
    "full": slice(0, 1),
    **dict.fromkeys(("new_full", "topk"), slice(1, 2)),
}
"""By operation: which of its arguments decide how many entries there are, with their numbers."""


def size_arguments(op: str, arguments: Sequence[Any], words: Mapping[str, Any]) -> list[Any]:
    """The arguments whose numbers say how many entries come out."""
    if op == "one_hot" and len(arguments) + len(words) < 2:  # as many classes as the labels say
        return list(arguments)
    return [*arguments[SIZED[op]], *words.values()] if op in SIZED else []


BUILT_IN: Mapping[str, Callable[..., Any]] = {
    "int": int, "float": float, "bool": bool, "round": lambda x: round(x), "abs": abs, "min": min, "max": max,
}  # fmt: skip
"""Functions of Python's that take numbers."""
ROUNDED: Mapping[str, Callable[[Array], Array]] = {"int": np.trunc, "round": np.round}
