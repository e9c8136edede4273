"""Single-edit mutants of a solution: what an exercise must reject, whoever wrote it.

Each rule maps one node of the syntax tree to its wrong neighbours. A rule leaves out the edits that never change
a value (a factor swapped in an elementwise product, a kept dimension that broadcasts away).
"""

import ast
import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass

REDUCTIONS = frozenset({"sum", "mean"})
FLIPPED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Gt: ast.Lt, ast.Lt: ast.Gt, ast.GtE: ast.LtE, ast.LtE: ast.GtE,
}  # fmt: skip
ADDED_INSTEAD: dict[str, str] = {"index_add_": "index_copy_", "scatter_add_": "scatter_", "scatter_add": "scatter"}


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
    matters = {id(node) for node in ast.walk(tree) if isinstance(node, ast.Assign) and _writes(node, required)}
    seen = {ast.unparse(tree)}
    found = []
    for index, node in enumerate(ast.walk(tree)):
        for edit, wrong in _neighbours(node, keepdim=id(node) in matters):
            code = ast.unparse(_replaced(tree, index, wrong))
            if code not in seen:
                seen.add(code)
                found.append(Mutant(code=code, line=getattr(node, "lineno", 1), edit=edit))
    return tuple(found)


Neighbour = tuple[str, ast.AST | None]


def _neighbours(node: ast.AST, *, keepdim: bool) -> Iterator[Neighbour]:
    rule = RULES.get(type(node))
    if rule is not None:
        yield from rule(node)
    if keepdim:
        assert isinstance(node, ast.Assign)
        yield from _kept_dimension(node)


def _writes(node: ast.Assign, names: frozenset[str]) -> bool:
    return any(isinstance(target, ast.Name) and target.id in names for target in node.targets)


def _binary(node: ast.BinOp) -> Iterator[Neighbour]:
    match node.op:
        case ast.Mult():
            yield "dropped a factor", node.left
            yield "dropped a factor", node.right
        case ast.Div():
            yield "dropped a divisor", node.left
            yield "multiplied instead of divided", _with(node, op=ast.Mult())
        case ast.Add():
            yield "dropped a term", node.left
            yield "dropped a term", node.right
            yield "flipped a sign", _with(node, op=ast.Sub())
        case ast.Sub():
            yield "dropped a term", node.left
            yield "flipped a sign", _with(node, op=ast.Add())
        case ast.MatMult():
            yield "swapped the factors", _with(node, left=node.right, right=node.left)
            yield "transposed a factor", _with(node, left=_transposed(node.left))
            yield "transposed a factor", _with(node, right=_transposed(node.right))
        case ast.Pow():
            yield "dropped a power", node.left
            one_more = ast.BinOp(left=node.right, op=ast.Add(), right=ast.Constant(1))
            yield "changed an exponent", _with(node, right=one_more)


def _unary(node: ast.UnaryOp) -> Iterator[Neighbour]:
    if isinstance(node.op, ast.USub) and not isinstance(node.operand, ast.Constant):
        yield "dropped a minus", node.operand


def _call(node: ast.Call) -> Iterator[Neighbour]:
    if not isinstance(node.func, ast.Attribute):
        return
    name = node.func.attr
    if name in REDUCTIONS:
        other = "mean" if name == "sum" else "sum"
        yield f"took the {other} for the {name}", _with(node, func=_with(node.func, attr=other))
        yield from _other_axes(node)
    if name in ADDED_INSTEAD:
        yield "overwrote instead of added", _with(node, func=_with(node.func, attr=ADDED_INSTEAD[name]))
    if name == "transpose":
        yield "dropped a transpose", node.func.value


def _other_axes(node: ast.Call) -> Iterator[Neighbour]:
    if not node.args:
        return
    axis = node.args[0]
    if isinstance(axis, ast.Tuple) and len(axis.elts) > 1:
        for kept in range(len(axis.elts)):
            fewer = ast.Tuple(elts=[one for at, one in enumerate(axis.elts) if at != kept], ctx=ast.Load())
            yield "forgot an axis", _with(node, args=[fewer, *node.args[1:]])
        return
    try:
        number = ast.literal_eval(axis)
    except ValueError:
        return
    if isinstance(number, int):
        yield "took the wrong axis", _with(node, args=[ast.Constant(1 if number == 0 else 0), *node.args[1:]])


def _attribute(node: ast.Attribute) -> Iterator[Neighbour]:
    if node.attr in ("T", "mT"):
        yield "dropped a transpose", node.value


def _compare(node: ast.Compare) -> Iterator[Neighbour]:
    flipped = FLIPPED.get(type(node.ops[0]))
    if flipped is not None:
        yield "turned a comparison round", _with(node, ops=[flipped(), *node.ops[1:]])


def _assign(node: ast.Assign) -> Iterator[Neighbour]:
    if not _is_zeros(node.value):
        yield "flipped the sign", _with(node, value=ast.UnaryOp(op=ast.USub(), operand=node.value))


def _is_zeros(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and "zeros" in ast.unparse(node.func)


def _kept_dimension(node: ast.Assign) -> Iterator[Neighbour]:
    call = node.value.operand if isinstance(node.value, ast.UnaryOp) else node.value
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or not call.args:
        return
    if call.func.attr not in REDUCTIONS:
        return
    others = [keyword for keyword in call.keywords if keyword.arg != "keepdim"]
    keeps = len(others) < len(call.keywords)
    if not keeps:
        others = [*others, ast.keyword(arg="keepdim", value=ast.Constant(True))]
    changed = _with(call, keywords=others)
    value = _with(node.value, operand=changed) if isinstance(node.value, ast.UnaryOp) else changed
    yield ("lost a kept dimension" if keeps else "kept a dimension"), _with(node, value=value)


def _augmented(node: ast.AugAssign) -> Iterator[Neighbour]:
    target = copy.deepcopy(node.target)
    yield "overwrote instead of added", ast.Assign(targets=[target], value=node.value)
    other = ast.Sub() if isinstance(node.op, ast.Add) else ast.Add()
    yield "flipped the sign of an update", _with(node, op=other)
    yield "left out an update", None


RULES: dict[type[ast.AST], Callable[..., Iterator[Neighbour]]] = {
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.Call: _call,
    ast.Attribute: _attribute,
    ast.Compare: _compare,
    ast.Assign: _assign,
    ast.AugAssign: _augmented,
}


def _transposed(node: ast.expr) -> ast.expr:
    if isinstance(node, ast.Attribute) and node.attr in ("T", "mT"):
        return node.value
    return ast.Attribute(value=node, attr="mT", ctx=ast.Load())


def _with(node: ast.AST, **fields: object) -> ast.AST:
    changed = copy.copy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    return changed


def _replaced(tree: ast.Module, index: int, wrong: ast.AST | None) -> ast.Module:
    fresh = copy.deepcopy(tree)
    target = list(ast.walk(fresh))[index]
    result = _Replace(target, copy.deepcopy(wrong)).visit(fresh)
    assert isinstance(result, ast.Module)
    return ast.fix_missing_locations(result)


class _Replace(ast.NodeTransformer):
    def __init__(self, target: ast.AST, wrong: ast.AST | None) -> None:
        self._target = target
        self._wrong = wrong

    def visit(self, node: ast.AST) -> ast.AST | None:
        return self._wrong if node is self._target else self.generic_visit(node)
