"""Hints that follow from an exercise: the principle, the shape, the line with its principal factor blanked."""

import ast
from typing import Protocol

from app.practice.operations import FORKS, OPERATIONS


class Asked(Protocol):
    """What hints are made from."""

    @property
    def wanted(self) -> str: ...

    @property
    def solution(self) -> str: ...

    @property
    def by(self) -> tuple[str, ...]: ...


def hints(item: Asked) -> tuple[str, ...]:
    """The ladder of a box, about the line that carries what is wanted."""
    line, by = _key_line(item)
    return (OPERATIONS[by].principle, f"`{blanked(line)}`")


def _key_line(item: Asked) -> tuple[str, str]:
    pairs = list(zip(item.solution.splitlines(), item.by, strict=True))
    if item.wanted in FORKS:
        return next(pair for pair in pairs if "+=" in pair[0])
    showing = [pair for pair in pairs if item.wanted in OPERATIONS[pair[1]].shows]
    return max(showing or pairs, key=lambda pair: OPERATIONS[pair[1]].points)


def blanked(line: str) -> str:
    """*line* with a blank for what carries the principle: the largest part beside the upstream gradient."""
    tree = ast.parse(line)
    statement = tree.body[0]
    assert isinstance(statement, ast.Assign | ast.AugAssign)
    statement.value = _blank(statement.value)
    return ast.unparse(ast.fix_missing_locations(statement))


BLANK = "____"


def _blank(node: ast.expr) -> ast.expr:
    match node:
        case ast.BinOp(left=left, op=op, right=right):
            if not _has_upstream(right):
                return ast.BinOp(left, op, ast.Name(BLANK))
            if not _has_upstream(left):
                return ast.BinOp(ast.Name(BLANK), op, right)
            return ast.BinOp(left, op, _blank(right))
        case ast.UnaryOp(op=op, operand=operand):
            return ast.UnaryOp(op, _blank(operand))
        case ast.Call(func=ast.Attribute(value=value, attr=attr), args=args, keywords=keywords):
            if isinstance(value, ast.BinOp):
                return ast.Call(ast.Attribute(_blank(value), attr), args, keywords)
            return ast.Call(ast.Attribute(value, BLANK), args, keywords)
    return ast.Name(BLANK)


def _has_upstream(node: ast.expr) -> bool:
    return any(isinstance(one, ast.Name) and one.id.startswith("d") for one in ast.walk(node))
