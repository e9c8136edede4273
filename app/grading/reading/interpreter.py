"""Runs a learner's lines in numpy, on a closed list of statements and operations, to ask what another line would give.

Nothing of a submission is executed here: its text is read, and what is not on the list raises `UntracedError`. The
answer counts only where the very same reading of the learner's own text has reproduced the learner's own tensor.
"""

import ast
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from app.grading.reading.budget import Budget
from app.grading.reading.node import Array, Node, UntracedError
from app.grading.reading.tracer import BINARY, READING_ERRORS, Tracer, bindings

STATEMENTS_MAX = 400


class Interpreter:
    """A scope of arrays and of other values, such as sizes and lists."""

    def __init__(self, arrays: Mapping[str, Array], others: Mapping[str, Any], budget: Budget | None = None) -> None:
        self.arrays = dict(arrays)
        self.others = dict(others)
        self.budget = Budget() if budget is None else budget
        self.left = STATEMENTS_MAX

    def copy(self) -> "Interpreter":
        return Interpreter(self.arrays, self.others, self.budget)

    def forget(self, names: Iterable[str]) -> None:
        for name in names:
            self.arrays.pop(name, None)
            self.others.pop(name, None)

    def run(self, statements: Sequence[ast.stmt], known: dict[int, Node] | None = None) -> None:
        """Run *statements*.

        Args:
            known: What was read before, by identity; for a single assignment only, whose scope stays as it is.

        Raises:
            UntracedError: Something is not on the list, does not run, or goes on for too long.
        """
        try:
            with np.errstate(all="ignore"):
                for statement in statements:
                    self._statement(statement, known)
        except READING_ERRORS as error:
            raise UntracedError(str(error)) from error

    def _statement(self, statement: ast.stmt, known: dict[int, Node] | None) -> None:
        self.left -= 1
        if self.left < 0 or self.budget.is_empty:
            raise UntracedError("too long")
        match statement:
            case ast.Assign(targets=targets, value=value):
                result = self._value(value, known)
                for target in targets:
                    self._bind(target, result, known)
            case ast.AugAssign(target=target, op=op, value=value) if type(op) in BINARY:
                now = ast.BinOp(_read(target), op, value)
                self._bind(target, self._value(now, known), known)
            case ast.For(target=target, iter=items, body=body, orelse=[]):
                for item in Tracer(self.arrays, self.others, self.budget).items(items):
                    self._bind(target, item, None)
                    for inner in body:
                        self._statement(inner, None)
            case ast.Expr(value=ast.Call() as call):
                name = _changed_in_place(call)
                self._bind(ast.Name(name, ast.Store()), self._value(call, known), known)
            case ast.Pass():
                pass
            case _:
                raise UntracedError(type(statement).__name__)

    def _value(self, expr: ast.expr, known: dict[int, Node] | None) -> Any:
        tracer = Tracer(self.arrays, self.others, self.budget)
        tracer.known = known
        return tracer.value(expr)

    def _bind(self, target: ast.expr, value: Any, known: dict[int, Node] | None) -> None:
        match target:
            case ast.Subscript(value=ast.Name(id=name), slice=part):
                self.budget.pay(self.arrays[name].size)
                full = np.array(self.arrays[name], dtype=np.float64)
                tracer = Tracer(self.arrays, self.others, self.budget)
                tracer.known = known
                parts = part.elts if isinstance(part, ast.Tuple) else [part]
                full[tuple(tracer.plain(each) for each in parts)] = value
                self.arrays[name] = full
            case ast.Name() | ast.Tuple() | ast.List():
                for name, one in bindings(target, value).items():
                    self._keep(name, one)
            case _:
                raise UntracedError(ast.unparse(target))

    def _keep(self, name: str, value: Any) -> None:
        here, there = (self.arrays, self.others) if isinstance(value, np.ndarray) else (self.others, self.arrays)
        there.pop(name, None)
        here[name] = value


def _read(target: ast.expr) -> ast.expr:
    """A target as an expression."""
    match target:
        case ast.Name(id=name):
            return ast.Name(name, ast.Load())
        case ast.Subscript(value=value, slice=part):
            return ast.Subscript(value, part, ast.Load())
    raise UntracedError(ast.unparse(target))


def _changed_in_place(call: ast.Call) -> str:
    """The name that a chain of in-place methods, such as `x.mul_(2).add_(y)`, changes."""
    inner: ast.expr = call
    while isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute) and inner.func.attr.endswith("_"):
        inner = inner.func.value
    if not isinstance(inner, ast.Name):
        raise UntracedError(ast.unparse(call))
    return inner.id
