"""Single edits of a backward pass that people make, of more than fifty kinds, each with what was changed into what."""

import ast
import copy
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from app.check.mutants import MADE, mutants_of


@dataclass(frozen=True)
class Edit:
    """A submission that differs at one place.

    Args:
        kind: What was done, such as `sum -> mean`.
        line: The statement that was edited, as it was and as it is; empty where it is gone.
        old: The piece that was there.
        new: What stands there now.
        number: The line of *code*, from 1.
    """

    kind: str
    code: str
    before: str
    after: str
    old: str
    new: str
    number: int

    @property
    def target(self) -> str:
        """The name that the edited line writes."""
        return written_by(self.before)


Change = tuple[str, ast.AST]
REDUCTIONS = {"sum": "mean", "mean": "sum"}
FUNCTIONS = {
    "sigmoid": "tanh",
    "tanh": "sigmoid",
    "sqrt": "rsqrt",
    "rsqrt": "sqrt",
    "cos": "sin",
    "sin": "cos",
    "erf": "tanh",
}
DROPPED = frozenset(
    {"exp", "log", "sqrt", "rsqrt", "tanh", "sigmoid", "abs", "sign", "clamp", "flip", "erf", "softmax"}
)
MOVED = frozenset({"transpose", "permute", "reshape", "view"})
PLACED = {"index_add_": "index_copy_", "index_add": "index_copy", "scatter_add_": "scatter_"}
OPPOSITE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Gt: ast.Lt, ast.Lt: ast.Gt, ast.GtE: ast.LtE, ast.LtE: ast.GtE,
}  # fmt: skip


def edits_of(solution: str, shapes: Mapping[str, tuple[int, ...]], require: tuple[str, ...]) -> tuple[Edit, ...]:
    """Every edit of *solution*, each text once: those of the product's own mutants, and many more.

    Args:
        shapes: By name, the shape of every tensor and gradient in scope: what may be taken for another.
    """
    tree = ast.parse(solution)
    lines = [ast.unparse(one) for one in tree.body]
    found = {"\n".join(lines): None}
    edits: list[Edit] = []
    for at, statement in enumerate(tree.body):
        for index, node in enumerate(ast.walk(statement)):
            for kind, new in _changes(node, shapes):
                fresh = copy.deepcopy(statement)
                target = next(one for rank, one in enumerate(ast.walk(fresh)) if rank == index)
                after = ast.unparse(ast.fix_missing_locations(_Put(target, copy.deepcopy(new)).visit(fresh)))
                _add(edits, found, kind, [*lines[:at], after, *lines[at + 1 :]], lines, at, after, node, new)
        if isinstance(statement, ast.AugAssign):
            _add(edits, found, "update left out", [*lines[:at], *lines[at + 1 :]], lines, at, "", statement, None)
        if at + 1 < len(lines):
            swapped = [*lines[:at], lines[at + 1], lines[at], *lines[at + 2 :]]
            _add(edits, found, "order", swapped, lines, at, lines[at + 1], statement, None)
    for mutant in mutants_of(solution, frozenset(require)):
        if mutant.code not in found:
            found[mutant.code] = None
            at = _statement(tree, mutant.line)
            changed = ast.parse(mutant.code).body
            after = ast.unparse(changed[at]) if len(changed) == len(lines) else ""
            edits.append(Edit(f"own: {mutant.edit}", mutant.code, lines[at], after, "", "", _first(lines, at)))
    return tuple(edits)


def written_by(line: str) -> str:
    """The name that a statement writes, or the last one inside of it."""
    names = [
        name.id
        for node in ast.walk(ast.parse(line))
        for target in (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AugAssign) else []
        )
        for name in ast.walk(target)
        if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store | ast.Load)
    ]
    if names:
        return names[-1] if isinstance(ast.parse(line).body[0], ast.For) else names[0]
    node = ast.parse(line).body[0]
    inner = next((one for one in ast.walk(node) if isinstance(one, ast.Name)), None)
    return inner.id if inner else ""


def _statement(tree: ast.Module, line: int) -> int:
    return next(at for at, one in enumerate(tree.body) if one.lineno <= line <= (one.end_lineno or line))


def _first(lines: list[str], at: int) -> int:
    return sum(line.count("\n") + 1 for line in lines[:at]) + 1


def _add(
    edits: list[Edit], found: dict[str, None], kind: str, rows: list[str], lines: list[str], at: int,
    after: str, node: ast.AST, new: ast.AST | None,
) -> None:  # fmt: skip
    code = "\n".join(rows)
    if code not in found:
        found[code] = None
        edits.append(
            Edit(kind, code, lines[at], after, _text(node), "" if new is None else _text(new), _first(lines, at))
        )


def _text(node: ast.AST) -> str:
    try:
        return ast.unparse(node)
    except Exception:
        return type(node).__name__


class _Put(ast.NodeTransformer):
    def __init__(self, target: ast.AST, new: ast.AST) -> None:
        self._target, self._new = target, new

    def visit(self, node: ast.AST) -> ast.AST:
        return self._new if node is self._target else self.generic_visit(node)


def _with(node: ast.AST, **fields: object) -> ast.AST:
    changed = copy.copy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    return changed


def _of(text: str, **parts: ast.expr) -> ast.expr:
    """The expression *text* with *parts* in the place of its names."""

    class Fill(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.AST:
            return copy.deepcopy(parts.get(node.id, node))

    return Fill().visit(ast.parse(text, mode="eval").body)


def _changes(node: ast.AST, shapes: Mapping[str, tuple[int, ...]]) -> Iterator[Change]:
    for rule in RULES:
        yield from rule(node)
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        yield from _names(node, shapes)


def _names(node: ast.Name, shapes: Mapping[str, tuple[int, ...]]) -> Iterator[Change]:
    if node.id not in shapes:
        return
    gradient = node.id in shapes and node.id[:1] == "d" and node.id[1:] in shapes
    alike = [one for one in shapes if one != node.id and shapes[one] == shapes[node.id]]
    same = [one for one in alike if (one[:1] == "d" and one[1:] in shapes) == gradient]
    for one in same[:3]:
        yield (
            ("upstream" if gradient else "operand" if shapes[node.id] else "size or scalar"),
            ast.Name(one, ast.Load()),
        )
    other = [one for one in alike if one not in same]
    for one in other[:1]:
        yield ("tensor for gradient" if gradient else "gradient for tensor"), ast.Name(one, ast.Load())


def _assignment(node: ast.AST) -> Iterator[Change]:
    if isinstance(node, ast.Assign | ast.AugAssign) and not _zeros(node.value):
        yield "sign of line", _with(node, value=_of("-(a)", a=node.value))
        yield "doubled line", _with(node, value=_of("2 * (a)", a=node.value))
        yield "halved line", _with(node, value=_of("0.5 * (a)", a=node.value))
        yield "squared line", _with(node, value=_of("(a) ** 2", a=node.value))
    if isinstance(node, ast.AugAssign):
        yield "+= -> =", ast.Assign(targets=[copy.deepcopy(node.target)], value=node.value, lineno=node.lineno)
        if isinstance(node.op, ast.Add | ast.Sub):
            yield "+= -> -=", _with(node, op=ast.Sub() if isinstance(node.op, ast.Add) else ast.Add())
        else:
            yield "*= <-> /=", _with(node, op=ast.Div() if isinstance(node.op, ast.Mult) else ast.Mult())


def _zeros(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and "zeros" in ast.unparse(node.func)


def _products(node: ast.AST) -> Iterator[Change]:
    match node:
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            for gone, kept in ((left, right), (right, left)):
                gate = any(isinstance(one, ast.Compare) for one in ast.walk(gone))
                yield ("gate lost" if gate else "factor lost"), kept
            yield "* -> /", _with(node, op=ast.Div())
            yield "* -> +", _with(node, op=ast.Add())
            yield "factor squared", _of("a * b * b", a=left, b=right)
            yield "one factor negated", _of("a * -b", a=left, b=right)
            if isinstance(right, ast.BinOp) and isinstance(right.op, ast.Add | ast.Sub):
                inner = _with(right, left=_of("a * b", a=left, b=right.left))
                yield "brackets lost", inner
        case ast.BinOp(left=left, op=ast.Div(), right=right):
            yield "divisor lost", left
            yield "/ -> *", _with(node, op=ast.Mult())
            yield "upside down", _with(node, left=right, right=left)
            yield "divided twice", _of("a / b / b", a=left, b=right)


def _sums(node: ast.AST) -> Iterator[Change]:
    match node:
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as op, right=right):
            epsilon = isinstance(right, ast.Constant) and isinstance(right.value, float) and abs(right.value) < 1e-3
            yield ("epsilon lost" if epsilon else "right term lost"), left
            if not epsilon:
                yield "left term lost", right if isinstance(op, ast.Add) else _of("-(a)", a=right)
                yield "term doubled", _with(node, right=_of("2 * (a)", a=right))
                yield "+ -> *", _with(node, op=ast.Mult())
            yield "+ <-> -", _with(node, op=ast.Sub() if isinstance(op, ast.Add) else ast.Add())
            if isinstance(left, ast.BinOp) and isinstance(left.op, ast.Add | ast.Sub):
                yield "two terms lost", left.left
        case ast.UnaryOp(op=ast.USub(), operand=operand) if not isinstance(operand, ast.Constant):
            yield "minus lost", operand


def _matmuls(node: ast.AST) -> Iterator[Change]:
    match node:
        case ast.BinOp(left=left, op=ast.MatMult(), right=right):
            yield "factors swapped", _with(node, left=right, right=left)
            yield "@ -> *", _with(node, op=ast.Mult())
            for side in ("left", "right"):
                turned = getattr(node, side)
                if not (isinstance(turned, ast.Attribute) and turned.attr == "T"):
                    yield "transposed", _with(node, **{side: _of("a.mT", a=turned)})
            yield "product transposed", _of("(a @ b).mT", a=left, b=right)
        case ast.Attribute(value=value, attr="T" | "mT"):
            yield "transpose lost", value


def _powers(node: ast.AST) -> Iterator[Change]:
    match node:
        case ast.BinOp(left=left, op=ast.Pow(), right=power):
            yield "power lost", left
            for step, kind in ((1, "power + 1"), (-1, "power - 1")):
                yield kind, _with(node, right=_moved_by(power, step))
            yield "power negated", _with(node, right=_of("-(a)", a=power))
            yield "power -> factor", _with(node, op=ast.Mult())


def _moved_by(node: ast.expr, step: float) -> ast.expr:
    """*node* and *step* more, in one number where it is one."""
    try:
        return ast.Constant(ast.literal_eval(node) + step)
    except (ValueError, TypeError):
        return (
            ast.BinOp(node, ast.Add(), ast.Constant(step))
            if step > 0
            else ast.BinOp(node, ast.Sub(), ast.Constant(-step))
        )


def _compares(node: ast.AST) -> Iterator[Change]:
    match node:
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in OPPOSITE:
            yield "comparison turned", _with(node, ops=[OPPOSITE[type(op)]()])
            yield "threshold moved", _with(node, comparators=[_moved_by(right, 0.75)])
            if isinstance(left, ast.Name):
                yield "gradient in the gate", _with(node, left=_of("-a", a=left))
        case ast.Compare(ops=[ast.Eq()]):
            yield "== -> !=", _with(node, ops=[ast.NotEq()])


def _calls(node: ast.AST) -> Iterator[Change]:
    match node:
        case ast.Call(func=ast.Attribute(value=value, attr=name) as func, args=args, keywords=keywords):
            torch = isinstance(value, ast.Name) and value.id in {"torch", "F", "math"}
            inner = args[0] if torch and args else value
            if name in REDUCTIONS:
                yield f"{name} -> {REDUCTIONS[name]}", _with(node, func=_with(func, attr=REDUCTIONS[name]))
                yield from _axes(node, func, args, keywords, first=1 if torch else 0)
                yield "sum lost", inner
            if name in FUNCTIONS:
                yield "other function", _with(node, func=_with(func, attr=FUNCTIONS[name]))
            if name in DROPPED and isinstance(inner, ast.expr):
                yield "function lost", inner
            if name in {"sigmoid", "tanh", "exp"}:
                yield "argument negated", _negated(node, torch)
            if name in MOVED and not torch:
                yield "layout step lost", value
            if name == "transpose" and len(args) == 2:
                yield "other axes exchanged", _with(node, args=[ast.Constant(0), args[1]])
            if name == "permute" and len(args) > 2:
                yield "other order of axes", _with(node, args=[*args[:-2], args[-1], args[-2]])
            if name == "clone" and not args:
                yield "clone lost", value
            if name in PLACED:
                yield "placed instead of added", _with(node, func=_with(func, attr=PLACED[name]))
            if name == "where" and len(args) == 3:
                yield "branches exchanged", _with(node, args=[args[0], args[2], args[1]])
                yield "one branch alone", args[1]
            if name == "zeros_like":
                yield "ones for zeros", _with(node, func=_with(func, attr="ones_like"))
            if (
                name in {"cat", "stack"}
                and args
                and isinstance(args[0], ast.List | ast.Tuple)
                and len(args[0].elts) > 1
            ):
                yield "parts exchanged", _with(node, args=[_with(args[0], elts=args[0].elts[::-1]), *args[1:]])
                yield (
                    "a part twice",
                    _with(node, args=[_with(args[0], elts=[args[0].elts[0]] * len(args[0].elts)), *args[1:]]),
                )
            if name == "einsum" and args and isinstance(args[0], ast.Constant):
                yield from _einsum(node, args)
            if name == "outer" and len(args) == 2:
                yield "outer exchanged", _with(node, args=args[::-1])
            if name == "expand_as" or name == "expand":
                yield "spread lost", value
        case ast.Call(func=ast.Name(id="range"), args=[stop]):
            yield "one turn less", _with(node, args=[_of("a - 1", a=stop)])
            yield "first turn left out", _with(node, args=[ast.Constant(1), stop])
        case ast.Call(func=ast.Name(id="reversed"), args=[inner]):
            yield "loop forwards", inner


def _negated(node: ast.Call, torch: bool) -> ast.AST:
    if torch:
        return _with(node, args=[_of("-(a)", a=node.args[0])])
    assert isinstance(node.func, ast.Attribute)
    return _with(node, func=_with(node.func, value=_of("(-a)", a=node.func.value)))


def _axes(
    node: ast.Call, func: ast.Attribute, args: list[ast.expr], keywords: list[ast.keyword], first: int
) -> Iterator[Change]:
    keeps = [one for one in keywords if one.arg == "keepdim"]
    if keeps:
        yield "keepdim lost", _with(node, keywords=[one for one in keywords if one.arg != "keepdim"])
    elif len(args) > first:
        yield "keepdim added", _with(node, keywords=[*keywords, ast.keyword("keepdim", ast.Constant(True))])
    if len(args) > first:
        axis = args[first]
        try:
            value = ast.literal_eval(axis)
        except ValueError:
            return
        rest = args[first + 1 :]
        if isinstance(value, tuple):
            for at in range(len(value)):
                fewer = value[:at] + value[at + 1 :]
                yield "one axis less", _with(node, args=[*args[:first], ast.Constant(fewer), *rest])
        elif isinstance(value, int):
            other = {0: 1, 1: 0, -1: 0, 2: 1}.get(value, 0)
            yield "other axis", _with(node, args=[*args[:first], ast.Constant(other), *rest])
            yield "every axis", _with(node, args=args[:first], keywords=[])
            if not keeps and first == 0:
                yield "one slice", _of("a[0]" if value == 0 else "a[:, 0]", a=func.value)


def _einsum(node: ast.Call, args: list[ast.expr]) -> Iterator[Change]:
    text = args[0].value
    inputs, _, output = str(text).partition("->")
    if len(output) > 1:
        turned = output[:-2] + output[-1] + output[-2]
        yield "einsum transposed", _with(node, args=[ast.Constant(f"{inputs}->{turned}"), *args[1:]])
    if len(args) == 3:
        yield "einsum operands exchanged", _with(node, args=[args[0], args[2], args[1]])


def _numbers(node: ast.AST) -> Iterator[Change]:
    match node:
        case ast.Constant(value=float(value)) if value:
            yield (
                ("epsilon changed" if abs(value) < 1e-3 else "constant doubled"),
                ast.Constant(value * (100 if abs(value) < 1e-3 else 2)),
            )
        case ast.BinOp(left=ast.Constant(value=int(value)), op=ast.Mult()) if value > 1:
            yield "constant + 1", _with(node, left=ast.Constant(value + 1))


def _indices(node: ast.AST) -> Iterator[Change]:
    if not isinstance(node, ast.Subscript):
        return
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    for at, part in enumerate(parts):
        for kind, new in _part(part):
            changed = [*parts[:at], new, *parts[at + 1 :]]
            yield kind, _with(node, slice=_with(node.slice, elts=changed) if isinstance(node.slice, ast.Tuple) else new)
    arange = any(isinstance(one, ast.Call) and "arange" in ast.unparse(one.func) for one in parts)
    if arange and len(parts) == 2:
        yield "whole columns", _with(node, slice=ast.Tuple([ast.Slice(), parts[1]], ast.Load()))
        yield "whole rows", _with(node, slice=parts[1])


def _part(part: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    match part:
        case ast.Constant(value=int(value)) if not isinstance(value, bool):
            yield "index + 1", ast.Constant(value + 1)
            if value:
                yield "index - 1", ast.Constant(value - 1)
        case ast.BinOp(op=ast.Sub() | ast.Add(), left=left):
            yield "step forgotten", left
        case ast.Slice(lower=lower, upper=upper) if lower is not None and upper is None and isinstance(lower, ast.Name):
            yield "other half", ast.Slice(None, lower)
        case ast.Slice(lower=None, upper=upper) if upper is not None and isinstance(upper, ast.Name):
            yield "other half", ast.Slice(upper, None)


RULES: tuple[Callable[[ast.AST], Iterator[Change]], ...] = (
    _assignment, _products, _sums, _matmuls, _powers, _compares, _calls, _numbers, _indices,
)  # fmt: skip
__all__ = ["MADE", "Edit", "edits_of", "written_by"]
