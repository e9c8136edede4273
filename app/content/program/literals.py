"""Literal numbers in place of a size that equal one here; only other sizes can show whether they are meant as it."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from app.syntax import (
    Expression,
    N,
    Node,
    arguments_of,
    bounds_of,
    called_name,
    elements_of,
    is_binary,
    nodes_in,
    number_of,
    options_of,
    parse_expression,
    rewritten,
    sides_of,
)

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


def literal_sizes(tree: Node, dims: Mapping[str, int]) -> tuple[Literal, ...]:
    """Every number in *tree* that may be meant as a size, because it is the visible size of one of *dims*."""
    products = {dims[a] * dims[b]: f"{a} * {b}" for a, b in combinations(dims, 2) if dims[a] > 1 and dims[b] > 1}
    single = {size: name for name, size in reversed(tuple(dims.items())) if size > 1}
    literals = {}
    for node in nodes_in(tree):
        divided = is_binary(node, "/")
        names = {size: name for size, name in single.items() if size > 2} if divided else products | single
        for constant, number in _sizes_in(node):
            if number in names:
                literals[constant] = Literal(constant.lineno, constant.col_offset + 1, number, names[number])
    return tuple(sorted(literals.values(), key=lambda literal: (literal.line, literal.column)))


def with_dim_names(tree: N, literals: Collection[Literal]) -> N:
    """*tree* with the names of dims in the place of *literals*."""
    dims = {(literal.line, literal.column): literal.dim for literal in literals}

    def named(node: Node) -> Node:
        place = getattr(node, "lineno", 0), getattr(node, "col_offset", -1) + 1
        return parse_expression(dims[place]) if number_of(node) is not None and place in dims else node

    return rewritten(tree, named)


def _sizes_in(node: Node) -> Iterator[tuple[Expression, int]]:
    """Find the numbers in *node* itself that are used as a size."""
    name = called_name(node)
    if name in SIZED:
        parts = arguments_of(node)[1:] if name == "unflatten" else arguments_of(node)
        yield from _numbers([*parts, *(value for option, value in options_of(node).items() if option not in AXES)])
    elif (sides := sides_of(node)) is not None and is_binary(node, "/"):
        yield from _numbers([sides[1]])
    else:
        yield from _numbers(bounds_of(node))


def _numbers(nodes: Sequence[Expression]) -> Iterator[tuple[Expression, int]]:
    """Whole numbers among *nodes*, and in their tuples, products and negatives."""
    for node in nodes:
        number, elements, sides = number_of(node), elements_of(node), sides_of(node)
        if isinstance(number, int):
            yield node, number
        elif elements is not None:
            yield from _numbers(elements)
        elif sides is not None and is_binary(node, "*"):
            yield from _numbers(sides)
