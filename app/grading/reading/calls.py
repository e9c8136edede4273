"""Readers of calls, by the form of their operation: reductions, losses, joins, picks, convolutions."""

import math
from collections.abc import Callable, Mapping
from functools import partial
from itertools import accumulate
from typing import Any

import numpy as np

from app.grading.operations.collisions import CollisionError, broadcast_shape, check_equal, check_joint
from app.grading.operations.costs import broadcast_entries, entry_count
from app.grading.operations.numerics import Array, Axes, gather_index, one_hot, standardise
from app.grading.reading.budget import CostError, einsum_steps
from app.grading.reading.node import OpNode, UntracedError
from app.grading.reading.traced_call import TracedCall
from app.grading.reading.windows import convolved, convolved_back, pooled

PARTS_MAX = 2_000
"""Parts that one tensor is cut into."""


def _reduced(call: TracedCall) -> OpNode:
    """One number for each slice."""
    x, keepdim = call.node("input"), bool(call.plain("keepdim", False))
    axes = _axes(call.plain("dim"), x.value.ndim)
    value = call.op.apply(x.value, axis=axes, keepdims=keepdim)
    return call.made(value, x, axes=axes, keepdim=keepdim)


def _spread(call: TracedCall) -> OpNode:
    """A variance or its root."""
    x, dim, unbiased = call.node("input"), call.plain("dim"), call.plain("unbiased", True)
    if isinstance(dim, bool):
        unbiased, dim = dim, None
    axes, keepdim = _axes(dim, x.value.ndim), bool(call.plain("keepdim", False))
    correction = call.plain("correction", 1 if unbiased else 0)
    value = call.op.apply(x.value, axes, correction, keepdim)
    return call.made(value, x, axes=axes, keepdim=keepdim, words={"c": correction})


def _along_axes(call: TracedCall) -> OpNode:
    """As many entries as before."""
    x = call.node("input")
    axes = _axes(call.plain("dim"), x.value.ndim)
    return call.made(call.op.apply(x.value, axes), x, axes=axes)


def _axes(dim: Any, rank: int) -> Axes:
    dims = range(rank) if dim is None else (dim if isinstance(dim, tuple | list) else (dim,))
    return tuple(sorted(axis % rank for axis in dims)) if rank else ()


def _clamped(call: TracedCall) -> OpNode:
    x, limits = call.node("input"), (call.plain("min"), call.plain("max"))
    low, high = (-math.inf if limits[0] is None else limits[0]), (math.inf if limits[1] is None else limits[1])
    call.pay(broadcast_entries(x.value, *limits))
    return call.made(np.clip(x.value, *limits), x, words={"low": low, "high": high})


def _masked(call: TracedCall) -> OpNode:
    x = call.node("input")
    mask = np.asarray(call.value("mask"))
    shape = broadcast_shape(x.value.shape, mask.shape, how=call.op.name)
    call.pay(entry_count(shape))
    mask = np.broadcast_to(mask, shape).astype(bool)
    return call.made(np.where(mask, call.plain("value"), x.value), x, words={"m": mask.astype(float)})


def _einsum(call: TracedCall) -> OpNode:
    written, nodes = call.text_and_nodes()
    text = written.replace(" ", "")
    if "->" not in text:
        once = sorted(letter for letter in set(text) if letter.isalpha() and text.count(letter) == 1)
        text = f"{text}->{''.join(once)}"
    values = [node.value for node in nodes]
    call.pay(einsum_steps(text, values))
    return call.made(np.einsum(text, *values), *nodes, back=partial(_einsum_back, text, values))


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


def _cumulated(call: TracedCall) -> OpNode:
    x = call.node("input")
    axes = (int(call.plain("dim")) % x.value.ndim,)
    return call.made(call.op.apply(x.value, axes[0]), x, axes=axes)


def _joined(call: TracedCall) -> OpNode:
    """Cat or stack; of anything but a written list the value alone."""
    nodes, axis = call.nodes("tensors"), int(call.plain("dim", 0))
    if nodes is None:
        whole = call.value("tensors")
        check_joint([np.shape(item) for item in whole], axis, call.op.name)
        call.pay(sum(int(np.size(item)) for item in whole))
        return call.value_alone(call.op.apply(whole, axis))
    check_joint([node.value.shape for node in nodes], axis, call.op.name)
    call.pay(sum(node.value.size for node in nodes))
    rank = nodes[0].value.ndim + (call.op.name == "stack")
    return call.moved(call.op.name, lambda *arrays: call.op.apply(arrays, axis), *nodes, axis=axis % rank)


def _where(call: TracedCall) -> OpNode:
    mask, nodes = np.asarray(call.value("condition")), [call.node(name) for name in ("input", "other")]
    call.pay(broadcast_entries(mask, *(node.value for node in nodes)))
    value = np.where(mask, *(node.value for node in nodes))
    return call.made(value, *nodes, words={"m": np.broadcast_to(mask, value.shape).astype(float)})


def _of_two(call: TracedCall) -> OpNode:
    nodes = [call.node(name) for name in ("input", "other")]
    call.pay(broadcast_entries(*(node.value for node in nodes)))
    return call.made(call.op.apply(*(node.value for node in nodes)), *nodes)


def _loss(call: TracedCall) -> OpNode:
    x, target, reduction = call.node("input"), call.node("target"), call.plain("reduction", "mean")
    if call.op.name in CLASS_LOSSES:
        shape = x.value.shape[: x.value.ndim > 1] + x.value.shape[2:]  # of one row, the classes are its only axis
        if target.value.shape not in (shape, x.value.shape):
            raise CollisionError((x.value.shape, target.value.shape), None, "meet in a loss")
    else:
        shape = broadcast_shape(x.value.shape, target.value.shape)
    if reduction == "none":
        call.pay(entry_count(shape))
        return call.value_alone(np.zeros(shape))
    words: dict[str, Any] = {"n": x.value.size}
    if call.op.name == "cross_entropy":
        classes = x.value.shape[1]
        hot = target.value if target.value.ndim == x.value.ndim else np.moveaxis(one_hot(target.value, classes), -1, 1)
        words = {"n": x.value.size // classes, "t": hot}
    words |= {} if reduction == "mean" else {"n": 1}
    axes = (1,) if call.op.name == "cross_entropy" else None
    return call.made(np.zeros(()), x, target, words=words, axes=axes, keepdim=True)


def _layer_norm(call: TracedCall) -> OpNode:
    x, sizes, eps = call.node("input"), call.plain("normalized_shape"), call.plain("eps", 1e-5)
    parts = [call.node(name) for name in ("weight", "bias") if name in call]
    if "bias" in call and "weight" not in call:
        raise UntracedError("a layer norm with a bias alone")
    axes = tuple(range(x.value.ndim - len(sizes), x.value.ndim))
    inner = x.value.shape[x.value.ndim - len(sizes) :]
    if inner != tuple(sizes):
        raise CollisionError((x.value.shape, tuple(sizes)), None, "standardise")
    for part in parts:
        check_equal(inner, part.value.shape, "standardise")
    call.pay(broadcast_entries(x.value, *(part.value for part in parts)))
    u, r = standardise(x.value, axes, eps)
    value = u
    for part, act in zip(parts, (np.multiply, np.add), strict=False):
        value = act(value, part.value)
    words = {"u": u, "r": r, "w": parts[0].value if parts else np.ones(())}
    return call.made(value, x, *parts, axes=axes, words=words)


def _looked_up(call: TracedCall) -> OpNode:
    axis = int(call.plain("dim", 0))
    return call.index(call.node("input"), (*(slice(None),) * axis, call.value("index")))


def _gathered(call: TracedCall) -> OpNode:
    x, index = call.node("input"), call.value("index")
    return call.index(x, gather_index(int(call.plain("dim")) % x.value.ndim, index))


def _part(call: TracedCall) -> OpNode:
    """One of the parts that a tensor was cut into, as an index."""
    x = call.node("input")
    return call.index(x, _cuts(call, x.value)[call.plain("rank")])


def _cuts(call: TracedCall, x: Array) -> list[tuple[Any, ...]]:
    """The index of each part that *x* is cut into."""
    axis = int(call.plain("dim", 0)) % x.ndim
    front, whole = (slice(None),) * axis, x.shape[axis]
    if call.op.name == "unbind":
        return [(*front, rank) for rank in range(_check_part_count(whole))]
    size = next(call.plain(name) for name in ("chunks", "split_size_or_sections", "split_size", "size") if name in call)
    if isinstance(size, tuple | list):
        sizes = list(size)
        if sum(sizes) != whole:
            raise UntracedError("parts of another sum")
    else:
        chunk_size = -(-whole // int(size)) if call.op.name == "chunk" else int(size)
        starts = range(0, whole, chunk_size)
        sizes = [min(chunk_size, whole - start) for start in starts[: _check_part_count(len(starts))]]
    starts_of_parts = accumulate(sizes, initial=0)
    return [(*front, slice(start, start + size)) for start, size in zip(starts_of_parts, sizes, strict=False)]


def _check_part_count(parts: int) -> int:
    if parts > PARTS_MAX:
        raise CostError("too many parts")
    return parts


def trace_parts(call: TracedCall) -> tuple[Array, ...]:
    """All parts that a tensor is cut into."""
    x = call.node("input").value
    call.pay(int(np.size(x)))
    return tuple(np.asarray(x[index]) for index in _cuts(call, x))


CLASS_LOSSES = frozenset({"cross_entropy", "nll_loss"})
CALLS: Mapping[str, Callable[[TracedCall], OpNode]] = {
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
    "einsum": _einsum,
}
"""By form of an operation: the reader of its calls. Of parts, `rank` is the one that is picked."""
