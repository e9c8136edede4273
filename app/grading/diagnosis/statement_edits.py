"""Edits of a learner's statement at more than one place: all slices, a name everywhere, an index, the assignment."""

import ast
from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import partial

from app.grading.diagnosis.edits import Edit, replaced
from app.grading.diagnosis.grammar import Change, Words


def statement_edits(statement: ast.stmt, words: Words) -> Iterator[Edit]:
    """Every such edit of *statement*."""
    yield from _at_all(statement, _unsliced, Change("unslice-all", ast.Constant(None)))
    read = [node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]
    for name in dict.fromkeys(name for name in read if name in words.arrays and read.count(name) > 1):
        kind = "gradient-everywhere" if name in words.gradients else "everywhere"
        for other, array in words.arrays.items():
            if other != name and array.dtype.kind == words.arrays[name].dtype.kind:
                change = Change(kind, ast.Name(other), ast.Name(name))
                yield from _at_all(statement, partial(_renamed, name, other), change)
    for axis in (0, 1, -1):
        yield from _at_all(statement, partial(_along, axis), Change("axis-everywhere", ast.Constant(axis)))
    for inner in ast.walk(statement):
        yield from _of_target(statement, inner, words)


def _at_all(statement: ast.stmt, act: Callable[[ast.AST], ast.AST | None], change: Change) -> Iterator[Edit]:
    everywhere = _Everywhere(act)
    new = everywhere.visit(deepcopy(statement))
    if everywhere.found > 1:
        yield Edit(new, statement, change)


def _of_target(statement: ast.stmt, inner: ast.AST, words: Words) -> Iterator[Edit]:
    match inner:
        case ast.Assign(targets=[ast.Name() as target], value=value) if inner is not statement:
            added = ast.AugAssign(target, ast.Add(), value)
            yield Edit(replaced(statement, inner, added), inner, Change("add-up", value))
        case ast.Assign(
            targets=[ast.Name() | ast.Subscript() as target], value=ast.UnaryOp(op=ast.USub(), operand=value)
        ):
            less = ast.AugAssign(target, ast.Sub(), value)
            yield Edit(replaced(statement, inner, less), inner, Change("set", value))
        case ast.Subscript(value=value, slice=ast.Name(id=index)) if index in words.arrays:
            count = ast.Call(ast.Name("len", ast.Load()), [inner.slice], [])
            rows = ast.Call(ast.Name("range", ast.Load()), [count], [])
            new = ast.Subscript(value, ast.Tuple([rows, inner.slice], ast.Load()), inner.ctx)
            yield Edit(replaced(statement, inner, new), inner, Change("rows", new))


class _Everywhere(ast.NodeTransformer):
    """Makes *change* in each place where it gives something new, the innermost first."""

    def __init__(self, change: Callable[[ast.AST], ast.AST | None]) -> None:
        self.change, self.found = change, 0

    def visit(self, node: ast.AST) -> ast.AST:
        new = self.change(self.generic_visit(node))
        self.found += new is not None
        return new or node


def _unsliced(node: ast.AST) -> ast.AST | None:
    return ast.Slice(None, None, node.step) if isinstance(node, ast.Slice) else None


def _along(axis: int, node: ast.AST) -> ast.AST | None:
    """A sum or a mean of a tensor along *axis*, which is kept."""
    match node:
        case ast.Call(func=ast.Attribute(attr="sum" | "mean") as func, args=[] | [_]):
            return ast.Call(func, [ast.Constant(axis)], [ast.keyword("keepdim", ast.Constant(True))])
    return None


def _renamed(old: str, new: str, node: ast.AST) -> ast.AST | None:
    mine = isinstance(node, ast.Name) and node.id == old and isinstance(node.ctx, ast.Load)
    return ast.Name(new, ast.Load()) if mine else None
