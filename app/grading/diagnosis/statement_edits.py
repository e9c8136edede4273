"""Edits of a learner's statement at more than one place: all slices, a name everywhere, an index, the assignment."""

import ast
from collections.abc import Callable, Collection, Iterator, Mapping
from copy import copy
from functools import partial

from app.grading.diagnosis.call_kinds import other_parts
from app.grading.diagnosis.edits import Edit, replace_node
from app.grading.diagnosis.grammar import EditVocabulary, Replacement, keeping_axis
from app.syntax import called_name, every_name_in, name_node, nodes_in, tuple_parts

UPDATES: Mapping[type[ast.operator], Mapping[type[ast.operator], str]] = {
    ast.Add: {ast.Mult: "update-product"},
    ast.Sub: {ast.Mult: "update-product-sub"},
    ast.Mult: {ast.Add: "update-sum", ast.Div: "update-quotient"},
    ast.Div: {ast.Mult: "update-multiplied"},
}
"""Operators that may stand in the place of one before `=`, each with what that is called."""
Act = Callable[[ast.AST], ast.AST | None]
"""What stands in the place of a part of a text; None where that stays."""


def statement_edits(statement: ast.stmt, words: EditVocabulary) -> Iterator[Edit]:
    """Every such edit of *statement*."""
    yield from _at_all(statement, _unsliced, Replacement("unslice-all", ast.Constant(None)))
    read = [node.id for node in nodes_in(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]
    for name in dict.fromkeys(name for name in read if name in words.arrays and read.count(name) > 1):
        kind = "gradient-everywhere" if name in words.gradients else "everywhere"
        for other, array in words.arrays.items():
            if other != name and array.dtype.kind == words.arrays[name].dtype.kind:
                change = Replacement(kind, ast.Name(other), ast.Name(name))
                yield from _at_all(statement, partial(_renamed, name, other), change)
    for axis in (0, 1, -1):
        yield from _at_all(statement, partial(_along, axis), Replacement("axis-everywhere", ast.Constant(axis)))
    turns = {
        node.target.id
        for node in nodes_in(statement)
        if isinstance(node, ast.For) and isinstance(node.target, ast.Name)
    }
    for inner in nodes_in(statement):
        yield from _of_target(statement, inner, words)
        if isinstance(inner, ast.Subscript) and isinstance(inner.ctx, ast.Store):
            for part in other_parts(inner):
                yield Edit(replace_node(statement, inner, part), inner, Replacement("part", part))
        if isinstance(inner, ast.Subscript) and not turns & every_name_in(inner):
            yield from _shifted(statement, inner, turns)


def turned_loops(statement: ast.stmt) -> Iterator[Edit]:
    """Each loop of *statement* the other way round."""
    for inner in nodes_in(statement):
        match inner:
            case ast.For(iter=ast.Call(func=ast.Name(id="reversed"), args=[items]) as order):
                yield Edit(replace_node(statement, order, items), order, Replacement("order", items))
            case ast.For(iter=ast.Call(func=ast.Name(id="range")) as order):
                new = ast.Call(name_node("reversed"), [order], [])
                yield Edit(replace_node(statement, order, new), order, Replacement("order", new))


def _at_all(statement: ast.stmt, act: Act, change: Replacement) -> Iterator[Edit]:
    new, count = _everywhere(statement, act)
    if count > 1:
        yield Edit(new, statement, change)


def _everywhere(node: ast.AST, act: Act) -> tuple[ast.AST, int]:
    """*node* with what *act* gives in each place where it gives something, the innermost first, and how many they are.

    What has no such place in it is the very same.
    """
    twin, total = node, 0
    for name, value in ast.iter_fields(node):
        parts = value if isinstance(value, list) else [value]
        done = [_everywhere(part, act) if isinstance(part, ast.AST) else (part, 0) for part in parts]
        count = sum(each for _, each in done)
        if count:
            twin = copy(node) if twin is node else twin
            setattr(twin, name, [new for new, _ in done] if isinstance(value, list) else done[0][0])
        total += count
    new = act(twin)
    return (twin, total) if new is None else (new, total + 1)


def _of_target(statement: ast.stmt, inner: ast.AST, words: EditVocabulary) -> Iterator[Edit]:
    match inner:
        case ast.Assign(targets=[ast.Name() as target], value=value) if inner is not statement:
            added = ast.AugAssign(target, ast.Add(), value)
            yield Edit(replace_node(statement, inner, added), inner, Replacement("add-up", value))
        case ast.Assign(
            targets=[ast.Name() | ast.Subscript() as target], value=ast.UnaryOp(op=ast.USub(), operand=value)
        ):
            less = ast.AugAssign(target, ast.Sub(), value)
            yield Edit(replace_node(statement, inner, less), inner, Replacement("set", value))
        case ast.AugAssign(target=target, op=op, value=value) if type(op) in UPDATES:
            for other, kind in UPDATES[type(op)].items():
                yield Edit(
                    replace_node(statement, inner, ast.AugAssign(target, other(), value)),
                    inner,
                    Replacement(kind, value),
                )
        case ast.Assign(targets=[ast.Subscript() as target], value=value):
            for operator in (ast.Sub(), ast.Add()):
                kept = ast.AugAssign(target, operator, value)
                yield Edit(replace_node(statement, inner, kept), inner, Replacement("kept", value))
        case (
            ast.Subscript(value=value, slice=ast.Tuple(elts=[ast.Slice(lower=None, upper=None), picked]))
            | ast.Subscript(value=value, slice=picked)
        ) if _counts_places(picked, words):
            every = ast.Call(name_node("range"), [ast.Call(name_node("len"), [picked], [])], [])
            of_columns = isinstance(inner.slice, ast.Tuple)
            orders = (
                {"columns": [every, picked]} if of_columns else {"rows": [every, picked], "places": [picked, every]}
            )
            for kind, parts in orders.items():
                new = ast.Subscript(value, ast.Tuple(parts, ast.Load()), inner.ctx)
                yield Edit(replace_node(statement, inner, new), inner, Replacement(kind, new))


def _counts_places(node: ast.AST, words: EditVocabulary) -> bool:
    """True of a tensor of the program, and of `x.argmax(0)`, between brackets."""
    match node:
        case ast.Name(id=name):
            return name in words.arrays
    return called_name(node) in {"argmax", "argmin"}


def _shifted(statement: ast.stmt, inner: ast.Subscript, turns: Collection[str]) -> Iterator[Edit]:
    """A slice that is the same in every turn of a loop, as one that moves on with the turns."""
    parts = tuple_parts(inner.slice)
    for part in parts:
        if isinstance(part, ast.Slice) and part.step is None and part.upper is not None:
            for turn in turns:
                moved = [
                    ast.BinOp(each or ast.Constant(0), ast.Add(), name_node(turn)) for each in (part.lower, part.upper)
                ]
                new = replace_node(inner, part, ast.Slice(*moved))
                assert isinstance(new, ast.expr)
                yield Edit(replace_node(statement, inner, new), inner, Replacement("step", new))


def _unsliced(node: ast.AST) -> ast.AST | None:
    return ast.Slice(None, None, node.step) if isinstance(node, ast.Slice) else None


def _along(axis: int, node: ast.AST) -> ast.AST | None:
    """A sum or a mean of a tensor along *axis*, which is kept."""
    match node:
        case ast.Call(func=ast.Attribute(attr="sum" | "mean") as func, args=[] | [_] | [_, _]):
            return ast.Call(func, [ast.Constant(axis)], keeping_axis())
    return None


def _renamed(old: str, new: str, node: ast.AST) -> ast.AST | None:
    mine = isinstance(node, ast.Name) and node.id == old and isinstance(node.ctx, ast.Load)
    return name_node(new) if mine else None
