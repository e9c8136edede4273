"""Slips in an operand that is a sum: `epsilon-missing` and `epsilon-changed` where a power is taken of x + e, and
`operand-changed` for another sign or one side alone.
"""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from app.grading.diagnosis.evidence import Array
from app.grading.diagnosis.phrases import sentences_of
from app.grading.diagnosis.steps import PathStep
from app.grading.reading.rules import backward, names_of, rule_of, with_operand

SAY = sentences_of("slips")

EPSILONS = (0.0, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0)
SMALL = 1e-2
"""No larger number is called a small constant."""
Variant = Callable[[Array, Array], Array]


def other_operands(step: PathStep) -> Iterator[tuple[int, Variant, str, str]]:
    """By the place of the operand: what it may be instead, with a code and a sentence."""
    for place, read in enumerate(step.node.operands):
        if read.op not in {"add", "sub"} or not _reads(step, place):
            continue
        numbers = [op_node for op_node in read.operands if op_node.op == "number" and not op_node.value.ndim]
        if numbers and place == step.position and step.node.op in {"pow", "sqrt", "rsqrt"}:
            own_number = float(numbers[0].value)
            for epsilon in EPSILONS if 0 < abs(own_number) <= SMALL else ():
                if epsilon != own_number:
                    code, say = ("epsilon-changed", SAY["changed"]) if epsilon else ("epsilon-missing", SAY["without"])
                    yield place, partial(_shifted, by=epsilon - own_number), code, say
        for variant in VARIANTS:
            yield (
                place,
                variant,
                "operand-changed",
                SAY["expression"].format(read.text.replace("{", "{{").replace("}", "}}")),
            )


def _shifted(a: Array, b: Array, by: float) -> Array:
    return np.asarray(a + b + by)


VARIANTS: tuple[Variant, ...] = (
    lambda a, b: a + b,
    lambda a, b: a - b,
    lambda a, b: b - a,
    lambda a, b: a + 0 * b,
    lambda a, b: b + 0 * a,
)


def _reads(step: PathStep, place: int) -> bool:
    rule = rule_of(step.node, step.position)
    return rule is not None and ("x" if place == step.position else "z") in names_of(rule)


def with_value(step: PathStep, place: int, value: Variant) -> Array:
    a, b = (operand.value for operand in step.node.operands[place].operands)
    return backward(with_operand(step.node, place, value(a, b)), step.position, step.g)
