"""Reads an expression into operations with numpy values.

An interpreter with a closed list of operations: whatever is not on it raises `UntracedError`. Nothing is executed, and
every array is paid for before it is made: the text is an author's or a learner's.
"""

import ast
import operator
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np

from app.grading.operations.collisions import CollisionError
from app.grading.operations.costs import broadcast_entries, product_cost
from app.grading.operations.numerics import Act, Array
from app.grading.operations.row import Operation
from app.grading.operations.table import FUNCTIONS, NAMES, OPERATIONS, call_form
from app.grading.reading.budget import CostError, as_operand, bounded_list, entry_cost, size_arguments
from app.grading.reading.call_syntax import (
    REAL_TYPES,
    RESHAPING,
    call_arguments,
    indices_call,
    is_module,
    is_number_call,
)
from app.grading.reading.calls import CALLS, trace_parts
from app.grading.reading.node import KnownNodes, OpNode, UntracedError
from app.grading.reading.plain_tracer import ITEMS_MAX, OF_ARRAYS, READING_ERRORS, PlainTracer
from app.grading.reading.recall import Recall
from app.grading.reading.traced_call import TracedCall
from app.syntax import BINARY_SIGNS, tuple_parts

BINARY: Mapping[type[ast.operator], str] = {
    kind: row.name
    for kind, sign in BINARY_SIGNS.items()
    for row in OPERATIONS.values()
    if row.form in {"binary", "power"} and row.sign == sign
}
"""By operator of Python's: the operation."""
ROUNDED: Mapping[str, Callable[[Array], Array]] = {"int": np.trunc, "round": np.round}
OF_LISTS: Mapping[type[ast.operator], Callable[[Any, Any], list[Any]]] = {
    ast.Add: operator.add,
    ast.Mult: lambda a, b: _times(a, b) if isinstance(a, list) else _times(b, a),
}


def trace_expression(expr: ast.expr, forward: Mapping[str, Array], dims: Mapping[str, int]) -> OpNode:
    """The tree of operations of *expr*.

    Raises:
        UntracedError: *expr* uses an operation that is not known here, or does not run.
    """
    try:
        with np.errstate(all="ignore"):
            return Tracer(forward, dims).node(expr)
    except READING_ERRORS as error:
        raise UntracedError(str(error)) from error


class Tracer(PlainTracer):
    """Reads expressions; *forward* are the tensors and *dims* the sizes in scope.

    *known* keeps what was read where nothing changes meanwhile; *recall* does so where names change.
    """

    known: KnownNodes | None = None
    recall: Recall | None = None

    def node(self, expr: ast.expr) -> OpNode:
        try:
            if self.recall is not None:
                return self.recall.node(expr, (self.forward, self.dims), self._read)
            if self.known is None:
                return self._read(expr)
            if expr not in self.known:
                self.known[expr] = self._read(expr)
            return self.known[expr]
        except CollisionError as collision:
            collision.locate(expr)
            raise

    def value(self, expr: ast.expr) -> Any:
        """Evaluate an argument: a tensor, a number, a list of either."""
        while isinstance(expr, ast.IfExp):
            expr = self.chosen(expr)
        if isinstance(expr, ast.Name):
            return self.dims[expr.id] if expr.id in self.dims else self.node(expr).value
        known = None if self.recall is None else self.recall.value(expr, (self.forward, self.dims))
        if known is not None:
            return known
        if isinstance(expr, ast.List | ast.Tuple):
            parts = bounded_list(self._spread(expr.elts))
            return tuple(parts) if isinstance(expr, ast.Tuple) else parts
        if isinstance(expr, ast.ListComp | ast.GeneratorExp):
            return bounded_list(self.listed(expr))
        if isinstance(expr, ast.Dict):
            pairs = zip(expr.keys, expr.values, strict=True)
            return {self.plain(key): self.value(each) for key, each in pairs if key is not None}
        if isinstance(expr, ast.BinOp) and type(expr.op) in OF_LISTS and self.is_list(expr):
            return bounded_list(OF_LISTS[type(expr.op)](self.value(expr.left), self.value(expr.right)))
        if isinstance(expr, ast.Subscript) and self.is_list(expr.value):
            part = self.plain(expr.slice)
            return self.value(expr.value)[part]
        if isinstance(expr, ast.Call | ast.Lambda | ast.NamedExpr):
            several = self._several(expr)
            if several is not None:
                return several
            if is_number_call(expr) and not self.is_plain(expr):
                return self.node(expr).value[()]
        return self.plain(expr) if self.is_plain(expr) else self.node(expr).value

    def _spread(self, parts: Sequence[ast.expr]) -> list[Any]:
        """The values of *parts*, those of `*several` one by one."""
        values: list[Any] = []
        for part in parts:
            values += self.items(part.value) if isinstance(part, ast.Starred) else [self.value(part)]
        return values

    def _several(self, expr: ast.Call | ast.Lambda | ast.NamedExpr) -> Any:
        """Result of a call that is no single tensor, or of a function of the text itself; None for any other."""
        match expr:
            case ast.Lambda():
                return expr
            case ast.NamedExpr(target=target, value=inner) if self.program is not None:
                self.program.assign(target, value := self.value(inner))
                return value
            case ast.Call(func=ast.Name(id=name), args=arguments, keywords=words) if isinstance(
                function := self.dims.get(name), ast.FunctionDef | ast.Lambda
            ):
                if self.program is None:
                    return None
                named = {word.arg: self.value(word.value) for word in words if word.arg}
                return self.program.call(function, self._spread(arguments), named)
            case ast.Call(func=ast.Name(id="list" | "tuple" | "reversed" | "enumerate" | "zip" as name)):
                return tuple(self.items(expr)) if name == "tuple" else self.items(expr)
            case ast.Call(func=ast.Attribute(attr=attr) as func) if call_form(attr) == "cut":
                return trace_parts(TracedCall(self, expr, operation_called(attr), *call_arguments(expr, func)))
            case ast.Call(func=ast.Attribute(attr=attr) as func) if call_form(attr) == "several":
                values = [self.value(each) for each in call_arguments(expr, func)[0]]
                named = {name: self.value(word) for name, word in call_arguments(expr, func)[1].items()}
                self.budget.refuse_data(size_arguments(attr, values, named))
                self.budget.pay(broadcast_entries(*values))
                return operation_called(attr).apply(*values, **named)
            case ast.Call(func=ast.Lambda() as function, args=arguments) if self.program is not None:
                return self.program.call(function, self._spread(arguments), {})
            case ast.Call(func=ast.Attribute(attr="max" | "min") as func):
                given, options = call_arguments(expr, func)
                if "dim" in options or (len(given) > 1 and self.is_plain(given[1])):
                    return self.node(expr).value, self.plain(indices_call(expr, func))
        return None

    def is_list(self, expr: ast.expr) -> bool:
        """True if *expr* is written as a list: brackets, a list in scope, or a sum or a multiple of such."""
        match expr:
            case ast.List() | ast.ListComp():
                return True
            case ast.Name(id=name):
                return isinstance(self.dims.get(name), list)
            case ast.BinOp(left=left, right=right):
                return self.is_list(left) or self.is_list(right)
            case ast.Subscript(value=base, slice=ast.Slice()):
                return self.is_list(base)
        return False

    def made(self, expr: ast.expr, op: str, value: Any, *operands: OpNode, **options: Any) -> OpNode:
        value = np.asarray(value)
        if value.dtype.kind not in "biufc":
            raise CostError("numbers without bounds, or none")
        self.budget.pay(value.size)
        return OpNode(op, value, operands, expr, options)

    def moved(self, expr: ast.expr, op: str, act: Act, *operands: OpNode, **options: Any) -> OpNode:
        """An operation that only puts entries elsewhere."""
        return self.made(expr, op, act(*(op_node.value for op_node in operands)), *operands, act=act, **options)

    # What has a gradient.

    def _read(self, expr: ast.expr) -> OpNode:
        if isinstance(expr, ast.Name) and expr.id in self.forward:
            return OpNode("tensor", self.forward[expr.id], (), expr)
        if self.is_plain(expr):
            return self.made(expr, "number", self.plain(expr))
        match expr:
            case ast.BinOp(op=op, left=left, right=right) if type(op) in BINARY:
                return self._binary(expr, BINARY[type(op)], left, right)
            case ast.BinOp(op=op, left=left, right=right) if type(op) in OF_ARRAYS:
                a, b = as_operand(self.value(left)), as_operand(self.value(right))
                return self.made(expr, "library", self.paid(OF_ARRAYS[type(op)], a, b))
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self._function(expr, "neg", operand)
            case ast.UnaryOp(op=ast.UAdd(), operand=operand):
                return self.node(operand)
            case ast.UnaryOp(op=ast.Invert(), operand=operand):
                return self.made(expr, "library", ~self.node(operand).value)
            case ast.Call(func=ast.Attribute() as func):
                return self.operation(expr, func)
            case ast.Call(func=ast.Name(id="sum"), args=[inner]):
                terms = self.value(inner)
                self.budget.pay(broadcast_entries(*terms) * max(1, len(terms)))
                return self.made(expr, "library", sum(terms))
            case ast.Call(func=ast.Name(id="abs"), args=[inner]):
                return self._function(expr, "abs", inner)
            case ast.Call(func=ast.Name(id="float" | "int" | "bool" | "round" as name), args=[inner]):
                return self.made(expr, "library", ROUNDED.get(name, np.asarray)(self.node(inner).value))
            case ast.Call(func=ast.Name() | ast.Lambda()):
                return self.made(expr, "library", self._several(expr))
            case ast.NamedExpr(target=target, value=inner) if self.program is not None:
                node = self.node(inner)
                self.program.assign(target, node.value)
                return node
            case ast.IfExp():
                return self.node(self.chosen(expr))
            case ast.Attribute(
                value=ast.Call(func=ast.Attribute(attr=name)) as inner, attr="values" | "indices" as part
            ):
                if call_form(name) == "several":
                    return self.made(expr, "library", self._several(inner)[part == "indices"])
                return self.node(inner)
            case ast.Attribute(value=base, attr="data"):
                return self.node(base)
            case ast.Attribute(value=base, attr="T" | "mT" | "H" as attr):
                return self.moved(expr, "permute", OPERATIONS[attr].apply, self.node(base))
            case ast.Subscript(value=base, slice=part):
                return self._subscript(expr, base, part)
        raise UntracedError(expr)

    def _subscript(self, expr: ast.expr, base: ast.expr, part: ast.expr) -> OpNode:
        match base, part:
            case ast.Call(func=ast.Attribute(attr="max" | "min")), ast.Constant(value=0):
                return self.node(base)
            case (
                ast.Call(func=ast.Attribute(attr=attr) as func),
                ast.Constant(value=int()) | ast.UnaryOp(operand=ast.Constant()),
            ) if call_form(attr) == "cut":
                return self.operation(base, func, {"rank": part})
            case ast.Call(func=ast.Attribute(attr=attr)), _ if call_form(attr) == "several":
                return self.made(expr, "library", self._several(base)[self.plain(part)])
            case ast.Name(id=name), _ if name in self.dims:
                return self.made(expr, "library", self.picked(self.dims[name], self.plain(part)))
        parts = tuple_parts(part)
        return self.index(expr, self.node(base), tuple(self.plain(each) for each in parts))

    def index(self, expr: ast.expr, x: OpNode, index: Any) -> OpNode:
        self.budget.pay_for_pick(x.value, index)
        return self.moved(expr, "index", partial(_at, index=index), x, index=index)

    def _binary(self, expr: ast.expr, op: str, left: ast.expr, right: ast.expr) -> OpNode:
        a, b = self.node(left), self.node(right)
        if op == "pow":
            if b.op != "number" or b.value.ndim:
                return self.made(expr, "library", self.paid(np.power, a.value, b.value))
            p = float(b.value)
            return self.made(expr, op, a.value**p, a, b, exponent=p, words={"p": p})
        self.budget.pay(*product_cost(a.value, b.value) if op == "matmul" else (broadcast_entries(a.value, b.value),))
        return self.made(expr, op, OPERATIONS[op].apply(a.value, b.value), a, b)

    def _function(self, expr: ast.expr, op: str, operand: ast.expr) -> OpNode:
        x = self.node(operand)
        return self.made(expr, op, FUNCTIONS[op](x.value), x)

    def operation(
        self, expr: ast.Call, func: ast.Attribute, more: Mapping[str, ast.expr] = MappingProxyType({})
    ) -> OpNode:
        node = self._unchecked_operation(expr, func, more)
        if func.attr.endswith("_") and func.attr not in RESHAPING and not is_module(func.value):
            changed = self.value(func.value)
            if isinstance(changed, np.ndarray) and changed.shape != node.value.shape:
                raise CollisionError((node.value.shape, changed.shape), None, f".{func.attr}")
        return node

    def _unchecked_operation(self, expr: ast.Call, func: ast.Attribute, more: Mapping[str, ast.expr]) -> OpNode:
        name = func.attr.rstrip("_")
        arguments, words = call_arguments(expr, func)
        words |= more
        if name == "square":
            return self._binary(expr, "pow", arguments[0], ast.Constant(2))
        op = self._meant(operation_called(name), arguments, words)
        if op.form == "power":
            if self.is_plain(arguments[1]):
                return self._binary(expr, op.name, arguments[0], arguments[1])
            return self.made(expr, "library", self.paid(np.power, *map(self.value, arguments)))
        if op.form == "binary":
            return self._binary(expr, op.name, arguments[0], arguments[1])
        if func.attr in REAL_TYPES:
            x = self.node(arguments[0])
            return self.made(expr, op.name, np.asarray(x.value, dtype=np.float64), x)
        if op.form == "curve":
            return self._function(expr, op.name, arguments[0])
        if op.form in CALLS:
            return CALLS[op.form](TracedCall(self, expr, op, arguments, words))
        if op.form not in {"move", "value"}:
            raise UntracedError(op.name)
        given = [self.value(each) for each in arguments[1:]]
        named = {name: self.value(word) for name, word in words.items()}
        full = [self.value(arguments[0]), *given] if arguments else []
        self.budget.refuse_data(size_arguments(op.name, full, named))
        self.budget.pay(*entry_cost(op.name, full, named))
        if op.form == "value":
            return self.made(expr, "library", op.apply(*full, **named))
        act = partial(_acted, op.apply, rest=given, words=named)
        return self.moved(expr, op.kind, act, self.node(arguments[0]))

    def _meant(self, op: Operation, arguments: Sequence[ast.expr], words: Mapping[str, ast.expr]) -> Operation:
        """The operation that a call of *op* with these arguments is: some names of torch's have two meanings."""
        many = len(arguments) > 1
        if op.form == "binary" and words:
            return operation_called(f"{op.name}_multiple")
        if op.name == "gelu" and "approximate" in words:
            tanh = self.plain(words["approximate"]) == "tanh"
            return OPERATIONS["gelu_tanh"] if tanh else op
        if op.form == "curve" and many:
            return operation_called(f"{op.name}_from")
        if op.name in {"max", "min"} and many and not self.is_plain(arguments[1]):
            return OPERATIONS[f"{op.name}imum"]
        return op


def operation_called(name: str) -> Operation:
    """The operation that torch calls *name*.

    Raises:
        UntracedError: None is known here.
    """
    if name not in NAMES:
        raise UntracedError(name)
    return OPERATIONS[NAMES[name]]


def _times(items: list[Any], count: Any) -> list[Any]:
    if len(items) * int(count) > ITEMS_MAX:
        raise CostError("too many items")
    return items * int(count)


def _at(x: Array, index: Any) -> Array:
    """As torch has it: whole numbers are taken out first, and do not count among what picks entries."""
    parts = tuple(map(_as_place, index)) if isinstance(index, tuple) else (_as_place(index),)
    first = tuple(part if isinstance(part, int) or part is ... else slice(None) for part in parts if part is not None)
    return np.asarray(x[first][tuple(part for part in parts if not isinstance(part, int))])


def _as_place(part: Any) -> Any:
    """A tensor of a single whole number as that number."""
    is_whole = isinstance(part, np.ndarray | np.generic) and part.ndim == 0 and part.dtype.kind in "iu"
    return int(part) if is_whole else part


def _acted(move: Act, x: Array, rest: Sequence[Any], words: Mapping[str, Any]) -> Array:
    return move(x, *rest, **words)
