"""Reads what has no gradient: numbers, sizes, shapes, slices, indices, masks, and the items of loops."""

import ast
import math
import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np

from app.content.program.static_values import COMPARED, PLAIN
from app.grading.operations.collisions import CollisionError
from app.grading.operations.costs import broadcast_entries
from app.grading.operations.numerics import Array
from app.grading.operations.table import OPERATIONS
from app.grading.reading.budget import CostError, EntryBudget, as_operand, bounded_number
from app.grading.reading.call_syntax import places
from app.grading.reading.node import OpNode, UntracedError

OF_ARRAYS: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    **PLAIN,
    ast.MatMult: operator.matmul,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.Pow: lambda base, exponent: (base if isinstance(base, np.ndarray) else float(base)) ** float(exponent),
}
SIZES: Mapping[str, Callable[..., Any]] = {
    "size": lambda x, at=None: x.shape if at is None else x.shape[at],
    "numel": np.size,
    "dim": np.ndim,
}
NO_GRADIENT = frozenset({*SIZES, "argmax", "argmin", "arange", "ones", "zeros"})
BUILT_IN: Mapping[str, Callable[..., Any]] = {
    "int": int, "float": float, "bool": bool, "round": lambda x: round(x), "abs": abs, "min": min, "max": max,
}  # fmt: skip
"""Functions of Python's that take numbers."""
ITEMS_MAX = 200
READING_ERRORS = (
    ValueError, TypeError, IndexError, KeyError, AttributeError, ArithmeticError, RecursionError, AssertionError,
    MemoryError, CostError,
)  # fmt: skip
"""What a text that is not on the list, or costs too much, may raise while it is read."""


class Program(Protocol):
    """The program around an expression: functions that it defines, and names that an expression gives."""

    def call(
        self, function: ast.FunctionDef | ast.Lambda, arguments: Sequence[Any], words: Mapping[str, Any]
    ) -> Any: ...
    def assign(self, target: ast.expr, value: Any) -> None: ...


class PlainTracer(ABC):
    """Reads expressions that have no gradient; *forward* are the tensors and *dims* the sizes in scope."""

    def __init__(
        self,
        forward: Mapping[str, Array],
        dims: Mapping[str, Any],
        budget: EntryBudget | None = None,
        program: Program | None = None,
    ) -> None:
        self.forward = forward
        self.dims = dims
        self.budget = EntryBudget() if budget is None else budget
        self.program = program
        self._plain_ones: dict[ast.expr, bool] = {}

    @abstractmethod
    def value(self, expr: ast.expr) -> Any:
        """Evaluate an argument: a tensor, a number, a list of either."""

    @abstractmethod
    def operation(
        self, expr: ast.Call, func: ast.Attribute, more: Mapping[str, ast.expr] = MappingProxyType({})
    ) -> OpNode:
        """The operation that *expr* calls; *more* are arguments that are not written."""

    def picked(self, x: Any, index: Any) -> Any:
        if isinstance(x, np.ndarray):
            self.budget.pay_for_pick(x, index)
        return x[index]

    def is_plain(self, expr: ast.expr) -> bool:
        """True if *expr* has no gradient: it reads no tensor, or only the shape of one or comparisons."""
        plain = self._plain_ones.get(expr)
        if plain is None:
            plain = self._plain_ones[expr] = self._is_plain(expr)
        return plain

    def _is_plain(self, expr: ast.expr) -> bool:
        match expr:
            case ast.Constant() | ast.Compare() | ast.Attribute(attr="shape" | "ndim" | "dtype"):
                return True
            case ast.Name(id=name):
                return name not in self.forward and not isinstance(self.dims.get(name), list | tuple | dict)
            case ast.BinOp(left=left, right=right):
                return self.is_plain(left) and self.is_plain(right)
            case ast.Call(func=ast.Attribute(attr=attr)) if attr in NO_GRADIENT:
                return True
            case ast.Attribute() | ast.Subscript() if places(expr) is not None:
                return True
            case ast.Call(func=ast.Name(id="len" | "range")):
                return True
            case ast.Call(func=ast.Name(id=name)) if name in self.dims:
                return False
            case ast.Lambda() | ast.NamedExpr() | ast.ListComp() | ast.GeneratorExp():
                return False
            case ast.Attribute(value=inner) | ast.UnaryOp(operand=inner):
                return self.is_plain(inner)
            case ast.Call(func=func, args=arguments):
                return self.is_plain(func) and all(map(self.is_plain, arguments))
        return all(self.is_plain(child) for child in ast.iter_child_nodes(expr) if isinstance(child, ast.expr))

    def plain(self, expr: ast.expr) -> Any:
        """The value of an expression that has no gradient."""
        try:
            return bounded_number(self._plain(expr))
        except CollisionError as collision:
            collision.locate(expr)
            raise

    def _plain(self, expr: ast.expr) -> Any:
        match places(expr) or expr:
            case ast.Constant(value=value):
                return value
            case ast.Name(id=name):
                return self.forward[name] if name in self.forward else self.dims[name]
            case ast.Tuple(elts=elts) | ast.List(elts=elts):
                return tuple(self.plain(each) for each in elts)
            case ast.Slice(lower=lower, upper=upper, step=step):
                bounds = [None if bound is None else self.plain(bound) for bound in (lower, upper, step)]
                self.budget.refuse_data(bounds)
                return slice(*bounds)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                number = as_operand(self.plain(operand))
                return tensor_like(-number, number)
            case ast.UnaryOp(op=ast.UAdd(), operand=operand):
                return as_operand(self.plain(operand))
            case ast.UnaryOp(op=ast.Invert(), operand=operand):
                return np.asarray(~np.asarray(self.value(operand)))
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return not self.truth(self.value(operand))
            case ast.BoolOp(op=ast.And(), values=values):
                return all(self.truth(self.value(each)) for each in values)
            case ast.BoolOp(values=values):
                return any(self.truth(self.value(each)) for each in values)
            case ast.IfExp() as choice:
                return self.plain(self.chosen(choice))
            case ast.Compare(left=left, ops=[ast.Is() | ast.IsNot() as op], comparators=[ast.Constant(value=None)]):
                return (self.value(left) is None) == isinstance(op, ast.Is)
            case ast.BinOp(op=op, left=left, right=right) if type(op) in OF_ARRAYS:
                return self.paid(OF_ARRAYS[type(op)], as_operand(self.value(left)), as_operand(self.value(right)))
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in COMPARED:
                return self.paid(COMPARED[type(op)], self.value(left), self.value(right))
            case ast.Compare(left=left, ops=ops, comparators=others) if all(type(op) in COMPARED for op in ops):
                numbers = [as_operand(self.plain(each)) for each in (left, *others)]
                pairs = zip(ops, numbers, numbers[1:], strict=False)
                return all(self.truth(COMPARED[type(op)](a, b)) for op, a, b in pairs)
            case ast.Subscript(value=base, slice=part):
                return self.picked(self.value(base), self.plain(part))
            case ast.Attribute(value=ast.Name(id="math" | "torch"), attr="inf" | "pi" | "e" as attr):
                return getattr(math, attr)
            case ast.Attribute(value=ast.Name(id="torch")) | ast.Attribute(attr="dtype"):
                return None  # a type of number, which changes no value here
            case ast.Attribute(value=base, attr="T" | "mT" | "H" as attr):
                return OPERATIONS[attr].apply(self.plain(base))
            case ast.Attribute(value=base, attr="shape" | "ndim" as attr):
                return getattr(np.asarray(self.value(base)), attr)
            case ast.Call(func=ast.Name(id="len"), args=[base]):
                return len(self.value(base))
            case ast.Call(func=ast.Name(id="float"), args=[ast.Constant(value=str() as text)]):
                return _number_in(text)
            case ast.Call(func=ast.Name(id=name), args=arguments) if name in BUILT_IN:
                numbers = [as_operand(self.plain(each)) for each in arguments]
                return tensor_like(BUILT_IN[name](*numbers), *numbers)
            case ast.Call(func=ast.Name(id="range"), args=bounds):
                return np.asarray(self.items(expr), dtype=np.int64) if bounds else None
            case ast.Call(func=ast.Attribute(value=base, attr=attr), args=arguments) if attr in SIZES:
                return SIZES[attr](self.value(base), *map(self.plain, arguments))
            case ast.Call(func=ast.Attribute() as func) as call:
                return self.operation(call, func).value
        raise UntracedError(expr)

    def chosen(self, expr: ast.IfExp) -> ast.expr:
        """The side of `a if test else b` that counts."""
        return expr.body if self.truth(self.value(expr.test)) else expr.orelse

    def truth(self, value: Any) -> bool:
        """*value* as a truth that decides on the way."""
        self.budget.refuse_data(value)
        return bool(value)

    def paid(self, act: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
        """Apply *act* to *a* and *b*, entry by entry, within the budget."""
        self.budget.pay(broadcast_entries(a, b))
        return tensor_like(act(a, b), a, b)

    # Lists and loops.

    def listed(self, expr: ast.ListComp | ast.GeneratorExp) -> list[Any]:
        """The items of a comprehension."""
        (loop,) = expr.generators
        values = []
        for each in self.items(loop.iter):
            self.budget.pay(0)  # an item costs time, whatever it holds
            bound = target_bindings(loop.target, each)
            arrays = {name: array for name, array in bound.items() if isinstance(array, np.ndarray)}
            others = {name: item for name, item in bound.items() if name not in arrays}
            inner = type(self)({**self.forward, **arrays}, {**self.dims, **others}, self.budget, self.program)
            if all(inner.truth(inner.value(test)) for test in loop.ifs):
                values.append(inner.value(expr.elt))
        return values

    def items(self, expr: ast.expr) -> list[Any]:
        """Items that a loop over *expr* runs through; bounded."""
        match expr:
            case ast.Call(func=ast.Name(id="range"), args=bounds):
                limits = [self.plain(bound) for bound in bounds]
                self.budget.refuse_data(limits)
                turns = range(*map(int, limits))
                self.budget.pay(len(turns))
                return list(turns)
            case ast.Call(func=ast.Name(id="list" | "tuple"), args=[inner]):
                return self.items(inner)
            case ast.Call(func=ast.Name(id="reversed"), args=[inner]):
                items = self.items(inner)[::-1]
            case ast.Call(func=ast.Name(id="enumerate"), args=[inner]):
                items = list(enumerate(self.items(inner)))
            case ast.Call(func=ast.Name(id="zip"), args=inner):
                items = list(zip(*map(self.items, inner), strict=False))
            case _:
                value = self.value(expr)
                items = [np.asarray(item) for item in value] if isinstance(value, np.ndarray) else list(value)
        if len(items) > ITEMS_MAX:
            raise UntracedError("too many turns")
        return items


def target_bindings(target: ast.expr, value: Any) -> dict[str, Any]:
    """Values of the names in *target* once *value* is assigned to it."""
    match target:
        case ast.Name(id=name):
            return {name: value}
        case ast.Tuple(elts=elts) | ast.List(elts=elts):
            items = map(np.asarray, value) if isinstance(value, np.ndarray) else value
            parts = [target_bindings(each, item) for each, item in zip(elts, items, strict=True)]
            return {name: item for part in parts for name, item in part.items()}
    raise UntracedError(target)


def tensor_like(value: Any, *operands: Any) -> Any:
    """*value* as a tensor if one of *operands* is one, and as a number of such if one is that."""
    if any(isinstance(operand, np.ndarray) for operand in operands):
        return np.asarray(value)
    return np.asarray(value)[()] if any(isinstance(operand, np.generic) for operand in operands) else value


def _number_in(text: str) -> float:
    """The number that Python reads in *text*, such as `-inf`."""
    try:
        return float(text)
    except ValueError:
        raise UntracedError(f"float({text[:20]!r})") from None
