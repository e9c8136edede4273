"""What each torch operation does to shapes: one rule per family, and tables that name the operations.

Source: the signatures of torch 2.13, https://docs.pytorch.org/docs/2.13/torch.html. An operation or an argument that
is not here is unknown, which is not an error.
"""

import string
from collections.abc import Callable, Mapping

from app.grading.forward.facts import Shape
from app.grading.shapes import shape_moves as moves
from app.grading.shapes.shape_values import (
    Tensor,
    UnknownShapeError,
    Value,
    axis_of,
    broadcast,
    common,
    tensor,
    whole,
)

Rule = Callable[..., Value]


def _same(x: Value, *_: Value, **__: Value) -> Tensor:
    return tensor(x)


def _real(x: Value, *_: Value, **__: Value) -> Tensor:
    return Tensor(tensor(x).shape)


def _as_kind(kind: str) -> Rule:
    return lambda x, *_, **__: Tensor(tensor(x).shape, kind)


def _to(x: Value, *arguments: Value, **options: Value) -> Tensor:
    kinds = [one for one in (*arguments, *options.values()) if one in ("float", "int", "bool")]
    return Tensor(tensor(x).shape, kinds[0]) if kinds else tensor(x)


def _pairwise(*values: Value, **options: Value) -> Tensor:
    if set(options) - {"alpha", "rounding_mode"}:
        raise UnknownShapeError
    return broadcast(*values)


def _quotient(*values: Value, **options: Value) -> Tensor:
    return Tensor(_pairwise(*values, **options).shape)


def _where(condition: Value, left: Value, right: Value) -> Tensor:
    values = broadcast(left, right) if isinstance(left, Tensor) or isinstance(right, Tensor) else Tensor(())
    return Tensor(common(tensor(condition).shape, values.shape), values.kind)


def _masked_fill(x: Value, mask: Value, value: Value) -> Tensor:
    del value
    return Tensor(common(tensor(x).shape, tensor(mask).shape), tensor(x).kind)


def _reduced(shape: Shape, dim: Value, *, keepdim: Value) -> Shape:
    if not isinstance(keepdim, bool):
        raise UnknownShapeError
    if dim is None or dim in ((), []):
        axes = set(range(len(shape)))
    else:
        axes = {axis_of(one, len(shape)) for one in (dim if isinstance(dim, tuple | list) else [dim])}
    if keepdim:
        return tuple(1 if axis in axes else size for axis, size in enumerate(shape))
    return tuple(size for axis, size in enumerate(shape) if axis not in axes)


def _sum(x: Value, dim: Value = None, keepdim: Value = False, *, axis: Value = None, dtype: Value = None) -> Tensor:
    del dtype
    return Tensor(_reduced(tensor(x).shape, axis if dim is None else dim, keepdim=keepdim), tensor(x).kind)


def _arg(x: Value, dim: Value = None, keepdim: Value = False) -> Tensor:
    return Tensor(_reduced(tensor(x).shape, dim, keepdim=keepdim), "int")


def _spread(
    x: Value, dim: Value = None, unbiased: Value = True, keepdim: Value = False, *, correction: Value = 1
) -> Tensor:
    """`var` and `std`: `x.var(False)` speaks of bias, not of an axis."""
    del unbiased, correction
    return Tensor(_reduced(tensor(x).shape, None if isinstance(dim, bool) else dim, keepdim=keepdim))


def _norm(x: Value, p: Value = 2, dim: Value = None, keepdim: Value = False) -> Tensor:
    del p
    return Tensor(_reduced(tensor(x).shape, dim, keepdim=keepdim))


def _extreme(x: Value, dim: Value = None, keepdim: Value = False) -> Value:
    """`max` and `min`: of everything, of two tensors, or values and indices along an axis."""
    if isinstance(dim, Tensor):
        return broadcast(x, dim)
    if dim is None:
        return Tensor((), tensor(x).kind)
    shape = _reduced(tensor(x).shape, whole(dim), keepdim=keepdim)
    return Tensor(shape, tensor(x).kind), Tensor(shape, "int")


def _product(left: Value, right: Value) -> Tensor:
    a, b = tensor(left).shape, tensor(right).shape
    if not a or not b or a[-1] != b[-2 if len(b) > 1 else -1] or tensor(left).kind != tensor(right).kind:
        raise UnknownShapeError
    batch = common(a[:-2], b[:-2])
    return Tensor((*batch, *a[-2:-1], *(b[-1:] if len(b) > 1 else ())), tensor(left).kind)


def _outer(left: Value, right: Value) -> Tensor:
    (n,), (m,) = tensor(left).shape, tensor(right).shape
    return Tensor((n, m), tensor(left).kind)


def _linear(x: Value, weight: Value, bias: Value = None) -> Tensor:
    result = _product(x, moves.transposed(weight, -1, -2))
    return result if bias is None else broadcast(result, bias)


def _einsum(equation: Value, *operands: Value) -> Tensor:
    if not isinstance(equation, str) or "." in equation:
        raise UnknownShapeError
    left, arrow, right = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    sizes: dict[str, int] = {}
    for term, operand in zip(terms, operands, strict=True):
        for letter, size in zip(term, tensor(operand).shape, strict=True):
            if letter not in string.ascii_letters or sizes.setdefault(letter, size) != size:
                raise UnknownShapeError
    if not arrow:
        right = "".join(sorted(letter for letter in sizes if left.count(letter) == 1))
    return Tensor(tuple(sizes[letter] for letter in right))


def _one_hot(x: Value, num_classes: Value) -> Tensor:
    if whole(num_classes) < 1:
        raise UnknownShapeError
    return Tensor((*tensor(x).shape, num_classes), "int")


def _embedding(x: Value, weight: Value) -> Tensor:
    return Tensor((*tensor(x).shape, *tensor(weight).shape[1:]))


def _class_loss(x: Value, target: Value, *, reduction: Value = "mean", label_smoothing: Value = 0.0) -> Tensor:
    del label_smoothing
    shape = tensor(x).shape
    if reduction in ("mean", "sum"):
        return Tensor(())
    if reduction != "none" or not shape:
        raise UnknownShapeError
    del target
    return Tensor((shape[0], *shape[2:]) if len(shape) > 1 else ())


def _entry_loss(x: Value, target: Value, *, reduction: Value = "mean") -> Tensor:
    if reduction in ("mean", "sum"):
        return Tensor(())
    if reduction != "none":
        raise UnknownShapeError
    return Tensor(common(tensor(x).shape, tensor(target).shape))


def _pair(value: Value) -> tuple[int, int]:
    first, second = value if isinstance(value, tuple | list) else (value, value)
    return whole(first), whole(second)


def _conv2d(
    x: Value, weight: Value, bias: Value = None, stride: Value = 1, padding: Value = 0, dilation: Value = 1
) -> Tensor:
    del bias
    batch, _, *plane = tensor(x).shape
    out, _, *kernel = tensor(weight).shape
    parts = zip(plane, kernel, _pair(stride), _pair(padding), _pair(dilation), strict=True)
    sizes = [(size + 2 * pad - gap * (width - 1) - 1) // step + 1 for size, width, step, pad, gap in parts]
    if min(sizes) < 1:
        raise UnknownShapeError
    return Tensor((batch, out, *sizes))


def _size(x: Value, dim: Value = None) -> Value:
    shape = tensor(x).shape
    return shape if dim is None else shape[axis_of(dim, len(shape))]


def _rank(x: Value) -> int:
    return len(tensor(x).shape)


def _count(x: Value) -> int:
    return tensor(x).count


def _table(rule: Rule, names: str) -> dict[str, Rule]:
    return dict.fromkeys(names.split(), rule)


FUNCTIONS: Mapping[str, Rule] = {
    **_table(_real, "exp exp2 expm1 log log2 log10 log1p sqrt rsqrt tanh sigmoid sin cos tan erf reciprocal softmax"),
    **_table(_real, "log_softmax gelu silu softplus elu selu mish logsigmoid leaky_relu normalize dropout layer_norm"),
    **_table(
        _same, "relu abs neg negative square sign clamp clamp_min clamp_max pow clone detach contiguous cumsum flip"
    ),
    **_table(
        _same, "tril triu round floor ceil nan_to_num hardtanh relu6 zeros_like ones_like empty_like full_like roll"
    ),
    **_table(_same, "randn_like rand_like requires_grad_ cpu scatter scatter_add index_add index_put type_as"),
    **_table(_pairwise, "add sub subtract mul multiply maximum minimum fmod remainder"),
    **_table(_quotient, "div divide true_divide atan2 hypot logaddexp"),
    **_table(lambda *values: Tensor(broadcast(*values).shape, "bool"), "eq ne lt le gt ge logical_and logical_or"),
    **_table(_as_kind("float"), "float double"),
    **_table(_as_kind("int"), "long int argsort"),
    **_table(_as_kind("bool"), "bool isnan isfinite isinf logical_not"),
    **_table(_sum, "sum mean prod amax amin logsumexp nansum nanmean"),
    **_table(_arg, "argmax argmin"),
    **_table(_spread, "var std"),
    **_table(_extreme, "max min"),
    **_table(_product, "matmul mm bmm mv dot"),
    **_table(moves.reshape, "reshape view"),
    **_table(moves.like, "view_as reshape_as"),
    **_table(moves.transposed, "transpose swapaxes swapdims"),
    **_table(
        _entry_loss, "mse_loss l1_loss binary_cross_entropy_with_logits binary_cross_entropy smooth_l1_loss huber_loss"
    ),
    **_table(_class_loss, "cross_entropy nll_loss"),
    **_table(moves.made, "zeros ones randn rand empty"),
    "to": _to,
    "where": _where,
    "masked_fill": _masked_fill,
    "norm": _norm,
    "linear": _linear,
    "outer": _outer,
    "permute": moves.permute,
    "t": lambda x: moves.reversed_axes(tensor(x)),
    "flatten": moves.flatten,
    "unsqueeze": moves.unsqueeze,
    "squeeze": moves.squeeze,
    "expand": moves.expand,
    "expand_as": moves.expand_as,
    "broadcast_to": moves.expand,
    "unfold": moves.unfold,
    "split": moves.split,
    "chunk": moves.chunk,
    "unbind": moves.unbind,
    "cat": moves.cat,
    "concat": moves.cat,
    "stack": moves.stack,
    "einsum": _einsum,
    "one_hot": _one_hot,
    "embedding": _embedding,
    "gather": moves.gather,
    "index_select": moves.index_select,
    "conv2d": _conv2d,
    "arange": moves.arange,
    "full": moves.full,
    "eye": moves.eye,
    "size": _size,
    "dim": _rank,
    "numel": _count,
}

# Attributes of a tensor that are tensors themselves.
METHODS: Mapping[str, Callable[[Tensor], Tensor]] = {"T": moves.reversed_axes, "mT": moves.swapped, "H": moves.swapped}
