"""Runs a learner's lines in numpy, on a closed list of statements and operations, to ask what another line would give.

Nothing of a submission is executed here: its text is read, and what is not on the list raises `UntracedError`. The
answer counts only where the very same reading of the learner's own text has reproduced the learner's own tensor.
"""

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from typing import Any

import numpy as np

from app.grading.operations.collisions import CollisionError
from app.grading.operations.numerics import Array
from app.grading.reading.budget import EntryBudget, SpentError, bounded_list
from app.grading.reading.node import KnownNodes, UntracedError
from app.grading.reading.plain_tracer import READING_ERRORS, target_bindings
from app.grading.reading.recall import Recall
from app.grading.reading.tracer import BINARY, Tracer
from app.syntax import BINARY_SIGNS, name_node, tuple_parts

STATEMENTS_MAX = 4_000
"""Of one reading; its budget of time ends most before."""

COMPOUND = (ast.For, ast.While, ast.If, ast.With)
"""Statements with statements inside that are read here."""


DEEPEST_CALL = 8
CHANGES_OF_LISTS: Mapping[str, Callable[..., object]] = {
    "append": list.append,
    "extend": list.extend,
    "insert": list.insert,
    "reverse": list.reverse,
}


class _LeaveLoopError(Exception):
    """`break`."""


class _NextTurnError(Exception):
    """`continue`."""


class ReturnError(Exception):
    """`return`."""

    def __init__(self, value: Any) -> None:
        super().__init__()
        self.value = value


class Interpreter:
    """A scope of arrays and of other values, such as sizes and lists; *recall* holds what was read before."""

    follows_functions = False
    """Whether functions that the text defines are read where it calls them."""

    def __init__(
        self,
        arrays: Mapping[str, Array],
        others: Mapping[str, Any],
        budget: EntryBudget | None = None,
        recall: Recall | None = None,
    ) -> None:
        self.arrays = dict(arrays)
        self.others = dict(others)
        self.budget = EntryBudget() if budget is None else budget
        self.recall = recall
        self.after_turn: Callable[[Interpreter], None] | None = None
        self.left = STATEMENTS_MAX
        self._depth = 0

    def copy(self) -> "Interpreter":
        return Interpreter(self.arrays, self.others, self.budget, self.recall)

    def forget(self, names: Iterable[str]) -> None:
        for name in names:
            self.arrays.pop(name, None)
            self.others.pop(name, None)

    def run(self, statements: Sequence[ast.stmt], known: KnownNodes | None = None) -> None:
        """Run *statements*.

        Args:
            known: What was read before; for a single assignment only, whose scope stays as it is.

        Raises:
            UntracedError: Something is not on the list, does not run, or goes on for too long.
        """
        try:
            with np.errstate(all="ignore"):
                for statement in statements:
                    self._statement(statement, known)
        except (*READING_ERRORS, _LeaveLoopError, _NextTurnError, ReturnError) as error:
            raise UntracedError(str(error)) from error

    def _statement(self, statement: ast.stmt, known: KnownNodes | None) -> None:
        self._spend()
        match statement:
            case ast.Assign(targets=targets, value=value):
                result = self._value(value, known)
                for target in targets:
                    self._bind(target, result, known)
            case ast.AugAssign(target=target, op=op, value=value) if type(op) in BINARY:
                old = _as_expression(target)
                made = self._value(ast.copy_location(ast.BinOp(old, op, value), target), known)
                self._check_change(old, made, op, (target, value))
                self._bind(target, made, known)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self._bind(target, self._value(value, known), known)
            case ast.For(target=target, iter=items, body=body, orelse=[]):
                self._loop(self._tracer(None).items(items), target, body)
            case ast.While(test=test, body=body, orelse=[]):
                self._loop(self._turns(test), None, body)
            case ast.If(test=test, body=body, orelse=orelse):
                self._all(body if self._holds(test) else orelse)
            case ast.With(items=[ast.withitem(context_expr=ast.Call(func=ast.Attribute(attr="no_grad")))], body=body):
                self._all(body)
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=attr)) as call) if (
                attr in CHANGES_OF_LISTS and isinstance(self.others.get(name), list)
            ):
                self._change_list(name, attr, call)
            case ast.Expr(value=ast.Call() as call):
                name = _changed_in_place(call)
                self._bind(ast.Name(name, ast.Store()), self._value(call, known), known)
            case ast.FunctionDef(name=name) if self.follows_functions:
                self.assign(ast.Name(name, ast.Store()), statement)
            case ast.Return(value=value):
                raise ReturnError(None if value is None else self._value(value, known))
            case ast.Delete(targets=targets) if all(isinstance(target, ast.Name) for target in targets):
                self.forget(ast.unparse(target) for target in targets)
            case ast.Pass() | ast.Assert() | ast.Expr(value=ast.Constant()):
                pass
            case ast.Break():
                raise _LeaveLoopError
            case ast.Continue():
                raise _NextTurnError
            case _:
                raise UntracedError(type(statement).__name__)

    def _spend(self) -> None:
        self.left -= 1
        if self.left < 0 or self.budget.is_spent():
            raise SpentError("too long")

    def _all(self, statements: Sequence[ast.stmt]) -> None:
        for statement in statements:
            self._statement(statement, None)

    def _loop(self, items: Iterable[Any], target: ast.expr | None, body: Sequence[ast.stmt]) -> None:
        for item in items:
            if target is not None:
                self._bind(target, item, None)
            try:
                self._all(body)
            except _NextTurnError:
                pass
            except _LeaveLoopError:
                break
            if self.after_turn is not None:
                self.after_turn(self)

    def _turns(self, test: ast.expr) -> Iterator[None]:
        while self._holds(test):
            self._spend()
            yield

    def _holds(self, test: ast.expr) -> bool:
        return bool(self._tracer(None).value(test))

    def call(self, function: ast.FunctionDef | ast.Lambda, arguments: Sequence[Any], words: Mapping[str, Any]) -> Any:
        """Call *function*, which the text itself defines."""
        self._spend()
        if not self.follows_functions or self._depth >= DEEPEST_CALL:
            raise UntracedError("too deep")
        bound = {**self._defaults(function.args), **_bound_parameters(function.args, arguments, words)}
        outer, self._depth = (self.arrays, self.others), self._depth + 1
        self.arrays, self.others = dict(self.arrays), dict(self.others)
        self.forget(parameter.arg for parameter in _parameters(function.args))
        try:
            for name, value in bound.items():
                self._keep(name, value)
            if isinstance(function, ast.Lambda):
                return self._value(function.body, None)
            self._all(function.body)
        except ReturnError as returned:
            return returned.value
        finally:
            (self.arrays, self.others), self._depth = outer, self._depth - 1
        return None

    def _defaults(self, arguments: ast.arguments) -> dict[str, Any]:
        names = [parameter.arg for parameter in _parameters(arguments)]
        defaults = arguments.defaults
        return {name: self._value(each, None) for name, each in zip(names[-len(defaults) :], defaults, strict=False)}

    def assign(self, target: ast.expr, value: Any) -> None:
        """Give *value* to the names in *target*."""
        self._bind(target, value, None)

    def _change_list(self, name: str, attr: str, call: ast.Call) -> None:
        # A new list: one that a copy of this scope holds as well must stay as it is.
        changed = list(self.others[name])
        self.budget.pay(len(changed))
        CHANGES_OF_LISTS[attr](changed, *(self._value(argument, None) for argument in call.args))
        self.others[name] = bounded_list(changed)

    def _value(self, expr: ast.expr, known: KnownNodes | None) -> Any:
        return self._tracer(known).value(expr)

    def _tracer(self, known: KnownNodes | None) -> Tracer:
        tracer = Tracer(self.arrays, self.others, self.budget, self)
        # Who wants to know every part is told every part.
        tracer.known, tracer.recall = known, self.recall if known is None else None
        return tracer

    def _bind(self, target: ast.expr, value: Any, known: KnownNodes | None) -> None:
        match target:
            case ast.Subscript(value=ast.Name(id=name), slice=part) if isinstance(self.others.get(name), list | dict):
                changed = copy(self.others[name])
                changed[self._value(part, None)] = value
                self.others[name] = bounded_list(changed)
            case ast.Subscript(value=ast.Name(id=name), slice=part):
                self.budget.pay(self.arrays[name].size)
                full = np.array(self.arrays[name], dtype=np.float64)
                tracer = self._tracer(known)
                parts = tuple_parts(part)
                _write_entries(full, tuple(tracer.plain(each) for each in parts), value, target)
                self.arrays[name] = full
            case ast.Name() | ast.Tuple() | ast.List():
                for name, binding in target_bindings(target, value).items():
                    self._keep(name, binding)
            case _:
                raise UntracedError(target)

    def _check_change(self, old: ast.expr, made: Any, op: ast.operator, place: tuple[ast.expr, ast.expr]) -> None:
        """Raise a `CollisionError` where *made* has not the shape of the tensor that it would change."""
        before = self._value(old, None)
        if isinstance(before, np.ndarray) and np.shape(made) != before.shape:
            collision = CollisionError((np.shape(made), before.shape), None, f"{BINARY_SIGNS[type(op)]}=")
            collision.place = place
            raise collision

    def _keep(self, name: str, value: Any) -> None:
        here, there = (self.arrays, self.others) if isinstance(value, np.ndarray) else (self.others, self.arrays)
        there.pop(name, None)
        here[name] = value


def _write_entries(full: Array, index: tuple[Any, ...], value: Any, target: ast.expr) -> None:
    try:
        full[index] = value
    except ValueError:
        if isinstance(value, np.ndarray):
            collision = CollisionError((value.shape, full[index].shape), None, "=")
            collision.locate(target)
            raise collision from None
        raise


def _as_expression(target: ast.expr) -> ast.expr:
    """A target as an expression."""
    match target:
        case ast.Name(id=name):
            return ast.copy_location(name_node(name), target)
        case ast.Subscript(value=value, slice=part):
            return ast.copy_location(ast.Subscript(value, part, ast.Load()), target)
    raise UntracedError(target)


def _parameters(arguments: ast.arguments) -> list[ast.arg]:
    return [*arguments.posonlyargs, *arguments.args]


def _bound_parameters(arguments: ast.arguments, given: Sequence[Any], words: Mapping[str, Any]) -> dict[str, Any]:
    names = [parameter.arg for parameter in _parameters(arguments)]
    if arguments.vararg or arguments.kwarg or arguments.kwonlyargs or len(given) > len(names) or set(words) - {*names}:
        raise UntracedError("arguments that are not known here")
    return {**dict(zip(names, given, strict=False)), **words}


def _changed_in_place(call: ast.Call) -> str:
    """The name that a chain of in-place methods, such as `x.mul_(2).add_(y)`, changes."""
    inner: ast.expr = call
    while isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute) and inner.func.attr.endswith("_"):
        inner = inner.func.value
    if not isinstance(inner, ast.Name):
        raise UntracedError(call)
    return inner.id
