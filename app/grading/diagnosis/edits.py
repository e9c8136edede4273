"""Every edit of a text at one place: what the grammar makes of rules, of learners' lines and of solutions."""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from app.grading.diagnosis.brackets import bracket_edits, row_edits
from app.grading.diagnosis.call_kinds import (
    einsum_edits,
    function_edits,
    index_edits,
    insertion_edits,
    layout_edits,
    reduction_edits,
    repeat_edits,
    transpose_edits,
)
from app.grading.diagnosis.grammar import (
    EditVocabulary,
    Kind,
    Replacement,
    comparison_edits,
    floor_edits,
    grouping_edits,
    is_module,
    minus_edits,
    name_edits,
    number_edits,
    operator_edits,
    power_edits,
    product_of_sums_edits,
    removal_edits,
    sign_edits,
)
from app.syntax import nodes_in


@dataclass(frozen=True, slots=True)
class Edit:
    """*root* is the text with one change, at the place of *old*."""

    root: ast.AST
    old: ast.AST
    change: Replacement


KINDS: tuple[Kind, ...] = (
    floor_edits,
    removal_edits,
    name_edits,
    index_edits,
    einsum_edits,
    repeat_edits,
    layout_edits,
    reduction_edits,
    comparison_edits,
    sign_edits,
    transpose_edits,
    grouping_edits,
    bracket_edits,
    product_of_sums_edits,
    row_edits,
    operator_edits,
    minus_edits,
    power_edits,
    number_edits,
    function_edits,
    insertion_edits,
)
"""The likeliest kinds first."""


def edits(root: ast.AST, words: EditVocabulary, kinds: Sequence[Kind] = KINDS) -> Iterator[Edit]:
    """Every edit of *root* at one place."""
    parents = _parents(root)
    places = [node for node in nodes_in(root) if isinstance(node, ast.expr) and _is_read(node, parents)]
    for kind in kinds:
        for place in places:
            for change in kind(place, words):
                yield Edit(_root_with(root, parents, place, change.new), place, change)


Parents = dict[ast.AST, tuple[ast.AST, str, int | None]]


def _parents(root: ast.AST) -> Parents:
    parents: Parents = {}
    for node in nodes_in(root):
        for name, value in ast.iter_fields(node):
            if isinstance(value, ast.AST):
                parents[value] = (node, name, None)
            elif isinstance(value, list):
                parents |= {each: (node, name, at) for at, each in enumerate(value) if isinstance(each, ast.AST)}
    return parents


def _is_read(node: ast.expr, parents: Parents) -> bool:
    if isinstance(getattr(node, "ctx", None), ast.Store):
        return False
    parent, name, _ = parents.get(node, (None, "", None))
    # A module or the function of a call is no operand, and the names of a subscript that is written stay.
    return not (isinstance(parent, ast.Call) and name == "func") and not is_module(node)


def replace_node(root: ast.AST, place: ast.AST, new: ast.AST) -> ast.AST:
    """A copy of *root* in which *place* is *new*; everything beside the way to it is the very same."""
    return _root_with(root, _parents(root), place, new)


def _twin(node: ast.AST) -> ast.AST:
    """A copy of *node* itself, with the very same parts; `copy` takes five times as long."""
    twin = node.__class__.__new__(node.__class__)
    twin.__dict__.update(node.__dict__)
    return twin


def _root_with(root: ast.AST, parents: Parents, place: ast.AST, new: ast.AST) -> ast.AST:
    while place is not root:
        parent, name, at = parents[place]
        twin = _twin(parent)
        if at is None:
            setattr(twin, name, new)
        else:
            setattr(twin, name, [new if rank == at else each for rank, each in enumerate(getattr(parent, name))])
        place, new = parent, twin
    return new
