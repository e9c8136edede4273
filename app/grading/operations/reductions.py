"""Operations along axes: sums and means, running sums, softmax, losses, norms."""

import math
from typing import Any

import numpy as np

from app.grading.operations.collisions import broadcast_shape
from app.grading.operations.costs import entry_count
from app.grading.operations.numerics import Array, Axes, sigmoid, softmax, swapped
from app.grading.operations.row import Operation, OperationExercise

REDUCED = ("a b -> 1 b @0", "a b -> a 1 @1")
TAKEN = "input dim keepdim correction"
SPREAD = "input dim unbiased keepdim correction"
MEANS, CHANCES = "sums and means", "softmax, losses"


@np.errstate(all="ignore")
def _variance(x: Array, axes: Axes, correction: float, keepdim: bool) -> Array:
    """Like torch, and unlike numpy's own, it warns of nothing where too few entries are left."""
    number = math.prod(x.shape[axis] for axis in axes)
    distance = x - x.sum(axis=axes, keepdims=True) / np.float64(number)
    return np.asarray((distance**2).sum(axis=axes, keepdims=keepdim) / np.float64(max(number - correction, 0)))


def _deviation(x: Array, axes: Axes, correction: float, keepdim: bool) -> Array:
    return np.asarray(np.sqrt(_variance(x, axes, correction, keepdim)))


def _log_sum(x: Array, axis: Axes, keepdims: bool) -> Array:
    top = x.max(axis=axis, keepdims=True)
    total = np.asarray(np.log(np.exp(x - top).sum(axis=axis, keepdims=True)) + top)
    return total if keepdims else total.squeeze(axis)


def _norm(x: Array, p: float = 2, dim: Any = None, keepdim: bool = False) -> Array:
    return np.asarray((np.abs(x) ** p).sum(axis=dim, keepdims=keepdim) ** (1 / p))


def _root_mean_square_norm(x: Array, sizes: Any, weight: Any = 1.0, eps: float = 2.0**-52) -> Array:
    axes = tuple(range(-len(sizes), 0))
    return np.asarray(x * ((x**2).mean(axes, keepdims=True) + eps) ** -0.5 * weight)


def _attention(q: Array, k: Array, v: Array) -> Array:
    return np.asarray(softmax(q @ swapped(k) / math.sqrt(q.shape[-1]), -1) @ v)


def _attention_cost(q: Any, k: Any, v: Any) -> int:
    heaps = broadcast_shape(q.shape[:-2], k.shape[:-2], v.shape[:-2], how="@")
    return entry_count(heaps) * entry_count(q.shape[-2]) * max(entry_count(k.shape[-2]), entry_count(v.shape[-1]))


def _gated(x: Array, dim: int = -1) -> Array:
    value, gate = np.split(x, 2, dim)
    return np.asarray(value * sigmoid(gate))


def _loss(name: str, back: tuple[str, ...] = (), terms: str = "", group: str = "") -> Operation:
    """A loss is read for its rule alone; its value is not needed."""
    return Operation(name, "loss", back=back, terms=terms, takes="input target reduction", group=group)


REDUCTIONS = (
    Operation(
        "sum", "reduction", np.sum, back=("g",), takes=TAKEN, group=MEANS,
        exercises=(OperationExercise(
            family="reduction", points=2, level=2, forward="{0}.sum({axis}, keepdim=True)", gives="=", shapes=REDUCED,
            needs="free",
            principle="A sum passes the upstream gradient on to each of its terms: here, to each entry summed.",
        ),),
    ),
    Operation(
        "mean", "reduction", np.mean, back=("g / n",), takes=TAKEN, group=MEANS,
        exercises=(OperationExercise(
            family="reduction", points=3, level=2, forward="{0}.mean({axis}, keepdim=True)", gives="=", shapes=REDUCED,
            needs="free", slips="factor",
            principle="Each entry that was averaged gets the upstream gradient of the average, divided by how "
            "many there were.",
        ),),
    ),
    Operation("nansum", "reduction", np.nansum, takes=TAKEN),
    Operation("nanmean", "reduction", np.nanmean, takes=TAKEN),
    Operation(
        "prod", "value", lambda x, dim=None, keepdim=False: np.prod(x, axis=dim, keepdims=keepdim), group=MEANS
    ),
    Operation(
        "cumsum", "cumulated", np.cumsum, back=("C(g)",), takes="input dim", group=MEANS,
        exercises=(OperationExercise(
            family="reduction", points=3, level=2, forward="{0}.cumsum({axis})",
            shapes=("a b -> a b @0", "a b -> a b @1"), slips="cumulated-forward",
            principle="An entry is part of every total from its place on: the upstream gradient is summed from there "
            "to the end.",
        ),),
    ),
    Operation("cumprod", "value", lambda x, dim: x.cumprod(dim)),
    Operation(
        "softmax", "along axes", softmax, back=("y * (g - S(g * y))",), terms="direct average",
        takes="input dim correction", group=CHANCES,
        exercises=(OperationExercise(
            family="softmax", points=5, level=3, weight=2, forward="torch.softmax({0}, {axis})",
            shapes=("a b -> a b @1",), needs="tame free", settles=True, gives="positive tame",
            slips="average-missing diagonal weights-missing outer-factor-missing mean-for-sum term-sign",
            principle="Raising one score lowers the other shares: take the weighted average away, then weigh.",
        ),),
    ),
    Operation(
        "log_softmax", "along axes", lambda x, axes: x - _log_sum(x, axes, True), back=("g - softmax(x) * S(g)",),
        alike=("g - exp(y) * S(g)",), terms="direct row-sum", takes="input dim correction", group=CHANCES,
        exercises=(OperationExercise(
            name="log-softmax", family="softmax", points=5, level=3, forward="torch.log_softmax({0}, {axis})",
            shapes=("a b -> a b @1",), gives="tame", needs="free", settles=True,
            slips="row-sum-missing mean-for-sum term-sign",
            principle="The upstream gradient is summed along each row, and each entry gives up its "
            "probability's part of that sum.",
        ),),
    ),
    Operation(
        "logsumexp", "reduction", _log_sum, back=("g * softmax(x)",), takes=TAKEN, group=CHANCES,
        exercises=(OperationExercise(
            family="softmax", points=3, level=2, forward="{0}.logsumexp({axis}, keepdim=True)", shapes=REDUCED,
            needs="free", gives="tame", slips="softmax-axis unnormalised",
            principle="A soft maximum shares the upstream gradient out by probability.",
        ),),
    ),
    _loss("cross_entropy", ("(softmax(x) - t) * g / n",), "probabilities one-hot", CHANCES),
    _loss("binary_cross_entropy_with_logits", ("(sigmoid(x) - z) * g / n",), "probabilities target", CHANCES),
    _loss("mse_loss", ("2 * (x - z) * g / n",) * 2, "prediction target", CHANCES),
    _loss("binary_cross_entropy"),
    _loss("nll_loss"),
    _loss("l1_loss"),
    _loss("smooth_l1_loss"),
    _loss("huber_loss"),
    Operation(
        "layer_norm", "layer norm", back=("r * (g * w - M(g * w) - u * M(g * w * u))", "g * u", "g"),
        terms="direct mean variance", takes="input normalized_shape weight bias eps", group="norms",
        exercises=(OperationExercise(
            name="layer-norm", family="norm", points=8, level=3, forward="F.layer_norm({0}, ({b},))",
            words={"u": "{y}", "w": "1", "r": "({0}.var(1, correction=0, keepdim=True) + 1e-05) ** -0.5"},
            shapes=("a b -> a b @1",), gives="signed tame", needs="free", settles=True,
            slips="term-missing:mean term-missing:variance",
            principle="An entry also moves the mean and the variance of its slice: both send back a share of their "
            "own.",
        ),),
    ),
    Operation("rms_norm", "value", _root_mean_square_norm),
    Operation(
        "norm", "value", _norm, group=MEANS,
        exercises=(OperationExercise(
            family="norm", points=3, level=2, forward="(({0} ** 2).sum({axis}, keepdim=True) + 0.1) ** 0.5",
            back=("g * x / y",), shapes=REDUCED, needs="free", gives="positive",
            principle="A length grows along the vector itself: the upstream gradient is scaled by the vector "
            "over its length.",
        ),),
    ),
    Operation(
        "vector_norm", "value", lambda x, p=2, dim=None, keepdim=False: _norm(x, p, dim, keepdim)
    ),
    Operation(
        "normalize", "value", lambda x, p=2.0, dim=1: x / np.maximum(_norm(x, p, dim, keepdim=True), 1e-12)
    ),
    Operation(
        "var", "spread", _variance, back=("g * 2 * (x - M(x)) / (n - c)",), takes=SPREAD, group=MEANS,
        exercises=(OperationExercise(
            name="variance", family="norm", points=4, level=2, forward="{0}.var({axis}, keepdim=True)",
            words={"c": "1"}, shapes=REDUCED, needs="free", gives="positive", slips="mean-missing distance-missing",
            principle="Entries far from the mean move a variance most: twice the distance, over the number less one.",
        ),),
    ),
    Operation(
        "std", "spread", _deviation, back=("g * (x - M(x)) / ((n - c) * y)",), takes=SPREAD, group=MEANS,
        alike=("g * 2 * (x - M(x)) / (n - c) / (2 * y)",),
    ),
    Operation("scaled_dot_product_attention", "value", _attention, cost=_attention_cost),
    Operation("glu", "value", _gated),
    Operation("all", "value", lambda x, dim=None, keepdim=False: np.all(x, axis=dim, keepdims=keepdim)),
    Operation("any", "value", lambda x, dim=None, keepdim=False: np.any(x, axis=dim, keepdims=keepdim)),
    Operation("count_nonzero", "value", lambda x, dim=None: np.count_nonzero(x, axis=dim)),
)  # fmt: skip
