"""Operations with two sides: sums, products, quotients, powers, matrix products."""

from typing import Any

import numpy as np

from app.grading.operations.collisions import broadcast_shape, check_axes, check_fit, product_shape
from app.grading.operations.costs import entry_count, product_cost
from app.grading.operations.curves import LOCAL, SAME
from app.grading.operations.numerics import Array
from app.grading.operations.row import Cost, Operation, OperationExercise

PAIR = ("*, * -> *",)
MATRIX = (
    "In a matrix product each factor gets the upstream gradient, multiplied by the other factor, transposed, on its "
    "side: the axis that it does not have itself is summed away."
)
PASSED_ON = "A sum passes the upstream gradient on to each of its terms."
COPIED = "What was copied along an axis gets the sum of the gradients of its copies."
SCALED = COPIED + " In a product each copy is scaled by the other factor first."


def _sum_cost(x: Any, a: Any, b: Any, *_: Any, **__: Any) -> Cost:
    check_fit(np.shape(x), product_shape(a.shape, b.shape), "+")
    return product_cost(a, b)


def _linear(x: Any, w: Any, b: Any = None) -> Cost:
    check_axes(x.shape, w.shape, (-1, -1), "F.linear")
    return _sum_cost(0.0 if b is None else b, x, w.T)


def _contracted(a: Array, b: Array, dims: Any = 2) -> Array:
    axes, others = dims if isinstance(dims, tuple | list) else (range(a.ndim - dims, a.ndim), range(dims))
    for axis, other in zip(np.atleast_1d(axes), np.atleast_1d(others), strict=True):
        check_axes(a.shape, b.shape, (int(axis), int(other)), "tensordot")
    return np.tensordot(a, b, (axes, others))


def _contraction_cost(a: Any, b: Any, dims: Any = 2) -> Cost:
    count = dims if isinstance(dims, int) else int(np.size(dims[0]))
    axes = range(a.ndim - count, a.ndim) if isinstance(dims, int) else np.atleast_1d(dims[0])
    inner = entry_count(tuple(a.shape[axis] for axis in axes))
    entries = entry_count(a.shape) * entry_count(b.shape) // max(1, inner) ** 2
    return entries, entries * inner // 16


def _distances(a: Array, b: Array) -> Array:
    return np.asarray(np.sqrt(((a[..., :, None, :] - b[..., None, :, :]) ** 2).sum(-1)))


def _distance_cost(a: Any, b: Any) -> int:
    check_axes(a.shape, b.shape, (-1, -1), "cdist")
    return entry_count(broadcast_shape((*a.shape[:-1], 1, a.shape[-1]), (*b.shape[:-2], 1, *b.shape[-2:])))


ARITHMETIC = (
    Operation(
        "matmul", "binary", np.matmul, also="mm bmm mv dot vdot", sign="@", back=("g @ T(z)", "T(z) @ g"),
        exercises=(
            OperationExercise(
                family="matmul", points=2, weight=4, forward="{0} @ {1}", principle=MATRIX,
                shapes=("... a, a b -> ... b", "... a, a a -> ... a"), slips="matmul-order transposed",
            ),
            OperationExercise(
                name="matmul-left", family="matmul", points=3, level=2, forward="{0} @ {1}", walk=1,
                shapes=("c a, a b -> c b", "a a, a b -> a b"), principle=MATRIX, slips="matmul-order transposed",
            ),
            OperationExercise(
                name="scores", family="attention", points=5, level=3, forward="{0} @ {1}.mT / {b} ** 0.5",
                back=("g @ z / {b} ** 0.5", "T(g) @ z / {b} ** 0.5"), shapes=("... a b, ... c b -> ... a c",),
                principle="Scores compare every row with every other one: each side gets the upstream gradient times "
                "the other side, and the scale of the forward line stays.",
            ),
        ),
    ),
    Operation(
        "add", "binary", np.add, sign="+", back=("g", "g"),
        exercises=(
            OperationExercise(
                name="bias", family="broadcast", points=1, weight=2, forward="{0} + {1}", gives="signed wide tame",
                shapes=("... a, a -> ... a",), principle=COPIED, slips="mean wrong-axis",
            ),
            OperationExercise(
                family="fork", points=3, level=2, weight=3, forward="{0} + {1}", shapes=PAIR, other=True,
                principle=PASSED_ON,
            ),
        ),
    ),
    Operation(
        "sub", "binary", np.subtract, also="subtract", sign="-", back=("g", "-g"),
        exercises=(OperationExercise(
            family="fork", points=3, level=2, weight=2, forward="{0} - {1}", shapes=PAIR, other=True,
            principle="A difference passes on the upstream gradient, and to what is subtracted with the opposite sign.",
        ),),
    ),
    Operation(
        "mul", "binary", np.multiply, also="multiply", sign="*", back=("g * z", "g * z"),
        exercises=(
            OperationExercise(
                name="gain", family="broadcast", points=2, level=2, weight=2, forward="{0} * {1}",
                shapes=("... a, a -> ... a",), slips="mean wrong-axis own-factor", principle=SCALED,
            ),
            OperationExercise(
                name="column", family="broadcast", points=2, level=2, weight=2, forward="{0} * {1}",
                shapes=("a b, a 1 -> a b",), slips="mean wrong-axis keepdim-lost own-factor",
                principle=SCALED + " An axis of size 1 stays.",
            ),
            OperationExercise(
                family="fork", points=4, level=2, weight=3, forward="{0} * {1}", shapes=PAIR, other=True,
                principle="In a product each side is scaled by the other side.", slips="own-factor",
            ),
        ),
    ),
    Operation(
        "div", "binary", np.true_divide, also="divide true_divide", sign="/", back=("g / z", "-g * z / x ** 2"),
        exercises=(OperationExercise(
            family="fork", points=5, level=3, weight=3, forward="{0} / {1}", shapes=PAIR, other=True,
            principle="A quotient divides the upstream gradient; what divides gets the numerator over its own square, "
            "with a minus.", slips="multiplied:div square-missing numerator-missing",
        ),),
    ),
    Operation(
        "pow", "power", sign="**", back=("g * p * x ** (p - 1)",), alike=("g * p * y / x",),
        exercises=(
            OperationExercise(
                name="square", family="power", points=1, level=2, forward="{0} ** 2", words={"p": "2"}, shapes=SAME,
                gives="", slips="power-coefficient power-not-lowered",
                principle=LOCAL + ": the exponent comes down in front, and the power is lowered by one.",
            ),
            OperationExercise(
                name="power", family="power", points=3, level=3, weight=2, forward="({0} + 0.1) ** -0.5", shapes=SAME,
                words={"p": "-0.5", "x": "({0} + 0.1)"}, needs="positive", gives="positive",
                slips="power-raised power-not-lowered power-coefficient power-sign",
                principle="The exponent comes down in front, the power is lowered by one; the constant stays in it.",
            ),
        ),
    ),
    # With `alpha`, which plain sums and differences have not.
    Operation("add_multiple", "value", lambda x, y, alpha=1.0: x + alpha * y),
    Operation("sub_multiple", "value", lambda x, y, alpha=1.0: x - alpha * y),
    Operation("einsum", "einsum"),
    Operation("outer", "value", np.multiply.outer, also="ger", cost=lambda a, b: entry_count(np.size(a), np.size(b))),
    Operation(
        "inner", "value", np.inner, cost=lambda a, b: entry_count(a.shape[:-1]) * entry_count(b.shape[:-1])
    ),
    Operation("kron", "value", np.kron, cost=lambda a, b: max(1, int(np.size(a))) * max(1, int(np.size(b)))),
    Operation("tensordot", "value", _contracted, cost=_contraction_cost),
    Operation("cdist", "value", _distances, cost=_distance_cost),
    Operation("addmm", "value", lambda x, a, b, beta=1.0, alpha=1.0: beta * x + alpha * (a @ b), cost=_sum_cost),
    Operation("baddbmm", "value", lambda x, a, b: x + a @ b, cost=_sum_cost),
    Operation("linear", "value", lambda x, w, b=None: x @ w.T if b is None else x @ w.T + b, cost=_linear),
    Operation("addcmul", "value", lambda x, a, b, value=1.0: x + value * a * b),
    Operation("addcdiv", "value", lambda x, a, b, value=1.0: x + value * a / b),
    Operation("lerp", "value", lambda x, y, weight: x + weight * (y - x)),
)  # fmt: skip
