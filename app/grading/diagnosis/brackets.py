"""A pair of brackets put in anywhere in an expression as it is written, such as `2 * (p - t) / n` for `2 * p - t / n`.

A tree of operations does not show where brackets could stand: what they would enclose is often no branch of it. So a
branch is laid out as the row of operands and operators that a learner sees, and read again with a part in brackets.
"""

import ast
from collections.abc import Iterator, Sequence

from app.grading.diagnosis.call_kinds import AVERAGED
from app.grading.diagnosis.grammar import EditVocabulary, Replacement, attribute

LONGEST = 24
_TIGHT = {ast.Add: 1, ast.Sub: 1, ast.Mult: 2, ast.Div: 2, ast.MatMult: 2, ast.Pow: 3}

Row = tuple[list[ast.expr], list[ast.operator]]
"""Operands, and the operators between them."""


def bracket_edits(node: ast.expr, words: EditVocabulary) -> Iterator[Replacement]:
    """Brackets that were forgotten, also in front of a `.sum(…)`, and those around a minus that take it along."""
    match node:
        case ast.Compare(left=ast.BinOp(left=a, op=op, right=b), ops=signs, comparators=others) if words.inverse:
            yield Replacement("bracket", ast.BinOp(a, op, ast.Compare(b, signs, others)), b)
    if not words.inverse or not isinstance(node, ast.BinOp) or type(node.op) not in _TIGHT:
        return
    left, right = _sides(node)
    operands, operators = [*left[0], *right[0]], [*left[1], node.op, *right[1]]
    if len(operands) > LONGEST:
        return
    middle = len(left[0])
    for first in range(middle - 1, -1, -1):
        for last in range(middle, len(operands)):
            whole = last - first == len(operands) - 1
            if not whole and not _divides_by_quotient(operators, first, last):
                kind = "bracket-early" if _are_sums(operands[first], operators[first:last]) else "bracket"
                yield Replacement(kind, _enclosed(operands, operators, first, last), operands[first])
    yield from _reduced(node, left)
    match node:
        case ast.BinOp(left=ast.UnaryOp(op=ast.USub() as minus, operand=x) as group, op=ast.Pow() as power, right=p):
            yield Replacement("ungroup", ast.UnaryOp(minus, ast.BinOp(x, power, p)), group)


def _are_sums(begin: ast.expr, operators: Sequence[ast.operator]) -> bool:
    """True if *begin* is a sum in brackets, and more that is added belongs into them."""
    terms = ast.Add | ast.Sub
    return isinstance(begin, ast.BinOp) and isinstance(begin.op, terms) and isinstance(operators[0], terms)


def _row(node: ast.expr, least: int) -> Row:
    """Operands and operators of *node*, whose neighbour binds as tightly as *least*; in brackets it is one operand."""
    if not isinstance(node, ast.BinOp) or _TIGHT.get(type(node.op), 0) < least:
        return [node], []
    left, right = _sides(node)
    return [*left[0], *right[0]], [*left[1], node.op, *right[1]]


def _sides(node: ast.BinOp) -> tuple[Row, Row]:
    tight, power = _TIGHT[type(node.op)], isinstance(node.op, ast.Pow)
    return _row(node.left, tight + power), _row(node.right, tight + (not power))


def _enclosed(operands: Sequence[ast.expr], operators: Sequence[ast.operator], first: int, last: int) -> ast.expr:
    group = _tree(operands[first : last + 1], operators[first:last])
    return _tree([*operands[:first], group, *operands[last + 1 :]], [*operators[:first], *operators[last:]])


def _divides_by_quotient(operators: Sequence[ast.operator], first: int, last: int) -> bool:
    """True if brackets would do no more than turn a division into a product, as in `a / (b / c)` for `a / b / c`."""
    inside = operators[first:last]
    return first > 0 and len(inside) == 1 and all(isinstance(each, ast.Div) for each in (operators[first - 1], *inside))


def _tree(operands: Sequence[ast.expr], operators: Sequence[ast.operator]) -> ast.expr:
    """The row read as Python reads it: the loosest operator last, of equals the rightmost, of powers the leftmost."""
    if not operators:
        return operands[0]
    loosest = min(_TIGHT[type(operator)] for operator in operators)
    places = [at for at, operator in enumerate(operators) if _TIGHT[type(operator)] == loosest]
    at = places[0] if isinstance(operators[places[0]], ast.Pow) else places[-1]
    left, right = _tree(operands[: at + 1], operators[:at]), _tree(operands[at + 1 :], operators[at + 1 :])
    return ast.BinOp(left, operators[at], right)


def _reduced(node: ast.BinOp, left: Row) -> Iterator[Replacement]:
    """`(a * b).sum(0)` for `a * b.sum(0)`."""
    match node.right:
        case ast.Call(func=ast.Attribute(value=inner, attr=attr)) as call if attr in AVERAGED:
            operands, operators = [*left[0], inner], [*left[1], node.op]
            for first in range(len(left[0]) - 1, -1, -1):
                group = _tree(operands[first:], operators[first:])
                new = ast.Call(attribute(group, attr), call.args, call.keywords)
                rest = _tree([*operands[:first], new], operators[:first])
                yield Replacement("bracket-sum", rest, call)
