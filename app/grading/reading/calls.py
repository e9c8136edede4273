"""Readers of calls, by the form of their operation: reductions, losses, joins, picks, convolutions."""

import ast
import math
from collections.abc import Callable, Mapping
from functools import partial
from itertools import accumulate
from typing import Any

import numpy as np

from app.grading.operations.collisions import CollisionError, broadcast_shape, check_equal, check_joint
from app.grading.operations.costs import broadcast_entries, entry_count
from app.grading.operations.numerics import Array, Axes, gather_index, one_hot, standardise
from app.grading.operations.row import Operation
from app.grading.reading.arguments import Arguments, ExpressionTracer
from app.grading.reading.budget import CostError, einsum_steps
from app.grading.reading.node import OpNode, UntracedError
from app.grading.reading.windows import convolved, convolved_back, pooled

PARTS_MAX = 2_000
"""Parts that one tensor is cut into."""


def _reduced(reader: ExpressionTracer, expr: ast.Call, op: Operation, given: Arguments) -> OpNode:
    """One number for each slice."""
    x, keepdim = given.node("input"), bool(given.plain("keepdim", False))
    axes = _axes(given.plain("dim"), x.value.ndim)
    value = op.apply(x.value, axis=axes, keepdims=keepdim)
    return reader.made(expr, op.name, value, x, axes=axes, keepdim=keepdim)


def _spread(reader: ExpressionTracer, expr: ast.Call, op: Operation, given: Arguments) -> OpNode:
    """A variance or its root."""
    x, dim, unbiased = given.node("input"), given.plain("dim"), given.plain("unbiased", True)
    if isinstance(dim, bool):
        unbiased, dim = dim, None
    axes, keepdim = _axes(dim, x.value.ndim), bool(given.plain("keepdim", False))
    correction = given.plain("correction", 1 if unbiased else 0)
    value = op.apply(x.value, axes, correction, keepdim)
    return reader.made(expr, op.name, value, x, axes=axes, keepdim=keepdim, words={"c": correction})


def _along_axes(reader: ExpressionTracer, expr: ast.Call, op: Operation, given: Arguments) -> OpNode:
    """As many entries as before."""
    x = given.node("input")
    axes = _axes(given.plain("dim"), x.value.ndim)
    return reader.made(expr, op.name, op.apply(x.value, axes), x, axes=axes)


def _axes(dim: Any, rank: int) -> Axes:
    dims = range(rank) if dim is None else (dim if isinstance(dim, tuple | list) else (dim,))
    return tuple(sorted(axis % rank for axis in dims)) if rank else ()


def _clamped(reader: ExpressionTracer, expr: ast.Call, op: Operation, given: Arguments) -> OpNode:
    x, limits = given.node("input"), (given.plain("min"), given.plain("max"))
    low, high = (-math.inf if limits[0] is None else limits[0]), (math.inf if limits[1] is None else limits[1])
    reader.budget.pay(broadcast_entries(x.value, *limits))
    return reader.made(expr, op.name, np.clip(x.value, *limits), x, words={"low": low, "high": high})


def _masked(reader: ExpressionTracer, expr: ast.Call, op: Operation, given: Arguments) -> OpNode:
    x = given.node("input")
    mask = np.asarray(given.value("mask"))
    shape = broadcast_shape(x.value.shape, mask.shape, how=op.name)
    reader.budget.pay(entry_count(shape))
    mask = np.broadcast_to(mask, shape).astype(bool)
    return reader.made(expr, op.name, np.where(mask, given.plain("value"), x.value), x, words={"m": mask.astype(float)})


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


def _cumulated(reader: ExpressionTracer, expr: ast.Call, op: Operation, given: Arguments) -> OpNode:
    x = given.node("input")
    axes = (int(given.plain("dim")) % x.value.ndim,)
    return reader.made(expr, op.name, op.apply(x.value, axes[0]), x, axes=axes)


def _joined(reader: ExpressionTracer, expr: ast.Call, op: Operation, given: Arguments) -> OpNode:
    """Cat or stack; of anything but a written list the value alone."""
    parts, axis = given.given["tensors"], int(given.plain("dim", 0))
    if not isinstance(parts, ast.List | ast.Tuple):
        whole = given.value("tensors")
        check_joint([np.shape(item) for item in whole], axis, op.name)
        reader.budget.pay(sum(int(np.size(item)) for item in whole))
        return reader.made(expr, "library", op.apply(whole, axis))
    nodes = [reader.node(each) for each in parts.elts]
    check_joint([node.value.shape for node in nodes], axis, op.name)
    reader.budget.pay(sum(node.value.size for node in nodes))
    rank = nodes[0].value.ndim + (op.name == "stack")
    return reader.moved(expr, op.name, lambda *arrays: op.apply(arrays, axis), *nodes, axis=axis % rank)


def _where(reader: ExpressionTracer, expr: ast.Call, op: Operation, given: Arguments) -> OpNode:
    mask, nodes = np.asarray(given.value("condition")), [given.node(name) for name in ("input", "other")]
    reader.budget.pay(broadcast_entries(mask, *(node.value for node in nodes)))
    value = np.where(mask, *(node.value for node in nodes))
    return reader.made(expr, op.name, value, *nodes, words={"m": np.broadcast_to(mask, value.shape).astype(float)})


def _of_two(reader: ExpressionTracer, expr: ast.Call, op: Operation, given: Arguments) -> OpNode:
    nodes = [given.node(name) for name in ("input", "other")]
    reader.budget.pay(broadcast_entries(*(node.value for node in nodes)))
    return reader.made(expr, op.name, op.apply(*(node.value for node in nodes)), *nodes)


def _loss(reader: ExpressionTracer, expr: ast.Call, op: Operation, given: Arguments) -> OpNode:
    x, target, reduction = given.node("input"), given.node("target"), given.plain("reduction", "mean")
    if op.name in CLASS_LOSSES:
        shape = x.value.shape[: x.value.ndim > 1] + x.value.shape[2:]  # of one row, the classes are its only axis
        if target.value.shape not in (shape, x.value.shape):
            raise CollisionError((x.value.shape, target.value.shape), None, "meet in a loss")
    else:
        shape = broadcast_shape(x.value.shape, target.value.shape)
    if reduction == "none":
        reader.budget.pay(entry_count(shape))
        return reader.made(expr, "library", np.zeros(shape))
    words: dict[str, Any] = {"n": x.value.size}
    if op.name == "cross_entropy":
        classes = x.value.shape[1]
        hot = target.value if target.value.ndim == x.value.ndim else np.moveaxis(one_hot(target.value, classes), -1, 1)
        words = {"n": x.value.size // classes, "t": hot}
    words |= {} if reduction == "mean" else {"n": 1}
    axes = (1,) if op.name == "cross_entropy" else None
    return reader.made(expr, op.name, np.zeros(()), x, target, words=words, axes=axes, keepdim=True)


def _layer_norm(reader: ExpressionTracer, expr: ast.Call, op: Operation, given: Arguments) -> OpNode:
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
    return reader.made(expr, op.name, value, x, *parts, axes=axes, words=words)


def _looked_up(reader: ExpressionTracer, expr: ast.Call, _op: Operation, given: Arguments) -> OpNode:
    axis = int(given.plain("dim", 0))
    return reader.index(expr, given.node("input"), (*(slice(None),) * axis, given.value("index")))


def _gathered(reader: ExpressionTracer, expr: ast.Call, _op: Operation, given: Arguments) -> OpNode:
    x, index = given.node("input"), given.value("index")
    return reader.index(expr, x, gather_index(int(given.plain("dim")) % x.value.ndim, index))


def _part(reader: ExpressionTracer, expr: ast.Call, op: Operation, given: Arguments) -> OpNode:
    """One of the parts that a tensor was cut into, as an index."""
    x = given.node("input")
    return reader.index(expr, x, _cuts(op, given, x.value)[given.plain("rank")])


def _cuts(op: Operation, given: Arguments, x: Array) -> list[tuple[Any, ...]]:
    """The index of each part that *x* is cut into."""
    axis = int(given.plain("dim", 0)) % x.ndim
    front, whole = (slice(None),) * axis, x.shape[axis]
    if op.name == "unbind":
        return [(*front, rank) for rank in range(_bounded(whole))]
    size = next(
        given.plain(name) for name in ("chunks", "split_size_or_sections", "split_size", "size") if name in given
    )
    if isinstance(size, tuple | list):
        sizes = list(size)
        if sum(sizes) != whole:
            raise UntracedError("parts of another sum")
    else:
        chunk_size = -(-whole // int(size)) if op.name == "chunk" else int(size)
        starts = range(0, whole, chunk_size)
        sizes = [min(chunk_size, whole - start) for start in starts[: _bounded(len(starts))]]
    starts_of_parts = accumulate(sizes, initial=0)
    return [(*front, slice(start, start + size)) for start, size in zip(starts_of_parts, sizes, strict=False)]


def _bounded(parts: int) -> int:
    if parts > PARTS_MAX:
        raise CostError("too many parts")
    return parts


def trace_parts(
    reader: ExpressionTracer, op: Operation, arguments: list[ast.expr], words: dict[str, ast.expr]
) -> tuple[Array, ...]:
    """All parts that a tensor is cut into."""
    given = Arguments(reader, op.takes.split(), arguments, words)
    x = given.node("input").value
    reader.budget.pay(int(np.size(x)))
    return tuple(np.asarray(x[index]) for index in _cuts(op, given, x))


Call = Callable[[ExpressionTracer, ast.Call, Operation, Arguments], OpNode]
CLASS_LOSSES = frozenset({"cross_entropy", "nll_loss"})
CALLS: Mapping[str, Call] = {
    "reduction": _reduced,
    "spread": _spread,
    "along axes": _along_axes,
    "cumulated": _cumulated,
    "clamp": _clamped,
    "fill": _masked,
    "choice": _where,
    "pair": _of_two,
    "loss": _loss,
    "layer norm": _layer_norm,
    "join": _joined,
    "lookup": _looked_up,
    "gather": _gathered,
    "cut": _part,
    "convolution": convolved,
    "transposed convolution": convolved_back,
    "pool": pooled,
}
"""By form of an operation: the reader of its calls. Of parts, `rank` is the one that is picked."""


def trace_call(
    reader: ExpressionTracer, expr: ast.Call, op: Operation, arguments: list[ast.expr], words: dict[str, ast.expr]
) -> OpNode:
    """The call *expr* of the operation *op*, whose form is one of `CALLS`, or an einsum."""
    if op.form == "einsum":
        return _einsum(reader, expr, arguments, words)
    return CALLS[op.form](reader, expr, op, Arguments(reader, op.takes.split(), arguments, words))
