"""Operations that let through, choose or compare: clamps, masks, maxima."""

from collections.abc import Callable
from typing import Any

import numpy as np

from app.grading.operations.numerics import Array
from app.grading.operations.reductions import REDUCED, TAKEN
from app.grading.operations.row import Operation, OperationExercise

PICKS = "picks"


def _place(act: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, dim=None, keepdim=False: act(x, axis=dim, keepdims=keepdim)


def _sorted(x: Array, dim: int = -1, descending: bool = False) -> tuple[Array, Array]:
    order = np.argsort(-x if descending else x, dim)
    return np.take_along_axis(x, order, dim), order


def _largest(x: Array, k: int, dim: int = -1, largest: bool = True) -> tuple[Array, Array]:
    first = (*(slice(None),) * (dim % x.ndim), slice(k))
    values, order = _sorted(x, dim, largest)
    return values[first], order[first]


GATES = (
    Operation(
        "clamp", "clamp", back=("g * (x > low) * (x < high)",), also="clip", takes="input min max",
        exercises=(OperationExercise(
            family="gate", points=2, level=2, forward="{0}.clamp(-0.5, 0.5)", shapes=("* -> *",), needs="wide",
            gives="tame", words={"low": "-0.5", "high": "0.5"}, slips="gate-flipped gate-limit gate-value",
            principle="Between its limits a clamp passes on the upstream gradient; outside it is flat, and "
            "nothing passes.",
        ),),
    ),
    Operation(
        "masked_fill", "fill", back=("g * (1 - m)",), takes="input mask value", group=PICKS,
        exercises=(OperationExercise(
            name="masked-fill", family="gate", points=2, level=2, forward="{0}.masked_fill({1} > 0, 0.0)", gives="=",
            words={"m": "({1} > 0)"}, shapes=("a b, a b:mask -> a b",), slips="mask-missing mask-flipped",
            principle="Where a constant was written over an entry nothing passes back to it.",
        ),),
    ),
    Operation(
        "where", "choice", back=("g * m", "g * (1 - m)"), takes="condition input other", group=PICKS,
        exercises=(OperationExercise(
            family="gate", points=4, level=2, forward="torch.where({2} > 0, {0}, {1})", words={"m": "({2} > 0)"},
            shapes=("a b, a b, a b:mask -> a b",), gives="signed",
            principle="A choice passes the upstream gradient to the side that was chosen, and nothing to the other.",
        ),),
    ),
    Operation(
        "maximum", "pair", np.maximum, back=("g * (x > z)",) * 2, takes="input other",
        exercises=(OperationExercise(
            family="gate", points=4, level=2, forward="torch.maximum({0}, {1})", needs="signed",
            shapes=("... a, ... a -> ... a",), slips="gate-flipped",
            principle="Of two, the larger one gets the upstream gradient, and the other one nothing.",
        ),),
    ),
    Operation("minimum", "pair", np.minimum, back=("g * (x < z)",) * 2, takes="input other"),
    Operation(
        "max", "reduction", np.max, also="amax", back=("g * (x == y)",), takes=TAKEN, group=PICKS,
        exercises=(OperationExercise(
            family="gate", points=4, level=2, forward="{0}.amax({axis}, keepdim=True)", shapes=REDUCED, needs="signed",
            gives="", slips="router-dense router-value router-shared router-axis",
            principle="Only the winner of a maximum moved it: all of the upstream gradient goes to where "
            "the winner stands.",
        ),),
    ),
    Operation("min", "reduction", np.min, also="amin", back=("g * (x == y)",), takes=TAKEN, group=PICKS),
    Operation("argmax", "value", _place(np.argmax)),
    Operation("argmin", "value", _place(np.argmin)),
    Operation("argsort", "value", lambda x, dim=-1: np.argsort(x, dim)),
    Operation("sort", "several", _sorted, group=PICKS),
    Operation("topk", "several", _largest, sizes=slice(1, 2), group=PICKS),
    Operation("gt", "value", np.greater, also="greater"),
    Operation("lt", "value", np.less, also="less"),
    Operation("ge", "value", np.greater_equal, also="greater_equal"),
    Operation("le", "value", np.less_equal, also="less_equal"),
    Operation("eq", "value", np.equal),
    Operation("ne", "value", np.not_equal, also="not_equal"),
    Operation("heaviside", "value", np.heaviside),
    Operation("logical_and", "value", np.logical_and),
    Operation("logical_or", "value", np.logical_or),
    Operation("logical_not", "value", np.logical_not),
    Operation("clamp_min", "value", np.maximum),
    Operation("clamp_max", "value", np.minimum),
    Operation("relu6", "value", lambda x: np.clip(x, 0.0, 6.0)),
    Operation("hardtanh", "value", lambda x, min_val=-1.0, max_val=1.0: np.clip(x, min_val, max_val)),
)  # fmt: skip
