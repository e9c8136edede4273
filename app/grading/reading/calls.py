"""Readers of operations whose arguments have a form of their own: reductions, losses, joins, picks, convolutions."""

import ast
import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Protocol

import numpy as np

from app.grading.reading.budget import EntryBudget, broadcast_entries, einsum_steps, entry_count
from app.grading.reading.library import gather_index, standardise
from app.grading.reading.node import Act, Array, Axes, OpNode, UntracedError, one_hot, softmax

REDUCED: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("sum", "mean", "nansum", "nanmean", "max", "min", "logsumexp"), ("dim", "keepdim")),
    **dict.fromkeys(("var", "std"), ("dim", "unbiased", "keepdim")),
    **dict.fromkeys(("softmax", "log_softmax"), ("dim",)),
}
"""Reductions, and what stands along one axis, with the names of their arguments."""


class ExpressionTracer(Protocol):
    """The part of a tracer that is needed here."""

    budget: EntryBudget

    def node(self, expr: ast.expr) -> OpNode: ...
    def value(self, expr: ast.expr) -> Any: ...
    def plain(self, expr: ast.expr) -> Any: ...
    def made(self, expr: ast.expr, op: str, value: Any, *operands: OpNode, **options: Any) -> OpNode: ...
    def moved(self, expr: ast.expr, op: str, act: Act, *operands: OpNode, **options: Any) -> OpNode: ...
    def index(self, expr: ast.expr, x: OpNode, index: Any) -> OpNode: ...


class Arguments:
    """The arguments of one call, by the names that torch gives them."""

    def __init__(
        self, reader: ExpressionTracer, names: Sequence[str], arguments: list[ast.expr], words: dict[str, ast.expr]
    ):
        self._reader = reader
        self.given = dict(zip(names, arguments, strict=False)) | words
        if set(self.given) - set(names):
            raise UntracedError("an option that is not known here")

    def __contains__(self, name: str) -> bool:
        return name in self.given

    def node(self, name: str) -> OpNode:
        return self._reader.node(self.given[name])

    def value(self, name: str) -> Any:
        return self._reader.value(self.given[name])

    def plain(self, name: str, default: Any = None) -> Any:
        return self._reader.plain(self.given[name]) if name in self.given else default


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
    mask = np.broadcast_to(given.value("mask"), x.value.shape).astype(bool)
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


def _convolved(reader: ExpressionTracer, expr: ast.Call, _op: str, given: Arguments) -> OpNode:
    """As torch has it, of [batch, in, *places] with a kernel [out, in, *places]: nothing is flipped."""
    nodes = [given.node(name) for name in ("input", "weight", "bias") if name in given]
    x, kernel = nodes[0].value, nodes[1].value
    rank = kernel.ndim - 2
    defaults = {"stride": 1, "padding": 0, "dilation": 1}
    steps, padding, gaps = (_each(given.plain(name, default), rank) for name, default in defaults.items())
    wide = [size + 2 * pad for size, pad in zip(x.shape[2:], padding, strict=True)]
    reader.budget.pay(entry_count(x.shape[:2]) * entry_count(wide) * entry_count(kernel.shape[2:]))
    reader.budget.pay(entry_count(x.shape[0], kernel.shape[0]) * entry_count(wide))
    windows = partial(_windows, sizes=kernel.shape[2:], steps=steps, padding=padding, gaps=gaps)
    cut = reader.moved(expr, "windows", windows, nodes[0])
    places = list(range(2 + rank, 2 + 2 * rank))
    value = np.moveaxis(np.tensordot(cut.value, kernel, ([1, *places], [1, *range(2, 2 + rank)])), -1, 1)
    if len(nodes) > 2:
        value = value + nodes[2].value.reshape(-1, *(1,) * rank)
    return reader.made(expr, "conv", value, *nodes, windows=cut)


def _each(sizes: Any, rank: int) -> tuple[int, ...]:
    return tuple(sizes) if isinstance(sizes, tuple | list) else (int(sizes),) * rank


def _windows(x: Array, sizes: Axes, steps: Axes, padding: Axes, gaps: Axes) -> Array:
    """Every window of *x*: [batch, in, *positions, *places in the window]."""
    padded = np.pad(x, ((0, 0), (0, 0), *((each, each) for each in padding)))
    spans = [gap * (size - 1) + 1 for size, gap in zip(sizes, gaps, strict=True)]
    windows = np.lib.stride_tricks.sliding_window_view(padded, spans, tuple(range(2, 2 + len(sizes))))
    return windows[(slice(None), slice(None), *(slice(None, None, each) for each in (*steps, *gaps)))]


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
        reader.budget.pay(sum(int(np.size(item)) for item in whole))
        return reader.made(expr, "library", act(whole, axis))
    nodes = [reader.node(each) for each in parts.elts]
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
    if reduction == "none":
        shape = (
            x.value.shape[:1] + x.value.shape[2:]
            if op in {"cross_entropy", "nll_loss"}
            else np.broadcast_shapes(x.value.shape, target.value.shape)
        )
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
    x, rank = given.node("input"), given.plain("rank")
    axis = int(given.plain("dim", 0)) % x.value.ndim
    whole = x.value.shape[axis]
    if op == "unbind":
        return reader.index(expr, x, (*(slice(None),) * axis, range(whole)[rank]))
    size = next(
        given.plain(name) for name in ("chunks", "split_size_or_sections", "split_size", "size") if name in given
    )
    if isinstance(size, tuple | list):
        sizes = list(size)
    else:
        chunk_size = -(-whole // int(size)) if op == "chunk" else int(size)
        sizes = [min(chunk_size, whole - start) for start in range(0, whole, chunk_size)]
    start = sum(sizes[: range(len(sizes))[rank]])
    return reader.index(expr, x, (*(slice(None),) * axis, slice(start, start + sizes[rank])))


Call = Callable[[ExpressionTracer, ast.Call, str, Arguments], OpNode]
CONVOLVED = ("input", "weight", "bias", "stride", "padding", "dilation")
LOSSES = (
    "cross_entropy", "mse_loss", "binary_cross_entropy_with_logits", "binary_cross_entropy", "nll_loss", "l1_loss",
    "smooth_l1_loss", "huber_loss",
)  # fmt: skip
CALLS: Mapping[str, tuple[Call, tuple[str, ...]]] = {
    **{op: (_reduced, ("input", *names, "correction")) for op, names in REDUCED.items()},
    "clamp": (_clamped, ("input", "min", "max")),
    "masked_fill": (_masked, ("input", "mask", "value")),
    **dict.fromkeys(("conv1d", "conv2d", "conv3d"), (_convolved, CONVOLVED)),
    "cumsum": (_cumulated, ("input", "dim")),
    **dict.fromkeys(("cat", "stack"), (_joined, ("tensors", "dim"))),
    "where": (_where, ("condition", "input", "other")),
    **dict.fromkeys(("maximum", "minimum"), (_of_two, ("input", "other"))),
    **dict.fromkeys(LOSSES, (_loss, ("input", "target", "reduction"))),
    "layer_norm": (_layer_norm, ("input", "normalized_shape", "weight", "bias", "eps")),
    "embedding": (_looked_up, ("index", "input")),
    "index_select": (_looked_up, ("input", "dim", "index")),
    "gather": (_gathered, ("input", "dim", "index")),
    "unbind": (_part, ("input", "dim", "rank")),
    "chunk": (_part, ("input", "chunks", "dim", "rank")),
    "split": (_part, ("input", "split_size_or_sections", "dim", "split_size", "size", "rank")),
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
