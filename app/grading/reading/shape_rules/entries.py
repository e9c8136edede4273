"""Operations that act entry by entry or along axes, and what is asked of a tensor."""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from app.grading.reading.abstract import (
    NUMBER,
    Abstract,
    Kind,
    Sizes,
    UnknownError,
    axes,
    axis,
    is_number,
    kind_of,
    size,
    spread,
    tensor,
    together,
    whole,
    wholes,
)

Rule = Callable[..., Any]


def _of(kind: Kind) -> Rule:
    """Entry by entry, with entries of *kind*."""
    return lambda x, *_, **__: tensor(x).reshaped(tensor(x).shape, kind=kind)


def _real(x: Abstract) -> Abstract:
    return x.reshaped(x.shape, kind="f" if x.kind in "fib" else x.kind)


def _curve(x: Any, *rest: Any, **words: Any) -> Any:
    """A function of one tensor, entry by entry; of a number it is one of `math`."""
    if is_number(x):
        return NUMBER
    if any(isinstance(one, Abstract) for one in (*rest, *words.values())):
        raise UnknownError
    return _real(tensor(x))


def _same(x: Any, *rest: Any, **words: Any) -> Any:
    if any(isinstance(one, Abstract) for one in (*rest, *words.values())):
        raise UnknownError
    return tensor(x)


def _cast(x: Any, dtype: Any = None, **_: Any) -> Any:
    return tensor(x).reshaped(tensor(x).shape, kind=kind_of(dtype))


def _kept(x: Any, *_: Any, **__: Any) -> Any:
    """In place, or a copy: the shape stays whatever else is given."""
    return tensor(x)


def _met(x: Any, *others: Any, **words: Any) -> Any:
    operands = [*others, *(one for name, one in words.items() if name in {"other", "tensor1", "tensor2", "end"})]
    if is_number(x) and not any(isinstance(one, Abstract) for one in operands):
        return NUMBER
    return together(x, *operands)


def _divided(x: Any, other: Any, **_: Any) -> Any:
    met = together(x, other)
    return _real(met)


def _compared(x: Any, other: Any) -> Any:
    met = together(x, other)
    return met.reshaped(met.shape, kind="b")


def _bounded(x: Any, low: Any = None, high: Any = None) -> Any:
    return together(x, *(one for one in (low, high) if one is not None))


def _where(condition: Any, x: Any, other: Any) -> Any:
    met = together(x, other) if any(isinstance(one, Abstract) for one in (x, other)) else Abstract((), "?")
    shape = spread(tensor(condition).shape, met.shape)
    return Abstract(shape, met.kind, dense=False)


def left_of(x: Abstract, dim: Any, keepdim: Any) -> Sizes:
    """The shape that is left when *x* is reduced."""
    gone = frozenset(range(x.rank)) if dim is None or dim in ((), []) else axes(dim, x.rank)
    kept = keepdim is True
    if type(keepdim) is not bool:
        raise UnknownError
    return tuple(1 if at in gone else one for at, one in enumerate(x.shape) if at not in gone or kept)


def _reduced(kind: Kind | None = None, real: bool = False, several: bool = True) -> Rule:
    def rule(x: Any, dim: Any = None, keepdim: Any = False, *, dtype: Any = None) -> Any:
        x = tensor(x)
        if (real and x.kind != "f") or (not several and isinstance(dim, list | tuple)):
            raise UnknownError
        return Abstract(left_of(x, dim, keepdim), kind or ("i" if x.kind == "b" else x.kind), dense=False)

    return rule


def _spread_of(x: Any, dim: Any = None, unbiased: Any = True, keepdim: Any = False, *, correction: Any = 1) -> Any:
    """`var` and `std`; a truth in the place of the axis says whether to correct."""
    return _reduced(real=True)(x, None if isinstance(dim, bool) else dim, keepdim)


def _spread_and_mean(*args: Any, **words: Any) -> Any:
    return (_spread_of(*args, **words),) * 2


def _extreme(x: Any, dim: Any = None, keepdim: Any = False, *, other: Any = None) -> Any:
    """`max` and `min`: of everything, along an axis with the places, or of two tensors."""
    x = tensor(x)
    if isinstance(dim, Abstract) or other is not None:
        return together(x, dim if other is None else other)
    if dim is None:
        return Abstract((), x.kind)
    return _with_places(x, dim, keepdim)


def _with_places(x: Any, dim: Any = -1, keepdim: Any = False) -> Any:
    x = tensor(x)
    shape = left_of(x, whole(dim), keepdim)
    return Abstract(shape, x.kind, dense=False), Abstract(shape, "i", dense=False)


def _middle(x: Any, dim: Any = None, keepdim: Any = False) -> Any:
    return Abstract((), tensor(x).kind) if dim is None else _with_places(x, dim, keepdim)


def _kth(x: Any, k: Any, dim: Any = -1, keepdim: Any = False) -> Any:
    return _with_places(x, dim, keepdim)


def _top(x: Any, k: Any, dim: Any = -1, largest: Any = True, in_order: Any = True) -> Any:
    x, at = tensor(x), axis(dim, tensor(x).rank)
    if not x.rank or size(k) > x.shape[at]:
        raise UnknownError
    shape = (*x.shape[:at], size(k), *x.shape[at + 1 :])
    return Abstract(shape, x.kind), Abstract(shape, "i")


def _ordered(x: Any, dim: Any = -1, descending: Any = False, stable: Any = False) -> Any:
    axis(dim, tensor(x).rank)
    return tensor(x), Abstract(tensor(x).shape, "i", dense=False)


def _places(x: Any, dim: Any = -1, descending: Any = False, stable: Any = False) -> Any:
    return _ordered(x, dim)[1]


def _both_ends(x: Any, *, dim: Any = None, keepdim: Any = False) -> Any:
    return (_reduced()(x, dim, keepdim),) * 2


def _along(x: Any, dim: Any, *, dtype: Any = None) -> Any:
    axis(dim, tensor(x).rank)
    return tensor(x)


def _softmax(x: Any, dim: Any = None, *_: Any, dtype: Any = None) -> Any:
    if tensor(x).kind != "f" or dim is None:
        raise UnknownError
    return _along(x, dim)


def _running_extreme(x: Any, dim: Any) -> Any:
    x = _along(x, dim)
    return x, x.reshaped(x.shape, kind="i")


def _norm(x: Any, p: Any = 2, dim: Any = None, keepdim: Any = False) -> Any:
    return _reduced(real=True)(x, dim, keepdim)


def _quantile(x: Any, q: Any, dim: Any = None, keepdim: Any = False, **_: Any) -> Any:
    shape = left_of(tensor(x), None if dim is None else whole(dim), keepdim)
    return Abstract((*(q.shape if isinstance(q, Abstract) else ()), *shape), dense=False)


def _differences(x: Any, n: Any = 1, dim: Any = -1) -> Any:
    x, at = tensor(x), axis(dim, tensor(x).rank)
    if not x.rank:
        raise UnknownError
    return x.reshaped((*x.shape[:at], max(0, x.shape[at] - size(n)), *x.shape[at + 1 :]), dense=False)


def _gone_axis(x: Any, spacing: Any = None, dim: Any = -1, **_: Any) -> Any:
    """`trapezoid`."""
    return Abstract(left_of(tensor(x), whole(dim), keepdim=False), "f", dense=False)


def length(x: Any, dim: Any) -> int:
    if not tensor(x).rank:
        raise UnknownError
    return tensor(x).shape[axis(dim, tensor(x).rank)]


def _size_of(x: Any, dim: Any = None) -> Any:
    x = tensor(x)
    return x.shape if dim is None else length(x, dim)


def _count(x: Any) -> int:
    return math.prod(tensor(x).shape)


def _rank(x: Any) -> int:
    return tensor(x).rank


def _number(*given: Any, **_: Any) -> Any:
    return NUMBER


def _item(x: Any) -> Any:
    if _count(x) != 1:
        raise UnknownError
    return NUMBER


def _truth(x: Any, *_: Any, **__: Any) -> Any:
    return NUMBER


def _shapes_spread(*shapes: Any) -> Sizes:
    return spread(*map(wholes, shapes))


def named(text: str, rule: Rule) -> dict[str, Rule]:
    """*rule* for each of the words in *text*."""
    return dict.fromkeys(text.split(), rule)


RULES: Mapping[str, Rule] = {
    **named(
        "abs absolute ceil floor fix round sgn sign trunc neg negative square nan_to_num celu elu erf erfc erfinv exp "
        "exp2 expm1 acos acosh arccos arccosh arcsin arcsinh arctan arctanh asin asinh atan atanh cos cosh deg2rad "
        "digamma frac gelu hardshrink hardsigmoid hardswish hardtanh i0 leaky_relu lgamma log log10 log1p log2 logit "
        "logsigmoid mish mvlgamma rad2deg reciprocal relu relu6 rrelu rsqrt selu sigmoid silu sin sinc sinh "
        "softplus softshrink softsign sqrt tan tanh tanhshrink threshold dropout dropout1d dropout2d "
        "cbrt gamma normalize",
        _curve,
    ),
    **named(
        "requires_grad clone detach cpu byte char data real",
        _same,
    ),
    **named("tril triu bernoulli renorm", _same),
    "contiguous": lambda x, **_: replace(tensor(x), dense=True),
    **named("float double half bfloat16", _of("f")),
    **named("long int short", _of("i")),
    **named("to type type_as", _cast),
    **named("bool isfinite isinf isnan isneginf isposinf isreal signbit logical_not", _of("b")),
    **named(
        "index_add index_copy index_fill index_put index_reduce scatter scatter_add scatter_reduce put copy fill zero "
        "normal uniform random exponential fill_diagonal slice_scatter select_scatter diagonal_scatter",
        _kept,
    ),
    **named(
        "add sub subtract mul multiply pow float_power fmod remainder floor_divide maximum minimum fmax fmin atan2 "
        "arctan2 hypot logaddexp logaddexp2 copysign heaviside ldexp xlogy addcmul addcdiv lerp bitwise_and bitwise_or "
        "bitwise_xor clamp_min clamp_max",
        _met,
    ),
    **named("div divide true_divide", _divided),
    **named(
        "eq ne gt ge lt le greater greater_equal less less_equal not_equal logical_and logical_or logical_xor",
        _compared,
    ),
    "isclose": lambda x, other, **_: _compared(x, other),
    "isin": lambda elements, test_elements, **_: _of("b")(elements),
    **named("clamp clip", _bounded),
    "bitwise_not": _same,
    "where": _where,
    **named("sum nansum", _reduced()),
    **named("mean nanmean logsumexp", _reduced(real=True)),
    **named("amax amin", _reduced()),
    "prod": _reduced(several=False),
    **named("all any", _reduced("b")),
    "count_nonzero": lambda x, dim=None: _reduced("i")(x, dim),
    **named("argmax argmin", _reduced("i", several=False)),
    **named("var std", _spread_of),
    **named("var_mean std_mean", _spread_and_mean),
    **named("max min", _extreme),
    **named("median nanmedian", _middle),
    "mode": _with_places,
    "kthvalue": _kth,
    "topk": _top,
    "sort": _ordered,
    "argsort": _places,
    "msort": _same,
    "aminmax": _both_ends,
    **named("cumsum cumprod logcumsumexp", _along),
    **named("cummax cummin", _running_extreme),
    **named("softmax log_softmax softmin", _softmax),
    "norm": _norm,
    "vector_norm": lambda x, p=2, dim=None, keepdim=False: _norm(x, p, dim, keepdim),
    "poisson": _kept,
    **named("masked_scatter prelu", _kept),
    "polygamma": lambda n, x: tensor(x if isinstance(x, Abstract) else n),
    **named("quantile nanquantile", _quantile),
    "diff": _differences,
    **named("trapezoid trapz", _gone_axis),
    "dist": lambda x, other, p=2: Abstract(together(tensor(x), tensor(other)).shape[:0]),
    **named("allclose equal is_same_size is_complex is_floating_point is_signed is_tensor is_contiguous", _truth),
    "vecdot": lambda x, y, dim=-1: Abstract(left_of(together(tensor(x), tensor(y)), whole(dim), keepdim=False)),
    "fliplr": _same,
    "flipud": _same,
    "roll": _same,
    "broadcast_shapes": _shapes_spread,
    **named("batch_norm group_norm instance_norm", _kept),
    "size": _size_of,
    **named("numel nelement", _count),
    **named("dim ndimension", _rank),
    "item": _item,
    **named(
        "tolist manual_seed initial_seed element_size stride gcd comb fabs factorial fsum isqrt lcm modf perm", _number
    ),
    **named("radians degrees tau ulp", _number),
}
