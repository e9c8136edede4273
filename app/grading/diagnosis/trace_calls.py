"""Readers of operations whose arguments have a form of their own, and of reductions."""

import ast
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from app.grading.diagnosis.linear import convolution, einsum, total_so_far
from app.grading.diagnosis.read_budget import joint, letters
from app.grading.diagnosis.rules import Node, softmax
from app.grading.diagnosis.trace_constants import Plain, UntracedError, is_module

Special = Callable[[Plain, ast.Call, list[ast.expr], dict[str, ast.expr]], Node]


def _einsum(tracer: Plain, expr: ast.Call, arguments: list[ast.expr], _: dict[str, ast.expr]) -> Node:
    subscripts, *operands = arguments
    text, nodes = str(tracer.plain(subscripts)), [tracer.node(each) for each in operands]
    text = text if "->" in text else f"{text}->"
    tracer.purse.pay(letters(text, [node.value for node in nodes]))
    value = einsum(text, *(node.value for node in nodes))
    return tracer.made(expr, "einsum", value, *nodes, subscripts=text)


def _convolved(tracer: Plain, expr: ast.Call, arguments: list[ast.expr], keywords: dict[str, ast.expr]) -> Node:
    given = dict(zip(("input", "weight", "bias", "stride", "padding"), arguments, strict=False)) | keywords
    if set(given) - {"input", "weight", "bias", "stride", "padding"}:
        raise UntracedError("a convolution with holes or groups")
    nodes = [tracer.node(given[name]) for name in ("input", "weight", "bias") if name in given]
    rank = nodes[1].value.ndim - 2

    def sizes(name: str, default: int) -> tuple[int, ...]:
        size = tracer.plain(given[name]) if name in given else default
        return tuple(size) if isinstance(size, tuple | list) else (int(size),) * rank

    stride, padding = sizes("stride", 1), sizes("padding", 0)
    tracer.purse.pay(nodes[0].value.size * math.prod(nodes[1].value.shape[2:]))
    value = convolution(nodes[0].value, nodes[1].value, stride, padding)
    if len(nodes) > 2:
        value = value + nodes[2].value.reshape(-1, *(1,) * rank)
    return tracer.made(expr, "conv", value, *nodes, stride=stride, padding=padding)


def _running(tracer: Plain, expr: ast.Call, arguments: list[ast.expr], keywords: dict[str, ast.expr]) -> Node:
    given = dict(zip(("x", "dim"), arguments, strict=False)) | keywords
    x = tracer.node(given["x"])
    axis = int(tracer.plain(given["dim"])) % x.value.ndim
    return tracer.made(expr, "cumsum", total_so_far(x.value, axis), x, axis=axis)


def _stacked(tracer: Plain, expr: ast.Call, arguments: list[ast.expr], keywords: dict[str, ast.expr]) -> Node:
    given = dict(zip(("parts", "dim"), arguments, strict=False)) | keywords
    axis = int(tracer.plain(given["dim"])) if "dim" in given else 0
    if not isinstance(given["parts"], ast.List | ast.Tuple):
        return tracer.made(expr, "library", np.stack(tracer.value(given["parts"]), axis))
    nodes = [tracer.node(each) for each in given["parts"].elts]
    value = np.stack([node.value for node in nodes], axis)
    return tracer.made(expr, "stack", value, *nodes, axis=axis % value.ndim)


def _flipped(tracer: Plain, expr: ast.Call, arguments: list[ast.expr], keywords: dict[str, ast.expr]) -> Node:
    x, *rest = arguments
    node = tracer.node(x)
    given = [tracer.plain(each) for each in [*rest, *keywords.values()]]
    axes = tuple(given[0]) if len(given) == 1 and isinstance(given[0], tuple | list) else tuple(given)
    return tracer.made(expr, "flip", np.flip(node.value, axes), node, axes=axes)


def _rolled(tracer: Plain, expr: ast.Call, arguments: list[ast.expr], keywords: dict[str, ast.expr]) -> Node:
    given = dict(zip(("x", "shifts", "dims"), arguments, strict=False)) | keywords
    node, pair = tracer.node(given["x"]), [tracer.plain(given[name]) for name in ("shifts", "dims")]
    shifts, axes = (tuple(each) if isinstance(each, tuple | list) else (each,) for each in pair)
    return tracer.made(expr, "roll", np.roll(node.value, shifts, axes), node, shifts=shifts, axes=axes)


def _diagonal(tracer: Plain, expr: ast.Call, arguments: list[ast.expr], _: dict[str, ast.expr]) -> Node:
    node = tracer.node(arguments[0])
    if len(arguments) > 1 or node.value.ndim != 2:
        raise UntracedError("a diagonal of more than a matrix")
    return tracer.made(expr, "diagonal", np.diagonal(node.value), node)


def _where(tracer: Plain, expr: ast.Call, arguments: list[ast.expr], _: dict[str, ast.expr]) -> Node:
    mask, *nodes = np.asarray(tracer.value(arguments[0])), *(tracer.node(each) for each in arguments[1:])
    tracer.purse.pay(joint(mask, *(node.value for node in nodes)))
    value = np.where(mask, *(node.value for node in nodes))
    return tracer.made(expr, "where", value, *nodes, mask=np.broadcast_to(mask, value.shape))


def _of_two(tracer: Plain, expr: ast.Call, arguments: list[ast.expr], _: dict[str, ast.expr]) -> Node:
    nodes = [tracer.node(each) for each in arguments]
    assert isinstance(expr.func, ast.Attribute)
    tracer.purse.pay(joint(*(node.value for node in nodes)))
    value = getattr(np, expr.func.attr)(*(node.value for node in nodes))
    return tracer.made(expr, expr.func.attr, value, *nodes)


def _joined(tracer: Plain, expr: ast.Call, arguments: list[ast.expr], keywords: dict[str, ast.expr]) -> Node:
    if not isinstance(arguments[0], ast.List | ast.Tuple):
        raise UntracedError("cat of something else than a list")
    parts = [tracer.node(part) for part in arguments[0].elts]
    axis = (
        tracer.plain(arguments[1]) if len(arguments) > 1 else tracer.plain(keywords.get("dim", ast.Constant(value=0)))
    )
    axis %= parts[0].value.ndim
    return tracer.made(expr, "cat", np.concatenate([part.value for part in parts], axis), *parts, axis=axis)


def _loss(tracer: Plain, expr: ast.Call, arguments: list[ast.expr], keywords: dict[str, ast.expr]) -> Node:
    assert isinstance(expr.func, ast.Attribute)
    op = expr.func.attr
    if set(keywords) - {"reduction"}:
        raise UntracedError("a loss with options")
    reduction = tracer.plain(keywords["reduction"]) if keywords else "mean"
    x, target = tracer.node(arguments[0]), tracer.node(arguments[1])
    value = np.zeros(()) if reduction in {"mean", "sum"} else np.zeros_like(x.value)
    if reduction not in {"mean", "sum"}:
        raise UntracedError("a loss that is not reduced")
    return tracer.made(expr, op, value, x, target, reduction=reduction)


def _layer_norm(tracer: Plain, expr: ast.Call, arguments: list[ast.expr], keywords: dict[str, ast.expr]) -> Node:
    given = dict(zip(("x", "shape", "weight", "bias", "eps"), arguments, strict=False)) | keywords
    x, sizes = tracer.node(given["x"]), tracer.plain(given["shape"])
    parts = [tracer.node(given[name]) for name in ("weight", "bias") if name in given]
    if "bias" in given and "weight" not in given:
        raise UntracedError("a layer norm with a bias alone")
    eps = tracer.plain(given["eps"]) if "eps" in given else 1e-5
    axes = tuple(range(x.value.ndim - len(sizes), x.value.ndim))
    centred = x.value - x.value.mean(axis=axes, keepdims=True)
    value = centred * (x.value.var(axis=axes, keepdims=True) + eps) ** -0.5
    for part, act in zip(parts, (np.multiply, np.add), strict=False):
        value = act(value, part.value)
    return tracer.made(expr, "layer_norm", value, x, *parts, axes=axes, eps=eps)


def _looked_up(tracer: Plain, expr: ast.Call, arguments: list[ast.expr], _: dict[str, ast.expr]) -> Node:
    assert isinstance(expr.func, ast.Attribute)
    op = expr.func.attr
    table, rows = (arguments[1], arguments[0]) if op == "embedding" else (arguments[0], arguments[2])
    if op == "index_select" and tracer.plain(arguments[1]) != 0:
        raise UntracedError("index_select along another axis")
    x, index = tracer.node(table), (tracer.plain(rows),)
    return tracer.made(expr, "index", tracer.picked(x.value, index), x, index=index)


SPECIAL: Mapping[str, Special] = {
    "cat": _joined,
    **dict.fromkeys(("cross_entropy", "mse_loss", "binary_cross_entropy_with_logits"), _loss),
    "layer_norm": _layer_norm,
    **dict.fromkeys(("index_select", "embedding"), _looked_up),
    "einsum": _einsum,
    **dict.fromkeys(("conv1d", "conv2d", "conv3d"), _convolved),
    "cumsum": _running,
    "stack": _stacked,
    "flip": _flipped,
    "roll": _rolled,
    "diagonal": _diagonal,
    "where": _where,
    "maximum": _of_two,
    "minimum": _of_two,
}
"""Operations whose arguments are read in a way of their own."""


def part_of(tracer: Plain, expr: ast.Call, func: ast.Attribute, op: str, rank: int) -> Node:
    """One of the parts that a tensor was cut into, as an index."""
    arguments = expr.args if is_module(func.value) else [func.value, *expr.args]
    given = dict(zip(("x", "dim" if op == "unbind" else "size", "dim"), arguments, strict=False))
    given |= {word.arg: word.value for word in expr.keywords if word.arg}
    x = tracer.node(given["x"])
    axis = int(tracer.plain(given["dim"])) % x.value.ndim if "dim" in given else 0
    whole = x.value.shape[axis]
    if op == "unbind":
        at: slice | int = range(whole)[rank]
    else:
        size = tracer.plain(given["size" if "size" in given else next(iter({*given} - {"x", "dim"}))])
        sizes = list(size) if isinstance(size, tuple | list) else None
        if sizes is None:
            one = -(-whole // int(size)) if op == "chunk" else int(size)
            sizes = [min(one, whole - start) for start in range(0, whole, one)]
        start = sum(sizes[: range(len(sizes))[rank]])
        at = slice(start, start + sizes[rank])
    index = (*(slice(None),) * axis, at)
    return tracer.made(expr, "index", x.value[index], x, index=index)


def reduced(tracer: Plain, expr: ast.expr, op: str, x: Node, options: dict[str, Any]) -> Node:
    value, dim = x.value, options.get("dim")
    unbiased = options.get("unbiased", True)
    if op in {"var", "std"} and isinstance(dim, bool):
        unbiased, dim = dim, None
    dims = range(value.ndim) if dim is None else (dim if isinstance(dim, tuple | list) else (dim,))
    axes, keepdim = tuple(sorted(axis % max(value.ndim, 1) for axis in dims)), bool(options.get("keepdim", False))
    if value.ndim == 0:
        axes = ()
    if op == "softmax":
        return tracer.made(expr, op, softmax(value, axes), x, axes=axes)
    top = value.max(axis=axes, keepdims=True)
    total = np.log(np.exp(value - top).sum(axis=axes, keepdims=True)) + top
    if op == "log_softmax":
        return tracer.made(expr, op, value - total, x, axes=axes)
    if op == "logsumexp":
        kept = total if keepdim else total.squeeze(axes)
        return tracer.made(expr, op, kept, x, axes=axes, keepdim=keepdim)
    correction = options.get("correction", 1 if unbiased else 0)
    if op in {"var", "std"}:
        result = getattr(np, op)(value, axis=axes, ddof=correction, keepdims=keepdim)
        return tracer.made(expr, op, result, x, axes=axes, keepdim=keepdim, correction=correction)
    return tracer.made(expr, op, getattr(np, op)(value, axis=axes, keepdims=keepdim), x, axes=axes, keepdim=keepdim)
