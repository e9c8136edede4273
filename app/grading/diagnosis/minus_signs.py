"""Minus signs of a rule, a forward line and the learner's lines."""

from collections.abc import Sequence

from app.bindings import freshly_bound
from app.grading.diagnosis.gradient_analysis import GradientAnalysis
from app.grading.diagnosis.steps import PathStep
from app.grading.forward.statements import ForwardStatement, GradientPath
from app.grading.reading.rules import rule_of
from app.syntax import Node, is_negated, nodes_in, sign_of


def with_minus(view: GradientAnalysis) -> list[str]:
    """The steps on the way whose lines hold a minus, where those that write the gradient hold none."""
    if any(map(minus_in, view.case.writes)):
        return []
    others = [line for line in view.text.lines if minus_in(line)]
    return sorted({name for line in others for name in freshly_bound(line)})


def minus_in(node: Node) -> bool:
    return any(sign_of(inner) == "-" for inner in nodes_in(node))


def has_minus(view: GradientAnalysis, line: ForwardStatement, paths: Sequence[GradientPath]) -> bool:
    """True if the backward rule of *line* has a minus of its own."""
    steps = _steps_through(view, line, paths)
    rules = [rule_of(step.node, step.position) or "" for step in steps]
    powers = [step.node.options.get("exponent", 0.0) < 0 or step.node.op == "rsqrt" for step in steps]
    return any(powers) or any(rule.startswith("-") for rule in rules) or (not steps and minus_in(line.node))


def may_subtract(view: GradientAnalysis, line: ForwardStatement, paths: Sequence[GradientPath]) -> bool:
    """True if the backward rule of *line* has a difference, which may be written with a minus in front as well."""
    return any(" - " in (rule_of(step.node, step.position) or "") for step in _steps_through(view, line, paths))


def may_be_negative(view: GradientAnalysis, line: ForwardStatement, paths: Sequence[GradientPath]) -> bool:
    """True if a minus is written in front of something that the backward rule of *line* multiplies by."""
    steps = _steps_through(view, line, paths)
    sides = [each for step in steps for each in step.node.operands if each is not step.node.operands[step.position]]
    return any(is_negated(node) for side in sides if side.expr for node in nodes_in(side.expr))


def _steps_through(view: GradientAnalysis, line: ForwardStatement, paths: Sequence[GradientPath]) -> list[PathStep]:
    """The operations of *line* on *paths*, as the first data set has them."""
    return [step for path in paths for step in view.steps(path, view.first_look) if step.statement == line]
