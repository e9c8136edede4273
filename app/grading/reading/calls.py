"""Readers of operations whose arguments have a form of their own: reductions, losses, joins, picks, convolutions."""

import ast
import math
from collections.abc import Callable, Mapping
from functools import partial
from itertools import accumulate
from typing import Any

import numpy as np

from app.grading.reading.arguments import Arguments, ExpressionTracer
from app.grading.reading.budget import CostError, broadcast_entries, einsum_steps, entry_count
from app.grading.reading.collisions import CollisionError, broadcast_shape, check_equal, check_joint
from app.grading.reading.library import gather_index
from app.grading.reading.node import Array, Axes, OpNode, UntracedError, one_hot, softmax
from app.grading.reading.values import standardise
from app.grading.reading.windows import convolved, convolved_back, pooled

REDUCED: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("sum", "mean", "nansum", "nanmean", "max", "min", "logsumexp"), ("dim", "keepdim")),
    **dict.fromkeys(("var", "std"), ("dim", "unbiased", "keepdim")),
    **dict.fromkeys(("softmax", "log_softmax"), ("dim",)),
}
"""Reductions, and what stands along one axis, with the names of their arguments."""
PARTS_MAX = 2_000
"""Parts that one tensor is cut into."""


def _reduced(reader: ExpressionTracer, expr: ast.Call, op: str, given: Arguments) -> OpNode:
    x, dim, unbiased = given.node("input"), given.plain("dim"), given.plain("unbiased", True)
    if op in {"var", "std"} and isinstance(dim, bool):
        unbiased, dim = dim, None
    rank = x.value.ndim
    dims = range(rank) if dim is None else (dim if isinstance(dim, tuple | list) else (dim,))
    axes = tuple(sorted(axis % rank for axis in dims)) if rank else ()
    keepdim = bool(given.plain("keepdim", False))
    if op in {"softmax", "log_softmax", "logsumexp"}:
        return _exponential(reader, expr, op, x, axes, keepdim)
    if op in {"var", "std"}:
        correction = given.plain("correction", 1 if unbiased else 0)
        value = _spread(x.value, axes, correction, keepdim)
        value = np.sqrt(value) if op == "std" else value
        return reader.made(expr, op, value, x, axes=axes, keepdim=keepdim, words={"c": correction})
    value = getattr(np, op)(x.value, axis=axes, keepdims=keepdim)
    return reader.made(expr, op, value, x, axes=axes, keepdim=keepdim)


@np.errstate(all="ignore")
def _spread(x: Array, axes: Axes, correction: float, keepdim: bool) -> Array:
    """The variance; like torch, and unlike numpy's own, it warns of nothing where too few entries are left."""
    number = math.prod(x.shape[axis] for axis in axes)
    distance = x - x.sum(axis=axes, keepdims=True) / np.float64(number)
    return np.asarray((distance**2).sum(axis=axes, keepdims=keepdim) / np.float64(max(number - correction, 0)))


def _exponential(reader: ExpressionTracer, expr: ast.Call, op: str, x: OpNode, axes: Axes, keepdim: bool) -> OpNode:
    if op == "softmax":
        return reader.made(expr, op, softmax(x.value, axes), x, axes=axes)
    top = x.value.max(axis=axes, keepdims=True)
    total = np.log(np.exp(x.value - top).sum(axis=axes, keepdims=True)) + top
    if op == "log_softmax":
        return reader.made(expr, op, x.value - total, x, axes=axes)
    return reader.made(expr, op, total if keepdim else total.squeeze(axes), x, axes=axes, keepdim=keepdim)


def _clamped(reader: ExpressionTracer, expr: ast.Call, op: str, given: Arguments) -> OpNode:
    x, limits = given.node("input"), (given.plain("min"), given.plain("max"))
    low, high = (-math.inf if limits[0] is None else limits[0]), (math.inf if limits[1] is None else limits[1])
    reader.budget.pay(broadcast_entries(x.value, *limits))
    return reader.made(expr, op, np.clip(x.value, *limits), x, words={"low": low, "high": high})


def _masked(reader: ExpressionTracer, expr: ast.Call, op: str, given: Arguments) -> OpNode:
    x = given.node("input")
    mask = np.asarray(given.value("mask"))
    shape = broadcast_shape(x.value.shape, mask.shape, how=op)
    reader.budget.pay(entry_count(shape))
    mask = np.broadcast_to(mask, shape).astype(bool)
    return reader.made(expr, op, np.where(mask, given.plain("value"), x.value), x, words={"m": mask.astype(float)})


def _einsum(reader: ExpressionTracer, expr: ast.Call, arguments: list[ast.expr], _: dict[str, ast.expr]) -> OpNode:
    subscripts, *operands = arguments
    text, nodes = str(reader.plain(subscripts)).replace(" ", ""), [reader.node(each) for each in operands]
    if "->" not in text:
        once = sorted(letter for letter in set(text) if letter.isalpha() and text.count(letter) == 1)
        text = f"{text}->{''.join(once)}"
    reader.budget.pay(einsum_steps(text, [node.value for node in nodes]))
    value = np.einsum(text, *(node.value for node in nodes))
    back = partial(_einsum_back, text, [node.value for node in nodes])
    return reader.made(expr, "einsum", value, *nodes, back=back)


def _einsum_back(text: str, values: list[Array], position: int, g: Array) -> Array:
    inputs, output = text.split("->")
    parts = inputs.split(",")
    own, others = parts[position], [at for at in range(len(parts)) if at != position]
    known = set(output).union(*(parts[at] for at in others))
    # An index that stands in this operand alone was summed away: its share is the same all along it.
    reached = "".join(letter for letter in own if letter in known)
    terms = ",".join([output, *(parts[at] for at in others)])
    share = np.einsum(f"{terms}->{reached}", g, *(values[at] for at in others))
    shape = [size if letter in known else 1 for letter, size in zip(own, values[position].shape, strict=True)]
    return np.broadcast_to(share.reshape(shape), values[position].shape)


def _cumulated(reader: ExpressionTracer, expr: ast.Call, op: str, given: Arguments) -> OpNode:
    x = given.node("input")
    axes = (int(given.plain("dim")) % x.value.ndim,)
    return reader.made(expr, op, x.value.cumsum(axes[0]), x, axes=axes)


def _joined(reader: ExpressionTracer, expr: ast.Call, op: str, given: Arguments) -> OpNode:
    """Cat or stack; of anything but a written list the value alone."""
    parts, axis = given.given["tensors"], int(given.plain("dim", 0))
    act = np.concatenate if op == "cat" else np.stack
    if not isinstance(parts, ast.List | ast.Tuple):
        whole = given.value("tensors")
        check_joint([np.shape(item) for item in whole], axis, op)
        reader.budget.pay(sum(int(np.size(item)) for item in whole))
        return reader.made(expr, "library", act(whole, axis))
    nodes = [reader.node(each) for each in parts.elts]
    check_joint([node.value.shape for node in nodes], axis, op)
    reader.budget.pay(sum(node.value.size for node in nodes))
    rank = nodes[0].value.ndim + (op == "stack")
    return reader.moved(expr, op, lambda *arrays: act(arrays, axis), *nodes, axis=axis % rank)


def _where(reader: ExpressionTracer, expr: ast.Call, op: str, given: Arguments) -> OpNode:
    mask, nodes = np.asarray(given.value("condition")), [given.node(name) for name in ("input", "other")]
    reader.budget.pay(broadcast_entries(mask, *(node.value for node in nodes)))
    value = np.where(mask, *(node.value for node in nodes))
    return reader.made(expr, op, value, *nodes, words={"m": np.broadcast_to(mask, value.shape).astype(float)})


def _of_two(reader: ExpressionTracer, expr: ast.Call, op: str, given: Arguments) -> OpNode:
    nodes = [given.node(name) for name in ("input", "other")]
    reader.budget.pay(broadcast_entries(*(node.value for node in nodes)))
    return reader.made(expr, op, getattr(np, op)(*(node.value for node in nodes)), *nodes)


def _loss(reader: ExpressionTracer, expr: ast.Call, op: str, given: Arguments) -> OpNode:
    x, target, reduction = given.node("input"), given.node("target"), given.plain("reduction", "mean")
    if op in CLASS_LOSSES:
        shape = x.value.shape[: x.value.ndim > 1] + x.value.shape[2:]  # of one row, the classes are its only axis
        if target.value.shape not in (shape, x.value.shape):
            raise CollisionError((x.value.shape, target.value.shape), None, "meet in a loss")
    else:
        shape = broadcast_shape(x.value.shape, target.value.shape)
    if reduction == "none":
        reader.budget.pay(entry_count(shape))
        return reader.made(expr, "library", np.zeros(shape))
    words: dict[str, Any] = {"n": x.value.size}
    if op == "cross_entropy":
        classes = x.value.shape[1]
        hot = target.value if target.value.ndim == x.value.ndim else np.moveaxis(one_hot(target.value, classes), -1, 1)
        words = {"n": x.value.size // classes, "t": hot}
    words |= {} if reduction == "mean" else {"n": 1}
    axes = (1,) if op == "cross_entropy" else None
    return reader.made(expr, op, np.zeros(()), x, target, words=words, axes=axes, keepdim=True)


def _layer_norm(reader: ExpressionTracer, expr: ast.Call, op: str, given: Arguments) -> OpNode:
    x, sizes, eps = given.node("input"), given.plain("normalized_shape"), given.plain("eps", 1e-5)
    parts = [given.node(name) for name in ("weight", "bias") if name in given]
    if "bias" in given and "weight" not in given:
        raise UntracedError("a layer norm with a bias alone")
    axes = tuple(range(x.value.ndim - len(sizes), x.value.ndim))
    inner = x.value.shape[x.value.ndim - len(sizes) :]
    if inner != tuple(sizes):
        raise CollisionError((x.value.shape, tuple(sizes)), None, "standardise")
    for part in parts:
        check_equal(inner, part.value.shape, "standardise")
    reader.budget.pay(broadcast_entries(x.value, *(part.value for part in parts)))
    u, r = standardise(x.value, axes, eps)
    value = u
    for part, act in zip(parts, (np.multiply, np.add), strict=False):
        value = act(value, part.value)
    words = {"u": u, "r": r, "w": parts[0].value if parts else np.ones(())}
    return reader.made(expr, op, value, x, *parts, axes=axes, words=words)


def _looked_up(reader: ExpressionTracer, expr: ast.Call, _op: str, given: Arguments) -> OpNode:
    axis = int(given.plain("dim", 0))
    return reader.index(expr, given.node("input"), (*(slice(None),) * axis, given.value("index")))


def _gathered(reader: ExpressionTracer, expr: ast.Call, _op: str, given: Arguments) -> OpNode:
    x, index = given.node("input"), given.value("index")
    return reader.index(expr, x, gather_index(int(given.plain("dim")) % x.value.ndim, index))


def _part(reader: ExpressionTracer, expr: ast.Call, op: str, given: Arguments) -> OpNode:
    """One of the parts that a tensor was cut into, as an index."""
    x = given.node("input")
    return reader.index(expr, x, _cuts(op, given, x.value)[given.plain("rank")])


def _cuts(op: str, given: Arguments, x: Array) -> list[tuple[Any, ...]]:
    """The index of each part that *x* is cut into."""
    axis = int(given.plain("dim", 0)) % x.ndim
    front, whole = (slice(None),) * axis, x.shape[axis]
    if op == "unbind":
        return [(*front, rank) for rank in range(_bounded(whole))]
    size = next(
        given.plain(name) for name in ("chunks", "split_size_or_sections", "split_size", "size") if name in given
    )
    if isinstance(size, tuple | list):
        sizes = list(size)
        if sum(sizes) != whole:
            raise UntracedError("parts of another sum")
    else:
        chunk_size = -(-whole // int(size)) if op == "chunk" else int(size)
        starts = range(0, whole, chunk_size)
        sizes = [min(chunk_size, whole - start) for start in starts[: _bounded(len(starts))]]
    starts_of_parts = accumulate(sizes, initial=0)
    return [(*front, slice(start, start + size)) for start, size in zip(starts_of_parts, sizes, strict=False)]


def _bounded(parts: int) -> int:
    if parts > PARTS_MAX:
        raise CostError("too many parts")
    return parts


def trace_parts(
    reader: ExpressionTracer, op: str, arguments: list[ast.expr], words: dict[str, ast.expr]
) -> tuple[Array, ...]:
    """All parts that a tensor is cut into."""
    given = Arguments(reader, CALLS[op][1], arguments, words)
    x = given.node("input").value
    reader.budget.pay(int(np.size(x)))
    return tuple(np.asarray(x[index]) for index in _cuts(op, given, x))


Call = Callable[[ExpressionTracer, ast.Call, str, Arguments], OpNode]
CONVOLVED = ("input", "weight", "bias", "stride", "padding", "dilation", "groups")
CONVOLVED_BACK = ("input", "weight", "bias", "stride", "padding", "output_padding", "none", "dilation")
"""Of groups nothing is known here."""
CLASS_LOSSES = frozenset({"cross_entropy", "nll_loss"})
LOSSES = (
    "cross_entropy", "mse_loss", "binary_cross_entropy_with_logits", "binary_cross_entropy", "nll_loss", "l1_loss",
    "smooth_l1_loss", "huber_loss",
)  # fmt: skip
CUT: Mapping[str, tuple[str, ...]] = {
    "unbind": ("input", "dim", "rank"),
    "chunk": ("input", "chunks", "dim", "rank"),
    "split": ("input", "split_size_or_sections", "dim", "split_size", "size", "rank"),
}
CALLS: Mapping[str, tuple[Call, tuple[str, ...]]] = {
    **{op: (_reduced, ("input", *names, "correction")) for op, names in REDUCED.items()},
    "clamp": (_clamped, ("input", "min", "max")),
    "masked_fill": (_masked, ("input", "mask", "value")),
    **dict.fromkeys(("conv1d", "conv2d", "conv3d"), (convolved, CONVOLVED)),
    **dict.fromkeys(("conv_transpose1d", "conv_transpose2d", "conv_transpose3d"), (convolved_back, CONVOLVED_BACK)),
    **dict.fromkeys(
        ("avg_pool1d", "avg_pool2d", "max_pool1d", "max_pool2d"),
        (pooled, ("input", "kernel_size", "stride", "padding")),
    ),
    "cumsum": (_cumulated, ("input", "dim")),
    **dict.fromkeys(("cat", "stack"), (_joined, ("tensors", "dim"))),
    "where": (_where, ("condition", "input", "other")),
    **dict.fromkeys(("maximum", "minimum"), (_of_two, ("input", "other"))),
    **dict.fromkeys(LOSSES, (_loss, ("input", "target", "reduction"))),
    "layer_norm": (_layer_norm, ("input", "normalized_shape", "weight", "bias", "eps")),
    "embedding": (_looked_up, ("index", "input")),
    "index_select": (_looked_up, ("input", "dim", "index")),
    "gather": (_gathered, ("input", "dim", "index")),
    **{op: (_part, names) for op, names in CUT.items()},
}
"""By operation: its reader, and what torch calls its arguments; `rank` is the part that is picked of several."""


def trace_call(
    reader: ExpressionTracer, expr: ast.Call, op: str, arguments: list[ast.expr], words: dict[str, ast.expr]
) -> OpNode:
    """The call *expr* of the operation *op*, which is one of `CALLS` or an einsum."""
    if op == "einsum":
        return _einsum(reader, expr, arguments, words)
    read, names = CALLS[op]
    return read(reader, expr, op, Arguments(reader, names, arguments, words))
