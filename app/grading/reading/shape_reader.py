"""Reads a text on shapes alone: nothing is executed, no entry is made, and what is not known is silent.

Statements are read one by one, loops written out, functions followed where they are called; all of it is paid for from
one purse of steps. A statement that cannot be read makes the names that it writes unknown, and nothing else.
"""

import ast
import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from app.bindings import writes_of
from app.grading.reading.abstract import (
    DTYPE_OF,
    NUMBER,
    Abstract,
    CollisionError,
    UnknownError,
    fits_into,
    picked,
    tensor,
)
from app.grading.reading.shape_arithmetic import (
    HELD_MAX,
    ITEMS_MAX,
    SIGNS,
    arithmetic,
    built_in,
    compared,
    held,
    items_of,
    signed,
)
from app.grading.reading.shape_rules import RULES_OF_SHAPE
from app.grading.reading.shape_rules.elsewhere import reversed_axes, swapped_last
from app.grading.reading.tracer import is_module

STEPS = 5000
"""Parts of a text that are looked at, those of loops and functions each time."""
DEEPEST_CALL = 8
WORDS = {
    "axis": "dim", "keepdims": "keepdim", "input": "x", "x1": "x", "min": "low", "max": "high", "sorted": "in_order",
    "a": "x", "elements": "x",
}  # fmt: skip
"""Names of arguments, by what they are called in the rules."""
FIELDS = {"values": 0, "indices": 1, "sign": 0, "logabsdet": 1, "eigenvalues": 0, "eigenvectors": 1}
FIELDS |= {"U": 0, "S": 1, "Vh": 2, "Q": 0, "R": 1}
READ_ERRORS = (UnknownError, TypeError, ValueError, IndexError, KeyError, ArithmeticError, RecursionError)
"""What a text may raise while it is read: arguments that no operation takes, and all that is not on the list."""

_VAGUE = object()
"""What comes back from a function that may have returned before."""
Saw = Callable[[ast.stmt, Any], None]


class SpentError(Exception):
    """The purse is empty."""


class _LeftError(Exception):
    """A function has returned."""

    def __init__(self, value: Any) -> None:
        super().__init__()
        self.value = value


class ShapeReader:
    """Reads statements in a scope of shapes.

    Args:
        scope: Tensors as `Abstract`, sizes and other values as they are.
        saw: Told of every statement that was read, with what it gave: a tensor, several, or a `CollisionError`.
        steps: What the purse holds.
    """

    def __init__(self, scope: Mapping[str, Any], saw: Saw = lambda *_: None, steps: int = STEPS) -> None:
        self.scope = dict(scope)
        self._saw = saw
        self._left = steps
        self._depth = 0

    def run(self, statements: Sequence[ast.stmt]) -> bool:
        """Read *statements*, as far as the purse goes; whether that was far enough."""
        try:
            self._block(statements)
        except SpentError:
            return False
        except _LeftError:
            pass
        return True

    # Statements.

    def _block(self, statements: Sequence[ast.stmt]) -> None:
        for statement in statements:
            self._pay()
            try:
                self._statement(statement)
            except CollisionError as met:
                self._forget(statement)
                self._saw(statement, met)
            except READ_ERRORS:
                self._forget(statement)

    def _forget(self, *statements: ast.stmt) -> None:
        for statement in statements:
            for name in writes_of(list(ast.walk(statement))):
                self.scope.pop(name, None)

    def _statement(self, statement: ast.stmt) -> None:
        match statement:
            case ast.Assign(targets=targets, value=value):
                given = self.value(value)
                for target in targets:
                    self._bind(target, given)
                self._tell(statement, targets[-1])
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self._bind(target, self.value(value))
                self._tell(statement, target)
            case ast.AugAssign(target=target, op=op, value=value):
                self._added(target, op, value)
                self._tell(statement, target)
            case ast.Expr(value=value):
                self._expression(statement, value)
            case ast.For(target=target, iter=items, body=body, orelse=[]):
                self._loop(target, items, body)
            case ast.While(test=test, body=body, orelse=[]):
                self._while(test, body)
            case ast.If(test=test, body=body, orelse=other):
                self._either(test, body, other)
            case ast.With(body=body):
                self._block(body)
            case ast.FunctionDef(name=name):
                self.scope[name] = statement
            case ast.Return(value=value):
                given = None if value is None else self.value(value)
                self._saw(statement, given)
                raise _LeftError(given)
            case ast.Pass() | ast.Assert():
                pass
            case _:
                raise UnknownError

    def _expression(self, statement: ast.Expr, value: ast.expr) -> None:
        given = self.value(value)
        root = value
        while isinstance(root, ast.Call) and isinstance(root.func, ast.Attribute) and root.func.attr.endswith("_"):
            root = root.func.value
        if root is not value and isinstance(root, ast.Name) and isinstance(given, Abstract):
            self.scope[root.id] = given
        self._saw(statement, given)

    def _tell(self, statement: ast.stmt, target: ast.expr) -> None:
        self._saw(statement, self._now(target))

    def _now(self, target: ast.expr) -> Any:
        match target:
            case ast.Name(id=name):
                return self.scope.get(name)
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                return tuple(self._now(part) for part in parts)
            case ast.Subscript(value=inner):
                return self._now(inner)
        return None

    def _added(self, target: ast.expr, op: ast.operator, value: ast.expr) -> None:
        match target:
            case ast.Name(id=name):
                now = self.value(ast.copy_location(ast.Name(name, ast.Load()), target))
            case ast.Subscript(value=inner, slice=part):
                now = self.value(ast.copy_location(ast.Subscript(inner, part, ast.Load()), target))
            case _:
                raise UnknownError
        given = self.value(value)
        made = self._located(target, value, lambda: arithmetic(op, now, given))
        if isinstance(now, Abstract):  # in place: what is added has to be spread over what is there
            self._located(target, value, lambda: fits_into(tensor(made).shape, now.shape, f"{SIGNS[type(op)]}="))
            made = now
        if isinstance(target, ast.Name):
            self.scope[target.id] = made

    def _bind(self, target: ast.expr, given: Any) -> None:
        match target:
            case ast.Name(id=name):
                self.scope[name] = given
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                if isinstance(given, Abstract):
                    given = [picked(given, at) for at in range(given.shape[0] if given.rank else 0)]
                for part, one in zip(parts, given, strict=True):
                    self._bind(part, one)
            case ast.Subscript(value=ast.Name(id=name), slice=part):
                here = self.scope[name]
                if isinstance(here, Abstract):
                    place = picked(here, self.value(part))
                    if isinstance(given, Abstract):
                        self._located(target, target, lambda: fits_into(given.shape, place.shape, "="))
            case _:
                raise UnknownError

    def _loop(self, target: ast.expr, items: ast.expr, body: Sequence[ast.stmt]) -> None:
        _turns_all(body)
        for one in items_of(self.value(items)):
            self._bind(target, one)
            self._block(body)

    def _while(self, test: ast.expr, body: Sequence[ast.stmt]) -> None:
        _turns_all(body)
        for _ in range(ITEMS_MAX):
            known = self.value(test)
            if type(known) not in (bool, int):
                break
            if not known:
                return
            self._block(body)
        raise UnknownError

    def _either(self, test: ast.expr, body: Sequence[ast.stmt], other: Sequence[ast.stmt]) -> None:
        try:
            known = self.value(test)
        except READ_ERRORS:
            known = NUMBER
        if type(known) in (bool, int):
            self._block(body if known else other)
            return
        before, ends, left = self.scope, [], False
        for branch in (body, other):
            self.scope = dict(before)
            try:
                self._block(branch)
            except _LeftError:
                left = True
            ends.append(self.scope)
        if left:  # or not: nobody can tell what comes back
            raise _LeftError(_VAGUE)
        one, two = ends
        self.scope = {name: value for name, value in one.items() if name in two and two[name] == value}

    # Expressions.

    def value(self, expr: ast.expr) -> Any:
        """What *expr* gives.

        Raises:
            UnknownError: Nobody can tell; so do the other `READ_ERRORS`.
            CollisionError: It does not run, for its shapes cannot meet; its `place` is the innermost part to blame.
        """
        self._pay()
        match expr:
            case ast.Constant(value=value):
                return value
            case ast.Name(id=name):
                return self._named(name)
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                found = self._paid([one for part in parts for one in self._part(part)])
                return tuple(found) if isinstance(expr, ast.Tuple) else found
            case ast.BinOp(op=op, left=left, right=right):
                a, b = self.value(left), self.value(right)
                return self._located(left, right, lambda: self._paid(arithmetic(op, a, b)))
            case ast.UnaryOp(op=sign, operand=operand):
                return signed(sign, self.value(operand))
            case ast.Compare(left=left, ops=[way], comparators=[right]):
                a, b = self.value(left), self.value(right)
                return self._located(left, right, lambda: compared(way, a, b))
            case ast.BoolOp(values=values):
                found = [self.value(one) for one in values]
                return found[0] if all(one is found[0] for one in found) else NUMBER
            case ast.IfExp(test=test, body=body, orelse=other):
                return self._one_of(test, body, other)
            case ast.Subscript(value=inner, slice=part):
                return self._subscript(expr, self.value(inner), part)
            case ast.Slice(lower=lower, upper=upper, step=step):
                return slice(*(None if one is None else self.value(one) for one in (lower, upper, step)))
            case ast.Attribute(value=inner, attr=name):
                return self._attribute(inner, name)
            case ast.Call():
                return self._call(expr)
            case ast.ListComp(elt=elt, generators=[loop]) | ast.GeneratorExp(elt=elt, generators=[loop]):
                return self._listed(elt, loop)
            case ast.Lambda():
                return expr
            case ast.JoinedStr():
                return ""
            case ast.NamedExpr(target=target, value=value):
                self._bind(target, given := self.value(value))
                return given
        raise UnknownError

    def _part(self, part: ast.expr) -> Iterator[Any]:
        if isinstance(part, ast.Starred):
            yield from items_of(self.value(part.value))
        else:
            yield self.value(part)

    def _named(self, name: str) -> Any:
        if name in self.scope and self.scope[name] is not None:
            return self.scope[name]
        raise UnknownError

    def _located(self, left: ast.expr, right: ast.expr, act: Callable[[], Any]) -> Any:
        """What *act* gives; of a collision, the place is from *left* to *right*."""
        try:
            return act()
        except CollisionError as met:
            met.place = met.place or (left, right)
            raise

    def _one_of(self, test: ast.expr, body: ast.expr, other: ast.expr) -> Any:
        known = self.value(test)
        if type(known) in (bool, int):
            return self.value(body if known else other)
        one, two = self.value(body), self.value(other)
        if one == two:
            return one
        raise UnknownError

    def _subscript(self, expr: ast.Subscript, inner: Any, part: ast.expr) -> Any:
        index = self.value(part)
        if isinstance(inner, Abstract):
            return self._located(expr, expr, lambda: picked(inner, index))
        if isinstance(inner, list | tuple | str | range) and type(index) in (int, slice):
            return inner[index]
        raise UnknownError

    def _attribute(self, inner: ast.expr, name: str) -> Any:
        if is_module(inner):
            return {"pi": NUMBER, "e": NUMBER, "inf": NUMBER, "nan": NUMBER, "tau": NUMBER}.get(name, name)
        value = self.value(inner)
        if isinstance(value, tuple) and name in FIELDS and FIELDS[name] < len(value):
            return value[FIELDS[name]]
        x = tensor(value)
        match name:
            case "shape":
                return x.shape
            case "ndim":
                return x.rank
            case "T":
                return reversed_axes(x)
            case "mT" | "mH":
                return swapped_last(x)
            case "H" if x.rank == 2:
                return swapped_last(x)
            case "dtype":
                return DTYPE_OF.get(x.kind, name)
            case "data" | "real":
                return x
        raise UnknownError

    # Calls.

    def _call(self, call: ast.Call) -> Any:
        match call.func:
            case ast.Name(id=name):
                return self._own(name, call)
            case ast.Lambda() as function:
                return self._followed(function, [one for part in call.args for one in self._part(part)], {})
            case ast.Attribute(value=inner, attr=name):
                given = [one for part in call.args for one in self._part(part)]
                if not is_module(inner) and not _of_module(inner):
                    given = [self.value(inner), *given]
                    if isinstance(given[0], list) and name == "append" and isinstance(inner, ast.Name):
                        self._paid(given)
                        given[0].append(given[1])
                        return None
                words = {WORDS.get(one.arg, one.arg): self.value(one.value) for one in call.keywords if one.arg}
                if len(words) < len(call.keywords):
                    raise UnknownError
                return self._operated(call, name, given, words)
        raise UnknownError

    def _operated(self, call: ast.Call, name: str, given: list[Any], words: dict[str, Any]) -> Any:
        rule = RULES_OF_SHAPE.get(name.rstrip("_"))
        if rule is None or words.pop("out", None) is not None:
            raise UnknownError
        made = self._located(call, call, lambda: rule(*given, **words))
        in_place = name.endswith("_") and name not in _RESHAPING and given and isinstance(given[0], Abstract)
        if in_place and isinstance(made, Abstract):
            self._located(call, call, lambda: fits_into(made.shape, given[0].shape, f".{name}"))
            return given[0]
        return made

    def _own(self, name: str, call: ast.Call) -> Any:
        """A function of Python's, or one that the text defines."""
        given = [one for part in call.args for one in self._part(part)]
        own = self.scope.get(name)
        if isinstance(own, ast.FunctionDef | ast.Lambda):
            return self._followed(own, given, {one.arg: self.value(one.value) for one in call.keywords if one.arg})
        if name in self.scope or (call.keywords and name not in {"print", "sorted"}):
            raise UnknownError
        return self._located(call, call, lambda: built_in(name, given))

    def _followed(self, function: ast.FunctionDef | ast.Lambda, given: list[Any], words: dict[str, Any]) -> Any:
        if self._depth >= DEEPEST_CALL:
            raise UnknownError
        arguments = function.args
        names = [one.arg for one in (*arguments.posonlyargs, *arguments.args)]
        defaults = dict(zip(names[len(names) - len(arguments.defaults) :], arguments.defaults, strict=True))
        if arguments.vararg or arguments.kwarg or arguments.kwonlyargs or len(given) > len(names):
            raise UnknownError
        bound = (
            {name: self.value(one) for name, one in defaults.items()} | dict(zip(names, given, strict=False)) | words
        )
        outer, self.scope, self._depth = self.scope, {**self.scope, **dict.fromkeys(names), **bound}, self._depth + 1
        try:
            if isinstance(function, ast.Lambda):
                return self.value(function.body)
            self._block(function.body)
        except _LeftError as left:
            if left.value is _VAGUE:
                raise UnknownError from None
            return left.value
        finally:
            self.scope, self._depth = outer, self._depth - 1
        return None

    def _listed(self, elt: ast.expr, loop: ast.comprehension) -> list[Any]:
        if loop.ifs:
            raise UnknownError
        outer, found = self.scope, []
        self.scope = copy.copy(outer)
        try:
            for one in items_of(self.value(loop.iter)):
                self._bind(loop.target, one)
                found.append(self.value(elt))
            self._paid(found)
        finally:
            self.scope = outer
        return found

    def _paid(self, items: Any) -> Any:
        """*items*, once every value in them is paid for: lists of the same lists would be large beyond measure."""
        count = held(items)
        if count > HELD_MAX:
            raise UnknownError
        self._pay(count)
        return items

    def _pay(self, steps: int = 1) -> None:
        self._left -= steps
        if self._left < 0:
            raise SpentError


def _turns_all(body: Sequence[ast.stmt]) -> None:
    """Raise where a loop may leave a turn, or end, before the others."""
    if any(isinstance(node, ast.Break | ast.Continue | ast.Return) for one in body for node in ast.walk(one)):
        raise UnknownError


_RESHAPING = frozenset({"unsqueeze_", "squeeze_", "transpose_", "t_", "swapaxes_", "swapdims_"})


def _of_module(inner: ast.expr) -> bool:
    """`torch.linalg` and the like."""
    return isinstance(inner, ast.Attribute) and inner.attr in {"linalg", "Tensor"} and is_module(inner.value)
