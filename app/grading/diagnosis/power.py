"""Slips at powers, and at powers of a sum with a small constant.

| code | what is sent instead of g times the local derivative |
|---|---|
| `power-not-lowered`, `power-lowered-twice`, `power-raised`, `power-sign`, `power-coefficient` | power rule |
| `power-coefficient-and-not-lowered` | power rule, both parts |
| `power-changed` | power rule with another exponent |
| `epsilon-missing`, `epsilon-changed` | power of x + e with another e |
"""

from collections.abc import Callable
from functools import partial

import numpy as np

from app.grading.diagnosis.evidence import Array
from app.grading.diagnosis.rules import CURVES
from app.grading.diagnosis.slips import Slip
from app.grading.diagnosis.steps import Step

EPSILONS = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0)


def power(rule: Callable[[Array, float], Array]) -> Callable[[Step], Array]:
    """A slip that multiplies g by another function of the base b and the exponent p."""
    return lambda step: np.asarray(step.g * rule(step.x, step.node.options["exponent"]))


def _without_epsilon(step: Step) -> Array | None:
    inner = _epsilon(step)
    return None if inner is None else vjp_of_power(step, step.x - inner)


def _other_epsilon(epsilon: float, step: Step) -> Array | None:
    inner = _epsilon(step)
    return None if inner is None or inner == epsilon else vjp_of_power(step, step.x - inner + epsilon)


def _epsilon(step: Step) -> float | None:
    """The small constant that is added to the base of a power."""
    base = step.node.operands[0]
    if base.op != "add":
        return None
    numbers = [float(operand.value) for operand in base.operands if operand.op == "number" and not operand.value.ndim]
    return numbers[0] if numbers else None


def vjp_of_power(step: Step, base: Array) -> Array:
    if step.node.op != "pow":
        return np.asarray(step.g * CURVES[step.node.op].local(base, CURVES[step.node.op].value(base)))
    exponent = step.node.options["exponent"]
    return np.asarray(step.g * exponent * base ** (exponent - 1))


POWER = (
    Slip(
        "power-not-lowered",
        power(lambda b, p: p * b**p),
        "The power rule lowers the exponent by one; in `{name}` it is still that of `{y}`.",
    ),
    Slip(
        "power-coefficient",
        power(lambda b, p: b ** (p - 1)),
        "The exponent of `{y}` also comes down as a factor; `{name}` lacks it.",
    ),
    Slip(
        "power-coefficient-and-not-lowered",
        power(lambda b, p: b**p),
        "`{name}` multiplies by `{y}` itself. The power rule brings the exponent down and lowers it by one.",
    ),
    Slip(
        "power-lowered-twice",
        power(lambda b, p: p * b ** (p - 2)),
        "The exponent of `{y}` is lowered by one; in `{name}` it has been lowered by two.",
    ),
    Slip(
        "power-raised",
        power(lambda b, p: p * b ** (p + 1)),
        "The power rule lowers the exponent of `{y}` by one; `{name}` raises it.",
    ),
    Slip(
        "power-sign",
        power(lambda b, p: p * b ** (1 - p)),
        "The exponent in `{name}` has the opposite sign of what the power rule gives for `{y}`.",
    ),
    Slip(
        "power-coefficient",
        power(lambda b, p: (p - 1) * b ** (p - 1)),
        "The factor in `{name}` is the lowered exponent; the exponent comes down as it was before.",
    ),
    Slip(
        "power-sign",
        power(lambda b, p: -p * b ** (1 - p)),
        "Both the factor and the exponent in `{name}` have the opposite sign of what the power rule gives for `{y}`.",
    ),
    Slip(
        "power-sign",
        power(lambda b, p: -p * b ** (-p)),
        "The exponent in `{name}` has the wrong sign for the power rule on `{y}`.",
    ),
    Slip(
        "power-not-lowered",
        power(lambda b, p: -p * b**p),
        "The sign is opposite and the exponent in `{name}` is still that of `{y}`.",
    ),
    Slip(
        "output-for-input",
        lambda step: vjp_of_power(step, step.y),
        "The power rule starts from what was raised to the power, `{x}`; `{name}` starts from the result, `{y}`.",
        ("{y}",),
    ),
    Slip(
        "power-changed",
        power(lambda b, p: p * b ** (p - 0.5)),
        "The exponent in `{name}` is lowered by one half; the power rule lowers it by one.",
    ),
    Slip(
        "power-changed",
        power(lambda b, p: p * b ** (p + 0.5)),
        "The exponent in `{name}` is raised by one half; the power rule lowers it by one.",
    ),
    Slip(
        "power-changed",
        power(lambda b, p: p * b ** (p - 1.5)),
        "The exponent in `{name}` is lowered by one and a half; the power rule lowers it by one.",
    ),
    Slip("power-changed", power(lambda b, p: p * b), "In `{name}` the base of `{y}` stands with the exponent one."),
    Slip(
        "power-changed", power(lambda b, p: p / b), "In `{name}` the base of `{y}` stands with the exponent minus one."
    ),
    Slip(
        "power-changed",
        power(lambda b, p: p * np.ones_like(b)),
        "`{name}` has the exponent as a factor, but not the base of `{y}`, lowered by one.",
    ),
)
EPSILON = (
    Slip(
        "epsilon-missing",
        _without_epsilon,
        "What is raised to the power in `{statement}` is `{x}`, with the small constant; "
        "`{name}` leaves the constant "
        "out, or has a far smaller one.",
    ),
    *(
        Slip(
            "epsilon-changed",
            partial(_other_epsilon, epsilon),
            "The small constant in `{name}` is not the one of `{statement}`.",
        )
        for epsilon in EPSILONS
    ),
)
