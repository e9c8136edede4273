"""The arguments of one call, by the names that torch gives them."""

import ast
from collections.abc import Sequence
from typing import Any, Protocol

from app.grading.operations.numerics import Act
from app.grading.reading.budget import EntryBudget
from app.grading.reading.node import OpNode, UntracedError


class ExpressionTracer(Protocol):
    """The part of a tracer that is needed here."""

    budget: EntryBudget

    def node(self, expr: ast.expr) -> OpNode: ...
    def value(self, expr: ast.expr) -> Any: ...
    def plain(self, expr: ast.expr) -> Any: ...
    def made(self, expr: ast.expr, op: str, value: Any, *operands: OpNode, **options: Any) -> OpNode: ...
    def moved(self, expr: ast.expr, op: str, act: Act, *operands: OpNode, **options: Any) -> OpNode: ...
    def index(self, expr: ast.expr, x: OpNode, index: Any) -> OpNode: ...


class Arguments:
    """The arguments of one call, by the names that torch gives them."""

    def __init__(
        self, reader: ExpressionTracer, names: Sequence[str], arguments: list[ast.expr], words: dict[str, ast.expr]
    ):
        self._reader = reader
        self.given = dict(zip(names, arguments, strict=False)) | words
        if set(self.given) - set(names):
            raise UntracedError("an option that is not known here")

    def __contains__(self, name: str) -> bool:
        return name in self.given

    def node(self, name: str) -> OpNode:
        return self._reader.node(self.given[name])

    def value(self, name: str) -> Any:
        return self._reader.value(self.given[name])

    def plain(self, name: str, default: Any = None) -> Any:
        return self._reader.plain(self.given[name]) if name in self.given else default
