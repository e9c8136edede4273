"""Hints derived from an exercise without an author, and its solution explained line by line."""

import ast
import re
from collections.abc import Mapping, Sequence
from datetime import datetime

from app.engine.json_columns import decoded_verdict
from app.grading.judge.verdict import RIGHT
from app.grading.operations.arithmetic import COPIED
from app.practice.operations import FORKS, OPERATIONS, row_behind
from app.practice.scheduler import slip_of
from app.store.tables import Attempt
from app.syntax import nodes_in

BLANK_MARK = "____"
ADDED = "Here another share of the same gradient is added."
STRETCHED = frozenset({"fork", "matmul"})
"""Families whose principle says nothing of copies: where an operand was stretched, its gradient is summed as well."""


def hint_ladder(line: str, operation: str, shapes: Mapping[str, str]) -> tuple[str, ...]:
    """Hints for one *line*: the principle, the shape of the answer, the line with a blank."""
    name = line.split()[0]
    shape = f"`{name}` has the shape of `{name[1:]}`, `{shapes[name[1:]]}`: one number for each of its entries."
    left = blanked(line)
    parts = "" if left.partition("= ")[2] != BLANK_MARK else f"{made_of(line)}: "
    return (f"The rule behind `{name}`. {principle(line, operation)}", shape, f"{parts}`{left}`")


def made_of(line: str) -> str:
    """Describe the right side of *line*, in a sentence without its end: functions that are called, and names."""
    value = ast.parse(line.partition("= ")[2]).body[0]
    calls = [node.func for node in nodes_in(value) if isinstance(node, ast.Call)]
    called = [f"`{_function_name(function)}`" for function in reversed(calls)]
    names = [node.id for node in nodes_in(value) if isinstance(node, ast.Name) and node.id != "torch"]
    used = [f"`{name}`" for name in sorted(set(names))]
    with_calls = f"calls {' and '.join(dict.fromkeys(called))} with " if called else "is made of "
    return f"The right side {with_calls}{', '.join(used)}{' alone' if len(used) == 1 else ''}"


def _function_name(function: ast.expr) -> str:
    """`torch.zeros_like` for a function of torch, `sum` for a method, whatever it is called on."""
    of_torch = ast.unparse(function).startswith("torch.") and "(" not in ast.unparse(function)
    return ast.unparse(function) if of_torch else ast.unparse(function).rpartition(".")[2]


def principle(line: str, operation: str) -> str:
    """The sentence behind *line*; empty for an operation that is known no longer."""
    row = row_behind(line, operation)
    sentence = row.principle if row else ""
    if row and row.family in STRETCHED and ".sum(" in line:
        sentence = f"{sentence} {COPIED}"
    return f"{sentence} {ADDED}".strip() if "+=" in line else sentence


def key_line(lines: Sequence[str], by: Sequence[str], wanted: str) -> int:
    """The index of the line that shows what is *wanted*: of those that can, the hardest."""
    if wanted in FORKS:
        return next(at for at, line in enumerate(lines) if "+=" in line)
    rows = [OPERATIONS.get(name) for name in by]
    showing = [at for at, row in enumerate(rows) if row and wanted in row.shows]
    # Where shapes are stretched, the sum is what is to be seen, and not the term beside it.
    points = [row.points if row else 0 for row in rows]
    return max(showing or range(len(lines)), key=lambda at: (".sum(" in lines[at], points[at]))


def line_at_fault(lines: Sequence[str], by: Sequence[str], code: str) -> int | None:
    """The index of the line that a diagnosis *code* is about, such as `db:mean`; None where there is none."""
    own = [at for at, line in enumerate(lines) if line.split()[0] == code.partition(":")[0]]
    added = [at for at in own if "+=" in lines[at]]
    wanted = slip_of(code)
    if wanted in FORKS and added:
        return added[0]
    own_lines = [lines[at] for at in own], [by[at] for at in own]
    return own[key_line(*own_lines, "" if wanted in FORKS else wanted)] if own else None


def faults_met(checks: Sequence[Attempt], opened: Sequence[datetime]) -> tuple[str, ...]:
    """Diagnosis codes of what was wrong as each hint was *opened*, and of what is wrong now; empty before a check."""
    faults = [(check.created_at, code) for check in checks if (code := _first_fault(check))]
    known = [next((code for at, code in reversed(faults) if at <= moment), "") for moment in opened]
    return (*known, faults[-1][1] if faults else "")


def _first_fault(check: Attempt) -> str:
    """The code of the first gradient whose own line is not right, such as `db:mean`, or `db:` for one left blank."""
    verdict = decoded_verdict(check.verdict_json)
    names = verdict.names if verdict else ()
    return next((each.code or f"{each.name}:" for each in names if each.verdict not in RIGHT | {"follows"}), "")


def explain_lines(lines: Sequence[str], by: Sequence[str]) -> list[str]:
    """A sentence for each line; what was said of an earlier one is not said again."""
    first: dict[str, str] = {}
    explanations = []
    for line, text in zip(lines, by, strict=True):
        sentence, name = principle(line, text), line.split()[0]
        explanations.append(f"The same rule as for `{first[sentence]}`." if sentence in first else sentence)
        first.setdefault(sentence, name)
    return explanations


def solution_list(lines: Sequence[str], by: Sequence[str]) -> str:
    """The solution as a list: each line with its sentence."""
    return "".join(
        f"- `{line}`\n  {sentence}\n" for line, sentence in zip(lines, explain_lines(lines, by), strict=True)
    )


def blanked(line: str) -> str:
    """Return *line* with a blank for what carries the principle: the factor beside the upstream gradient."""
    statement = ast.parse(line).body[0]
    assert isinstance(statement, ast.Assign | ast.AugAssign)
    statement.value = _blank(statement.value)
    return ast.unparse(ast.fix_missing_locations(statement))


def _blank(node: ast.expr) -> ast.expr:
    match node:
        case ast.BinOp(left=left, op=op, right=right):
            if not _has_upstream(right):
                return ast.BinOp(left, op, ast.Name(BLANK_MARK))
            if not _has_upstream(left):
                return ast.BinOp(ast.Name(BLANK_MARK), op, right)
            return ast.BinOp(left, op, _blank(right))
        case ast.UnaryOp(op=op, operand=operand):
            return ast.UnaryOp(op, _blank(operand))
        case ast.Attribute(value=ast.BinOp() as value, attr=attr):
            return ast.Attribute(_blank(value), attr)
        case ast.Attribute(value=value) if _has_upstream(value):
            return ast.Attribute(value, BLANK_MARK)
        case ast.Call(func=ast.Attribute() as function, args=args, keywords=keywords) if _has_upstream(function):
            return ast.Call(_blank(function), args, keywords)
    return ast.Name(BLANK_MARK)


def _has_upstream(node: ast.expr) -> bool:
    return any(isinstance(inner, ast.Name) and re.fullmatch(r"d\w+", inner.id) for inner in nodes_in(node))
