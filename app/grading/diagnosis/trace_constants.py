"""The parts of a forward statement that have no gradient: numbers, sizes, shapes, slices, indices, masks."""

import ast
import math
import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from app.grading.diagnosis.evidence import Array
from app.grading.diagnosis.library import LIBRARY
from app.grading.diagnosis.read_budget import CostError, Purse, cost, joint, picked, whole
from app.grading.diagnosis.rules import Node

MODULES = frozenset({"torch", "F", "math", "nn", "functional"})
PLAIN: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: lambda base, exponent: (base if isinstance(base, np.ndarray) else float(base)) ** float(exponent),
}
COMPARE: Mapping[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}


READING_ERRORS = (
    ValueError, TypeError, IndexError, KeyError, AttributeError, ArithmeticError, RecursionError, AssertionError,
    MemoryError, CostError,
)  # fmt: skip
"""What a text that is not on the list, or costs too much, may raise while it is read."""


class UntracedError(Exception):
    """The text uses something that is not on the list."""


class Plain(ABC):
    """Evaluates what has no gradient; *forward* are the tensors and *dims* the sizes in scope."""

    def __init__(self, forward: Mapping[str, Array], dims: Mapping[str, Any], purse: Purse | None = None) -> None:
        self.forward = forward
        self.dims = dims
        self.purse = Purse() if purse is None else purse

    @abstractmethod
    def node(self, expr: ast.expr) -> Node:
        """The operations of *expr*."""

    @abstractmethod
    def value(self, expr: ast.expr) -> Any:
        """The value of anything that may stand as an argument: a tensor, a number, a list of either."""

    def called(self, op: str, arguments: list[Any], words: Mapping[str, Any]) -> Any:
        """What a function of the library gives, once it is paid for."""
        self.purse.pay(cost(op, arguments, words))
        return LIBRARY[op](*arguments, **words)

    def picked(self, x: Any, index: Any) -> Any:
        if isinstance(x, np.ndarray):
            self.purse.pay(picked(x, index if isinstance(index, tuple) else (index,)))
        return x[index]

    def made(self, expr: ast.expr, op: str, value: Array, *operands: Node, **options: Any) -> Node:
        value = np.asarray(value)
        self.purse.pay(value.size)
        return Node(op, value, operands, expr, options)

    def is_plain(self, expr: ast.expr) -> bool:
        """Whether *expr* has no gradient: it reads no tensor, or only the shape of one or comparisons."""
        match expr:
            case ast.Constant() | ast.Compare():
                return True
            case ast.Name(id=name):
                return name not in self.forward and not isinstance(self.dims.get(name), list | tuple)
            case ast.Attribute(attr="shape" | "ndim"):
                return True
            case ast.Call(
                func=ast.Attribute(attr="size" | "numel" | "dim" | "argmax" | "argmin" | "arange" | "ones" | "zeros")
            ):
                return True
            case ast.Call(func=ast.Name(id="len" | "range")):
                return True
        return all(self.is_plain(child) for child in ast.iter_child_nodes(expr) if isinstance(child, ast.expr))

    def plain(self, expr: ast.expr) -> Any:
        """The value of an expression that has no gradient: a number, a shape, a slice, an index, a mask."""
        match expr:
            case ast.Constant(value=value):
                return value
            case ast.Name(id=name):
                return self.forward[name] if name in self.forward else self.dims[name]
            case ast.Tuple(elts=elts) | ast.List(elts=elts):
                return tuple(self.plain(each) for each in elts)
            case ast.Slice(lower=lower, upper=upper, step=step):
                return slice(*(None if bound is None else self.plain(bound) for bound in (lower, upper, step)))
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -self.plain(operand)
            case ast.BinOp(op=op, left=left, right=right) if type(op) in PLAIN:
                a, b = whole(self.plain(left)), whole(self.plain(right))
                self.purse.pay(joint(a, b))
                return whole(PLAIN[type(op)](a, b))
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in COMPARE:
                a, b = self.plain(left), self.plain(right)
                self.purse.pay(joint(a, b))
                return COMPARE[type(op)](a, b)
            case ast.Subscript(value=base, slice=part):
                return self.picked(self.plain(base), self.plain(part))
            case ast.Attribute(value=ast.Name(id="math" | "torch"), attr="inf" | "pi" | "e" as attr):
                return getattr(math, attr)
            case ast.Attribute(value=ast.Name(id="torch")):
                return None  # a type of number, which changes no value here
            case ast.Attribute(value=base, attr="shape"):
                return self.node(base).value.shape
            case ast.Call(func=ast.Name(id="len"), args=[base]):
                return len(self.plain(base))
            case ast.Call(func=ast.Name(id="range"), args=[stop]):
                self.purse.pay(max(int(self.plain(stop)), 0))
                return np.arange(self.plain(stop))
            case ast.Call(func=ast.Attribute(attr=attr) as func):
                return self.plain_call(expr, func, attr)
        raise UntracedError(ast.unparse(expr))

    def plain_call(self, expr: ast.Call, func: ast.Attribute, attr: str) -> Any:
        if is_module(func.value):
            if attr == "arange":
                bounds = [self.plain(each) for each in expr.args]
                self.purse.pay(cost("arange", bounds, {}))
                return np.arange(*bounds)
            if attr == "sqrt":
                return math.sqrt(self.plain(expr.args[0]))
            if attr in LIBRARY:
                words = {word.arg: self.plain(word.value) for word in expr.keywords if word.arg}
                return self.called(attr, [self.plain(each) for each in expr.args], words)
            raise UntracedError(attr)
        base = self.node(func.value).value
        arguments = [self.plain(each) for each in expr.args]
        match attr:
            case "size":
                return base.shape[arguments[0]] if arguments else base.shape
            case "numel":
                return base.size
            case "dim":
                return base.ndim
            case "triu" | "tril":
                return getattr(np, attr)(base, *arguments)
            case "bool" | "to" | "float" | "double" | "long":
                return base.astype(bool) if attr == "bool" else base
            case "view" | "reshape" | "flatten":
                return base.reshape(arguments or -1)
        raise UntracedError(attr)


def is_module(expr: ast.expr) -> bool:
    match expr:
        case ast.Name(id=name):
            return name in MODULES
        case ast.Attribute(value=value, attr="functional" | "special" | "nn"):
            return is_module(value)
    return False
