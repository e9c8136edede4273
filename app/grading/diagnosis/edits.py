"""Every small change of a learner's statement: another name, another axis, a sign, a slice, a factor, a function.

Each edit undoes one slip that a learner can make with the pen; the code and the sentence name the slip, and not what
the line should read.
"""

import ast
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass

from app.grading.diagnosis.edit_kinds import KINDS, Scope, text_of


@dataclass(frozen=True, slots=True)
class Edit:
    """*statement* is the learner's with one change; *say* goes on after "In `…`, "."""

    statement: ast.stmt
    code: str
    say: str


Parents = dict[int, tuple[ast.AST, str, int | None]]


def edits(statement: ast.stmt, scope: Scope) -> Iterator[Edit]:
    """All edits of *statement*, the likeliest kinds first."""
    parents = _parents(statement)
    places = [node for node in ast.walk(statement) if isinstance(node, ast.expr) and _is_read(node, parents)]
    for kind in KINDS:
        for place in places:
            for new, code, say in kind(place, scope):
                yield Edit(_put(statement, parents, place, new), code, say)
    yield from _whole(statement, scope)


def _parents(root: ast.AST) -> Parents:
    found: Parents = {}
    for node in ast.walk(root):
        for field, value in ast.iter_fields(node):
            if isinstance(value, ast.AST):
                found[id(value)] = (node, field, None)
            elif isinstance(value, list):
                found |= {id(each): (node, field, at) for at, each in enumerate(value) if isinstance(each, ast.AST)}
    return found


def _is_read(node: ast.expr, parents: Parents) -> bool:
    if isinstance(getattr(node, "ctx", None), ast.Store):
        return False
    parent, field, _ = parents[id(node)]
    # A module or the function of a call is no operand, and the names of a subscript that is written stay.
    return not (isinstance(parent, ast.Call) and field == "func") and not (
        isinstance(node, ast.Name) and node.id in {"torch", "F", "math"}
    )


def _put(root: ast.stmt, parents: Parents, place: ast.AST, new: ast.AST) -> ast.stmt:
    """A copy of *root* in which *place* is *new*; everything beside the way to it is the very same."""
    while place is not root:
        parent, field, at = parents[id(place)]
        twin = copy(parent)
        if at is None:
            setattr(twin, field, new)
        else:
            setattr(twin, field, [new if rank == at else each for rank, each in enumerate(getattr(parent, field))])
        place, new = parent, twin
    assert isinstance(new, ast.stmt), "the root is a statement"
    return new


def _whole(statement: ast.stmt, scope: Scope) -> Iterator[Edit]:
    """Changes of more than one place: all slices of a line at once, a name everywhere, the kind of assignment."""
    sliced = _Unsliced()
    new = sliced.visit(_deep(statement))
    if sliced.found > 1:
        say = "the slices leave a part out; every slice sends a share"
        yield Edit(new, "slice-missing", say)
    read = [node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]
    for name in dict.fromkeys(name for name in read if name in scope.arrays and read.count(name) > 1):
        kind = "wrong-upstream" if name in scope.gradients else "wrong-operand"
        say = f"`{name}` stands where another tensor belongs, in each place; everything else fits"
        for other, array in scope.arrays.items():
            if other != name and array.dtype.kind == scope.arrays[name].dtype.kind:
                yield Edit(_Renamed(name, other).visit(_deep(statement)), f"{kind}:{name}", say)
    for inner in ast.walk(statement):
        if isinstance(inner, ast.Assign) and len(inner.targets) == 1 and isinstance(inner.targets[0], ast.Name):
            added = ast.AugAssign(inner.targets[0], ast.Add(), inner.value)
            if inner is not statement:
                say = f"`{text_of(inner)}` replaces what earlier turns left; the shares add up"
                yield Edit(_put(statement, _parents(statement), inner, added), "overwritten", say)


class _Unsliced(ast.NodeTransformer):
    found = 0

    def visit_Slice(self, node: ast.Slice) -> ast.Slice:
        self.found += 1
        return ast.Slice(None, None, node.step)


class _Renamed(ast.NodeTransformer):
    def __init__(self, old: str, new: str) -> None:
        self.old, self.new = old, new

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(self.new, node.ctx) if node.id == self.old and isinstance(node.ctx, ast.Load) else node


def _deep(node: ast.stmt) -> ast.stmt:
    (again,) = ast.parse(ast.unparse(node)).body
    return again
