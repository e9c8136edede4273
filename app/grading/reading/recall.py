"""Cache of what was read of a text: the same expression on the very same values.

The text is read many times with one small edit each. What an edit leaves alone, and what it does not reach, need not be
computed anew, be it in the third turn of a loop.
"""

import ast
from collections.abc import Callable, Hashable, Iterable, Mapping
from functools import lru_cache
from typing import Any

from app.grading.operations.numerics import Array
from app.grading.reading.node import OpNode

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

    def __init__(self, statements: Iterable[ast.stmt] = ()) -> None:
        self.learning = True
        self._names: dict[ast.AST, tuple[str, ...]] = {}
        self._found: dict[Hashable, tuple[OpNode, list[Any]]] = {}
        self._left = HELD_MAX
        self.know(statements)

    def know(self, statements: Iterable[ast.stmt]) -> None:
        """Keep what is read of *statements* as well."""
        for statement in statements:
            self._names |= _names_by_part(statement)

    def node(self, expr: ast.expr, scope: Scope, read: Callable[[ast.expr], OpNode]) -> OpNode:
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

    def value(self, expr: ast.expr, scope: Scope) -> Array | None:
        """The tensor that *expr* gave on the values in *scope*; None where it was not read, or has no gradient."""
        entry = self._found.get(self._key(expr, scope)[0])
        return None if entry is None or entry[0].op == "number" else entry[0].value

    def _key(self, expr: ast.expr, scope: Scope) -> tuple[Hashable, list[Any]]:
        names = self._names.get(expr)
        if names is None:
            return None, []
        arrays, others = scope
        values = [arrays[name] if name in arrays else others.get(name) for name in names]
        return (expr, *((value,) if type(value) in _NUMBERS else id(value) for value in values)), values


@lru_cache(maxsize=128)
def _names_by_part(statement: ast.stmt) -> Mapping[ast.AST, tuple[str, ...]]:
    """By part of *statement* that is computed: the names in it."""
    names: dict[ast.AST, frozenset[str]] = {}
    for node in reversed([*ast.walk(statement)]):  # parts come first
        own = {node.id} if isinstance(node, ast.Name) else ()
        names[node] = frozenset(own).union(*(names[part] for part in ast.iter_child_nodes(node)))
    return {node: tuple(sorted(each)) for node, each in names.items() if _is_computed(node)}


def _is_computed(node: ast.AST) -> bool:
    return isinstance(node, ast.expr) and not isinstance(node, ast.Name | ast.Constant)
