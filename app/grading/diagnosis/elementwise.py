"""Slips at functions that act entry by entry.

| code | what is sent instead of g times the local derivative |
|---|---|
| `upstream-missing` | the local derivative |
| `local-missing:OP` | g |
| `divided:OP`, `multiplied:OP` | g divided by the local derivative |
| `input-for-output`, `output-for-input` | the local derivative's formula with the wrong one of x and y |
| `applied-twice` | the formula on f(y), as if the function came once more |
| `mean-missing`, `distance-missing` | variance: x itself instead of its distance to the mean, or neither |
| `other-rule:OP` | exp, log: the rule of another function; see also `activation` |
| `square-missing` | tanh: 1 - y; `minus-missing`: 1 + y^2; `one-missing`: y^2 |
| `half-rule` | sigmoid: y, or 1 - y |
| `power-coefficient` | square root: g/y, or 2g/y |
| `local-twice:OP` | the local derivative squared |
"""

from collections.abc import Mapping

import numpy as np

from app.grading.diagnosis import activation
from app.grading.diagnosis.evidence import Array
from app.grading.diagnosis.gate import GATE, LIMITS
from app.grading.diagnosis.power import EPSILON, POWER
from app.grading.diagnosis.rules import CURVES
from app.grading.diagnosis.slips import Slip, curve, local, right
from app.grading.diagnosis.steps import Step


def _input_for_output(step: Step) -> Array:
    return np.asarray(step.g * CURVES[step.node.op].local(step.x, step.x))


def _output_for_input(step: Step) -> Array:
    return np.asarray(step.g * CURVES[step.node.op].local(step.y, step.y))


def _divided(step: Step) -> Array:
    return np.asarray(step.g / local(step))


def _uncentred(step: Step) -> Array:
    centred = step.x - step.x.mean(axis=step.node.options["axes"], keepdims=True)
    return np.asarray(right(step) / centred * step.x)


UPSTREAM = Slip(
    "upstream-missing",
    local,
    "`{name}` holds the local derivative of `{statement}` alone. Multiply it by what arrives from above, {up}.",
)
LOCAL = Slip(
    "local-missing:{op}",
    lambda step: step.g,
    "`{name}` passes {up} on as if `{statement}` changed nothing. Multiply it by the local derivative of that "
    "operation.",
)
DIVIDED = Slip(
    "divided:{op}",
    _divided,
    "`{name}` is divided by the local derivative of `{y}` where it should be multiplied by it.",
)
LOG_MULTIPLIED = Slip(
    "multiplied:log",
    curve(lambda x, _: x),
    "`{name}` multiplies by `{x}`. A logarithm stretches small inputs: its local derivative divides by the input.",
)
INPUT = Slip(
    "input-for-output",
    _input_for_output,
    "The local derivative of `{op}` is written here with its output, `{y}`; `{name}` puts in the input, `{x}`.",
    ("{x}",),
)
OUTPUT = Slip(
    "output-for-input",
    _output_for_input,
    "The local derivative of `{op}` is written here with its input, `{x}`; `{name}` puts in the output, `{y}`.",
    ("{y}",),
)


COMMON = (UPSTREAM, LOCAL)

TWICE = Slip(
    "local-twice:{op}",
    lambda step: step.g * local(step) ** 2,
    "`{name}` is multiplied by the local derivative of `{op}` twice; each operation on the way counts once.",
)

TANH = (
    INPUT,
    TWICE,
    Slip(
        "square-missing",
        curve(lambda _, y: 1 - y),
        "`{name}` uses one minus the output, `{y}`; the output is squared there.",
    ),
    Slip(
        "minus-missing",
        curve(lambda _, y: 1 + y**2),
        "The square of the output is subtracted in the local derivative of tanh, not added.",
    ),
    Slip(
        "one-missing",
        curve(lambda _, y: -(y**2)),
        "The local derivative of tanh starts at one and takes the squared output away; the one is missing.",
    ),
    Slip(
        "one-missing",
        curve(lambda _, y: y**2),
        "`{name}` scales by the squared output alone; the local derivative of tanh is what is left of one.",
    ),
    Slip(
        "sign",
        curve(lambda _, y: y**2 - 1),
        "The two terms of the local derivative of tanh are exchanged: the sign is opposite.",
    ),
    Slip(
        "gate-value", curve(lambda _, y: y), "`{name}` multiplies by the output of tanh, not by its local derivative."
    ),
    Slip(
        "square-missing",
        curve(lambda _, y: (1 - y) ** 2),
        "`{name}` squares the whole of one minus the output; only the output is squared.",
    ),
    Slip(
        "power-raised",
        curve(lambda _, y: 1 - y**3),
        "The output of tanh stands in its local derivative with the power two; here it has another one.",
    ),
    Slip(
        "applied-twice",
        curve(lambda _, y: 1 - np.tanh(y) ** 2),
        "`{y}` has been through tanh already; here tanh is applied once more.",
    ),
)
SIGMOID = (
    TWICE,
    INPUT,
    Slip(
        "half-rule",
        curve(lambda _, y: y),
        "`{name}` holds one of the two factors of sigmoid's local derivative: the output. The other is missing.",
    ),
    Slip(
        "half-rule",
        curve(lambda _, y: 1 - y),
        "`{name}` holds one of the two factors of sigmoid's local derivative. The output itself is missing.",
    ),
    Slip(
        "minus-missing",
        curve(lambda _, y: y * (1 + y)),
        "In the local derivative of sigmoid the output is subtracted from one, not added.",
    ),
    Slip(
        "half-rule",
        curve(lambda _, y: y * y),
        "`{name}` squares the output; one factor is the output, the other what it lacks to one.",
    ),
    Slip(
        "square-extra",
        curve(lambda _, y: y * (1 - y**2)),
        "`{name}` squares the output inside the bracket, as tanh would; sigmoid does not.",
    ),
    Slip(
        "applied-twice",
        curve(lambda _, y: CURVES["sigmoid"].local(y, CURVES["sigmoid"].value(y))),
        "`{y}` has been through sigmoid already; here it is applied once more.",
    ),
)
EXP = (
    Slip(
        "input-for-output",
        curve(lambda x, _: x),
        "The local derivative of `exp` is its output, `{y}`; `{name}` multiplies by the input, `{x}`.",
        ("{x}",),
    ),
    Slip(
        "applied-twice",
        curve(lambda _, y: np.exp(y)),
        "`{name}` exponentiates once more; the output `{y}` is already what exp gives.",
    ),
    Slip(
        "divided:exp",
        curve(lambda _, y: 1 / y),
        "`{name}` divides by the output of `exp` where it should be multiplied by it.",
    ),
    Slip(
        "other-rule:log",
        curve(lambda x, _: 1 / x),
        "`{name}` uses the local derivative of `log`; the forward line is `{statement}`.",
    ),
    Slip(
        "other-rule:pow",
        curve(lambda x, _: x * np.exp(x - 1)),
        "`{name}` uses the power rule. In `exp` the input is the exponent, so its local derivative is the output.",
    ),
)
LOG = (
    Slip(
        "output-for-input",
        curve(lambda _, y: 1 / y),
        "`{name}` divides by the output of the logarithm, `{y}`; the input, `{x}`, belongs there.",
        ("{y}",),
    ),
    LOG_MULTIPLIED,
    Slip(
        "multiplied:log",
        curve(lambda _, y: y),
        "`{name}` multiplies by the logarithm itself, not by its local derivative.",
    ),
    Slip(
        "other-rule:exp",
        curve(lambda x, _: np.exp(x)),
        "`{name}` uses the local derivative of `exp`; the forward line is `{statement}`.",
    ),
    Slip("square-extra", curve(lambda x, _: 1 / x**2), "`{name}` divides twice by `{x}`; a logarithm divides once."),
)
SQRT = (
    Slip(
        "power-sign",
        curve(lambda _, y: -0.5 / y**3),
        "A square root is the power one half; `{name}` follows the power rule for minus one half.",
    ),
    Slip(
        "power-coefficient",
        curve(lambda _, y: 1 / y),
        "The exponent of a square root, one half, is missing as a factor in `{name}`.",
    ),
    Slip(
        "input-for-output",
        curve(lambda x, _: 0.5 / x),
        "`{name}` divides by the input of the square root, `{x}`; its local derivative has the output there.",
    ),
    Slip(
        "multiplied:sqrt",
        curve(lambda _, y: 0.5 * y),
        "`{name}` multiplies by the square root; its local derivative divides by it.",
    ),
    Slip(
        "power-coefficient",
        curve(lambda _, y: 2 / y),
        "The exponent of a square root comes down as a factor; `{name}` has its inverse.",
    ),
)
SPREAD = (
    Slip(
        "mean-missing",
        _uncentred,
        "`{name}` uses `{x}` itself; a variance measures the distance to the mean, and that is what stands in its "
        "rule.",
    ),
    Slip(
        "distance-missing",
        lambda step: right(step) / (step.x - step.x.mean(axis=step.node.options["axes"], keepdims=True)),
        "`{name}` spreads {up} evenly; entries far from the mean move a variance more than entries near it.",
    ),
)

SLIPS: Mapping[str, tuple[Slip, ...]] = {
    "*": (UPSTREAM,),
    "var": (*SPREAD, UPSTREAM),
    "std": (*SPREAD, UPSTREAM),
    "tanh": (*TANH, *COMMON, DIVIDED, *activation.SLIPS["tanh"]),
    "sigmoid": (*SIGMOID, *COMMON, DIVIDED, *activation.SLIPS["sigmoid"]),
    "exp": (*EXP, *COMMON),
    "log": (*LOG, *COMMON),
    "sqrt": (*SQRT, *EPSILON, *COMMON, DIVIDED),
    "rsqrt": (*EPSILON, *COMMON, INPUT, DIVIDED),
    "relu": (*GATE, *COMMON, *activation.SLIPS["relu"]),
    **{op: (*COMMON, *activation.SLIPS[op], OUTPUT, DIVIDED) for op in ("gelu", "gelu_tanh", "silu", "softplus")},
    "clamp": (*GATE, *COMMON, *LIMITS),
    "pow": (*POWER, *EPSILON, *COMMON, DIVIDED),
    **dict.fromkeys(("log2", "log10", "log1p", "expm1", "erf", "logsigmoid"), (*COMMON, OUTPUT, INPUT, DIVIDED)),
    **dict.fromkeys(("reciprocal", "abs", "sin", "cos"), (*COMMON, OUTPUT, INPUT, DIVIDED)),
}
