"""A line that adds to, or writes into, another tensor than the one it belongs to.

| code | what happened |
|---|---|
| `written-elsewhere:T` | a line writes into T, and the gradient is right had it written into that instead |
"""

import ast
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from app.bindings import nodes_of, root_of, writes
from app.grading.diagnosis.edits import replace_node
from app.grading.diagnosis.evidence import Diagnosis, Observation, WrongGradient, scope_of
from app.grading.diagnosis.gradient_analysis import GradientAnalysis
from app.grading.diagnosis.phrases import sentences_of
from app.grading.diagnosis.rerun import Rerun
from app.grading.reading.interpreter import Interpreter
from app.syntax import as_written, nodes_in

SAY = sentences_of("elsewhere")
SHOWN_MAX = 80
TRIES_MAX = 12


def diagnose_elsewhere(case: WrongGradient) -> Diagnosis | None:
    """The line that writes into another tensor of the program, or another gradient, what belongs into this one."""
    known = {*case.first_look.forward, *case.first_look.gradients} - {case.name} - case.settled
    first = next((at for at, line in enumerate(case.lines) if case.name in writes(line)), len(case.lines))
    # What is not there yet, no line can write into.
    later = list(enumerate(case.lines))[first:]
    targets = [(at, *item) for at, line in later for item in _targets(line) if item[1].id in known]
    if not targets:
        return None
    view = GradientAnalysis(case)
    with case.budget.one():
        for at, statement, target in targets[:TRIES_MAX]:
            mended = replace_node(case.lines[at], target, ast.Name(case.name, target.ctx))
            assert isinstance(mended, ast.stmt)
            lines = (*case.lines[:at], mended, *case.lines[at + 1 :])
            if all(_is_right(view, look, lines) for look in case.looks):
                text = as_written(statement)[:SHOWN_MAX]
                code, fields = f"written-elsewhere:{target.id}", {"word": target.id, "text": text}
                return replace(case.told(code, SAY["written"], line=statement.lineno, **fields), line=statement.lineno)
    return None


@lru_cache(maxsize=128)
def _targets(line: ast.stmt) -> Sequence[tuple[ast.stmt, ast.Name]]:
    """The names whose memory *line*, or a line inside of it, writes into, with the line."""
    targets: list[tuple[ast.stmt, ast.Name]] = []
    for node in nodes_of(line):
        match node:
            case ast.AugAssign(target=target) | ast.Assign(targets=[ast.Subscript() as target]):
                targets += [(node, name) for name in _root(target)]
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=target, attr=attr))) if attr.endswith("_"):
                targets += [(node, name) for name in _root(target)]
    return targets


def _root(target: ast.expr) -> list[ast.Name]:
    names = root_of(target)
    return [node for node in nodes_in(target) if isinstance(node, ast.Name) and node.id in names][:1]


def _is_right(view: GradientAnalysis, look: Observation, lines: tuple[ast.stmt, ...]) -> bool:
    rerun = Rerun(view, look, lines, Interpreter(*scope_of(look, view.case.name), view.case.budget))
    return rerun.is_right(rerun.result(rerun.after))


def is_right_with(case: WrongGradient, lines: tuple[ast.stmt, ...]) -> bool:
    """True if *lines*, in the place of the learner's, give the reference on every look."""
    view = GradientAnalysis(replace(case, lines=lines))
    return all(_is_right(view, look, lines) for look in case.looks)
