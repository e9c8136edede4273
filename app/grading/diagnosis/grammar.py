"""One grammar of small edits: drop, operator, name, sign, power, number, reduction, function, and their inverses.

It has three readers. An edit of a backward rule is a slip that a learner makes (`slips`); an edit of the learner's own
line that makes it right shows where the slip is (`mend`); an edit of an author's solution is a mutant that an exercise
must turn down (`app.check.mutants`). A kind of edit takes one expression and gives what may stand in its place.
"""

import ast
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import Any

from app.grading.diagnosis.evidence import Array

REDUCTIONS = frozenset({"sum", "mean", "softmax", "log_softmax", "cumsum", "flip", "logsumexp", "max", "amax", "var"})
TURNS = frozenset({"transpose", "t", "permute", "swapaxes"})
MODULES = frozenset({"torch", "F", "math"})
AVERAGED: Mapping[str, str] = {"sum": "mean", "mean": "sum", "S": "M", "M": "S"}


@dataclass(frozen=True, slots=True)
class Words:
    """What an edit may put in.

    Args:
        arrays: Tensors by name.
        gradients: Which of them are gradients.
        sizes: Whole numbers by name.
        parts: Expressions that may be missing as a factor.
        functions: Functions of one argument, as `module.name` or by name alone.
        inverse: Whether something that is missing may be put in; a rule or a solution lacks nothing.
    """

    arrays: Mapping[str, Array] = field(default_factory=dict)
    gradients: Collection[str] = ()
    sizes: Mapping[str, Any] = field(default_factory=dict)
    parts: Sequence[ast.expr] = ()
    functions: Sequence[str] = ()
    inverse: bool = False


@dataclass(frozen=True, slots=True)
class Change:
    """*new* may stand in the place of an expression; *piece* is what was left out, put in or turned round."""

    kind: str
    new: ast.expr
    piece: ast.expr | None = None


@dataclass(frozen=True, slots=True)
class Edit:
    """*root* is the text with one change, at the place of *old*."""

    root: ast.AST
    old: ast.AST
    change: Change


Kind = Callable[[ast.expr, Words], Iterator[Change]]


def dropped(node: ast.expr, _words: Words) -> Iterator[Change]:
    """A factor, a term, a power, a minus, a transpose or a function that is left out."""
    match node:
        case ast.BinOp(left=left, op=ast.Mult() | ast.Div() | ast.MatMult() as op, right=right):
            yield Change("drop-divisor" if isinstance(op, ast.Div) else "drop-factor", left, right)
            yield Change("drop-factor", right, left)
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as op, right=right):
            yield Change("drop-term", left, right)
            yield Change("drop-term", right, left)
            if isinstance(op, ast.Sub):
                yield Change("drop-term", ast.UnaryOp(ast.USub(), right), left)
        case ast.BinOp(left=left, op=ast.Pow()):
            yield Change("drop-power", left)
        case ast.UnaryOp(op=ast.USub(), operand=operand) if not isinstance(operand, ast.Constant):
            yield Change("drop-minus", operand)
        case (
            ast.Attribute(value=value, attr="T" | "mT")
            | ast.Call(func=ast.Attribute(value=value, attr="transpose" | "t" | "permute" | "swapaxes"))
            | ast.Call(func=ast.Name(id="T"), args=[value])
        ):
            yield Change("drop-turn", value, value)
        case ast.Call(func=ast.Attribute(value=ast.Name(id=module), attr=attr), args=[first, *_]) if module in MODULES:
            yield Change("drop-function", first, ast.Name(attr))
        case ast.Call(func=ast.Attribute(value=value, attr=attr)) if attr not in TURNS:
            yield Change("drop-method", value, ast.Name(attr))
        case ast.Call(func=ast.Name(id=name), args=[inner]):
            yield Change("drop-function", inner, ast.Name(name))


def named(node: ast.expr, words: Words) -> Iterator[Change]:
    """Another tensor, or another size."""
    if not isinstance(node, ast.Name):
        return
    mine = words.arrays.get(node.id)
    for name, array in words.arrays.items():
        if mine is not None and name != node.id and array.dtype.kind == mine.dtype.kind:
            yield Change("gradient" if node.id in words.gradients else "name", ast.Name(name, ast.Load()), node)
    for name, size in words.sizes.items() if node.id in words.sizes else ():
        if name != node.id and isinstance(size, int):
            yield Change("size", ast.Name(name, ast.Load()), node)


def signed(node: ast.expr, words: Words) -> Iterator[Change]:
    """Another sign of a term; a minus put in."""
    match node:
        case ast.Name() | ast.Call() | ast.Subscript() | ast.BinOp(op=ast.Mult() | ast.Div()) if words.inverse:
            yield Change("put-minus", ast.UnaryOp(ast.USub(), node))
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            yield Change("sign", ast.BinOp(left, ast.Sub(), right), right)
            yield Change("sign", ast.BinOp(right, ast.Sub(), left), left)
        case ast.BinOp(left=left, op=ast.Sub(), right=right):
            yield Change("sign", ast.BinOp(left, ast.Add(), right), right)


def operated(node: ast.expr, words: Words) -> Iterator[Change]:
    """Another operator, or its operands the other way round."""
    match node:
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            yield Change("divide", ast.BinOp(left, ast.Div(), right), right)
            yield Change("matmul", ast.BinOp(left, ast.MatMult(), right))
            yield Change("add", ast.BinOp(left, ast.Add(), right))
            if words.inverse:
                yield Change("matmul", ast.BinOp(_turned(left), ast.MatMult(), right))
                yield Change("matmul", ast.BinOp(left, ast.MatMult(), _turned(right)))
        case ast.BinOp(left=left, op=ast.Div(), right=right):
            yield Change("multiply", ast.BinOp(left, ast.Mult(), right), right)
            yield Change("turn-over", ast.BinOp(right, ast.Div(), left))
        case ast.BinOp(left=left, op=ast.MatMult(), right=right):
            yield Change("entrywise", ast.BinOp(left, ast.Mult(), right))
            yield Change("swap", ast.BinOp(right, ast.MatMult(), left))
            if not words.inverse:
                yield Change("turn", ast.BinOp(_turned(left), ast.MatMult(), right))
                yield Change("turn", ast.BinOp(left, ast.MatMult(), _turned(right)))
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub(), right=right):
            yield Change("product", ast.BinOp(left, ast.Mult(), right))


def grouped(node: ast.expr, _words: Words) -> Iterator[Change]:
    """Brackets left out, as in `1 - y * g` for `(1 - y) * g`; put in again, where something may be missing."""
    match node:
        case ast.BinOp(left=ast.BinOp(left=a, op=inner, right=b) as group, op=outer, right=c) if _binds(outer, inner):
            yield Change("ungroup", ast.BinOp(a, inner, ast.BinOp(b, outer, c)), group)
            yield Change("ungroup", ast.BinOp(ast.BinOp(a, outer, c), inner, b), group)
        case ast.BinOp(left=a, op=outer, right=ast.BinOp(left=b, op=inner, right=c) as group) if _binds(outer, inner):
            yield Change("ungroup", ast.BinOp(ast.BinOp(a, outer, b), inner, c), group)
            yield Change("ungroup", ast.BinOp(b, inner, ast.BinOp(a, outer, c)), group)
        case ast.BinOp(left=a, op=inner, right=ast.BinOp(left=b, op=ast.Pow() as power, right=p)):
            yield Change("group", ast.BinOp(ast.BinOp(a, inner, b), power, p), node)
    match node:
        case ast.BinOp(left=a, op=outer, right=ast.BinOp(left=b, op=inner, right=c)) if _binds(inner, outer):
            yield Change("group", ast.BinOp(ast.BinOp(a, outer, b), inner, c), node)
        case ast.BinOp(left=ast.BinOp(left=a, op=inner, right=b), op=outer, right=c) if _binds(inner, outer):
            yield Change("group", ast.BinOp(a, inner, ast.BinOp(b, outer, c)), node)
        case ast.BinOp(left=ast.BinOp(left=a, op=ast.Mult() | ast.Div() as inner, right=b), op=ast.Div(), right=c):
            yield Change("group", ast.BinOp(a, inner, ast.BinOp(b, ast.Div(), c)), node)
            yield Change("group", ast.BinOp(a, ast.Div(), ast.BinOp(b, ast.Mult(), c)), node)


def _binds(outer: ast.operator, inner: ast.operator) -> bool:
    """Whether brackets decide: *outer* multiplies what *inner* adds."""
    return isinstance(outer, ast.Mult | ast.Div | ast.MatMult) and isinstance(inner, ast.Add | ast.Sub)


def summed(node: ast.expr, _words: Words) -> Iterator[Change]:
    """The sum of products for the product of sums, and the inverse."""
    match node:
        case ast.Call(func=ast.Name(id="S" | "M"), args=[ast.BinOp(left=a, op=ast.Mult() as op, right=b)]):
            yield Change("split-sum", ast.BinOp(ast.Call(node.func, [a], []), op, ast.Call(node.func, [b], [])), node)
        case ast.BinOp(
            left=ast.Call(func=ast.Attribute(value=a, attr="sum")) as first,
            op=ast.Mult() as op,
            right=ast.Call(func=ast.Attribute(value=b, attr="sum")) as second,
        ) if ast.dump(ast.Tuple(first.args)) == ast.dump(ast.Tuple(second.args)):
            func = _attribute(ast.BinOp(a, op, b), "sum")
            yield Change("join-sum", ast.Call(func, first.args, first.keywords), node)
            keep = [ast.keyword("keepdim", ast.Constant(True))]
            yield Change("join-sum", ast.Call(func, first.args, keep), node)


def turned(node: ast.expr, words: Words) -> Iterator[Change]:
    """A transpose put in; two exchanged axes of a tensor with more of them."""
    match node:
        case ast.Name(id=name) if name in words.arrays and words.arrays[name].ndim > 1:
            yield Change("turn", _turned(node), node)
            for first in range(words.arrays[name].ndim - 2):
                call = ast.Call(_attribute(node, "transpose"), [ast.Constant(first), ast.Constant(first + 1)], [])
                yield Change("turn-axes", call, node)


def _turned(node: ast.expr) -> ast.expr:
    if isinstance(node, ast.Attribute) and node.attr in {"T", "mT"}:
        return node.value
    return _attribute(node, "mT")


def _attribute(node: ast.expr, attr: str) -> ast.Attribute:
    return ast.Attribute(node, attr, ast.Load())


POWERS = (1, -1, 2, -2, 0.5, -0.5)


def powered(node: ast.expr, _words: Words) -> Iterator[Change]:
    """Another exponent."""
    match node:
        case ast.BinOp(left=left, op=ast.Pow(), right=exponent):
            for by in POWERS:
                yield Change("power", ast.BinOp(left, ast.Pow(), _raised(exponent, by)))
            yield Change("power-sign", ast.BinOp(left, ast.Pow(), ast.UnaryOp(ast.USub(), exponent)))


def _raised(exponent: ast.expr, by: float) -> ast.expr:
    match exponent:
        case ast.Constant(value=int() | float() as value):
            return ast.Constant(value + by)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
            return ast.Constant(by - value)
    return ast.BinOp(exponent, ast.Add(), ast.Constant(by))


def numbered(node: ast.expr, _words: Words) -> Iterator[Change]:
    """Another number."""
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            for other in dict.fromkeys((0, 1, 2, 0.5, 3, -value, value * 2, value / 2, value + 1, value - 1)):
                if other != value:
                    yield Change("number", ast.Constant(other), node)


def reduced(node: ast.expr, _words: Words) -> Iterator[Change]:
    """Sum for mean and mean for sum, another axis, a kept dimension."""
    match node:
        case ast.Call(func=ast.Name(id=name)) if name in AVERAGED:
            yield Change("average" if name == "S" else "sum", _called(node, ast.Name(AVERAGED[name], ast.Load())))
        case ast.Call(func=ast.Attribute(value=value, attr=attr)) if attr in REDUCTIONS:
            if attr in AVERAGED:
                yield Change("average" if attr == "sum" else "sum", _called(node, _attribute(value, AVERAGED[attr])))
            yield from _axes(node, value, attr)


def _called(node: ast.Call, func: ast.expr) -> ast.Call:
    return ast.Call(func, node.args, node.keywords)


def _axes(node: ast.Call, value: ast.expr, attr: str) -> Iterator[Change]:
    first = int(_is_module(value))
    keep = ast.keyword("keepdim", ast.Constant(True))
    given = [word.value for word in node.keywords if word.arg == "dim"] or node.args[first : first + 1]
    if given and isinstance(given[0], ast.Tuple):
        for kept in range(len(given[0].elts)) if len(given[0].elts) > 1 else ():
            fewer = ast.Tuple([one for at, one in enumerate(given[0].elts) if at != kept], ast.Load())
            yield Change("fewer-axes", _with_axis(node, first, fewer))
    if given:
        for axis in (0, 1, 2, 3, -1, -2):
            yield Change("axis", _with_axis(node, first, ast.Constant(axis)))
    elif attr in AVERAGED:
        for axis in (0, 1, -1):
            yield Change("one-axis", ast.Call(node.func, [*node.args, ast.Constant(axis)], [*node.keywords, keep]))
            yield Change("one-axis", ast.Call(node.func, [*node.args, ast.Constant(axis)], node.keywords))
    without = [word for word in node.keywords if word.arg != "keepdim"]
    if len(without) < len(node.keywords):
        yield Change("unkeep", ast.Call(node.func, node.args, without))
    elif attr in AVERAGED and given:
        yield Change("keep", ast.Call(node.func, node.args, [*node.keywords, keep]))


def _with_axis(node: ast.Call, first: int, axis: ast.expr) -> ast.Call:
    if any(word.arg == "dim" for word in node.keywords):
        words = [ast.keyword("dim", axis) if word.arg == "dim" else word for word in node.keywords]
        return ast.Call(node.func, node.args, words)
    return ast.Call(node.func, [*node.args[:first], axis, *node.args[first + 1 :]], node.keywords)


def indexed(node: ast.expr, words: Words) -> Iterator[Change]:
    """A slice or a step that is left out, or another one."""
    if not isinstance(node, ast.Subscript):
        return
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if any(isinstance(part, ast.Slice) and (part.lower or part.upper) for part in parts):
        yield Change("unslice", node.value)
    elif all(isinstance(part, ast.Constant | ast.UnaryOp | ast.Slice) for part in parts):
        yield Change("unpick", node.value)
    for at, part in enumerate(parts):
        if isinstance(part, ast.Slice):
            if (part.lower is None) != (part.upper is None) and part.step is None:
                yield Change("part", _with_part(node, at, ast.Slice(part.upper, part.lower, None)))
            continue
        fixed = isinstance(part, ast.Constant)
        if isinstance(part, ast.Constant) and not isinstance(part.value, int):
            continue
        for by in (1, -1, 2, -2):
            new = _with_part(node, at, ast.BinOp(part, ast.Add(), ast.Constant(by)))
            yield Change("part" if fixed else "neighbour", new)
        for name, size in words.sizes.items() if fixed else ():
            if isinstance(size, int) and not isinstance(size, bool):
                yield Change("step", _with_part(node, at, ast.Name(name, ast.Load())))


def _with_part(node: ast.Subscript, at: int, part: ast.expr) -> ast.Subscript:
    if not isinstance(node.slice, ast.Tuple):
        return ast.Subscript(node.value, part, ast.Load())
    elts = [part if rank == at else each for rank, each in enumerate(node.slice.elts)]
    return ast.Subscript(node.value, ast.Tuple(elts, ast.Load()), ast.Load())


def added(node: ast.expr, words: Words) -> Iterator[Change]:
    """A factor, a division, a function or a sum that is put in."""
    if not words.inverse or not isinstance(node, ast.Name | ast.BinOp | ast.Call | ast.Subscript | ast.Attribute):
        return
    floats = [ast.Name(name, ast.Load()) for name, array in words.arrays.items() if array.dtype.kind == "f"]
    for other in (*floats, *words.parts):
        yield Change("put-factor", ast.BinOp(node, ast.Mult(), other))
        yield Change("put-division", ast.BinOp(node, ast.Div(), other))
    for name in words.sizes:
        yield Change("put-size", ast.BinOp(node, ast.Div(), ast.Name(name, ast.Load())))
        yield Change("put-size", ast.BinOp(node, ast.Mult(), ast.Name(name, ast.Load())))
    one_less = ast.BinOp(ast.Constant(1), ast.Sub(), node)
    cubed, positive = ast.BinOp(node, ast.Pow(), ast.Constant(3)), ast.Compare(node, [ast.Gt()], [ast.Constant(0)])
    for new in (one_less, cubed, positive):
        yield Change("put-function", new)
    for axis in (0, 1, -1):
        words_ = [ast.keyword("keepdim", ast.Constant(True))]
        yield Change("put-sum", ast.Call(_attribute(node, "sum"), [ast.Constant(axis)], words_))


def functioned(node: ast.expr, words: Words) -> Iterator[Change]:
    """A function put in, or in the place of another one."""
    for function in words.functions:
        name: ast.expr = ast.Name(function, ast.Load())
        if words.inverse:
            name = _attribute(ast.Name("torch", ast.Load()), function)
            yield Change("put-function", ast.Call(name, [node], []), node)
        elif isinstance(node, ast.Name):
            yield Change("apply", ast.Call(name, [node], []), node)
    match node:
        case ast.Call(func=ast.Attribute(value=base, attr=attr), args=arguments) if len(arguments) == _is_module(base):
            for function in words.functions:
                if function != attr:
                    yield Change("function", _called(node, _attribute(base, function)))
        case ast.Call(func=ast.Name(id=attr), args=[_]):
            for function in words.functions:
                if function != attr:
                    yield Change("function", _called(node, ast.Name(function, ast.Load())))


def _is_module(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id in MODULES


def compared(node: ast.expr, _words: Words) -> Iterator[Change]:
    """A comparison the other way round."""
    match node:
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in OPPOSITE:
            yield Change("compare", ast.Compare(left, [OPPOSITE[type(op)]()], [right]))


OPPOSITE: Mapping[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Gt: ast.Lt, ast.Lt: ast.Gt, ast.GtE: ast.LtE, ast.LtE: ast.GtE, ast.Eq: ast.NotEq,
}  # fmt: skip
KINDS: tuple[Kind, ...] = (
    dropped, named, indexed, reduced, signed, turned, grouped, summed, operated, powered, numbered, compared,
    functioned, added,
)  # fmt: skip
"""The likeliest kinds first."""


def edits(root: ast.AST, words: Words, kinds: Sequence[Kind] = KINDS) -> Iterator[Edit]:
    """Every edit of *root* at one place."""
    parents = _parents(root)
    places = [node for node in ast.walk(root) if isinstance(node, ast.expr) and _is_read(node, parents)]
    for kind in kinds:
        for place in places:
            for change in kind(place, words):
                yield Edit(_put(root, parents, place, change.new), place, change)


Parents = dict[int, tuple[ast.AST, str, int | None]]


def _parents(root: ast.AST) -> Parents:
    found: Parents = {}
    for node in ast.walk(root):
        for name, value in ast.iter_fields(node):
            if isinstance(value, ast.AST):
                found[id(value)] = (node, name, None)
            elif isinstance(value, list):
                found |= {id(each): (node, name, at) for at, each in enumerate(value) if isinstance(each, ast.AST)}
    return found


def _is_read(node: ast.expr, parents: Parents) -> bool:
    if isinstance(getattr(node, "ctx", None), ast.Store):
        return False
    parent, name, _ = parents.get(id(node), (None, "", None))
    # A module or the function of a call is no operand, and the names of a subscript that is written stay.
    return not (isinstance(parent, ast.Call) and name == "func") and not _is_module(node)


def replaced(root: ast.AST, place: ast.AST, new: ast.AST) -> ast.AST:
    """A copy of *root* in which *place* is *new*; everything beside the way to it is the very same."""
    return _put(root, _parents(root), place, new)


def _put(root: ast.AST, parents: Parents, place: ast.AST, new: ast.AST) -> ast.AST:
    while place is not root:
        parent, name, at = parents[id(place)]
        twin = copy(parent)
        if at is None:
            setattr(twin, name, new)
        else:
            setattr(twin, name, [new if rank == at else each for rank, each in enumerate(getattr(parent, name))])
        place, new = parent, twin
    return new
