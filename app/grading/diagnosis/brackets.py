"""A pair of brackets put in anywhere in an expression as it is written, such as `2 * (p - t) / n` for `2 * p - t / n`.

A tree of operations does not show where brackets could stand: what they would enclose is often no branch of it. So a
branch is laid out as the row of operands and operators that a learner sees, and read again with a part in brackets.
"""

import ast
from collections.abc import Iterator, Sequence
from itertools import product

from app.grading.diagnosis.call_kinds import AVERAGED
from app.grading.diagnosis.grammar import EditVocabulary, Replacement, attribute, keeping_axis

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
    yield from _reduced(operands, operators, middle)
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


def _reduced(operands: Sequence[ast.expr], operators: Sequence[ast.operator], middle: int) -> Iterator[Replacement]:
    """`(a * b).sum(0)` for `a * b.sum(0)`, and for `a.sum(0) * b`."""
    for at, operand in enumerate(operands):
        match operand:
            case ast.Call(func=ast.Attribute(value=inner, attr=attr)) if attr in AVERAGED:
                first, last = (
                    (range(middle - 1, -1, -1), [at]) if at >= middle else ([at], range(middle, len(operands)))
                )
                opened = [*operands[:at], inner, *operands[at + 1 :]]
                for begin, end in product(first, last):
                    group = _tree(opened[begin : end + 1], operators[begin:end])
                    for new in _calls(operand, attribute(group, attr)):
                        rest = [*operands[:begin], new, *operands[end + 1 :]]
                        yield Replacement("bracket-sum", _tree(rest, [*operators[:begin], *operators[end:]]), operand)


def _calls(call: ast.Call, func: ast.expr) -> Iterator[ast.Call]:
    """*call* of another function, and the same with `keepdim=True` where it keeps no axis."""
    yield ast.Call(func, call.args, call.keywords)
    if len(call.args) == 1 and not call.keywords:
        yield ast.Call(func, call.args, keeping_axis())


def row_edits(node: ast.expr, words: EditVocabulary) -> Iterator[Replacement]:
    """`(a * b).sum(0)` for `a.sum(0) * b.sum(0)`, and `a * b + c * d` for `a * b * c * d`."""
    if not words.inverse or not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Mult | ast.MatMult):
        return
    left, right = _sides(node)
    operands, operators, middle = [*left[0], *right[0]], [*left[1], node.op, *right[1]], len(left[0])
    if len(operands) > LONGEST:
        return
    joined = _joined(operands[middle - 1], node.op, operands[middle])
    for call in joined:
        rest = [*operands[: middle - 1], call, *operands[middle + 1 :]]
        yield Replacement("join-sum", _tree(rest, [*operators[: middle - 1], *operators[middle:]]), node)
    for at in range(len(operators) - 1):
        yield Replacement("add", _tree(operands, [*operators[:at], ast.Add(), *operators[at + 1 :]]))


def _joined(first: ast.expr, op: ast.operator, second: ast.expr) -> Iterator[ast.Call]:
    """The sum of the products of what *first* and *second* sum alike."""
    turned = isinstance(op, ast.MatMult) and isinstance(first, ast.Attribute) and first.attr in {"T", "mT"}
    match (first.value if turned and isinstance(first, ast.Attribute) else first), second:
        case (
            ast.Call(func=ast.Attribute(value=a, attr="sum")) as call,
            ast.Call(func=ast.Attribute(value=b, attr="sum")) as other,
        ) if ast.dump(ast.Tuple(call.args)) == ast.dump(ast.Tuple(other.args)):
            whole = ast.BinOp(attribute(a, "mT") if turned else a, op, b)
            yield from _calls(call, attribute(whole, "sum"))
