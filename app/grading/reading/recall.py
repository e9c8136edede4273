"""Cache of what was read of a text: the same expression on the very same values.

The text is read many times with one small edit each. What an edit leaves alone, and what it does not reach, need not be
computed anew, be it in the third turn of a loop.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping
from functools import lru_cache
from typing import Any

from app.grading.operations.numerics import Array
from app.grading.reading.node import OpNode
from app.syntax import Expression, Node, Statement, every_name_in, is_constant, name_of, nodes_in

HELD_MAX = 2_000_000
"""Entries that are kept for one text."""
Scope = tuple[Mapping[str, Array], Mapping[str, Any]]
"""Tensors by name, and whatever else has one."""
_NUMBERS = (int, float)


class Recall:
    """The nodes of *statements*, kept as they are read for as long as it is `learning`.

    The values of the names in an expression are known by identity, and held, so that no other object can come to stand
    in the same place.
    """

    def __init__(self, statements: Iterable[Statement] = ()) -> None:
        self.learning = True
        self._names: dict[Node, tuple[str, ...]] = {}
        self._found: dict[Hashable, tuple[OpNode, list[Any]]] = {}
        self._left = HELD_MAX
        self.know(statements)

    def know(self, statements: Iterable[Statement]) -> None:
        """Keep what is read of *statements* as well."""
        for statement in statements:
            self._names |= _names_by_part(statement)

    def node(self, expr: Expression, scope: Scope, read: Callable[[Expression], OpNode]) -> OpNode:
        """*expr* as it was read before on the values in *scope*, or as *read* gives it."""
        key, values = self._key(expr, scope)
        entry = self._found.get(key)
        if entry is not None:
            return entry[0]
        node = read(expr)
        if self.learning and key is not None and node.value.size <= self._left:
            self._left -= node.value.size + 1
            self._found[key] = node, values
        return node

    def value(self, expr: Expression, scope: Scope) -> Array | None:
        """The tensor that *expr* gave on the values in *scope*; None where it was not read, or has no gradient."""
        entry = self._found.get(self._key(expr, scope)[0])
        return None if entry is None or entry[0].op == "number" else entry[0].value

    def _key(self, expr: Expression, scope: Scope) -> tuple[Hashable, list[Any]]:
        names = self._names.get(expr)
        if names is None:
            return None, []
        arrays, others = scope
        values = [arrays[name] if name in arrays else others.get(name) for name in names]
        return (expr, *((value,) if type(value) in _NUMBERS else id(value) for value in values)), values


@lru_cache(maxsize=128)
def _names_by_part(statement: Statement) -> Mapping[Node, tuple[str, ...]]:
    """By part of *statement* that is computed: the names in it."""
    return {node: tuple(sorted(every_name_in(node))) for node in nodes_in(statement) if _is_computed(node)}


def _is_computed(node: Node) -> bool:
    return isinstance(node, Expression) and not name_of(node) and not is_constant(node, object)
