"""Reads the right-hand side of a forward statement into operations with numpy values.

An interpreter with a closed list of operations: whatever is not on it raises `UntracedError`, and the statement is then
diagnosed by the families that need no operations. Sizes are bounded, because the text is an author's.
"""

import ast
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from app.grading.evidence import Array
from app.grading.mistakes.plain import ENTRIES_MAX, Plain, UntracedError, is_module
from app.grading.mistakes.rules import CURVES, Node, softmax

BINARY: Mapping[type[ast.operator], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "div",
    ast.Pow: "pow",
    ast.MatMult: "matmul",
}
SAME: Mapping[str, str] = {
    "multiply": "mul",
    "subtract": "sub",
    "divide": "div",
    "true_divide": "div",
    "negative": "neg",
    "mm": "matmul",
    "bmm": "matmul",
    "mv": "matmul",
    "dot": "matmul",
    "clip": "clamp",
    "view": "reshape",
    "amax": "max",
    "amin": "min",
    "clone": "copy",
    "contiguous": "copy",
    "double": "copy",
    "float": "copy",
    "absolute": "abs",
    "swapaxes": "transpose",
    "concat": "cat",
    "concatenate": "cat",
}
PARAMETERS: Mapping[str, tuple[str, ...]] = {
    "sum": ("dim", "keepdim"),
    "mean": ("dim", "keepdim"),
    "max": ("dim", "keepdim"),
    "min": ("dim", "keepdim"),
    "var": ("dim", "unbiased", "keepdim"),
    "std": ("dim", "unbiased", "keepdim"),
    "logsumexp": ("dim", "keepdim"),
    "softmax": ("dim",),
    "log_softmax": ("dim",),
    "clamp": ("min", "max"),
    "masked_fill": ("mask", "value"),
    "unsqueeze": ("dim",),
    "squeeze": ("dim",),
    "flatten": ("start_dim", "end_dim"),
    "transpose": ("dim0", "dim1"),
    "cat": ("dim",),
}


def traced(expr: ast.expr, forward: Mapping[str, Array], dims: Mapping[str, int]) -> Node:
    """The tree of operations of *expr*.

    Raises:
        UntracedError: *expr* uses an operation that is not known here, or does not run.
    """
    try:
        with np.errstate(all="ignore"):
            return _Tracer(forward, dims).node(expr)
    except (ValueError, TypeError, IndexError, KeyError, AttributeError, ArithmeticError, RecursionError) as error:
        raise UntracedError(str(error)) from error


class _Tracer(Plain):
    def node(self, expr: ast.expr) -> Node:
        if self.is_plain(expr):
            return self.made(expr, "number", np.asarray(self.plain(expr)))
        match expr:
            case ast.Name(id=name) if name in self.forward:
                return self.made(expr, "tensor", self.forward[name])
            case ast.BinOp(op=op, left=left, right=right) if type(op) in BINARY:
                return self.binary(expr, BINARY[type(op)], left, right)
            case ast.UnaryOp(op=ast.USub(), operand=operand) if not self.is_plain(expr):
                return self.unary(expr, "neg", operand)
            case ast.Call(func=ast.Attribute() as func):
                return self.call(expr, func)
            case ast.Attribute(value=ast.Call() as inner, attr="values"):
                return self.node(inner)
            case ast.Subscript(
                value=ast.Call(func=ast.Attribute(attr="max" | "min")) as inner, slice=ast.Constant(value=0)
            ):
                return self.node(inner)
            case ast.Attribute(value=base, attr="T" | "mT" as attr) if not self.is_plain(expr):
                return self.transpose(expr, base, attr)
            case ast.Subscript(value=base, slice=part) if not self.is_plain(expr):
                return self.index(expr, base, part)
        raise UntracedError(ast.unparse(expr))

    def made(self, expr: ast.expr, op: str, value: Array, *operands: Node, **options: Any) -> Node:
        value = np.asarray(value)
        if value.size > ENTRIES_MAX:
            raise UntracedError("too large")
        return Node(op, value, operands, expr, options)

    def binary(self, expr: ast.expr, op: str, left: ast.expr, right: ast.expr) -> Node:
        a, b = self.node(left), self.node(right)
        if op == "pow":
            if b.op != "number" or b.value.ndim:
                raise UntracedError("a tensor as exponent")
            return self.made(expr, op, a.value ** float(b.value), a, b, exponent=float(b.value))
        if op != "matmul":
            if math.prod(np.broadcast_shapes(a.value.shape, b.value.shape)) > ENTRIES_MAX:
                raise UntracedError("too large")
            act = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.true_divide}[op]
            return self.made(expr, op, act(a.value, b.value), a, b)
        return self.made(expr, op, a.value @ b.value, a, b)

    def unary(self, expr: ast.expr, op: str, operand: ast.expr) -> Node:
        x = self.node(operand)
        return self.made(expr, op, CURVES[op].value(x.value), x)

    def transpose(self, expr: ast.expr, base: ast.expr, attr: str) -> Node:
        x = self.node(base)
        axes = list(range(x.value.ndim))
        order = axes[::-1] if attr in {"T", "t"} else [*axes[:-2], axes[-1], axes[-2]]
        return self.made(expr, "permute", x.value.transpose(order), x, order=tuple(order))

    def index(self, expr: ast.expr, base: ast.expr, part: ast.expr) -> Node:
        x = self.node(base)
        parts = part.elts if isinstance(part, ast.Tuple) else [part]
        index = tuple(self.plain(each) for each in parts)
        return self.made(expr, "index", x.value[index], x, index=index)

    def call(self, expr: ast.Call, func: ast.Attribute) -> Node:
        base, is_function = func.value, is_module(func.value)
        op = SAME.get(func.attr, func.attr)
        arguments = list(expr.args) if is_function else [base, *expr.args]
        keywords = {word.arg: word.value for word in expr.keywords if word.arg}
        if op in set(BINARY.values()):
            return self.binary(expr, op, arguments[0], arguments[1])
        if op in {"square", "pow"}:
            x = self.node(arguments[0])
            return self.made(expr, "pow", x.value**2.0, x, exponent=2.0)
        if op in CURVES:
            return self.unary(expr, op, arguments[0])
        if op == "t":
            return self.transpose(expr, arguments[0], "T")
        if op == "cat":
            return self.joined(expr, arguments, keywords)
        if op in {"cross_entropy", "mse_loss", "binary_cross_entropy_with_logits"}:
            return self.loss(expr, op, arguments, keywords)
        if op == "layer_norm":
            return self.layer_norm(expr, arguments, keywords)
        if op in {"index_select", "embedding"}:
            return self.looked_up(expr, op, arguments)
        x = self.node(arguments[0])
        if op in {"reshape", "permute", "expand"}:
            return self.view(expr, op, x, arguments[1:])
        options = dict(zip(PARAMETERS.get(op, ()), map(self.plain, arguments[1:]), strict=False))
        options |= {name: self.plain(value) for name, value in keywords.items()}
        return self.made_from(expr, op, x, options)

    def joined(self, expr: ast.Call, arguments: list[ast.expr], keywords: dict[str, ast.expr]) -> Node:
        if not isinstance(arguments[0], ast.List | ast.Tuple):
            raise UntracedError("cat of something else than a list")
        parts = [self.node(part) for part in arguments[0].elts]
        axis = (
            self.plain(arguments[1]) if len(arguments) > 1 else self.plain(keywords.get("dim", ast.Constant(value=0)))
        )
        axis %= parts[0].value.ndim
        return self.made(expr, "cat", np.concatenate([part.value for part in parts], axis), *parts, axis=axis)

    def loss(self, expr: ast.Call, op: str, arguments: list[ast.expr], keywords: dict[str, ast.expr]) -> Node:
        if set(keywords) - {"reduction"}:
            raise UntracedError("a loss with options")
        reduction = self.plain(keywords["reduction"]) if keywords else "mean"
        x, target = self.node(arguments[0]), self.node(arguments[1])
        value = np.zeros(()) if reduction in {"mean", "sum"} else np.zeros_like(x.value)
        if reduction not in {"mean", "sum"}:
            raise UntracedError("a loss that is not reduced")
        return self.made(expr, op, value, x, target, reduction=reduction)

    def layer_norm(self, expr: ast.Call, arguments: list[ast.expr], keywords: dict[str, ast.expr]) -> Node:
        given = dict(zip(("x", "shape", "weight", "bias", "eps"), arguments, strict=False)) | keywords
        x, sizes = self.node(given["x"]), self.plain(given["shape"])
        parts = [self.node(given[name]) for name in ("weight", "bias") if name in given]
        if "bias" in given and "weight" not in given:
            raise UntracedError("a layer norm with a bias alone")
        eps = self.plain(given["eps"]) if "eps" in given else 1e-5
        axes = tuple(range(x.value.ndim - len(sizes), x.value.ndim))
        centred = x.value - x.value.mean(axis=axes, keepdims=True)
        value = centred * (x.value.var(axis=axes, keepdims=True) + eps) ** -0.5
        for part, act in zip(parts, (np.multiply, np.add), strict=False):
            value = act(value, part.value)
        return self.made(expr, "layer_norm", value, x, *parts, axes=axes, eps=eps)

    def looked_up(self, expr: ast.Call, op: str, arguments: list[ast.expr]) -> Node:
        table, rows = (arguments[1], arguments[0]) if op == "embedding" else (arguments[0], arguments[2])
        if op == "index_select" and self.plain(arguments[1]) != 0:
            raise UntracedError("index_select along another axis")
        x, index = self.node(table), (self.plain(rows),)
        return self.made(expr, "index", x.value[index], x, index=index)

    def view(self, expr: ast.Call, op: str, x: Node, arguments: list[ast.expr]) -> Node:
        given = [self.plain(argument) for argument in arguments]
        sizes = tuple(given[0]) if len(given) == 1 and isinstance(given[0], tuple | list) else tuple(given)
        if op == "permute":
            order = tuple(axis % x.value.ndim for axis in sizes)
            return self.made(expr, op, x.value.transpose(order), x, order=order)
        if op == "expand":
            padded = (1,) * (len(sizes) - x.value.ndim) + x.value.shape
            sizes = tuple(old if new == -1 else new for old, new in zip(padded, sizes, strict=True))
            if math.prod(sizes) > ENTRIES_MAX:
                raise UntracedError("too large")
            return self.made(expr, op, np.broadcast_to(x.value, sizes), x)
        return self.made(expr, op, x.value.reshape(sizes), x)

    def made_from(self, expr: ast.expr, op: str, x: Node, options: dict[str, Any]) -> Node:
        value = x.value
        if op in {"sum", "mean", "max", "min", "var", "std", "logsumexp", "softmax", "log_softmax"}:
            return self.reduced(expr, op, x, options)
        if op == "clamp":
            limits = options.get("min"), options.get("max")
            return self.made(expr, op, np.clip(value, *limits), x, two_sided=None not in limits)
        if op == "masked_fill":
            mask = np.broadcast_to(options["mask"], value.shape)
            return self.made(expr, op, np.where(mask, options["value"], value), x, mask=mask)
        if op == "transpose":
            order = list(range(value.ndim))
            first, second = options["dim0"], options["dim1"]
            order[first], order[second] = order[second], order[first]
            return self.made(expr, "permute", value.transpose(order), x, order=tuple(order))
        if op == "unsqueeze":
            return self.made(expr, "reshape", np.expand_dims(value, options["dim"]), x)
        if op == "squeeze":
            return self.made(expr, "reshape", value.squeeze(options.get("dim")), x)
        if op == "flatten":
            start, end = options.get("start_dim", 0), options.get("end_dim", -1) % value.ndim
            shape = (*value.shape[:start], -1, *value.shape[end + 1 :])
            return self.made(expr, "reshape", value.reshape(shape), x)
        raise UntracedError(op)

    def reduced(self, expr: ast.expr, op: str, x: Node, options: dict[str, Any]) -> Node:
        value, dim = x.value, options.get("dim")
        unbiased = options.get("unbiased", True)
        if op in {"var", "std"} and isinstance(dim, bool):
            unbiased, dim = dim, None
        dims = range(value.ndim) if dim is None else (dim if isinstance(dim, tuple | list) else (dim,))
        axes, keepdim = tuple(sorted(axis % max(value.ndim, 1) for axis in dims)), bool(options.get("keepdim", False))
        if value.ndim == 0:
            axes = ()
        if op == "softmax":
            return self.made(expr, op, softmax(value, axes), x, axes=axes)
        top = value.max(axis=axes, keepdims=True)
        total = np.log(np.exp(value - top).sum(axis=axes, keepdims=True)) + top
        if op == "log_softmax":
            return self.made(expr, op, value - total, x, axes=axes)
        if op == "logsumexp":
            kept = total if keepdim else total.squeeze(axes)
            return self.made(expr, op, kept, x, axes=axes, keepdim=keepdim)
        correction = options.get("correction", 1 if unbiased else 0)
        if op in {"var", "std"}:
            result = getattr(np, op)(value, axis=axes, ddof=correction, keepdims=keepdim)
            return self.made(expr, op, result, x, axes=axes, keepdim=keepdim, correction=correction)
        return self.made(expr, op, getattr(np, op)(value, axis=axes, keepdims=keepdim), x, axes=axes, keepdim=keepdim)
