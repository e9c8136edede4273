"""Another text in a line that stopped, to be tried before it is proposed."""

from app.bindings import simple_statements
from app.grading.diagnosis.edits import replace_node
from app.grading.judge.parsed_submission import ParsedSubmission
from app.grading.judge.run_reports import ReportedError
from app.syntax import Node, Statement, nodes_in, parse_expression


def lines_with(plan: ParsedSubmission, error: ReportedError, text: str, instead: str) -> list[Statement]:
    """The statements, with *instead* for the expression *text* on the line of *error*; none if it is not there."""
    lines = [line.node for line in plan.lines]
    if not 0 <= error.statement < len(lines):
        return []
    root: Node = lines[error.statement]
    try:
        old, new = map(parse_expression, (text, instead))
        inside = [node for inner in simple_statements(lines[error.statement], error.line) for node in nodes_in(inner)]
        places = [node for node in inside if _is_same(node, old)]
        for place in places:
            root = replace_node(root, place, new)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return []  # a report may hold any text
    assert isinstance(root, Statement)
    lines[error.statement] = root
    return lines if places else []


def _is_same(one: object, other: object) -> bool:
    """True if two nodes, or two values of a field, are one text; it ends at the first difference."""
    if isinstance(one, Node):
        fields = ((getattr(one, name, None), getattr(other, name, None)) for name in one._fields)
        return type(one) is type(other) and all(_is_same(*each) for each in fields)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_is_same, one, other))
    return one == other
