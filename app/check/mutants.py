"""Single-edit mutants of a solution, which an exercise must reject.

The edits of expressions are those of the grammar that slips are made of; the ones of statements stand here. Left out
are edits that never change a value (a factor swapped in an elementwise product, a kept dimension that broadcasts away).
"""

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass

from app.grading.diagnosis.call_kinds import AVERAGED, reduction_edits
from app.grading.diagnosis.grammar import (
    EditVocabulary,
    Replacement,
    comparison_edits,
    operator_edits,
    power_edits,
    removal_edits,
    sign_edits,
)
from app.syntax import name_of, nodes_in

MUTANT_EDITS = (removal_edits, operator_edits, sign_edits, power_edits, reduction_edits, comparison_edits)
ONCE = frozenset({"power", "axis", "sign"})
"""Kinds of which one edit at a place is enough."""
ADDED_INSTEAD: dict[str, str] = {"index_add_": "index_copy_", "scatter_add_": "scatter_", "scatter_add": "scatter"}
MADE: dict[str, str] = {
    "drop-factor": "dropped a factor",
    "drop-divisor": "dropped a divisor",
    "drop-term": "dropped a term",
    "drop-power": "dropped a power",
    "drop-minus": "dropped a minus",
    "drop-turn": "dropped a transpose",
    "sign": "flipped a sign",
    "multiply": "multiplied instead of divided",
    "swap": "swapped the factors",
    "turn": "transposed a factor",
    "power": "changed an exponent",
    "average": "took the mean for the sum",
    "sum": "took the sum for the mean",
    "fewer-axes": "forgot an axis",
    "axis": "took the wrong axis",
    "compare": "turned a comparison round",
}
"""The kinds of the grammar that make mutants, with what each of them did."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """A solution with one edit.

    Args:
        line: Line of the solution, from 1.
        edit: What was changed, such as `dropped a factor`.
    """

    code: str
    line: int
    edit: str


def mutants_of(solution: str, required: frozenset[str]) -> tuple[Mutant, ...]:
    """Every single-edit mutant of *solution* whose text differs from it, each once.

    Args:
        required: Names that are graded. Only theirs is a kept dimension that matters: elsewhere it may broadcast away.

    Raises:
        SyntaxError: *solution* is not Python.
    """
    tree = ast.parse(solution)
    matters = {node for node in nodes_in(tree) if isinstance(node, ast.Assign) and _writes(node, required)}
    # Statement by statement: to copy and to write out all of a long solution for every edit would take minutes.
    texts = [_statement_text(statement, first=not number) for number, statement in enumerate(tree.body)]
    owners = {node: number for number, statement in enumerate(tree.body) for node in nodes_in(statement)}
    codes = {"\n".join(texts)}
    mutants = []
    for node in nodes_in(tree):
        for edit, wrong in _neighbours(node, keepdim=node in matters):
            owner = owners[node]
            edited = _with_replacement(tree.body[owner], node, wrong)
            code = "\n".join(
                [
                    *texts[:owner],
                    *(_statement_text(statement, first=not owner) for statement in edited),
                    *texts[owner + 1 :],
                ]
            )
            if code not in codes:
                codes.add(code)
                mutants.append(Mutant(code=code, line=getattr(node, "lineno", 1), edit=edit))
    return tuple(mutants)


Neighbour = tuple[str, ast.AST | None]


def _neighbours(node: ast.AST, *, keepdim: bool) -> Iterator[Neighbour]:
    if isinstance(node, ast.expr):
        yield from _of_grammar(node)
        yield from _overwriting(node)
    if isinstance(node, ast.Assign):
        yield from _assign(node)
    if isinstance(node, ast.AugAssign):
        yield from _augmented_neighbours(node)
    if keepdim:
        assert isinstance(node, ast.Assign)
        yield from _kept_dimension(node)


def _of_grammar(node: ast.expr) -> Iterator[Neighbour]:
    once: set[str] = set()
    for change in (change for kind in MUTANT_EDITS for change in kind(node, EditVocabulary())):
        differs = ast.dump(change.new) != ast.dump(node)
        if change.kind in MADE and change.kind not in once and differs and _counts(node, change):
            once |= {change.kind} & ONCE
            yield MADE[change.kind], change.new


def _counts(node: ast.expr, change: Replacement) -> bool:
    """True if the change makes a right solution wrong, and is no twin of another one."""
    match change.kind, node:
        case "drop-factor", ast.BinOp(op=op):
            return isinstance(op, ast.Mult)
        case "drop-term", ast.BinOp(op=ast.Sub(), left=left):
            return change.new is left
        case "drop-turn", ast.Call(func=ast.Attribute(attr=attr)):
            return attr == "transpose"
        case "axis", ast.Call(func=ast.Attribute(attr=attr), args=[axis, *_]):
            return attr in AVERAGED and isinstance(axis, ast.Constant | ast.UnaryOp)
        case ("axis", _) | ("compare", ast.Compare(ops=[ast.Eq()])):
            return False
    return True


def _writes(node: ast.Assign, names: frozenset[str]) -> bool:
    return any(name_of(target) in names for target in node.targets)


def _overwriting(node: ast.expr) -> Iterator[Neighbour]:
    match node:
        case ast.Call(func=ast.Attribute(attr=attr)) if attr in ADDED_INSTEAD:
            yield "overwrote instead of added", _with(node, func=_with(node.func, attr=ADDED_INSTEAD[attr]))


def _assign(node: ast.Assign) -> Iterator[Neighbour]:
    if not _is_zeros(node.value):
        yield "flipped the sign", _with(node, value=ast.UnaryOp(op=ast.USub(), operand=node.value))


def _is_zeros(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and "zeros" in ast.unparse(node.func)


def _kept_dimension(node: ast.Assign) -> Iterator[Neighbour]:
    call = node.value.operand if isinstance(node.value, ast.UnaryOp) else node.value
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or not call.args:
        return
    if call.func.attr not in AVERAGED:
        return
    others = [keyword for keyword in call.keywords if keyword.arg != "keepdim"]
    keeps = len(others) < len(call.keywords)
    if not keeps:
        others = [*others, ast.keyword(arg="keepdim", value=ast.Constant(True))]
    changed = _with(call, keywords=others)
    value = _with(node.value, operand=changed) if isinstance(node.value, ast.UnaryOp) else changed
    yield ("lost a kept dimension" if keeps else "kept a dimension"), _with(node, value=value)


def _augmented_neighbours(node: ast.AugAssign) -> Iterator[Neighbour]:
    target = copy.deepcopy(node.target)
    yield "overwrote instead of added", ast.Assign(targets=[target], value=node.value)
    other = ast.Sub() if isinstance(node.op, ast.Add) else ast.Add()
    yield "flipped the sign of an update", _with(node, op=other)
    yield "left out an update", None


def _with(node: ast.AST, **fields: object) -> ast.AST:
    changed = copy.copy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    return changed


def _statement_text(statement: ast.stmt, *, first: bool) -> str:
    """*statement* as it is written out in a module."""
    blank = not first and isinstance(statement, ast.FunctionDef | ast.ClassDef)
    return "\n" * blank + ast.unparse(statement)


def _with_replacement(statement: ast.stmt, node: ast.AST, wrong: ast.AST | None) -> list[ast.stmt]:
    """A copy of *statement* with *wrong* in place of its *node*; nothing where that is the whole of it."""
    index = next(number for number, inner in enumerate(nodes_in(statement)) if inner is node)
    fresh = copy.deepcopy(statement)
    target = next(inner for number, inner in enumerate(nodes_in(fresh)) if number == index)
    result = _Replace(target, copy.deepcopy(wrong)).visit(fresh)
    return [ast.fix_missing_locations(result)] if isinstance(result, ast.stmt) else []


class _Replace(ast.NodeTransformer):
    def __init__(self, target: ast.AST, wrong: ast.AST | None) -> None:
        self._target = target
        self._wrong = wrong

    def visit(self, node: ast.AST) -> ast.AST | None:
        if node is self._target:
            return self._wrong
        changed = self.generic_visit(node)
        # A loop whose only statement is left out does nothing.
        if isinstance(changed, ast.For | ast.While | ast.If | ast.With) and not changed.body:
            changed.body = [ast.Pass()]
        return changed
