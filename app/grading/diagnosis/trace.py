"""Reads the right-hand side of a forward statement into operations with numpy values.

An interpreter with a closed list of operations: whatever is not on it raises `UntracedError`, and the statement is then
diagnosed by the families that need no operations. Sizes are bounded, because the text is an author's.
"""

import ast
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from app.grading.diagnosis.evidence import Array
from app.grading.diagnosis.library import LIBRARY
from app.grading.diagnosis.read_budget import joint, product
from app.grading.diagnosis.rules import CURVES, Node
from app.grading.diagnosis.trace_calls import SPECIAL, part_of, reduced
from app.grading.diagnosis.trace_constants import READING_ERRORS, Plain, UntracedError, is_module

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


ITEMS_MAX = 200


def bindings(target: ast.expr, value: Any) -> dict[str, Any]:
    """What the names of *target* stand for once *value* is assigned to it."""
    match target:
        case ast.Name(id=name):
            return {name: value}
        case ast.Tuple(elts=elts) | ast.List(elts=elts):
            parts = [bindings(each, one) for each, one in zip(elts, value, strict=True)]
            return {name: one for part in parts for name, one in part.items()}
    raise UntracedError(ast.unparse(target))


def traced(expr: ast.expr, forward: Mapping[str, Array], dims: Mapping[str, int]) -> Node:
    """The tree of operations of *expr*.

    Raises:
        UntracedError: *expr* uses an operation that is not known here, or does not run.
    """
    try:
        with np.errstate(all="ignore"):
            return Tracer(forward, dims).node(expr)
    except READING_ERRORS as error:
        raise UntracedError(str(error)) from error


class Tracer(Plain):
    """Reads expressions; *known* keeps what was read, by identity, where nothing changes meanwhile."""

    known: dict[int, Node] | None = None

    def node(self, expr: ast.expr) -> Node:
        if self.known is None:
            return self.read(expr)
        found = self.known.get(id(expr))
        if found is None:
            found = self.known[id(expr)] = self.read(expr)
        return found

    def read(self, expr: ast.expr) -> Node:
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
            case ast.Subscript(
                value=ast.Call(func=ast.Attribute(attr="chunk" | "split" | "unbind" as op) as func) as inner,
                slice=ast.Constant(value=int() as rank),
            ):
                return part_of(self, inner, func, op, rank)
            case ast.Subscript(value=ast.Name(id=name), slice=part) if name in self.dims:
                return self.made(expr, "library", self.picked(self.dims[name], self.plain(part)))
            case ast.Subscript(value=base, slice=part) if not self.is_plain(expr):
                return self.index(expr, base, part)
            case ast.UnaryOp(op=ast.Invert(), operand=operand):
                return self.made(expr, "library", ~self.node(operand).value)
            case ast.Call(func=ast.Name(id="sum")):
                return self.made(expr, "library", sum(self.value(expr.args[0])))
            case ast.Call(func=ast.Name(id="float" | "int" | "abs")):
                return self.made(expr, "library", self.node(expr.args[0]).value)
        raise UntracedError(ast.unparse(expr))

    def value(self, expr: ast.expr) -> Any:
        """The value of anything that may stand as an argument: a tensor, a number, a list of either."""
        if isinstance(expr, ast.List | ast.Tuple):
            return [self.value(each) for each in expr.elts]
        if isinstance(expr, ast.ListComp | ast.GeneratorExp):
            return self.listed(expr)
        if isinstance(expr, ast.Name) and expr.id in self.dims:
            return self.dims[expr.id]
        return self.plain(expr) if self.is_plain(expr) else self.node(expr).value

    def listed(self, expr: ast.ListComp | ast.GeneratorExp) -> list[Any]:
        (loop,) = expr.generators
        if loop.ifs:
            raise UntracedError("a condition in a list")
        found = []
        for each in self.items(loop.iter):
            bound = bindings(loop.target, each)
            arrays = {name: one for name, one in bound.items() if isinstance(one, np.ndarray)}
            others = {name: one for name, one in bound.items() if name not in arrays}
            inner = Tracer({**self.forward, **arrays}, {**self.dims, **others}, self.purse)
            found.append(inner.value(expr.elt))
        return found

    def items(self, expr: ast.expr) -> list[Any]:
        """What a loop over *expr* goes through; bounded."""
        match expr:
            case ast.Call(func=ast.Name(id="range"), args=bounds):
                turns = range(*(int(self.plain(bound)) for bound in bounds))
                self.purse.pay(len(turns))
                found: list[Any] = list(turns)
            case ast.Call(func=ast.Name(id="reversed"), args=[inner]):
                found = self.items(inner)[::-1]
            case ast.Call(func=ast.Name(id="enumerate"), args=[inner]):
                found = list(enumerate(self.items(inner)))
            case ast.Call(func=ast.Name(id="zip"), args=inner):
                found = list(zip(*map(self.items, inner), strict=False))
            case _:
                found = list(self.value(expr))
        if len(found) > ITEMS_MAX:
            raise UntracedError("too many turns")
        return found

    def binary(self, expr: ast.expr, op: str, left: ast.expr, right: ast.expr) -> Node:
        a, b = self.node(left), self.node(right)
        if op == "pow":
            if b.op != "number" or b.value.ndim:
                raise UntracedError("a tensor as exponent")
            return self.made(expr, op, a.value ** float(b.value), a, b, exponent=float(b.value))
        if op != "matmul":
            self.purse.pay(joint(a.value, b.value))
            act = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.true_divide}[op]
            return self.made(expr, op, act(a.value, b.value), a, b)
        self.purse.pay(product(a.value, b.value))
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
        return self.made(expr, "index", self.picked(x.value, index), x, index=index)

    def call(self, expr: ast.Call, func: ast.Attribute) -> Node:
        base, is_function = func.value, is_module(func.value)
        op = func.attr.rstrip("_")
        op = SAME.get(op, op)
        arguments = list(expr.args) if is_function else [base, *expr.args]
        keywords = {word.arg: word.value for word in expr.keywords if word.arg}
        if op in set(BINARY.values()):
            return self.binary(expr, op, arguments[0], arguments[1])
        if op in {"square", "pow"}:
            return self.binary(expr, "pow", arguments[0], ast.Constant(value=2) if op == "square" else arguments[1])
        if op == "gelu" and keywords:
            op = "gelu_tanh" if self.plain(keywords["approximate"]) == "tanh" else op
        if op in CURVES:
            return self.unary(expr, op, arguments[0])
        if op == "t":
            return self.transpose(expr, arguments[0], "T")
        if op in SPECIAL:
            return SPECIAL[op](self, expr, arguments, keywords)
        if op in LIBRARY:
            words = {name: self.value(keywords[name]) for name in keywords}
            return self.made(expr, "library", self.called(op, [self.value(each) for each in arguments], words))
        x = self.node(arguments[0])
        if op in {"reshape", "permute", "expand"}:
            return self.view(expr, op, x, arguments[1:])
        options = dict(zip(PARAMETERS.get(op, ()), map(self.plain, arguments[1:]), strict=False))
        options |= {name: self.plain(value) for name, value in keywords.items()}
        return self.made_from(expr, op, x, options)

    def view(self, expr: ast.Call, op: str, x: Node, arguments: list[ast.expr]) -> Node:
        given = [self.plain(argument) for argument in arguments]
        sizes = tuple(given[0]) if len(given) == 1 and isinstance(given[0], tuple | list) else tuple(given)
        if op == "permute":
            order = tuple(axis % x.value.ndim for axis in sizes)
            return self.made(expr, op, x.value.transpose(order), x, order=order)
        if op == "expand":
            padded = (1,) * (len(sizes) - x.value.ndim) + x.value.shape
            sizes = tuple(old if new == -1 else new for old, new in zip(padded, sizes, strict=True))
            self.purse.pay(math.prod(sizes))
            return self.made(expr, op, np.broadcast_to(x.value, sizes), x)
        return self.made(expr, op, x.value.reshape(sizes), x)

    def made_from(self, expr: ast.expr, op: str, x: Node, options: dict[str, Any]) -> Node:
        value = x.value
        if op in {"sum", "mean", "max", "min", "var", "std", "logsumexp", "softmax", "log_softmax"}:
            return reduced(self, expr, op, x, options)
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
