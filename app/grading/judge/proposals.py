"""Another text in a line that stopped, to be tried before it is proposed."""

from copy import copy

from app.bindings import simple_statements
from app.grading.diagnosis.edits import replace_node
from app.grading.judge.parsed_submission import ParsedSubmission
from app.grading.judge.run_reports import ReportedError
from app.syntax import Node, Statement, as_written, index_of, indexed_of, nodes_in, parse_expression, tuple_parts


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
            root = replace_node(root, place, _used_as(place, new))
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return []  # a report may hold any text
    assert isinstance(root, Statement)
    lines[error.statement] = root
    return lines if places else []


def _used_as(place: Node, new: Node) -> Node:
    """*new*, which is written where *place* is."""
    if hasattr(place, "ctx") and hasattr(new, "ctx"):
        new = copy(new)
        new.ctx = place.ctx
    return new


def exchanged_indices(text: str) -> str:
    """`a[j, i]` for *text* `a[i, j]`; empty for any other."""
    try:
        node = parse_expression(text)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return ""
    whole, index = indexed_of(node), index_of(node)
    parts = [] if whole is None or index is None else tuple_parts(index)
    return f"{as_written(whole)}[{', '.join(map(as_written, reversed(parts)))}]" if whole and len(parts) == 2 else ""


def _is_same(one: object, other: object) -> bool:
    """True if two nodes, or two values of a field, are one text, read or written; it ends at the first difference."""
    if isinstance(one, Node):
        names = (name for name in one._fields if name != "ctx")
        fields = ((getattr(one, name, None), getattr(other, name, None)) for name in names)
        return type(one) is type(other) and all(_is_same(*each) for each in fields)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_is_same, one, other))
    return one == other
