"""Functions that are read for their value alone, in learners' lines: what goes back through them is not known."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from app.grading.operations.collisions import CollisionError
from app.grading.operations.costs import entry_count, of_first
from app.grading.operations.numerics import Array, erf, sizes_of
from app.grading.operations.row import Operation

EVERY, AFTER_FIRST = slice(0, None), slice(1, None)


def _like(fill: float) -> Callable[..., Array]:
    return lambda x, **_: np.full(np.shape(x), fill, dtype=float)


def _filled(fill: float) -> Callable[..., Array]:
    return lambda *sizes, **_: np.full(sizes_of(sizes), fill, dtype=float)


def _random_operation(name: str) -> Operation:
    """A tensor of *sizes* whose numbers are not known."""
    return Operation(name, "value", _filled(0.0), cost=_size_cost, sizes=EVERY)


def _size_cost(*sizes: Any, **_: Any) -> int:
    return entry_count(*sizes)


def _sized_like(_x: Any, *sizes: Any, **_: Any) -> int:
    return entry_count(*sizes)


def _of_all(parts: Any) -> int:
    return sum(int(np.size(part)) for part in parts)


def _range_cost(*bounds: float) -> int:
    start, stop, step = (0, *bounds, 1)[:3] if len(bounds) == 1 else (*bounds, 1)[:3]
    return math.ceil(abs((stop - start) / step)) + 1


def _unchanged(x: Array, *_: Any, **__: Any) -> Array:
    return x


def _elu(x: Array, alpha: float = 1.0) -> Array:
    return np.where(x > 0, x, alpha * np.expm1(x))


def _of_channels(weight: Array, x: Array) -> Array:
    return np.broadcast_to(weight.reshape(1, -1, *(1,) * (x.ndim - 2)), x.shape)


def _square(x: Array) -> Array:
    if x.ndim > 1 and x.shape[-1] != x.shape[-2]:
        raise CollisionError((x.shape, x.shape[-1:] * 2), (x.ndim - 2, 0), "be square")
    return x


def _inversion_cost(x: Any) -> tuple[int, int]:
    return of_first(x), of_first(x) * x.shape[-1] // 4


def _solution_cost(a: Any, b: Any) -> tuple[int, int]:
    return of_first(a) + of_first(b), of_first(a) * a.shape[-1] // 4 + of_first(b) * a.shape[-1]


def _pair(sizes: Any) -> tuple[int, int]:
    high, wide = sizes if isinstance(sizes, tuple | list) else (sizes, sizes)
    return int(high), int(wide)


def _sum_windows(
    x: Array, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> Array:
    """Columns of windows added up where they came from: what `unfold` copied, summed."""
    (height, width), (high, wide), (down, right) = _pair(output_size), _pair(kernel_size), _pair(padding)
    (gap, beside), (step, along) = _pair(dilation), _pair(stride)
    rows = (height + 2 * down - gap * (high - 1) - 1) // step + 1
    columns = (width + 2 * right - beside * (wide - 1) - 1) // along + 1
    windows = x.reshape(*x.shape[:-2], -1, high, wide, rows, columns)
    full = np.zeros((*windows.shape[:-4], height + 2 * down, width + 2 * right))
    for at, beyond in np.ndindex(high, wide):
        top, left = gap * at, beside * beyond
        full[..., top : top + step * rows : step, left : left + along * columns : along] += windows[
            ..., at, beyond, :, :
        ]
    return full[..., down : down + height, right : right + width]


def _folding_cost(
    x: Any, output_size: Any, _kernel_size: Any = 1, _dilation: Any = 1, padding: Any = 0, *_: Any, **_words: Any
) -> tuple[int, int]:
    height, width = _pair(output_size)
    down, right = _pair(padding)
    return entry_count(np.shape(x)[:-1]) * entry_count(height + 2 * down, width + 2 * right), 2 * of_first(x)


def _fill_diagonal(x: Array, value: float) -> Array:
    full = np.array(x, dtype=float)
    np.fill_diagonal(full, value)
    return full


SAME_IN_NUMPY = (
    "trunc", "sinc", "deg2rad", "rad2deg", "signbit", "floor_divide", "float_power", "fmax", "fmin", "copysign",
    "logaddexp", "logaddexp2", "logical_xor", "bitwise_and", "bitwise_or", "bitwise_xor", "isneginf", "isposinf",
    "fliplr", "flipud", "round", "floor", "ceil", "nan_to_num", "exp2", "tan", "fmod", "remainder", "hypot",
    "isfinite", "isnan", "isinf", "trace",
)  # fmt: skip
VALUES = (
    *(Operation(name, "value", getattr(np, name), also={"trunc": "fix"}.get(name, "")) for name in SAME_IN_NUMPY),
    *(
        Operation(f"arc{name}", "value", getattr(np, f"arc{name}"), also=f"a{name}")
        for name in ("cos", "cosh", "sin", "sinh", "tan", "tanh")
    ),
    Operation("atan2", "value", np.arctan2, also="arctan2"),
    Operation("sign", "value", np.sign, also="sgn"),
    Operation("frac", "value", lambda x: x - np.trunc(x)),
    Operation("logit", "value", lambda x: np.log(x / (1 - x))),
    Operation("erfc", "value", lambda x: 1 - erf(x)),
    Operation("softsign", "value", lambda x: x / (1 + np.abs(x))),
    Operation("celu", "value", lambda x, alpha=1.0: np.where(x > 0, x, alpha * np.expm1(x / alpha))),
    Operation("prelu", "value", lambda x, weight: np.where(x > 0, x, x * _of_channels(weight, x)), cost=of_first),
    Operation("hardswish", "value", lambda x: x * np.clip(x + 3, 0.0, 6.0) / 6),
    Operation("elu", "value", _elu),
    Operation("selu", "value", lambda x: 1.0507009873554805 * _elu(x, 1.6732632423543772)),
    Operation("mish", "value", lambda x: x * np.tanh(np.logaddexp(x, 0.0))),
    Operation("leaky_relu", "value", lambda x, negative_slope=0.01: np.where(x > 0, x, negative_slope * x)),
    # Tensors that are made.
    *map(_random_operation, ("zeros", "empty", "rand", "randn")),
    Operation("ones", "value", _filled(1.0), cost=_size_cost, sizes=EVERY),
    Operation(
        "full", "value", lambda size, fill, **_: np.full(sizes_of((size,)), fill, dtype=float),
        cost=lambda size, *_, **__: entry_count(size), sizes=slice(0, 1),
    ),
    Operation(
        "randint", "value", lambda *bounds, **_: np.zeros(sizes_of(bounds[-1:]), dtype=np.int64),
        cost=lambda *bounds, **_: entry_count(*bounds[-1:]), sizes=EVERY,
    ),
    Operation(
        "eye", "value", lambda n, m=None, **_: np.eye(n, m), sizes=EVERY,
        cost=lambda n, m=None, **_: entry_count(n, n if m is None else m),
    ),
    Operation("arange", "value", lambda *bounds, **_: np.arange(*bounds), cost=_range_cost, sizes=EVERY),
    Operation(
        "linspace", "value", lambda start, end, steps, **_: np.linspace(start, end, steps),
        cost=lambda _start, _end, steps, **_: entry_count(steps), sizes=EVERY,
    ),
    Operation(
        "randperm", "value", lambda n, **_: np.arange(n), cost=lambda n, **_: entry_count(n), sizes=EVERY
    ),
    Operation("tensor", "value", lambda data, **_: np.asarray(data), cost=lambda data, **_: of_first(data)),
    Operation(
        "as_tensor", "value", lambda data, **_: np.asarray(data), also="asarray", cost=lambda data, **_: of_first(data)
    ),
    *(
        Operation(name, "value", lambda _x, *sizes, **_: np.zeros(sizes_of(sizes)), cost=_sized_like, sizes=AFTER_FIRST)
        for name in ("new_zeros", "new_empty")
    ),
    Operation(
        "new_ones", "value", lambda _x, *sizes, **_: np.ones(sizes_of(sizes)), cost=_sized_like, sizes=AFTER_FIRST
    ),
    Operation(
        "new_full", "value", lambda _x, size, fill, **_: np.full(sizes_of((size,)), fill, dtype=float),
        cost=lambda _x, size, *_, **__: entry_count(size), sizes=slice(1, 2),
    ),
    *(
        Operation(name, "value", _like(0.0))
        for name in ("zeros_like", "empty_like", "rand_like", "randn_like", "zero")
    ),
    Operation("ones_like", "value", _like(1.0)),
    Operation("full_like", "value", lambda x, fill, **_: np.full(np.shape(x), fill, dtype=float)),
    Operation("fill", "value", lambda x, fill: np.full(np.shape(x), fill, dtype=float)),
    Operation("fill_diagonal", "value", _fill_diagonal),
    Operation("hstack", "value", np.hstack, cost=_of_all),
    Operation("vstack", "value", np.vstack, cost=_of_all),
    Operation("fold", "value", _sum_windows, cost=_folding_cost, sizes=AFTER_FIRST),
    # Square matrices.
    Operation("inv", "value", lambda x: np.linalg.inv(_square(x)), also="inverse", cost=_inversion_cost),
    Operation("det", "value", lambda x: np.linalg.det(_square(x)), cost=_inversion_cost),
    Operation("logdet", "value", lambda x: np.linalg.slogdet(_square(x))[1], cost=_inversion_cost),
    Operation(
        "pinv", "value", np.linalg.pinv, also="pinverse",
        cost=lambda x: (of_first(x), of_first(x) * min(x.shape[-2:])),
    ),
    Operation("solve", "value", lambda a, b: np.linalg.solve(_square(a), b), cost=_solution_cost),
    # The same numbers, perhaps of another type.
    *(Operation(name, "value", _unchanged) for name in ("item", "detach", "cpu", "requires_grad", "dropout")),
    Operation("type_as", "value", lambda x, y: x.astype(y.dtype), cost=of_first),
    Operation("to", "value", lambda x, *_, **__: x * 1.0 if x.dtype.kind == "b" else x, cost=of_first),
    Operation("type", "value", lambda x, *_, **__: x * 1.0 if x.dtype.kind == "b" else x),
    *(Operation(name, "value", lambda x: x.astype(np.int64)) for name in ("long", "int")),
    Operation("bool", "value", lambda x: x.astype(bool)),
)  # fmt: skip
