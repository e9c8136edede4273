"""Reads an expression into operations with numpy values.

An interpreter with a closed list of operations: whatever is not on it raises `UntracedError`. Nothing is executed, and
every array is paid for before it is made: the text is an author's or a learner's.
"""

import ast
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np

from app.content.program.static_values import COMPARED, PLAIN
from app.grading.reading.budget import (
    CostError,
    EntryBudget,
    as_operand,
    bounded_number,
    broadcast_entries,
    entry_cost,
    product_steps,
)
from app.grading.reading.calls import CALLS, trace_call
from app.grading.reading.library import FUNCTIONS, KINDS_OF_MOVE, MOVES, VALUES
from app.grading.reading.node import Act, Array, OpNode, UntracedError
from app.grading.reading.recall import Recall

BINARY: Mapping[type[ast.operator], str] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div", ast.Pow: "pow", ast.MatMult: "matmul",
}  # fmt: skip
ACTS: Mapping[str, Callable[[Array, Array], Array]] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.true_divide, "matmul": np.matmul,
}  # fmt: skip
OF_ARRAYS: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    **PLAIN,
    ast.MatMult: operator.matmul,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.Pow: lambda base, exponent: (base if isinstance(base, np.ndarray) else float(base)) ** float(exponent),
}
SAME: Mapping[str, str] = {
    "multiply": "mul", "subtract": "sub", "divide": "div", "true_divide": "div", "negative": "neg", "mm": "matmul",
    "bmm": "matmul", "mv": "matmul", "dot": "matmul", "clip": "clamp", "view": "reshape", "amax": "max", "amin": "min",
    "clone": "copy", "contiguous": "copy", "double": "copy", "float": "copy", "absolute": "abs",
    "swapaxes": "transpose", "swapdims": "transpose", "concat": "cat", "concatenate": "cat",
    "axis": "dim",
}  # fmt: skip
MODULES = frozenset({"torch", "F", "math", "nn", "functional"})
SIZES: Mapping[str, Callable[..., Any]] = {
    "size": lambda x, at=None: x.shape if at is None else x.shape[at],
    "numel": np.size,
    "dim": np.ndim,
}
NO_GRADIENT = frozenset({*SIZES, "argmax", "argmin", "arange", "ones", "zeros"})
ITEMS_MAX = 200
OF_LISTS: Mapping[type[ast.operator], Callable[[Any, Any], list[Any]]] = {
    ast.Add: operator.add,
    ast.Mult: lambda a, b: _times(a, b) if isinstance(a, list) else _times(b, a),
}

READING_ERRORS = (
    ValueError, TypeError, IndexError, KeyError, AttributeError, ArithmeticError, RecursionError, AssertionError,
    MemoryError, CostError,
)  # fmt: skip
"""What a text that is not on the list, or costs too much, may raise while it is read."""


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


def target_bindings(target: ast.expr, value: Any) -> dict[str, Any]:
    """Values of the names in *target* once *value* is assigned to it."""
    match target:
        case ast.Name(id=name):
            return {name: value}
        case ast.Tuple(elts=elts) | ast.List(elts=elts):
            parts = [target_bindings(each, item) for each, item in zip(elts, value, strict=True)]
            return {name: item for part in parts for name, item in part.items()}
    raise UntracedError(ast.unparse(target))


def places(expr: ast.expr) -> ast.Call | None:
    """Indices of the largest entries, `x.max(1).indices` or `x.max(1)[1]`, as `x.argmax(1)`."""
    match expr:
        case (
            ast.Attribute(value=ast.Call() as call, attr="indices")
            | ast.Subscript(value=ast.Call() as call, slice=ast.Constant(value=1))
        ):
            match call.func:
                case ast.Attribute(value=x, attr="max" | "min" as way):
                    return ast.Call(ast.Attribute(x, f"arg{way}", ast.Load()), call.args, call.keywords)
    return None


def is_module(expr: ast.expr) -> bool:
    match expr:
        case ast.Name(id=name):
            return name in MODULES
        case ast.Attribute(value=value, attr="functional" | "special" | "nn" | "linalg"):
            return is_module(value)
    return False


class Tracer:
    """Reads expressions; *forward* are the tensors and *dims* the sizes in scope.

    *known* keeps what was read, by identity, where nothing changes meanwhile; *recall* does so where names change.
    """

    known: dict[int, OpNode] | None = None
    recall: Recall | None = None

    def __init__(
        self, forward: Mapping[str, Array], dims: Mapping[str, Any], budget: EntryBudget | None = None
    ) -> None:
        self.forward = forward
        self.dims = dims
        self.budget = EntryBudget() if budget is None else budget
        self._plain_ones: dict[int, bool] = {}

    def node(self, expr: ast.expr) -> OpNode:
        if self.recall is not None:
            return self.recall.node(expr, (self.forward, self.dims), self._read)
        if self.known is None:
            return self._read(expr)
        op_node = self.known.get(id(expr))
        if op_node is None:
            op_node = self.known[id(expr)] = self._read(expr)
        return op_node

    def value(self, expr: ast.expr) -> Any:
        """Evaluate an argument: a tensor, a number, a list of either."""
        while isinstance(expr, ast.IfExp):
            expr = self.chosen(expr)
        known = None if self.recall is None else self.recall.value(expr, (self.forward, self.dims))
        if known is not None:
            return known
        if isinstance(expr, ast.List | ast.Tuple):
            return [self.value(each) for each in expr.elts]
        if isinstance(expr, ast.ListComp | ast.GeneratorExp):
            return self._listed(expr)
        if isinstance(expr, ast.Dict):
            pairs = zip(expr.keys, expr.values, strict=True)
            return {self.plain(key): self.value(each) for key, each in pairs if key is not None}
        if isinstance(expr, ast.BinOp) and type(expr.op) in OF_LISTS and self.is_list(expr):
            return OF_LISTS[type(expr.op)](self.value(expr.left), self.value(expr.right))
        if isinstance(expr, ast.Name) and expr.id in self.dims:
            return self.dims[expr.id]
        return self.plain(expr) if self.is_plain(expr) else self.node(expr).value

    def is_list(self, expr: ast.expr) -> bool:
        """True if *expr* is written as a list: brackets, a list in scope, or a sum or a multiple of such."""
        match expr:
            case ast.List() | ast.ListComp():
                return True
            case ast.Name(id=name):
                return isinstance(self.dims.get(name), list)
            case ast.BinOp(left=left, right=right):
                return self.is_list(left) or self.is_list(right)
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

    def picked(self, x: Any, index: Any) -> Any:
        if isinstance(x, np.ndarray):
            self.budget.pay_for_pick(x, index)
        return x[index]

    # What has no gradient: numbers, sizes, shapes, slices, indices, masks.

    def is_plain(self, expr: ast.expr) -> bool:
        """True if *expr* has no gradient: it reads no tensor, or only the shape of one or comparisons."""
        plain = self._plain_ones.get(id(expr))
        if plain is None:
            plain = self._plain_ones[id(expr)] = self._is_plain(expr)
        return plain

    def _is_plain(self, expr: ast.expr) -> bool:
        match expr:
            case ast.Constant() | ast.Compare() | ast.Attribute(attr="shape" | "ndim" | "dtype"):
                return True
            case ast.Name(id=name):
                return name not in self.forward and not isinstance(self.dims.get(name), list | tuple | dict)
            case ast.Call(func=ast.Attribute(attr=attr)) if attr in NO_GRADIENT:
                return True
            case ast.Attribute() | ast.Subscript() if places(expr) is not None:
                return True
            case ast.Call(func=ast.Name(id="len" | "range")):
                return True
        return all(self.is_plain(child) for child in ast.iter_child_nodes(expr) if isinstance(child, ast.expr))

    def plain(self, expr: ast.expr) -> Any:
        """The value of an expression that has no gradient."""
        return bounded_number(self._plain(expr))

    def _plain(self, expr: ast.expr) -> Any:
        match places(expr) or expr:
            case ast.Constant(value=value):
                return value
            case ast.Name(id=name):
                return self.forward[name] if name in self.forward else self.dims[name]
            case ast.Tuple(elts=elts) | ast.List(elts=elts):
                return tuple(self.plain(each) for each in elts)
            case ast.Slice(lower=lower, upper=upper, step=step):
                return slice(*(None if bound is None else self.plain(bound) for bound in (lower, upper, step)))
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -as_operand(self.plain(operand))
            case ast.UnaryOp(op=ast.Invert(), operand=operand):
                return ~np.asarray(self.value(operand))
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return not self.value(operand)
            case ast.BoolOp(op=ast.And(), values=values):
                return all(self.value(each) for each in values)
            case ast.BoolOp(values=values):
                return any(self.value(each) for each in values)
            case ast.IfExp() as choice:
                return self.plain(self.chosen(choice))
            case ast.Compare(left=left, ops=[ast.Is() | ast.IsNot() as op], comparators=[ast.Constant(value=None)]):
                return (self.value(left) is None) == isinstance(op, ast.Is)
            case ast.BinOp(op=op, left=left, right=right) if type(op) in OF_ARRAYS:
                return self._paid(OF_ARRAYS[type(op)], as_operand(self.value(left)), as_operand(self.value(right)))
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in COMPARED:
                return self._paid(COMPARED[type(op)], self.value(left), self.value(right))
            case ast.Compare(left=left, ops=ops, comparators=others) if all(type(op) in COMPARED for op in ops):
                numbers = [as_operand(self.plain(each)) for each in (left, *others)]
                return all(COMPARED[type(op)](a, b) for op, a, b in zip(ops, numbers, numbers[1:], strict=False))
            case ast.Subscript(value=base, slice=part):
                return self.picked(self.value(base), self.plain(part))
            case ast.Attribute(value=ast.Name(id="math" | "torch"), attr="inf" | "pi" | "e" as attr):
                return getattr(math, attr)
            case ast.Attribute(value=ast.Name(id="torch")) | ast.Attribute(attr="dtype"):
                return None  # a type of number, which changes no value here
            case ast.Attribute(value=base, attr="shape" | "ndim" as attr):
                return getattr(np.asarray(self.value(base)), attr)
            case ast.Call(func=ast.Name(id="len"), args=[base]):
                return len(self.value(base))
            case ast.Call(func=ast.Name(id="float"), args=[ast.Constant(value=str() as text)]):
                return _number_in(text)
            case ast.Call(func=ast.Name(id="range"), args=bounds):
                return np.asarray(self.items(expr), dtype=np.int64) if bounds else None
            case ast.Call(func=ast.Attribute(value=base, attr=attr), args=arguments) if attr in SIZES:
                return SIZES[attr](self.value(base), *map(self.plain, arguments))
            case ast.Call(func=ast.Attribute() as func) as call:
                return self._call(call, func).value
        raise UntracedError(ast.unparse(expr))

    def chosen(self, expr: ast.IfExp) -> ast.expr:
        """The side of `a if test else b` that counts."""
        return expr.body if self.value(expr.test) else expr.orelse

    def _paid(self, act: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
        self.budget.pay(broadcast_entries(a, b))
        return act(a, b)

    # Lists and loops.

    def _listed(self, expr: ast.ListComp | ast.GeneratorExp) -> list[Any]:
        (loop,) = expr.generators
        values = []
        for each in self.items(loop.iter):
            self.budget.pay(0)  # an item costs time, whatever it holds
            bound = target_bindings(loop.target, each)
            arrays = {name: array for name, array in bound.items() if isinstance(array, np.ndarray)}
            others = {name: item for name, item in bound.items() if name not in arrays}
            inner = Tracer({**self.forward, **arrays}, {**self.dims, **others}, self.budget)
            if all(inner.value(test) for test in loop.ifs):
                values.append(inner.value(expr.elt))
        return values

    def items(self, expr: ast.expr) -> list[Any]:
        """Items that a loop over *expr* runs through; bounded."""
        match expr:
            case ast.Call(func=ast.Name(id="range"), args=bounds):
                turns = range(*(int(self.plain(bound)) for bound in bounds))
                self.budget.pay(len(turns))
                return list(turns)
            case ast.Call(func=ast.Name(id="reversed"), args=[inner]):
                items = self.items(inner)[::-1]
            case ast.Call(func=ast.Name(id="enumerate"), args=[inner]):
                items = list(enumerate(self.items(inner)))
            case ast.Call(func=ast.Name(id="zip"), args=inner):
                items = list(zip(*map(self.items, inner), strict=False))
            case _:
                items = list(self.value(expr))
        if len(items) > ITEMS_MAX:
            raise UntracedError("too many turns")
        return items

    # What has a gradient.

    def _read(self, expr: ast.expr) -> OpNode:
        if self.is_plain(expr):
            return self.made(expr, "number", self.plain(expr))
        match expr:
            case ast.Name(id=name) if name in self.forward:
                return self.made(expr, "tensor", self.forward[name])
            case ast.BinOp(op=op, left=left, right=right) if type(op) in BINARY:
                return self._binary(expr, BINARY[type(op)], left, right)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self._function(expr, "neg", operand)
            case ast.UnaryOp(op=ast.Invert(), operand=operand):
                return self.made(expr, "library", ~self.node(operand).value)
            case ast.Call(func=ast.Attribute() as func):
                return self._call(expr, func)
            case ast.Call(func=ast.Name(id="sum"), args=[inner]):
                terms = self.value(inner)
                self.budget.pay(broadcast_entries(*terms) * max(1, len(terms)))
                return self.made(expr, "library", sum(terms))
            case ast.Call(func=ast.Name(id="float" | "int" | "abs"), args=[inner]):
                return self.made(expr, "library", self.node(inner).value)
            case ast.IfExp():
                return self.node(self.chosen(expr))
            case ast.Attribute(value=ast.Call() as inner, attr="values"):
                return self.node(inner)
            case ast.Attribute(value=base, attr="T" | "mT" | "H" as attr):
                return self.moved(expr, "permute", MOVES[attr], self.node(base))
            case ast.Subscript(value=base, slice=part):
                return self._subscript(expr, base, part)
        raise UntracedError(ast.unparse(expr))

    def _subscript(self, expr: ast.expr, base: ast.expr, part: ast.expr) -> OpNode:
        match base, part:
            case ast.Call(func=ast.Attribute(attr="max" | "min")), ast.Constant(value=0):
                return self.node(base)
            case ast.Call(func=ast.Attribute(attr="chunk" | "split" | "unbind") as func), ast.Constant(value=int()):
                return self._call(base, func, {"rank": part})
            case ast.Name(id=name), _ if name in self.dims:
                return self.made(expr, "library", self.picked(self.dims[name], self.plain(part)))
        parts = part.elts if isinstance(part, ast.Tuple) else [part]
        return self.index(expr, self.node(base), tuple(self.plain(each) for each in parts))

    def index(self, expr: ast.expr, x: OpNode, index: Any) -> OpNode:
        self.budget.pay_for_pick(x.value, index)
        return self.moved(expr, "index", partial(_at, index=index), x, index=index)

    def _binary(self, expr: ast.expr, op: str, left: ast.expr, right: ast.expr) -> OpNode:
        a, b = self.node(left), self.node(right)
        if op == "pow":
            if b.op != "number" or b.value.ndim:
                raise UntracedError("a tensor as exponent")
            p = float(b.value)
            return self.made(expr, op, a.value**p, a, b, exponent=p, words={"p": p})
        self.budget.pay((product_steps if op == "matmul" else broadcast_entries)(a.value, b.value))
        return self.made(expr, op, ACTS[op](a.value, b.value), a, b)

    def _function(self, expr: ast.expr, op: str, operand: ast.expr) -> OpNode:
        x = self.node(operand)
        return self.made(expr, op, FUNCTIONS[op](x.value), x)

    def _call(self, expr: ast.Call, func: ast.Attribute, more: Mapping[str, ast.expr] = MappingProxyType({})) -> OpNode:
        op = SAME.get(func.attr.rstrip("_"), func.attr.rstrip("_"))
        arguments = list(expr.args) if is_module(func.value) else [func.value, *expr.args]
        words = {SAME.get(word.arg, word.arg): word.value for word in expr.keywords if word.arg} | dict(more)
        if op in {"square", "pow"}:
            return self._binary(expr, "pow", arguments[0], ast.Constant(2) if op == "square" else arguments[1])
        if op in ACTS and not words:
            return self._binary(expr, op, arguments[0], arguments[1])
        if op == "gelu" and "approximate" in words:
            op = "gelu_tanh" if self.plain(words["approximate"]) == "tanh" else op
        if op in FUNCTIONS and (len(arguments) == 1 or op == "gelu_tanh"):
            return self._function(expr, op, arguments[0])
        if op in CALLS or op == "einsum":
            return trace_call(self, expr, op, arguments, words)
        given = [self.value(each) for each in arguments[1:]]
        named = {name: self.value(word) for name, word in words.items()}
        if op in MOVES:
            self.budget.pay(entry_cost(op, [self.value(arguments[0]), *given], named))
            act = partial(_acted, MOVES[op], rest=given, words=_positional(op, named))
            return self.moved(expr, KINDS_OF_MOVE.get(op, op), act, self.node(arguments[0]))
        if op not in VALUES:
            raise UntracedError(op)
        full = [self.value(arguments[0]), *given] if arguments else []
        self.budget.pay(entry_cost(op, full, named))
        return self.made(expr, "library", VALUES[op](*full, **named))


def _times(items: list[Any], count: Any) -> list[Any]:
    if len(items) * int(count) > ITEMS_MAX:
        raise CostError("too many items")
    return items * int(count)


def _number_in(text: str) -> float:
    """The number that Python reads in *text*, such as `-inf`."""
    try:
        return float(text)
    except ValueError:
        raise UntracedError(f"float({text[:20]!r})") from None


def _at(x: Array, index: Any) -> Array:
    """As torch has it: whole numbers are taken out first, and do not count among what picks entries."""
    parts = index if isinstance(index, tuple) else (index,)
    first = tuple(part if isinstance(part, int) or part is ... else slice(None) for part in parts if part is not None)
    return np.asarray(x[first][tuple(part for part in parts if not isinstance(part, int))])


def _acted(move: Act, x: Array, rest: Sequence[Any], words: Mapping[str, Any]) -> Array:
    return move(x, *rest, **words)


def _positional(op: str, words: Mapping[str, Any]) -> Mapping[str, Any]:
    """Names of torch's that numpy has not."""
    return {} if op in {"pad"} else words
