"""Which lines of a program have to come before which, read from its text: nothing is run.

A line needs what it reads to be finished: every line that has a share to pay in comes first. Shares that are added
commute, so their lines may change places.
"""

import ast
import random
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from app.bindings import reads_of
from app.content.program.written_text import written_at

ADDING = frozenset({"add_", "sub_", "index_add_", "scatter_add_"})
"""Methods in place whose calls may change places."""


@dataclass(slots=True)
class StatementNames:
    """The names that one statement reads, those that it writes, and those of the written ones that it only adds to."""

    reads: set[str] = field(default_factory=set)
    writes: set[str] = field(default_factory=set)
    adds: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Dependency:
    """A line that has to come before: because of *name*, which is *read* here or only written."""

    before: int
    name: str
    read: bool


def sources_of(source: str) -> tuple[str, ...]:
    """The statements of *source*, which must be Python, as they are written."""
    return written_at(source, ast.parse(source).body)


def is_sum(source: str) -> bool:
    """True if the one statement *source* assigns a sum as a whole, or adds one share more."""
    match ast.parse(source).body[0]:
        case ast.AugAssign(op=ast.Add()) | ast.Assign(value=ast.BinOp(op=ast.Add())):
            return True
    return False


def needs_of(lines: Sequence[str]) -> list[tuple[Dependency, ...]]:
    """Dependencies of each of *lines*, which are in a right order: the lines that have to come before it."""
    read = [read_line(line) for line in lines]
    return [
        tuple(need for before in range(index) for need in _between(read[before], line, before))
        for index, line in enumerate(read)
    ]


def needs_by_rank(ranks: Sequence[int]) -> list[tuple[Dependency, ...]]:
    """Dependencies of steps in the order of their *ranks*: all steps of a smaller rank come before one."""
    return [
        tuple(Dependency(index, "", read=False) for index, other in enumerate(ranks) if other < rank) for rank in ranks
    ]


def is_in_order(order: Sequence[int], needs: Sequence[Collection[Dependency]]) -> bool:
    return first_unready(order, needs) is None


def first_unready(
    order: Sequence[int], needs: Sequence[Collection[Dependency]]
) -> tuple[int, tuple[Dependency, ...]] | None:
    """The first line of *order* that comes too early, with what is missing; None where there is none."""
    done: set[int] = set()
    for line in order:
        missing = tuple(need for need in needs[line] if need.before not in done)
        if missing:
            return line, missing
        done.add(line)
    return None


def drawn_order(needs: Sequence[Collection[Dependency]], seed: str) -> tuple[int, ...]:
    """One of the orders that are right."""
    draw, order, left = random.Random(seed), list[int](), set(range(len(needs)))
    while left:
        ready = sorted(line for line in left if not any(need.before in left for need in needs[line]))
        order.append(draw.choice(ready))
        left.remove(order[-1])
    return tuple(order)


def shuffled(needs: Sequence[Collection[Dependency]], seed: str) -> tuple[int, ...] | None:
    """An order that is wrong, the same for the same *seed*; None where every order is right."""
    if not any(needs):
        return None
    draw, order = random.Random(seed), list(range(len(needs)))
    while is_in_order(order, needs):
        draw.shuffle(order)
    return tuple(order)


def _between(before: StatementNames, line: StatementNames, index: int) -> list[Dependency]:
    read = line.reads & before.writes
    overwritten = line.writes & before.reads
    twice = {name for name in line.writes & before.writes if not (name in line.adds and name in before.adds)}
    return [Dependency(index, name, name in read) for name in sorted(read | overwritten | twice)]


def read_line(source: str) -> StatementNames:
    """Names that one statement reads and writes."""
    statement_names, tree = StatementNames(), ast.parse(source)
    own: set[ast.Name] = set()  # where a name stands only to be changed
    for node in ast.walk(tree):
        base, adding = _changed_target(node)
        root = _root(base)
        if root is None:
            continue
        statement_names.writes.add(root.id)
        own.add(root)
        if adding:
            statement_names.adds.add(root.id)
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node not in own:
            (statement_names.writes if isinstance(node.ctx, ast.Store) else statement_names.reads).add(node.id)
    return statement_names


def _changed_target(node: ast.AST) -> tuple[ast.expr | None, bool]:
    """Find the tensor that *node* changes in place; True with it if *node* only adds to it."""
    match node:
        case ast.AugAssign(target=target, op=op):
            return target, isinstance(op, ast.Add | ast.Sub)
        case ast.Assign(targets=[ast.Subscript() as target]):
            return target, False
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.BinOp(left=ast.Name(id=left) as base, op=op)):
            return (base, True) if left == name and isinstance(op, ast.Add | ast.Sub) else (None, False)
        case ast.Call(func=ast.Attribute(value=base, attr=attr)) if attr.endswith("_"):
            return base, attr in ADDING
    return None, False


def _root(base: ast.expr | None) -> ast.Name | None:
    while isinstance(base, ast.Subscript | ast.Attribute | ast.Call):
        base = base.func if isinstance(base, ast.Call) else base.value
    return base if isinstance(base, ast.Name) else None


def values_read(source: str) -> frozenset[str]:
    """The names in *source*, which must be Python, of whose tensors more than the shape is read."""
    _, uses = reads_of(list(ast.walk(ast.parse(source))))
    return uses
