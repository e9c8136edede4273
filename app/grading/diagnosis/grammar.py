"""One grammar of small edits: drop, operator, name, sign, power, number, reduction, function, and their inverses.

It has three readers. An edit of a backward rule is a slip that a learner makes (`slips`); an edit of the learner's own
line that makes it right shows where the slip is (`mend`); an edit of an author's solution is a mutant that an exercise
must turn down (`app.check.mutants`). A kind of edit takes one expression and gives what may stand in its place.

Here are the kinds that change arithmetic; `call_kinds` has those that change calls and subscripts, and `edits` makes
every edit of a text.
"""

import ast
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from app.bindings import MODULES
from app.grading.diagnosis.evidence import Array
from app.syntax import name_node, name_of

TURNS = frozenset({"transpose", "t", "permute", "swapaxes"})
PRODUCTS = frozenset(
    {"matmul", "mm", "bmm", "mv", "dot", "inner", "outer", "einsum", "tensordot", "addmm", "baddbmm", "linear", "ger"}
)
"""Functions that multiply matrices."""


@dataclass(frozen=True, slots=True)
class EditVocabulary:
    """Names, numbers and functions that an edit may put in.

    Args:
        arrays: Tensors by name.
        gradients: Which of them are gradients.
        sizes: Whole numbers by name.
        parts: Expressions that may be missing as a factor.
        functions: Functions of one argument, as `module.name` or by name alone.
        numbers: Numbers that may be meant by another one.
        inverse: Whether something that is missing may be put in; a rule or a solution lacks nothing.
    """

    arrays: Mapping[str, Array] = field(default_factory=dict)
    gradients: Collection[str] = ()
    sizes: Mapping[str, Any] = field(default_factory=dict)
    parts: Sequence[ast.expr] = ()
    functions: Sequence[str] = ()
    numbers: Sequence[float] = ()
    inverse: bool = False


@dataclass(frozen=True, slots=True)
class Replacement:
    """*new* may stand in the place of an expression; *piece* is what was left out, put in or turned round."""

    kind: str
    new: ast.expr
    piece: ast.expr | None = None


Kind = Callable[[ast.expr, EditVocabulary], Iterator[Replacement]]


def factor_removal_edits(node: ast.expr, _words: EditVocabulary) -> Iterator[Replacement]:
    """A factor or a division that is left out."""
    match node:
        case ast.BinOp(left=left, op=ast.Mult() | ast.Div() | ast.MatMult() as op, right=right):
            yield Replacement("drop-divisor" if isinstance(op, ast.Div) else "drop-factor", left, right)
            yield Replacement("drop-factor", right, left)


def removal_edits(node: ast.expr, words: EditVocabulary) -> Iterator[Replacement]:
    """A factor, a term, a power, a minus, a transpose or a function that is left out."""
    yield from factor_removal_edits(node, words)
    match node:
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as op, right=right):
            yield Replacement("drop-term", left, right)
            yield Replacement("drop-from" if isinstance(op, ast.Sub) else "drop-term", right, left)
            if isinstance(op, ast.Sub):
                yield Replacement("drop-term", ast.UnaryOp(ast.USub(), right), left)
        case ast.BinOp(left=left, op=ast.Pow()):
            yield Replacement("drop-power", left)
        case ast.UnaryOp(op=ast.USub(), operand=operand) if not isinstance(operand, ast.Constant):
            yield Replacement("drop-minus", operand)
        case ast.UnaryOp(op=ast.Invert() | ast.Not(), operand=operand):
            yield Replacement("drop-not", operand)
        case (
            ast.Attribute(value=value, attr="T" | "mT")
            | ast.Call(func=ast.Attribute(value=value, attr="transpose" | "t" | "permute" | "swapaxes"))
            | ast.Call(func=ast.Name(id="T"), args=[value])
        ):
            yield Replacement("drop-turn", value, value)
        case ast.Call(func=ast.Attribute(value=ast.Name(id=module), attr=attr), args=[first, *_]) if module in MODULES:
            yield Replacement("drop-function", first, ast.Name(attr))
        case ast.Call(func=ast.Attribute(value=value, attr=attr)) if attr not in TURNS:
            yield Replacement("drop-method", value, ast.Name(attr))
        case ast.Call(func=ast.Name(id=name), args=[inner]):
            yield Replacement("drop-function", inner, ast.Name(name))


def name_edits(node: ast.expr, words: EditVocabulary) -> Iterator[Replacement]:
    """Another tensor, or another size."""
    if not isinstance(node, ast.Name):
        return
    mine = words.arrays.get(node.id)
    for name, array in words.arrays.items():
        if mine is not None and name != node.id and array.dtype.kind == mine.dtype.kind:
            yield Replacement("gradient" if node.id in words.gradients else "name", name_node(name), node)
    for name, size in words.sizes.items() if node.id in words.sizes or words.inverse else ():
        if name != node.id and isinstance(size, int):
            yield Replacement("size" if mine is None else "for-size", name_node(name), node)
    for name in words.arrays if node.id in words.sizes and words.inverse else ():
        yield Replacement("tensor", name_node(name), node)


def sign_edits(node: ast.expr, _words: EditVocabulary) -> Iterator[Replacement]:
    """Another sign of a term."""
    match node:
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            yield Replacement("sign", ast.BinOp(left, ast.Sub(), right), right)
            yield Replacement("sign", ast.BinOp(right, ast.Sub(), left), left)
        case ast.BinOp(left=left, op=ast.Sub(), right=right):
            yield Replacement("sign", ast.BinOp(left, ast.Add(), right), right)


def minus_edits(node: ast.expr, words: EditVocabulary) -> Iterator[Replacement]:
    """A minus that is put in."""
    match node:
        case ast.Name() | ast.Call() | ast.Subscript() | ast.BinOp(op=ast.Mult() | ast.Div()) if words.inverse:
            yield Replacement("put-minus", ast.UnaryOp(ast.USub(), node))


def operator_edits(node: ast.expr, words: EditVocabulary) -> Iterator[Replacement]:
    """Another operator, or its operands the other way round."""
    match node:
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            if not (words.inverse and _is_inverted(right)):
                yield Replacement("divide", ast.BinOp(left, ast.Div(), right), right)
            yield Replacement("matmul", ast.BinOp(left, ast.MatMult(), right))
            yield Replacement("add", ast.BinOp(left, ast.Add(), right))
            if words.inverse:
                yield Replacement("subtract", ast.BinOp(left, ast.Sub(), right), right)
                for base, exponent in (left, right), (right, left):
                    if _is_number(exponent):
                        yield Replacement("raise", ast.BinOp(base, ast.Pow(), exponent))
                yield Replacement("matmul", ast.BinOp(turned_over(left), ast.MatMult(), right))
                yield Replacement("matmul", ast.BinOp(left, ast.MatMult(), turned_over(right)))
        case ast.BinOp(left=left, op=ast.Pow(), right=right) if words.inverse:
            yield Replacement("lower", ast.BinOp(left, ast.Mult(), right))
        case ast.BinOp(left=left, op=ast.Div(), right=right):
            yield Replacement("multiply", ast.BinOp(left, ast.Mult(), right), right)
            yield Replacement("turn-over", ast.BinOp(right, ast.Div(), left))
        case ast.BinOp(left=left, op=ast.MatMult(), right=right):
            yield Replacement("entrywise", ast.BinOp(left, ast.Mult(), right))
            yield Replacement("swap", ast.BinOp(right, ast.MatMult(), left))
            if words.inverse:
                yield Replacement("entrywise", ast.BinOp(turned_over(left), ast.Mult(), right))
                yield Replacement("entrywise", ast.BinOp(left, ast.Mult(), turned_over(right)))
            else:
                yield Replacement("turn", ast.BinOp(turned_over(left), ast.MatMult(), right))
                yield Replacement("turn", ast.BinOp(left, ast.MatMult(), turned_over(right)))
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as op, right=right):
            kind = "-sub" if isinstance(op, ast.Sub) else ""
            yield Replacement(f"product{kind}", ast.BinOp(left, ast.Mult(), right))
            if words.inverse:
                yield Replacement(f"quotient{kind}", ast.BinOp(left, ast.Div(), right))


def floor_edits(node: ast.expr, words: EditVocabulary) -> Iterator[Replacement]:
    """A division that keeps the fraction."""
    match node:
        case ast.BinOp(left=left, op=ast.FloorDiv(), right=right) if words.inverse:
            yield Replacement("floor", ast.BinOp(left, ast.Div(), right))


def _is_inverted(node: ast.expr) -> bool:
    """True of a power whose exponent has a minus: a division by it would be one without."""
    match node:
        case ast.BinOp(op=ast.Pow(), right=ast.UnaryOp(op=ast.USub())):
            return True
    return False


def _is_number(node: ast.expr) -> bool:
    inner = node.operand if isinstance(node, ast.UnaryOp) else node
    return isinstance(inner, ast.Constant) and isinstance(inner.value, int | float)


def grouping_edits(node: ast.expr, _words: EditVocabulary) -> Iterator[Replacement]:
    """Brackets left out, as in `1 - y * g` for `(1 - y) * g`; put in again, where something may be missing."""
    match node:
        case ast.BinOp(left=ast.BinOp(left=a, op=inner, right=b) as group, op=outer, right=c) if _binds(outer, inner):
            yield Replacement("ungroup", ast.BinOp(a, inner, ast.BinOp(b, outer, c)), group)
            yield Replacement("ungroup", ast.BinOp(ast.BinOp(a, outer, c), inner, b), group)
        case ast.BinOp(left=a, op=outer, right=ast.BinOp(left=b, op=inner, right=c) as group) if _binds(outer, inner):
            yield Replacement("ungroup", ast.BinOp(ast.BinOp(a, outer, b), inner, c), group)
            yield Replacement("ungroup", ast.BinOp(b, inner, ast.BinOp(a, outer, c)), group)
        case ast.BinOp(left=a, op=inner, right=ast.BinOp(left=b, op=ast.Pow() as power, right=p)):
            yield Replacement("group", ast.BinOp(ast.BinOp(a, inner, b), power, p), node)
    match node:
        case ast.BinOp(left=a, op=outer, right=ast.BinOp(left=b, op=inner, right=c)) if _binds(inner, outer):
            yield Replacement("group", ast.BinOp(ast.BinOp(a, outer, b), inner, c), node)
        case ast.BinOp(left=ast.BinOp(left=a, op=inner, right=b), op=outer, right=c) if _binds(inner, outer):
            yield Replacement("group", ast.BinOp(a, inner, ast.BinOp(b, outer, c)), node)
        case ast.BinOp(left=ast.BinOp(left=a, op=ast.Mult(), right=b), op=ast.Div(), right=c):
            yield Replacement("group", ast.BinOp(a, ast.Div(), ast.BinOp(b, ast.Mult(), c)), node)


def _binds(outer: ast.operator, inner: ast.operator) -> bool:
    """True if brackets decide: *outer* multiplies what *inner* adds."""
    return isinstance(outer, ast.Mult | ast.Div | ast.MatMult) and isinstance(inner, ast.Add | ast.Sub)


def product_of_sums_edits(node: ast.expr, _words: EditVocabulary) -> Iterator[Replacement]:
    """The product of sums for the sum of products."""
    match node:
        case ast.Call(func=ast.Name(id="S" | "M"), args=[ast.BinOp(left=a, op=ast.Mult() as op, right=b)]):
            yield Replacement(
                "split-sum", ast.BinOp(ast.Call(node.func, [a], []), op, ast.Call(node.func, [b], [])), node
            )


def turned_over(node: ast.expr) -> ast.expr:
    if isinstance(node, ast.Attribute) and node.attr in {"T", "mT"}:
        return node.value
    return attribute(node, "mT")


def keeping_axis() -> list[ast.keyword]:
    """`keepdim=True`."""
    return [ast.keyword("keepdim", ast.Constant(True))]


def attribute(node: ast.expr, attr: str) -> ast.Attribute:
    return ast.Attribute(node, attr, ast.Load())


POWERS = (1, -1, 2, -2, 0.5, -0.5)


def power_edits(node: ast.expr, words: EditVocabulary) -> Iterator[Replacement]:
    """Another exponent, or one of a size that has none."""
    match node:
        case ast.Name(id=name) if words.inverse and name in words.sizes:
            for power in (-1, 0.5, -0.5, 2, -2):
                yield Replacement("put-power", ast.BinOp(node, ast.Pow(), ast.Constant(power)))
    yield from exponent_edits(node, words)


def exponent_edits(node: ast.expr, _words: EditVocabulary) -> Iterator[Replacement]:
    """Another exponent."""
    match node:
        case ast.BinOp(left=left, op=ast.Pow(), right=exponent):
            for by in POWERS:
                yield Replacement("power", ast.BinOp(left, ast.Pow(), _raised(exponent, by)))
            yield Replacement("power-sign", ast.BinOp(left, ast.Pow(), ast.UnaryOp(ast.USub(), exponent)))


def _raised(exponent: ast.expr, by: float) -> ast.expr:
    match exponent:
        case ast.Constant(value=int() | float() as value):
            return ast.Constant(value + by)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
            return ast.Constant(by - value)
    return ast.BinOp(exponent, ast.Add(), ast.Constant(by))


def number_edits(node: ast.expr, words: EditVocabulary) -> Iterator[Replacement]:
    """Another number."""
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            for other in dict.fromkeys(
                (*words.numbers, 0, 1, 2, 0.5, 3, -value, value * 2, value / 2, value + 1, value - 1)
            ):
                if other != value:
                    yield Replacement("number", ast.Constant(other), node)


def is_module(node: ast.expr) -> bool:
    return name_of(node) in MODULES


def comparison_edits(node: ast.expr, words: EditVocabulary) -> Iterator[Replacement]:
    """A comparison the other way round, or the place of the other extreme."""
    match node:
        case ast.Call(func=ast.Attribute(value=value, attr="argmax" | "argmin" as attr)) if words.inverse:
            other = attribute(value, "argmin" if attr == "argmax" else "argmax")
            yield Replacement("extreme", ast.Call(other, node.args, node.keywords))
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in OPPOSITE:
            yield Replacement("compare", ast.Compare(left, [OPPOSITE[type(op)]()], [right]))


OPPOSITE: Mapping[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Gt: ast.Lt, ast.Lt: ast.Gt, ast.GtE: ast.LtE, ast.LtE: ast.GtE, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
}  # fmt: skip
