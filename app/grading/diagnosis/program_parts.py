"""Values of the parts of the forward lines on the way to a tensor, and of the parts of their rules.

A step of the learner's that holds one of them is a part of a right backward pass: the tanh of a forward line, or the
bell curve of a rule. It may still be read in the wrong place.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from app.grading.diagnosis.evidence import Array
from app.grading.diagnosis.gradient_analysis import GradientAnalysis
from app.grading.diagnosis.rerun import Inside, are_equal
from app.grading.diagnosis.steps import PathStep
from app.grading.reading.rules import evaluate_rule, names_of, rule_of
from app.syntax import called_name, is_binary, nodes_in, parse_expression, source_text


def is_part(view: GradientAnalysis, arrays: Inside) -> bool:
    """True if *arrays*, one per look, are what a part of the program holds; a number says nothing."""
    return any(are_equal(arrays, part) for part in view.once(_parts)) if all(each.ndim for each in arrays) else False


def _parts(view: GradientAnalysis) -> Sequence[Inside]:
    ways = ([view.steps(path, look) for look in view.case.looks] for path in view.paths)
    values = ([_parts_at(view, step) for step in steps] for way in ways for steps in zip(*way, strict=False))
    return [part for parts in values for part in zip(*parts, strict=False)]


def _parts_at(view: GradientAnalysis, step: PathStep) -> list[Array]:
    nodes = [step.node]
    for node in nodes:
        nodes += node.operands
    words, rule = view.meanings(step), rule_of(step.node, step.position) or "g"
    return [node.value for node in nodes] + [_part_value(text, words, step) for text in _texts(rule)]


@cache
def _texts(rule: str) -> tuple[str, ...]:
    """The parts of *rule* that are more than a word, and that what arrives is not in."""
    nodes = (node for node in nodes_in(parse_expression(rule)) if is_binary(node) or called_name(node))
    return tuple(text for node in nodes if "g" not in names_of(text := source_text(node)))


def _part_value(text: str, words: Mapping[str, Any], step: PathStep) -> Array:
    """The value of a part of a rule; a number where it has none."""
    try:
        return evaluate_rule(text, words, step.node, step.position)
    except (ValueError, TypeError, IndexError):
        return np.zeros(())
