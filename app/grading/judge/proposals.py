"""Another text in a line that stopped, to be tried before it is proposed."""

import ast
from copy import deepcopy

from app.bindings import simple_statements
from app.grading.judge.parsed_submission import ParsedSubmission
from app.grading.judge.run_reports import ReportedError
from app.syntax import parse_expression


def lines_with(plan: ParsedSubmission, error: ReportedError, text: str, instead: str) -> list[ast.stmt]:
    """The statements, with *instead* for the expression *text* on the line of *error*; none if it is not there."""
    lines = [line.node for line in plan.lines]
    if not 0 <= error.statement < len(lines):
        return []
    try:
        exchange = _Exchange(*map(parse_expression, (text, instead)))
        lines[error.statement] = deepcopy(lines[error.statement])
        for inner in simple_statements(lines[error.statement], error.line):
            exchange.visit(inner)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return []  # a report may hold any text
    return lines if exchange.done else []


class _Exchange(ast.NodeTransformer):
    """Puts the expression *new* in the place of each that is the same as *old*."""

    def __init__(self, old: ast.expr, new: ast.expr) -> None:
        self._old = old
        self._new = new
        self.done = False

    def visit(self, node: ast.AST) -> ast.AST:
        if _is_same(node, self._old):
            self.done = True
            return self._new
        return self.generic_visit(node)


def _is_same(one: object, other: object) -> bool:
    """True if two nodes, or two values of a field, are one text; it ends at the first difference."""
    if isinstance(one, ast.AST):
        fields = ((getattr(one, name, None), getattr(other, name, None)) for name in one._fields)
        return type(one) is type(other) and all(_is_same(*each) for each in fields)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_is_same, one, other))
    return one == other
