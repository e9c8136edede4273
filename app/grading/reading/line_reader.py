"""Reads a text line by line for the shapes that it gives: what cannot be read is forgotten, and nothing else is.

The numbers are drawn ones, so none of them may decide anything: not how many entries there are, and not which way is
taken. Where they would, both ways are read, and what differs between them is forgotten.
"""

import ast
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from app.bindings import writes_of
from app.grading.operations.collisions import CollisionError
from app.grading.operations.numerics import Array
from app.grading.reading.budget import CostError, DataSizeError, EntryBudget, SpentError
from app.grading.reading.interpreter import Interpreter, ReturnError
from app.grading.reading.node import KnownNodes, UntracedError
from app.grading.reading.plain_tracer import ITEMS_MAX, READING_ERRORS
from app.syntax import nodes_in

TOTAL, SECONDS = 40_000_000, 0.15
STATEMENTS_MAX = 1_500
"""Entries, processor time, and statements of one reading while a learner types; those of loops count each time."""
Saw = Callable[[ast.stmt, Any], None]
LineTexts = Mapping[ast.stmt, tuple[str, Sequence[str]]]
"""By assignment: its text, and the words in it."""
KeptLine = tuple[Array, list[Any]]
"""The tensor that a line made, and the values of its words: held, so that no other object comes to stand for one."""
KeepLine = Callable[[Hashable, Callable[[], KeptLine | None]], KeptLine | None]
"""What is kept for a key, or what is made now, which may be kept."""
ENTRIES_OF_ONE = 16_384
"""Of a line that is kept: of the tensor that it makes and of those that it reads, together."""
WORD = re.compile(r"[A-Za-z_]\w*")


def read_anew(_: Hashable, make: Callable[[], KeptLine | None]) -> KeptLine | None:
    """Keeps nothing."""
    return make()


class LineReader(Interpreter):
    """Reads statements in a scope of tensors and of other values.

    Args:
        saw: Told of every statement that was read, with what it gave: a tensor, several, or a `CollisionError`.
        statements: How many are read, at most.
        texts: Of the assignments that *keep* may know from a text before.
    """

    follows_functions = True

    def __init__(
        self,
        scope: Mapping[str, Any],
        saw: Saw = lambda *_: None,
        budget: EntryBudget | None = None,
        statements: int = STATEMENTS_MAX,
        texts: LineTexts = MappingProxyType({}),
        keep: KeepLine = read_anew,
    ) -> None:
        arrays = {name: value for name, value in scope.items() if isinstance(value, np.ndarray)}
        others = {name: value for name, value in scope.items() if name not in arrays}
        super().__init__(
            arrays, others, EntryBudget(data_sizes=False, total=TOTAL, seconds=SECONDS) if budget is None else budget
        )
        self.left = statements
        self._written: dict[ast.stmt, frozenset[str]] = {}
        self._saw = saw
        self._texts = texts
        self._keep_line = keep
        self.too_large = False
        """Whether a tensor was larger than what is paid for."""

    @property
    def scope(self) -> dict[str, Any]:
        return {**self.others, **self.arrays}

    def read(self, statements: Sequence[ast.stmt]) -> bool:
        """Read *statements*, as far as the budget goes; whether that was far enough."""
        try:
            with np.errstate(all="ignore"):
                self._all(statements)
        except SpentError:
            return False
        except ReturnError:
            pass
        return True

    def _all(self, statements: Sequence[ast.stmt]) -> None:
        for statement in statements:
            try:
                self._statement(statement, None)
                self._tell(statement)
            except CollisionError as collision:
                self.forget_written(statement)
                self._saw(statement, collision)
            except (UntracedError, *READING_ERRORS) as error:
                if isinstance(error, SpentError):
                    raise
                self.too_large |= isinstance(error, CostError) and not isinstance(error, DataSizeError)
                self.forget_written(statement)

    def _statement(self, statement: ast.stmt, known: KnownNodes | None) -> None:
        match statement:
            case ast.Assign(targets=[target]) | ast.AugAssign(target=target) if statement in self._texts:
                self._assign(statement, target)
            case ast.Expr(value=value) if not _is_change(value):
                self._spend()
                self._saw(statement, self._value(value, known))
            case ast.For(body=body) | ast.While(body=body) if _may_leave(body):
                raise UntracedError("a turn that may end")
            case ast.Return(value=value):
                self._spend()
                given = None if value is None else self._value(value, None)
                self._saw(statement, given)
                raise ReturnError(given)
            case ast.With(body=body):
                self._all(body)
            case ast.If(test=test, body=body, orelse=other):
                self._spend()
                self._either(test, body, other)
            case _:
                super()._statement(statement, known)

    def _assign(self, statement: ast.stmt, target: ast.expr) -> None:
        """Read an assignment, or take what it made of the very same values before."""
        text, words = self._texts[statement]
        values = [self.arrays.get(word, self.others.get(word)) for word in words]

        def read() -> KeptLine | None:
            super(LineReader, self)._statement(statement, None)
            made = self._now(target)
            sizes = [value.size for value in (made, *values) if isinstance(value, np.ndarray)]
            plain = all(value is None or isinstance(value, np.ndarray | int | float) for value in values)
            return (made, values) if isinstance(made, np.ndarray) and plain and sum(sizes) <= ENTRIES_OF_ONE else None

        left = self.left
        line = self._keep_line((text, *map(id, values)), read)
        if line is not None and self.left == left:  # nothing was read
            self._spend()
            self._keep(words[0], line[0])  # the target, or what it is a part of

    def _tell(self, statement: ast.stmt) -> None:
        match statement:
            case ast.Assign(targets=[*_, target]) | ast.AnnAssign(target=target) | ast.AugAssign(target=target):
                self._saw(statement, self._now(target))
            case ast.Expr(value=ast.Call() as call) if _is_change(call):
                self._saw(statement, self._now(_root(call)))

    def _now(self, target: ast.expr) -> Any:
        match target:
            case ast.Name(id=name):
                return self.arrays.get(name, self.others.get(name))
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                return tuple(self._now(part) for part in parts)
            case ast.Subscript(value=inner):
                return self._now(inner)
        return None

    def _either(self, test: ast.expr, body: Sequence[ast.stmt], other: Sequence[ast.stmt]) -> None:
        try:
            holds = self._tracer(None).truth(self._value(test, None))
        except (UntracedError, *READING_ERRORS):
            self._both(body, other)
        else:
            self._all(body if holds else other)

    def _turns(self, test: ast.expr) -> Iterator[None]:
        # A condition whose loop is not written yet holds for ever.
        for turn, _ in enumerate(super()._turns(test)):
            if turn == ITEMS_MAX:
                raise UntracedError("too many turns")
            yield

    def _both(self, *branches: Sequence[ast.stmt]) -> None:
        before, ends, left = (self.arrays, self.others), list[tuple[dict[str, Array], dict[str, Any]]](), False
        for branch in branches:
            self.arrays, self.others = dict(before[0]), dict(before[1])
            try:
                self._all(branch)
            except ReturnError:
                left = True
            ends.append((self.arrays, self.others))
        (arrays, others), (other_arrays, other_others) = ends
        self.arrays = {name: array for name, array in arrays.items() if _alike(array, other_arrays.get(name))}
        self.others = {name: value for name, value in others.items() if other_others.get(name) is value}
        if left:  # or not: nobody can tell what comes back
            raise ReturnError(UNKNOWN)

    def call(self, function: ast.FunctionDef | ast.Lambda, arguments: Sequence[Any], words: Mapping[str, Any]) -> Any:
        value = super().call(function, arguments, words)
        if value is UNKNOWN:
            raise UntracedError("a function that may have returned before")
        return value

    def forget_written(self, statement: ast.stmt) -> None:
        """Forget what *statement* would have written."""
        if statement not in self._written:
            self._written[statement] = writes_of(nodes_in(statement))
        self.forget(self._written[statement])


def line_texts(statements: Iterable[ast.stmt], source: Sequence[str]) -> LineTexts:
    """Texts of the assignments among *statements* that stand on one line of *source*, with words of one spelling."""
    texts: dict[ast.stmt, tuple[str, Sequence[str]]] = {}
    for statement in statements:
        if isinstance(statement, ast.Assign | ast.AugAssign) and statement.lineno == statement.end_lineno:
            line = source[statement.lineno - 1]
            text = line[statement.col_offset : statement.end_col_offset]
            if line.isascii() and ":=" not in text:  # which gives a value to one more name
                texts[statement] = text, WORD.findall(text)
    return texts


UNKNOWN = object()
"""What comes back from a function that may have returned before."""


def _alike(array: Array, other: Array | None) -> bool:
    return other is not None and array.shape == other.shape


def _chain(expr: ast.expr) -> Iterator[ast.expr]:
    """*expr*, and what the in-place methods at its end are called on."""
    yield expr
    while isinstance(expr, ast.Call) and isinstance(expr.func, ast.Attribute) and expr.func.attr.endswith("_"):
        expr = expr.func.value
        yield expr


def _root(expr: ast.expr) -> ast.expr:
    return list(_chain(expr))[-1]


def _is_change(expr: ast.expr) -> bool:
    """True if *expr* changes a tensor or a list in place."""
    match expr:
        case ast.Call(func=ast.Attribute(value=ast.Name(), attr="append" | "extend" | "insert" | "reverse")):
            return True
    return _root(expr) is not expr and isinstance(_root(expr), ast.Name)


def _may_leave(body: Sequence[ast.stmt]) -> bool:
    leaving = ast.Break | ast.Continue | ast.Return
    return any(isinstance(node, leaving) for statement in body for node in nodes_in(statement))
