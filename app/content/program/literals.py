"""Literal numbers in place of a size that equal one here; only other sizes can show whether they are meant as it."""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

SIZED = {"view", "reshape", "expand", "repeat", "tile", "zeros", "ones", "empty", "eye", "arange", "range", "one_hot"}
SIZED |= {"unflatten", "broadcast_to", "split", "new_zeros", "new_ones"}
"""Functions whose whole numbers are sizes."""
AXES = frozenset({"dim", "axis", "dims", "start_dim", "end_dim"})


@dataclass(frozen=True, slots=True)
class Literal:
    """A *number* on a *line*, counted from 1, that is the size of *dim*, which may be a product such as `H * E`."""

    line: int
    column: int
    number: int
    dim: str


def literal_sizes(tree: ast.AST, dims: Mapping[str, int]) -> tuple[Literal, ...]:
    """Every number in *tree* that may be meant as a size, because it is the visible size of one of *dims*."""
    products = {dims[a] * dims[b]: f"{a} * {b}" for a, b in combinations(dims, 2) if dims[a] > 1 and dims[b] > 1}
    single = {size: name for name, size in reversed(tuple(dims.items())) if size > 1}
    literals = {}
    for node in ast.walk(tree):
        divided = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div)
        names = {size: name for size, name in single.items() if size > 2} if divided else products | single
        for constant, number in _sizes_in(node):
            if number in names:
                literals[constant] = Literal(constant.lineno, constant.col_offset + 1, number, names[number])
    return tuple(sorted(literals.values(), key=lambda literal: (literal.line, literal.column)))


def _sizes_in(node: ast.AST) -> Iterator[tuple[ast.Constant, int]]:
    """Find the numbers in *node* itself that are used as a size."""
    match node:
        case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name)) if name in SIZED:
            parts = node.args[1:] if name == "unflatten" else node.args
            yield from _numbers([*parts, *(keyword.value for keyword in node.keywords if keyword.arg not in AXES)])
        case ast.BinOp(op=ast.Div(), right=right):
            yield from _numbers([right])
        case ast.Slice(lower=lower, upper=upper):
            yield from _numbers([inner for inner in (lower, upper) if inner is not None])


def _numbers(nodes: list[ast.expr]) -> Iterator[tuple[ast.Constant, int]]:
    """Whole numbers among *nodes*, and in their tuples, products and negatives."""
    for node in nodes:
        match node:
            case ast.Constant(value=int(value)) if not isinstance(value, bool):
                yield node, value
            case ast.Tuple(elts=inner) | ast.List(elts=inner):
                yield from _numbers(inner)
            case ast.BinOp(left=left, op=ast.Mult(), right=right):
                yield from _numbers([left, right])
