"""One call of an operation that is being read, with its arguments by the names that torch gives them."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from app.grading.operations.numerics import Act
from app.grading.operations.row import Operation
from app.grading.reading.budget import EntryBudget
from app.grading.reading.node import OpNode, UntracedError
from app.syntax import Expression, elements_of


class ExpressionTracer(Protocol):
    """The part of a tracer that is needed here."""

    budget: EntryBudget

    def node(self, expr: Expression) -> OpNode: ...
    def value(self, expr: Expression) -> Any: ...
    def plain(self, expr: Expression) -> Any: ...
    def made(self, expr: Expression, op: str, value: Any, *operands: OpNode, **options: Any) -> OpNode: ...
    def moved(self, expr: Expression, op: str, act: Act, *operands: OpNode, **options: Any) -> OpNode: ...
    def index(self, expr: Expression, x: OpNode, index: Any) -> OpNode: ...


class TracedCall:
    """The call *expr* of *op*, read by *reader*."""

    def __init__(
        self,
        reader: ExpressionTracer,
        expr: Expression,
        op: Operation,
        arguments: Sequence[Expression],
        words: Mapping[str, Expression],
    ):
        self.op = op
        self._reader, self._expr, self._positional = reader, expr, arguments
        names = op.takes.split()
        self._given = dict(zip(names, arguments, strict=False)) | dict(words)
        if set(self._given) - set(names):
            raise UntracedError("an option that is not known here")

    def __contains__(self, name: str) -> bool:
        return name in self._given

    def node(self, name: str) -> OpNode:
        return self._reader.node(self._given[name])

    def nodes(self, name: str) -> list[OpNode] | None:
        """The tensors of a list that is written out; None for anything else."""
        parts = elements_of(self._given[name])
        return None if parts is None else [self._reader.node(each) for each in parts]

    def value(self, name: str) -> Any:
        return self._reader.value(self._given[name])

    def plain(self, name: str, default: Any = None) -> Any:
        return self._reader.plain(self._given[name]) if name in self._given else default

    def text_and_nodes(self) -> tuple[str, list[OpNode]]:
        """The first argument as a text, and the tensors after it."""
        text, *operands = self._positional
        return str(self._reader.plain(text)), [self._reader.node(each) for each in operands]

    def pay(self, entries: int) -> None:
        self._reader.budget.pay(entries)

    def made(self, value: Any, *operands: OpNode, **options: Any) -> OpNode:
        """The operation with its *value*."""
        return self._reader.made(self._expr, self.op.kind, value, *operands, **options)

    def value_alone(self, value: Any) -> OpNode:
        """A *value* of which nothing goes back."""
        return self._reader.made(self._expr, "library", value)

    def moved(self, op: str, act: Act, *operands: OpNode, **options: Any) -> OpNode:
        return self._reader.moved(self._expr, op, act, *operands, **options)

    def index(self, x: OpNode, index: Any) -> OpNode:
        return self._reader.index(self._expr, x, index)
