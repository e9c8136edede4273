"""Functions that act entry by entry, with their local derivatives."""

import math

import numpy as np

from app.grading.operations.numerics import Array, erf, sigmoid
from app.grading.operations.row import Operation, OperationExercise

GELU_INNER, GELU_CUBE = math.sqrt(2 / math.pi), 0.044715
SAME = ("* -> *",)
LOCAL = "A function that acts entry by entry multiplies the upstream gradient by its local derivative"


def normal_density(x: Array) -> Array:
    """The density of the normal distribution."""
    return np.asarray(np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi))


def normal_area(x: Array) -> Array:
    """The area under `bell`, up to *x*."""
    return np.asarray(0.5 * (1 + erf(x / math.sqrt(2))))


def gelu_tanh_argument(x: Array) -> Array:
    """Argument of the tanh in the approximate gelu."""
    return np.asarray(GELU_INNER * (x + GELU_CUBE * x**3))


CURVES = (
    Operation("neg", "curve", np.negative, also="negative", sign="-", back=("-g",)),
    Operation(
        "tanh", "curve", np.tanh, back=("g * (1 - y ** 2)",), alike=("g / cosh(x) ** 2",), terms="one squared-output",
        exercises=(OperationExercise(
            family="activation", points=1, weight=2, forward="torch.tanh({0})", shapes=SAME, gives="signed tame",
            slips="input-for-output square-missing one-missing",
            principle=LOCAL + ": for tanh, one minus the square of the output.",
        ),),
    ),
    Operation(
        "sigmoid", "curve", sigmoid, back=("g * y * (1 - y)",), alike=("g * exp(-x) / (1 + exp(-x)) ** 2",),
        terms="output squared-output",
        exercises=(OperationExercise(
            family="activation", points=1, forward="torch.sigmoid({0})", shapes=SAME, gives="positive tame",
            principle=LOCAL + ": for sigmoid, the output times one minus the output.",
            slips="input-for-output half-rule",
        ),),
    ),
    Operation(
        "softplus", "curve", lambda x: np.logaddexp(x, 0.0), back=("g * sigmoid(x)",),
        exercises=(OperationExercise(
            family="activation", points=2, level=2, forward="F.softplus({0})", shapes=SAME, gives="positive",
            principle=LOCAL + ": for softplus, the sigmoid of the input.",
        ),),
    ),
    Operation("logsigmoid", "curve", lambda x: -np.logaddexp(-x, 0.0), back=("g * (1 - sigmoid(x))",)),
    Operation(
        "gelu", "curve", lambda x: x * normal_area(x), back=("g * (area(x) + x * bell(x))",), terms="gate density",
        exercises=(OperationExercise(
            family="activation", points=5, level=3, forward="F.gelu({0})", shapes=SAME, gives="signed",
            principle="A product of the input with a gate of itself has two terms: the gate, and the input times the "
            "slope of the gate.", slips="term-missing:density factor-missing:density",
        ),),
    ),
    Operation(
        "gelu_tanh", "curve", lambda x: x * 0.5 * (1 + np.tanh(gelu_tanh_argument(x))), sign="gelu",
        terms="gate density",
        back=("g * (0.5 * (1 + tanh(bent(x))) + 0.5 * x * (1 - tanh(bent(x)) ** 2) * k * (1 + 3 * a * x ** 2))",),
    ),
    Operation(
        "silu", "curve", lambda x: x * sigmoid(x), terms="gate density",
        back=("g * (sigmoid(x) + x * sigmoid(x) * (1 - sigmoid(x)))",),
        exercises=(OperationExercise(
            family="activation", points=4, level=2, forward="F.silu({0})", shapes=SAME, gives="signed",
            principle="A product of the input with its sigmoid has two terms: the sigmoid, and the input times the "
            "slope of the sigmoid.", slips="term-missing:density factor-missing:density",
        ),),
    ),
    Operation(
        "sin", "curve", np.sin, back=("g * cos(x)",),
        exercises=(OperationExercise(
            family="activation", points=1, forward="torch.sin({0})", shapes=SAME, gives="signed tame",
            principle=LOCAL + ": for the sine, the cosine.",
        ),),
    ),
    Operation("cos", "curve", np.cos, back=("-g * sin(x)",)),
    Operation("sinh", "curve", np.sinh, back=("g * cosh(x)",)),
    Operation("cosh", "curve", np.cosh, back=("g * sinh(x)",)),
    Operation("erf", "curve", erf, back=("g * 2 / sqrt(pi) * exp(-x ** 2)",)),
    Operation(
        "relu", "curve", lambda x: np.maximum(x, 0.0), back=("g * (x > 0)",),
        exercises=(OperationExercise(
            family="gate", points=1, forward="torch.relu({0})", shapes=SAME, needs="signed", gives="tame",
            principle="A gate lets the upstream gradient through where it was open, and nothing where it was closed.",
            slips="gate-flipped gate-value",
        ),),
    ),
    Operation(
        "abs", "curve", np.abs, also="absolute", back=("g * sign(x)",),
        exercises=(OperationExercise(
            family="gate", points=1, forward="{0}.abs()", shapes=SAME, needs="signed", gives="",
            principle="An absolute value passes on the upstream gradient, with the sign of its input.",
        ),),
    ),
    Operation(
        "exp", "curve", np.exp, back=("g * y",), alike=("g * exp(x)",),
        exercises=(OperationExercise(
            family="exponential", points=1, level=2, forward="{0}.exp()", shapes=SAME, needs="tame", gives="positive",
            principle=LOCAL + ": exp is its own derivative.", slips="input-for-output applied-twice",
        ),),
    ),
    Operation("expm1", "curve", np.expm1, back=("g * (y + 1)",)),
    Operation(
        "log", "curve", np.log, back=("g / x",),
        exercises=(OperationExercise(
            family="exponential", points=1, weight=3, forward="{0}.log()", shapes=SAME, needs="positive",
            gives="signed tame", principle=LOCAL + ": a logarithm divides by its input.", undoes="exp",
            slips="multiplied:log output-for-input",
        ),),
    ),
    Operation("log2", "curve", np.log2, back=("g / (x * log(2))",)),
    Operation("log10", "curve", np.log10, back=("g / (x * log(10))",)),
    Operation("log1p", "curve", np.log1p, back=("g / (1 + x)",)),
    Operation(
        "sqrt", "curve", np.sqrt, back=("g * 0.5 / y",), alike=("g / (2 * y)", "g * 0.5 * x ** -0.5"),
        exercises=(OperationExercise(
            family="power", points=2, level=2, forward="{0}.sqrt()", shapes=SAME, needs="positive", gives="positive",
            principle=LOCAL + ": for a root, one half over the output.", undoes="square",
            slips="power-coefficient input-for-output multiplied:sqrt",
        ),),
    ),
    Operation("rsqrt", "curve", lambda x: np.asarray(x) ** -0.5, back=("g * -0.5 * x ** -1.5",)),
    Operation(
        "reciprocal", "curve", lambda x: 1.0 / x, back=("-g / x ** 2",),
        exercises=(OperationExercise(
            family="power", points=3, level=2, forward="1 / ({0} + 0.5)", rule="pow",
            words={"p": "-1", "x": "({0} + 0.5)"}, shapes=SAME, needs="positive", gives="positive tame",
            principle="One over something is its power minus one: a minus comes down in front, and the square below.",
            slips="square-missing square-extra output-for-input",
        ),),
    ),
    Operation(
        "copy", "curve", lambda x: np.asarray(x, order="C"), also="clone contiguous double float half bfloat16",
        back=("g",),
    ),
    # `x.copy_(y)`, which leaves `y` in `x`.
    Operation("copy_from", "value", lambda x, y: np.broadcast_to(y, x.shape)),
)  # fmt: skip
