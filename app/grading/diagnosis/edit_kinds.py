"""The slips of the pen that one place of a statement can hold: for each of them what may stand there instead.

A kind takes an expression and gives the expressions that could replace it, each with the code and the sentence for the
slip that the replacement undoes.
"""

import ast
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

from app.grading.diagnosis.evidence import Array


@dataclass(frozen=True, slots=True)
class Scope:
    """What may be written instead: arrays by name, names of gradients, and names of sizes."""

    arrays: Mapping[str, Array]
    gradients: Collection[str]
    sizes: Mapping[str, Any]
    parts: Sequence[ast.expr] = ()
    """Parts of the forward lines that the rule may need as a factor."""


Change = tuple[ast.expr, str, str]
REDUCTIONS = frozenset({"sum", "mean", "softmax", "log_softmax", "cumsum", "flip", "logsumexp", "max", "amax", "var"})
FUNCTIONS = ("exp", "log", "tanh", "sigmoid", "sqrt", "square", "relu", "sign", "neg", "reciprocal")
TURNS = frozenset({"transpose", "t", "permute", "swapaxes"})
AXES = (0, 1, 2, 3)
POWERS = (1, -1, 2, -2, 0.5, -0.5)


def text_of(node: ast.AST) -> str:
    return ast.unparse(node)


def _detail(code: str, node: ast.AST) -> str:
    return f"{code}:{node.id}" if isinstance(node, ast.Name) else code


def _names(node: ast.expr, scope: Scope) -> Iterator[Change]:
    if not isinstance(node, ast.Name) or node.id not in scope.arrays:
        return
    mine = scope.arrays[node.id]
    kind = "wrong-upstream" if node.id in scope.gradients else "wrong-operand"
    say = f"`{node.id}` stands where another tensor belongs; everything else fits"
    for name, array in scope.arrays.items():
        if name != node.id and array.dtype.kind == mine.dtype.kind:
            yield ast.Name(name, ast.Load()), f"{kind}:{node.id}", say


def _indices(node: ast.expr, scope: Scope) -> Iterator[Change]:
    if not isinstance(node, ast.Subscript):
        return
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    text = text_of(node)
    if any(isinstance(part, ast.Slice) and (part.lower or part.upper) for part in parts):
        yield node.value, "slice-missing", f"`{text}` leaves a part out; every slice sends a share"
    elif all(isinstance(part, ast.Constant | ast.UnaryOp | ast.Slice) for part in parts):
        yield node.value, "one-slice", f"`{text}` is one slice; every slice sends a share"
    for at, part in enumerate(parts):
        if isinstance(part, ast.Slice) and (part.lower is None) != (part.upper is None) and part.step is None:
            other = ast.Slice(part.upper, part.lower, None)
            yield _indexed(node, at, other), "wrong-part", f"`{text}` is another part than the one that belongs there"
        if isinstance(part, ast.Slice) or (isinstance(part, ast.Constant) and not isinstance(part.value, int)):
            continue
        for by in (1, -1, 2, -2):
            new = _indexed(node, at, ast.BinOp(part, ast.Add(), ast.Constant(by)))
            if isinstance(part, ast.Constant):
                yield new, "wrong-part", f"`{text}` is another part than the one that belongs there"
            else:
                yield new, "steps-shifted", f"`{text}` is read at a neighbouring position: it belongs to another step"
        if isinstance(part, ast.Constant):
            for name, value in scope.sizes.items():
                if isinstance(value, int) and not isinstance(value, bool):
                    say = f"`{text}` is the same in every turn; each step has its own"
                    yield _indexed(node, at, ast.Name(name, ast.Load())), "steps-shifted", say


def _indexed(node: ast.Subscript, at: int, part: ast.expr | ast.Slice) -> ast.Subscript:
    if not isinstance(node.slice, ast.Tuple):
        return ast.Subscript(node.value, part, ast.Load())
    elts = [part if rank == at else each for rank, each in enumerate(node.slice.elts)]
    return ast.Subscript(node.value, ast.Tuple(elts, ast.Load()), ast.Load())


def _axes(node: ast.expr, _scope: Scope) -> Iterator[Change]:
    """Another axis, keepdim, or sum for mean in a reduction."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return
    attr, text = node.func.attr, text_of(node)
    if attr not in REDUCTIONS:
        return
    of_module = isinstance(node.func.value, ast.Name) and node.func.value.id in {"torch", "F"}
    first = 1 if of_module else 0
    if attr in {"sum", "mean"}:
        other = copy(node)
        other.func = ast.Attribute(node.func.value, "mean" if attr == "sum" else "sum", ast.Load())
        if attr == "mean":
            yield other, "mean", f"`{text}` averages where the shares are summed"
        else:
            yield other, "mean-missing", f"`{text}` sums where an average stands in the rule"
    given = [word.value for word in node.keywords if word.arg == "dim"] or node.args[first : first + 1]
    if given:
        for axis in (*AXES, -1, -2):
            yield _with_axis(node, first, ast.Constant(axis)), "wrong-axis", f"`{text}` runs along another axis"
    elif attr in {"sum", "mean"}:
        for axis in (0, 1, -1):
            words = [*node.keywords, ast.keyword("keepdim", ast.Constant(True))]
            new = ast.Call(node.func, [*node.args, ast.Constant(axis)], words)
            yield new, "summed-all", f"`{text}` leaves a single number where there is one per slice"
    if any(word.arg == "keepdim" for word in node.keywords):
        without = [word for word in node.keywords if word.arg != "keepdim"]
        yield ast.Call(node.func, node.args, without), "keepdim-added", f"`{text}` keeps an axis that has to go"
    elif attr in {"sum", "mean"} and given:
        words = [*node.keywords, ast.keyword("keepdim", ast.Constant(True))]
        yield ast.Call(node.func, node.args, words), "keepdim-lost", f"`{text}` loses an axis that has to stay"


def _with_axis(node: ast.Call, first: int, axis: ast.expr) -> ast.Call:
    if any(word.arg == "dim" for word in node.keywords):
        return ast.Call(
            node.func,
            node.args,
            [ast.keyword("dim", axis) if word.arg == "dim" else word for word in node.keywords],
        )
    return ast.Call(node.func, [*node.args[:first], axis, *node.args[first + 1 :]], node.keywords)


def _signs(node: ast.expr, _scope: Scope) -> Iterator[Change]:
    match node:
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            say = f"the sign before `{text_of(right)}` is the opposite of the right one"
            yield ast.BinOp(left, ast.Sub(), right), "term-sign", say
            say = f"the sign of `{text_of(left)}` is the opposite of the right one"
            yield ast.BinOp(right, ast.Sub(), left), "term-sign", say
        case ast.BinOp(left=left, op=ast.Sub(), right=right):
            say = f"the sign before `{text_of(right)}` is the opposite of the right one"
            yield ast.BinOp(left, ast.Add(), right), "term-sign", say
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            yield operand, "term-sign", f"the minus of `{text_of(node)}` does not belong there"


def _operators(node: ast.expr, _scope: Scope) -> Iterator[Change]:
    match node:
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            yield (
                ast.BinOp(left, ast.Div(), right),
                "multiplied",
                f"`{text_of(right)}` is multiplied by, not divided by",
            )
            say = f"`{text_of(node)}` multiplies entry by entry where a matrix product stands in the rule"
            yield ast.BinOp(left, ast.MatMult(), right), "elementwise-not-matmul", say
            say = f"`{text_of(node)}` is a product where the rule adds"
            yield ast.BinOp(left, ast.Add(), right), "product-for-sum", say
        case ast.BinOp(left=left, op=ast.Div(), right=right):
            yield ast.BinOp(left, ast.Mult(), right), "divided", f"`{text_of(right)}` is divided by, not multiplied by"
        case ast.BinOp(left=left, op=ast.MatMult(), right=right):
            say = f"`{text_of(node)}` is a matrix product where the rule multiplies entry by entry"
            yield ast.BinOp(left, ast.Mult(), right), "matmul-not-elementwise", say
            say = f"the factors of `{text_of(node)}` stand in the wrong order"
            yield ast.BinOp(right, ast.MatMult(), left), "matmul-order", say
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub(), right=right):
            say = f"`{text_of(node)}` adds where the rule multiplies"
            yield ast.BinOp(left, ast.Mult(), right), "sum-for-product", say


def _turned(node: ast.expr, scope: Scope) -> Iterator[Change]:
    match node:
        case (
            ast.Attribute(value=value, attr="T" | "mT")
            | ast.Call(func=ast.Attribute(value=value, attr="transpose" | "t" | "permute" | "swapaxes"))
        ):
            yield value, _detail("transpose-extra", value), f"`{text_of(node)}` is transposed and should not be"
        case ast.Name(id=name) if name in scope.arrays and scope.arrays[name].ndim > 1:
            new: ast.expr = ast.Attribute(node, "mT", ast.Load())
            yield new, f"transpose-missing:{name}", f"`{name}` lacks a transpose"
            for first in range(scope.arrays[name].ndim - 2):
                turn = ast.Attribute(node, "transpose", ast.Load())
                new = ast.Call(turn, [ast.Constant(first), ast.Constant(first + 1)], [])
                yield new, f"transpose-missing:{name}", f"two axes of `{name}` are still exchanged"


def _left_out(node: ast.expr, _scope: Scope) -> Iterator[Change]:
    """A factor, a term or a function that does not belong there."""
    match node:
        case ast.BinOp(left=left, op=ast.Mult() | ast.Div() | ast.MatMult(), right=right):
            yield left, _detail("factor-extra", right), f"the factor `{text_of(right)}` does not belong there"
            yield right, _detail("factor-extra", left), f"the factor `{text_of(left)}` does not belong there"
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub(), right=right):
            yield left, _detail("term-extra", right), f"the term `{text_of(right)}` does not belong there"
            yield right, _detail("term-extra", left), f"the term `{text_of(left)}` does not belong there"
        case ast.BinOp(left=left, op=ast.Pow()):
            yield left, "power-extra", f"`{text_of(left)}` stands there without a power"
        case ast.Call(func=ast.Attribute(value=ast.Name(id="torch" | "F"), attr=attr), args=[first, *_]):
            yield first, f"function-extra:{attr}", f"`{text_of(node)}` applies a function that is not in the rule"
        case ast.Call(func=ast.Attribute(value=value, attr=attr)) if attr not in TURNS:
            yield value, f"function-extra:{attr}", f"`{text_of(node)}` does something that is not in the rule"


def _numbers(node: ast.expr, scope: Scope) -> Iterator[Change]:
    match node:
        case ast.BinOp(left=left, op=ast.Pow(), right=exponent):
            for by in POWERS:
                say = f"`{text_of(node)}` has another exponent than the rule"
                yield ast.BinOp(left, ast.Pow(), ast.BinOp(exponent, ast.Add(), ast.Constant(by))), "power-changed", say
            negative = ast.BinOp(left, ast.Pow(), ast.UnaryOp(ast.USub(), exponent))
            yield negative, "power-changed", f"the exponent of `{text_of(node)}` has the opposite sign"
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            for other in (0, 1, 2, 0.5, 3, -value, value * 2, value / 2, value + 1, value - 1):
                if other != value:
                    yield (
                        ast.Constant(other),
                        "constant-changed",
                        f"the number `{text_of(node)}` is another one in the rule",
                    )
        case ast.Name(id=name) if name in scope.sizes:
            for another, size in scope.sizes.items():
                if another != name and isinstance(size, int):
                    yield (
                        ast.Name(another, ast.Load()),
                        f"wrong-size:{name}",
                        f"`{name}` is not the size that counts here",
                    )


def _added(node: ast.expr, scope: Scope) -> Iterator[Change]:
    """A factor, a function, a power or a sum that is missing."""
    if not isinstance(node, ast.Name | ast.BinOp | ast.Call | ast.Subscript | ast.Attribute):
        return
    text = text_of(node)
    for name, value in scope.arrays.items():
        if value.dtype.kind == "f":
            other = ast.Name(name, ast.Load())
            yield ast.BinOp(node, ast.Mult(), other), "factor-missing", f"`{text}` lacks a factor"
            yield ast.BinOp(node, ast.Div(), other), "factor-missing", f"`{text}` lacks a division"
    for part in scope.parts:
        yield ast.BinOp(node, ast.Mult(), part), "factor-missing", f"`{text}` lacks a factor"
        yield ast.BinOp(node, ast.Div(), part), "factor-missing", f"`{text}` lacks a division"
    for name in scope.sizes:
        size = ast.Name(name, ast.Load())
        yield ast.BinOp(node, ast.Div(), size), "factor-missing", f"`{text}` lacks a division by a size"
        yield ast.BinOp(node, ast.Mult(), size), "factor-missing", f"`{text}` lacks a size as a factor"
    for function in FUNCTIONS:
        new: ast.expr = ast.Call(ast.Attribute(ast.Name("torch", ast.Load()), function, ast.Load()), [node], [])
        yield new, "function-missing", f"`{text}` is used as it is where a function of it stands in the rule"
    for new in (
        ast.BinOp(ast.Constant(1), ast.Sub(), node),
        ast.BinOp(node, ast.Pow(), ast.Constant(3)),
        ast.Compare(node, [ast.Gt()], [ast.Constant(0)]),
    ):
        yield new, "function-missing", f"`{text}` is used as it is where a function of it stands in the rule"
    for axis in (0, 1, -1):
        words = [ast.keyword("keepdim", ast.Constant(True))]
        new = ast.Call(ast.Attribute(node, "sum", ast.Load()), [ast.Constant(axis)], words)
        yield new, "sum-missing", f"`{text}` is not summed along an axis where the rule has one number per slice"


KINDS: tuple[Callable[[ast.expr, Scope], Iterator[Change]], ...] = (
    _left_out,
    _names,
    _indices,
    _axes,
    _signs,
    _turned,
    _operators,
    _numbers,
    _added,
)
