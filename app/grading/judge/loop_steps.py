"""A loop that goes through too many steps, or too few: one fault at its header for all gradients that are wrong."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from app.bindings import nodes_of
from app.grading.diagnosis.edits import replace_node
from app.grading.diagnosis.naming import join_words
from app.grading.diagnosis.phrases import sentences_of
from app.grading.judge.compare import DiagnosisSource
from app.grading.judge.parsed_submission import ParsedSubmission
from app.grading.judge.run_reports import ReportedError
from app.grading.judge.torch_errors import kind_of
from app.grading.judge.verdict import NameVerdict
from app.syntax import (
    Expression,
    Statement,
    arguments_of,
    as_written,
    called_name,
    loop_steps_of,
    nodes_in,
    parse_expression,
)

_SAY = sentences_of("loop-steps")


def blame_header(
    verdicts: Sequence[NameVerdict], plan: ParsedSubmission, laboratory: DiagnosisSource
) -> tuple[NameVerdict, ...]:
    """*verdicts*, of which several that another first or last step of one loop makes right follow from its header."""
    loops = ((at, loop) for at, line in enumerate(plan.lines) for loop in _loops_in(line.node))
    for at, (loop, steps) in loops:
        names = _wrong_by(verdicts, loop.lineno)
        for node in _with_other_steps(plan.lines[at].node, steps) if len(names) > 1 else ():
            lines = _lines_with(plan, at, node)
            mended = [name for name in names if laboratory.is_right_with(name, lines)]
            if len(mended) > 1:
                return tuple(_with_fault(verdict, loop.lineno, steps, mended) for verdict in verdicts)
    return tuple(verdicts)


def describe_steps(error: ReportedError, plan: ParsedSubmission, is_right: Callable[[list[Statement]], bool]) -> str:
    """The loop by whose steps an index does not exist, in words; empty where no other first or last step mends it."""
    at = error.statement if kind_of(error) == "index" else -1
    for loop, steps in _loops_in(plan.lines[at].node) if 0 <= at < len(plan.lines) else ():
        for node in _with_other_steps(plan.lines[at].node, steps):
            if is_right(_lines_with(plan, at, node)):
                return _SAY["past"].format(line=loop.lineno, steps=as_written(steps))
    return ""


def _lines_with(plan: ParsedSubmission, at: int, node: Statement) -> list[Statement]:
    return [node if rank == at else each.node for rank, each in enumerate(plan.lines)]


def _wrong_by(verdicts: Sequence[NameVerdict], line: int) -> list[str]:
    """The gradients that may be wrong by the loop in *line*: where one is at fault there, those by way of its steps."""
    in_header = any(verdict.verdict == "wrong" and verdict.line == line for verdict in verdicts)
    return [
        verdict.name
        for verdict in verdicts
        if verdict.verdict == "wrong" or (in_header and verdict.verdict == "follows" and verdict.step)
    ]


def _loops_in(statement: Statement) -> Iterator[tuple[Statement, Expression]]:
    """The loops in *statement*, each with what it goes through."""
    for node in nodes_of(statement):
        if isinstance(node, Statement) and (steps := loop_steps_of(node)):
            yield node, steps


def _with_other_steps(statement: Statement, steps: Expression) -> Iterator[Statement]:
    """*statement* with one step more or less at either end of *steps*, which a loop in it goes through."""
    for call in (node for node in nodes_in(steps) if called_name(node) == "range"):
        texts = [as_written(argument) for argument in arguments_of(call)]
        for place in range(min(len(texts), 2)):
            for step in ("+ 1", "- 1"):
                changed = [f"({text}) {step}" if rank == place else text for rank, text in enumerate(texts)]
                new = replace_node(statement, call, parse_expression(f"range({', '.join(changed)})"))
                assert isinstance(new, Statement)
                yield new


def _with_fault(verdict: NameVerdict, line: int, steps: Expression, mended: Sequence[str]) -> NameVerdict:
    """*verdict*, which is at the header in *line* for the first of those that other *steps* have *mended*."""
    if verdict.name not in mended:
        return verdict
    first = mended[0]
    if verdict.name == first:
        names = join_words([f"`{name}`" for name in mended])
        message = _SAY["header"].format(steps=as_written(steps), names=names)
        return replace(verdict, code=f"{first}:loop-steps", message=message, line=line, key="", step="", also=())
    message = _SAY["follows"].format(line=line, first=first)
    follows = replace(verdict, verdict="follows", code=None, key="", message=message, word=f"follows from {first}")
    return replace(follows, worst=(), differences=None, step="", also=())
