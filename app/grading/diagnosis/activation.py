"""Slips at activations: one that is mistaken for another, and the inner parts of gelu and silu.

| code | what is sent instead of g times the local derivative |
|---|---|
| `other-rule:OP` | the rule of another activation OP, with its input or with the output that is there |
| `gate-value` | the output or the input in the place of the local derivative |
| `factor-missing:density` | gelu, silu: what moves the gate is not multiplied by the input |
| `argument-changed` | gelu: erf of the input itself, or the bell curve of another width |
| `inner-missing` | gelu, approximate: the derivative of what stands inside of the tanh, or a part of it, is left out |
| `square-missing` | gelu, approximate: one minus the tanh, which is not squared |
"""

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from app.grading.diagnosis.evidence import Array
from app.grading.diagnosis.rules import CURVES, GELU_CUBE, GELU_INNER, Curve, erf, gelu_density, gelu_gate, sigmoid
from app.grading.diagnosis.slips import Slip, curve

ACTIVATIONS = ("relu", "tanh", "sigmoid", "gelu", "gelu_tanh", "silu")
SHOWN = {"gelu_tanh": "gelu with approximate='tanh'"}


def other_rules(op: str) -> tuple[Slip, ...]:
    """The rules of all other activations in the place of the one of *op*."""
    found = []
    for name in ACTIVATIONS:
        if name != op:
            say = (
                f"`{{name}}` uses the local derivative of {SHOWN.get(name, name)}; the forward line is `{{statement}}`."
            )
            code = f"other-rule:{name.replace('_', '-')}"
            own, theirs = partial(_with_own_value, CURVES[name]), partial(_with_this_value, CURVES[name])
            found += [Slip(code, curve(own), say), Slip(code, curve(theirs), say)]
    return tuple(found)


def _with_own_value(other: Curve, x: Array, _y: Array) -> Array:
    return other.local(x, other.value(x))


def _with_this_value(other: Curve, x: Array, y: Array) -> Array:
    return other.local(x, y)


VALUES = (
    Slip(
        "gate-value",
        curve(lambda _, y: y),
        "`{name}` multiplies by the output, `{y}`, where the local derivative of `{op}` belongs.",
    ),
    Slip(
        "gate-value",
        curve(lambda x, _: x),
        "`{name}` multiplies by the input, `{x}`, where the local derivative of `{op}` belongs.",
    ),
)


def _ungained(gate: Callable[[Array], Array], density: Callable[[Array], Array]) -> Slip:
    return Slip(
        "factor-missing:density",
        curve(lambda x, _: gate(x) + density(x)),
        "`{name}` has both terms of the product rule for `{statement}`, but what moves the gate is not multiplied by "
        "the input, `{x}`.",
    )


def _inner(x: Array) -> Array:
    return np.asarray(np.tanh(GELU_INNER * (x + GELU_CUBE * x**3)))


INNER = (
    "The tanh in `{statement}` has an inner function of its own; in `{name}` its derivative is left out, in whole or "
    "in part."
)
PARTS: tuple[Callable[[Array], Array], ...] = (
    np.ones_like,
    lambda x: GELU_INNER * np.ones_like(x),
    lambda x: 1 + 3 * GELU_CUBE * x**2,
    lambda x: GELU_INNER * (1 + GELU_CUBE * x**2),
)
"""What is left of the derivative of what stands inside of the tanh."""


def _with_inner(x: Array, _y: Array, part: Callable[[Array], Array]) -> Array:
    return np.asarray(gelu_gate(x, True) + 0.5 * x * (1 - _inner(x) ** 2) * part(x))


GELU_TANH = (
    _ungained(lambda x: gelu_gate(x, True), lambda x: gelu_density(x, True)),
    *(Slip("inner-missing", curve(partial(_with_inner, part=part)), INNER) for part in PARTS),
    Slip(
        "square-missing",
        curve(lambda x, _: gelu_gate(x, True) + 0.5 * x * (1 - _inner(x)) * GELU_INNER * (1 + 3 * GELU_CUBE * x**2)),
        "In `{name}` the tanh of `{statement}` is not squared where its local derivative stands.",
    ),
    Slip(
        "other-rule:tanh",
        curve(lambda x, _: 1 - _inner(x) ** 2),
        "`{name}` uses the local derivative of the tanh inside; `{statement}` multiplies that tanh by the input.",
    ),
)
GELU = (
    _ungained(lambda x: gelu_gate(x, False), lambda x: gelu_density(x, False)),
    Slip(
        "argument-changed",
        curve(lambda x, _: 0.5 * (1 + erf(x)) + x * gelu_density(x, False)),
        "`{name}` takes erf of the input itself; in the gate of `{statement}` the input is divided by the root of two.",
    ),
    Slip(
        "argument-changed",
        curve(lambda x, _: gelu_gate(x, False) + x * np.exp(-(x**2)) / np.sqrt(2 * np.pi)),
        "The bell curve in `{name}` has another width than the one whose area is the gate of `{statement}`.",
    ),
)
SILU = (_ungained(sigmoid, lambda x: sigmoid(x) * (1 - sigmoid(x))),)

SLIPS: Mapping[str, tuple[Slip, ...]] = {
    "gelu": (*GELU, *VALUES, *other_rules("gelu")),
    "gelu_tanh": (*GELU_TANH, *VALUES, *other_rules("gelu_tanh")),
    "silu": (*SILU, *VALUES, *other_rules("silu")),
    "tanh": other_rules("tanh"),
    "sigmoid": other_rules("sigmoid"),
    "relu": other_rules("relu"),
    "softplus": (*VALUES, *other_rules("softplus")),
}
