"""What each operation of a forward program does, in numpy: its value and its vector-Jacobian product (VJP).

Only for predictions of mistakes. The reference gradients come from torch; a chain of these rules is used only after it
has reproduced the reference share, so a gap here can lose a diagnosis but never make a wrong one.
"""

import ast
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from app.grading.diagnosis.evidence import Array

Axes = tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """One operation of a statement with its value.

    Args:
        op: Such as `mul`, `tanh`, `sum`; `tensor` for a tensor that is read, `number` for anything else.
        expr: Its place in the source; None for a node that was made up.
        options: Such as `axes`, `keepdim`, `exponent`, `index`.
    """

    op: str
    value: Array
    operands: "tuple[Node, ...]" = ()
    expr: ast.expr | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """As written in the source."""
        return "" if self.expr is None else _unparsed(self.expr)


@lru_cache(maxsize=1024)
def _unparsed(expr: ast.expr) -> str:
    return ast.unparse(expr)


def stretched_axes(wide: tuple[int, ...], narrow: tuple[int, ...]) -> Axes:
    """The axes of *wide* along which an array of shape *narrow* was copied to fill it."""
    added = len(wide) - len(narrow)
    kept = (added + axis for axis, size in enumerate(narrow) if size == 1 and wide[added + axis] != 1)
    return (*range(added), *kept)


def reduce_to(gradient: Array, shape: tuple[int, ...]) -> Array:
    """Undo a broadcast: sum *gradient* over every axis that was copied."""
    if gradient.shape == shape:
        return gradient
    return np.asarray(gradient.sum(axis=stretched_axes(gradient.shape, shape))).reshape(shape)


def spread(gradient: Array, node: Node) -> Array:
    """Copy the gradient of a reduction back over the axes that it summed."""
    x = node.operands[0].value
    if not node.options["keepdim"]:
        gradient = np.expand_dims(gradient, node.options["axes"])
    return np.broadcast_to(gradient, x.shape)


def kept(value: Array, node: Node) -> Array:
    """The output of a reduction with the reduced axes kept at size 1."""
    return value if node.options["keepdim"] else np.expand_dims(value, node.options["axes"])


def count(node: Node) -> int:
    """How many entries a reduction adds into one."""
    shape = node.operands[0].value.shape
    return math.prod(shape[axis] for axis in node.options["axes"])


def softmax(x: Array, axes: Axes | int) -> Array:
    powers = np.exp(x - x.max(axis=axes, keepdims=True))
    return np.asarray(powers / powers.sum(axis=axes, keepdims=True))


def sigmoid(x: Array) -> Array:
    return np.asarray(0.5 * (1.0 + np.tanh(0.5 * x)))


def swapped(matrix: Array) -> Array:
    """The transpose of the last two axes."""
    return np.swapaxes(matrix, -1, -2) if matrix.ndim > 1 else matrix


def erf(x: Array) -> Array:
    return np.asarray(np.frompyfunc(math.erf, 1, 1)(x), dtype=np.float64)


GELU_INNER, GELU_CUBE = math.sqrt(2 / math.pi), 0.044715


def gelu_gate(x: Array, approximate: bool) -> Array:
    """What a gelu multiplies its input by."""
    if approximate:
        return np.asarray(0.5 * (1 + np.tanh(GELU_INNER * (x + GELU_CUBE * x**3))))
    return np.asarray(0.5 * (1 + erf(x / math.sqrt(2))))


def gelu_density(x: Array, approximate: bool) -> Array:
    """The local derivative of the gate of a gelu."""
    if approximate:
        inner = np.tanh(GELU_INNER * (x + GELU_CUBE * x**3))
        return np.asarray(0.5 * (1 - inner**2) * GELU_INNER * (1 + 3 * GELU_CUBE * x**2))
    return np.asarray(np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi))


def _gelu(approximate: bool) -> "Curve":
    return Curve(
        lambda x: x * gelu_gate(x, approximate),
        lambda x, _: gelu_gate(x, approximate) + x * gelu_density(x, approximate),
    )


@dataclass(frozen=True, slots=True)
class Curve:
    """An elementwise function: its value, and its local derivative from input *x* and output *y*."""

    value: Callable[[Array], Array]
    local: Callable[[Array, Array], Array]


CURVES: Mapping[str, Curve] = {
    "neg": Curve(lambda x: -x, lambda x, _: -np.ones_like(x)),
    "exp": Curve(np.exp, lambda _, y: y),
    "log": Curve(np.log, lambda x, _: 1.0 / x),
    "log2": Curve(np.log2, lambda x, _: 1.0 / (x * math.log(2))),
    "log10": Curve(np.log10, lambda x, _: 1.0 / (x * math.log(10))),
    "log1p": Curve(np.log1p, lambda x, _: 1.0 / (1.0 + x)),
    "expm1": Curve(np.expm1, lambda _, y: y + 1.0),
    "tanh": Curve(np.tanh, lambda _, y: 1.0 - y**2),
    "sigmoid": Curve(sigmoid, lambda _, y: y * (1.0 - y)),
    "relu": Curve(lambda x: np.maximum(x, 0.0), lambda x, _: (x > 0).astype(x.dtype)),
    "softplus": Curve(lambda x: np.logaddexp(x, 0.0), lambda x, _: sigmoid(x)),
    "logsigmoid": Curve(lambda x: -np.logaddexp(-x, 0.0), lambda x, _: 1.0 - sigmoid(x)),
    "gelu": _gelu(False),
    "gelu_tanh": _gelu(True),
    "erf": Curve(erf, lambda x, _: 2 / math.sqrt(math.pi) * np.exp(-(x**2))),
    "silu": Curve(lambda x: x * sigmoid(x), lambda x, _: sigmoid(x) * (1.0 + x * (1.0 - sigmoid(x)))),
    "sqrt": Curve(np.sqrt, lambda _, y: 0.5 / y),
    "rsqrt": Curve(lambda x: x**-0.5, lambda x, _: -0.5 * x**-1.5),
    "reciprocal": Curve(lambda x: 1.0 / x, lambda x, _: -(x**-2.0)),
    "abs": Curve(np.abs, lambda x, _: np.sign(x)),
    "sin": Curve(np.sin, lambda x, _: np.cos(x)),
    "cos": Curve(np.cos, lambda x, _: -np.sin(x)),
    "copy": Curve(lambda x: x, lambda x, _: np.ones_like(x)),
}
"""Elementwise functions of one tensor; `copy` stands for clone, contiguous and the like."""


def matmul_vjp(node: Node, position: int, g: Array) -> Array:
    left, right = (operand.value for operand in node.operands)
    wide_left = left[None, :] if left.ndim == 1 else left
    wide_right = right[:, None] if right.ndim == 1 else right
    g = g[..., None] if right.ndim == 1 else g
    g = g[..., None, :] if left.ndim == 1 else g
    if position == 0:
        full = g @ swapped(wide_right)
        return np.asarray(full[..., 0, :] if left.ndim == 1 else full)
    full = swapped(wide_left) @ g
    return np.asarray(full[..., 0] if right.ndim == 1 else full)


def power_vjp(node: Node, _position: int, g: Array) -> Array:
    exponent = node.options["exponent"]
    return np.asarray(g * exponent * node.operands[0].value ** (exponent - 1))


def variance_vjp(node: Node, _position: int, g: Array) -> Array:
    x, divisor = node.operands[0].value, count(node) - node.options["correction"]
    centred = x - x.mean(axis=node.options["axes"], keepdims=True)
    if node.op == "std":
        g = g / (2.0 * node.value)
    return np.asarray(spread(g, node) * 2.0 * centred / divisor)


def extreme_vjp(node: Node, _position: int, g: Array) -> Array:
    """To the first position of the extreme; data with ties never gets here, because the chain is checked first."""
    winners = node.operands[0].value == kept(node.value, node)
    return np.asarray(spread(g, node) * winners)


def index_vjp(node: Node, _position: int, g: Array) -> Array:
    full = np.zeros(node.operands[0].value.shape)
    if all(isinstance(part, slice | int) or part is None or part is Ellipsis for part in node.options["index"]):
        full[node.options["index"]] = g
    else:
        np.add.at(full, node.options["index"], g)
    return full


def cat_vjp(node: Node, position: int, g: Array) -> Array:
    axis = node.options["axis"]
    start = sum(operand.value.shape[axis] for operand in node.operands[:position])
    return np.take(g, range(start, start + node.operands[position].value.shape[axis]), axis)


def one_hot(labels: Array, classes: int) -> Array:
    return np.asarray(labels[..., None] == np.arange(classes), dtype=np.float64)


def cross_entropy_vjp(node: Node, _position: int, g: Array) -> Array:
    z, target = (operand.value for operand in node.operands)
    picked = target if target.ndim == z.ndim else np.moveaxis(one_hot(target, z.shape[1]), -1, 1)
    weight = picked.sum(axis=1, keepdims=True)
    full = softmax(z, 1) * weight - picked
    examples = z.size // z.shape[1]
    return np.asarray(full * (g / examples if node.options["reduction"] == "mean" else g))


def division_vjp(node: Node, position: int, g: Array) -> Array:
    x, z = (operand.value for operand in node.operands)
    return np.asarray(g / z if position == 0 else -g * x / z**2)


def softmax_vjp(node: Node, _position: int, g: Array) -> Array:
    axes, y = node.options["axes"], node.value
    return np.asarray(y * (g - (g * y).sum(axis=axes, keepdims=True)))


def log_softmax_vjp(node: Node, _position: int, g: Array) -> Array:
    return np.asarray(g - np.exp(node.value) * g.sum(axis=node.options["axes"], keepdims=True))


def squared_error_vjp(node: Node, position: int, g: Array) -> Array:
    p, t = (operand.value for operand in node.operands)
    sign = 2.0 if position == 0 else -2.0
    return np.asarray(sign * (p - t) * (g / (p - t).size if node.options["reduction"] == "mean" else g))


def binary_entropy_vjp(node: Node, _position: int, g: Array) -> Array:
    s, t = (operand.value for operand in node.operands)
    return np.asarray((sigmoid(s) - t) * (g / s.size if node.options["reduction"] == "mean" else g))


def standardised(node: Node) -> tuple[Array, Array]:
    """The input of a layer norm with mean 0 and variance 1, and the factor that made the variance 1."""
    x, axes = node.operands[0].value, node.options["axes"]
    factor = np.asarray((x.var(axis=axes, keepdims=True) + node.options["eps"]) ** -0.5)
    return (x - x.mean(axis=axes, keepdims=True)) * factor, factor


def layer_norm_vjp(node: Node, position: int, g: Array) -> Array:
    u, factor = standardised(node)
    if position:
        return np.asarray(g * u) if position == 1 else g
    arriving = g * node.operands[1].value if len(node.operands) > 1 else g
    mean = arriving.mean(axis=node.options["axes"], keepdims=True)
    variance = u * (arriving * u).mean(axis=node.options["axes"], keepdims=True)
    return np.asarray(factor * (arriving - mean - variance))


VJPS: Mapping[str, Callable[[Node, int, Array], Array]] = {
    "add": lambda _node, _position, g: g,
    "sub": lambda _node, position, g: g if position == 0 else -g,
    "mul": lambda node, position, g: g * node.operands[1 - position].value,
    "div": division_vjp,
    "pow": power_vjp,
    "matmul": matmul_vjp,
    "sum": lambda node, _position, g: spread(g, node),
    "mean": lambda node, _position, g: spread(g, node) / count(node),
    "var": variance_vjp,
    "std": variance_vjp,
    "max": extreme_vjp,
    "min": extreme_vjp,
    "logsumexp": lambda node, _position, g: spread(g, node) * softmax(node.operands[0].value, node.options["axes"]),
    "softmax": softmax_vjp,
    "log_softmax": log_softmax_vjp,
    "clamp": lambda node, _position, g: g * (node.value == node.operands[0].value),
    "masked_fill": lambda node, _position, g: np.where(node.options["mask"], 0.0, g),
    "reshape": lambda node, _position, g: g.reshape(node.operands[0].value.shape),
    "permute": lambda node, _position, g: g.transpose(np.argsort(node.options["order"])),
    "expand": lambda _node, _position, g: g,
    "index": index_vjp,
    "cat": cat_vjp,
    "layer_norm": layer_norm_vjp,
    "cross_entropy": cross_entropy_vjp,
    "mse_loss": squared_error_vjp,
    "binary_cross_entropy_with_logits": binary_entropy_vjp,
}
