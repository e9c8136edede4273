"""What a sentence says of the learner's text, tried on the text: what it calls too much, taken out there, mends it.

The families of codes here quote the line. Numbers do not decide: another text may come to the same ones.
"""

import ast
import copy
import re
from collections.abc import Callable, Iterator, Mapping
from itertools import chain

from tests.grading.programs.autograd import Reference
from tests.grading.programs.claims import Case, same
from tests.grading.programs.slip import Slip

Change = Callable[[ast.expr], Iterator[ast.expr]]
ROWS = frozenset({"softmax", "log_softmax", "logsumexp", "max", "min", "amax", "amin"})


def mends(case: Case, change: Change) -> bool:
    """Whether *change*, at one place of the text, makes the gradient right on all data."""
    for at, statement in enumerate(case.tree):
        for index, node in enumerate(ast.walk(statement)):
            for new in change(node) if isinstance(node, ast.expr) else ():
                fresh = copy.deepcopy(statement)
                place = next(one for rank, one in enumerate(ast.walk(fresh)) if rank == index)
                edited = ast.fix_missing_locations(_Put(place, copy.deepcopy(new)).visit(fresh))
                tree = [*case.tree[:at], edited, *case.tree[at + 1 :]]
                if all(_is_right(case, one, tree) for one in case.data):
                    return True
    return False


def _is_right(case: Case, one: Reference, tree: list[ast.stmt]) -> bool:
    got = case.run(one, tree=tree)
    return got is not None and same(got, one.gradients[case.name])


class _Put(ast.NodeTransformer):
    def __init__(self, place: ast.AST, new: ast.expr) -> None:
        self._place, self._new = place, new

    def visit(self, node: ast.AST) -> ast.AST:
        return self._new if node is self._place else self.generic_visit(node)


def without_power(node: ast.expr) -> Iterator[ast.expr]:
    match node:
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            yield left
            yield ast.BinOp(left, ast.Mult(), right)


def without_factor(node: ast.expr) -> Iterator[ast.expr]:
    match node:
        case ast.BinOp(left=left, op=ast.Mult() | ast.MatMult(), right=right):
            yield left
            yield right
        case ast.BinOp(left=left, op=ast.Div()):
            yield left
        case ast.BinOp(left=left, op=ast.Pow(), right=ast.Constant(value=value)):
            yield ast.BinOp(left, ast.Pow(), ast.Constant(value - 1))


def other_operator(node: ast.expr) -> Iterator[ast.expr]:
    match node:
        case ast.BinOp(left=left, right=right):
            yield from (ast.BinOp(left, operator(), right) for operator in (ast.Mult, ast.Div, ast.Pow))


def _power_extra(case: Case) -> bool:
    return mends(case, without_power)


def _factor_extra(case: Case) -> bool:
    """What is there too often can be taken out; "does not belong there" is said of what stands there once."""
    said = re.search(r"`([^`]*)` does not belong there", case.message)
    if said is not None and any(_factors(node).count(said[1]) > 1 for node in ast.walk(case.tree[case.place])):
        return False
    return mends(case, without_factor) or _reads(case, case.details)


def _factors(node: ast.AST) -> list[str]:
    match node:
        case ast.BinOp(left=left, op=ast.Mult() | ast.Div() | ast.MatMult(), right=right):
            return [*_factors(left), ast.unparse(right)]
    return [ast.unparse(node)]


def _reads(case: Case, names: list[str]) -> bool:
    read = {node.id for line in case.tree for node in ast.walk(line) if isinstance(node, ast.Name)}
    return bool(names) and names[0] in read


def _factor_twice(case: Case) -> bool:
    return "uses it once" not in case.message and mends(case, without_factor)


def _divisor_missing(case: Case) -> bool:
    return not mends(case, without_factor)


def _size_hard_coded(case: Case) -> bool:
    """A number is written, and no operator is what is wrong."""
    said = re.search(r"fits only the size (\d+)", case.message)
    if said is None:
        return True
    numbers = [
        node.value for line in case.tree for node in ast.walk(line) if isinstance(node, ast.Constant) and node.value
    ]
    made = [int(said[1]) ** power for power in (1, -1, 0.5, -0.5)]
    written = any(isinstance(one, int | float) and abs(one - each) < 1e-3 * each for one in numbers for each in made)
    return written and not mends(case, other_operator)


TEXTS: Mapping[str, Callable[[Case], bool]] = {
    "power-extra": _power_extra,
    "factor-extra": _factor_extra,
    "factor-twice": _factor_twice,
    "divisor-missing": _divisor_missing,
    "size-hard-coded": _size_hard_coded,
}
"""By family, what must hold of the text."""


def is_so_of_text(slip: Slip) -> bool:
    """Whether what is said of *slip* holds of the text, as far as that is tried here."""
    if len(slip.red) != 1 or slip.survives or slip.red[0].verdict != "wrong":
        return True
    case = Case(slip)
    claim = TEXTS.get(case.family)
    # What is said of a line that stopped speaks of the shape of a result, not of what it was summed along.
    return (claim is None or claim(case)) and (case.family == "error" or names_axis(case))


def names_axis(case: Case) -> bool:
    """Whether a row is said only of what runs along the last axis, and a column of what runs along the first of two."""
    words = set(re.findall(r"\b(row|column)s?\b", case.message))
    nodes = chain.from_iterable(ast.walk(one.node) for one in case.statements if one.source in _quoted(case))
    axes = {
        _is_last(node) for node in nodes if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] in ROWS
    }
    known = axes - {None}
    return not words or not known or (words == {"row"} and True in known) or (words == {"column"} and False in known)


def _quoted(case: Case) -> str:
    """The forward lines that read the tensor and make what is quoted."""
    mine = [one for one in case.statements if case.name[1:] in one.inputs]
    named = [
        one for one in mine if one.source in case.message or any(f"`d{out}`" in case.message for out in one.outputs)
    ]
    return "\n".join(one.source for one in named or mine)


def _is_last(call: ast.Call) -> bool | None:
    """Whether *call* runs along the last axis of two; None where it does not say."""
    words = [one.value for one in call.keywords if one.arg == "dim"]
    for axis in (*words, *call.args):
        try:
            value = ast.literal_eval(axis)
        except ValueError:
            continue
        if isinstance(value, int):
            return value != 0
    return None
