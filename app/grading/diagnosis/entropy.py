"""Slips at losses that torch fuses: cross-entropy, its two-class form, the squared error.

| code | what is sent, with p the probabilities |
|---|---|
| `one-hot-missing`, `probabilities-missing` | one of the two terms of cross-entropy |
| `target-missing` | squared error: the prediction alone |
| `one-hot-everywhere` | one was subtracted in every class |
| `term-order` | the division by the number of examples came before the subtraction, or only one term has it |
| `softmax-twice`, `softmax-missing`, `logarithm-extra` | another tensor in place of the probabilities |
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from app.grading.diagnosis.evidence import Array
from app.grading.diagnosis.rules import one_hot, sigmoid, softmax
from app.grading.diagnosis.slips import Slip, local
from app.grading.diagnosis.steps import Step


@dataclass(frozen=True, slots=True)
class Scores:
    """The scores z, their probabilities p, and the labels t as one-hot rows."""

    z: Array
    p: Array
    t: Array


def _fused(rule: Callable[[Scores], Array]) -> Callable[[Step], Array | None]:
    """A slip at cross-entropy; the weight of an example is put in as it should be."""

    def predict(step: Step) -> Array | None:
        if step.position or step.node.op != "cross_entropy":
            return None
        z, target = step.x, step.node.operands[1].value
        if z.ndim != 2:
            return None
        picked = target if target.ndim == 2 else one_hot(target, z.shape[1])
        weight = step.g / len(z) if step.node.options["reduction"] == "mean" else step.g
        return np.asarray(weight * rule(Scores(z, softmax(z, 1), picked)))

    return predict


def _exp_shifted(z: Array) -> Array:
    return np.asarray(np.exp(z - z.max(axis=1, keepdims=True)))


CROSS_ENTROPY = (
    Slip(
        "one-hot-missing",
        _fused(lambda s: s.p),
        "`{name}` pushes every class down by its probability. The right class is also pulled up: the one-hot of the "
        "labels is missing.",
    ),
    Slip(
        "probabilities-missing",
        _fused(lambda s: -s.t),
        "`{name}` pulls the right class up; the probabilities, which push every class down, are missing.",
    ),
    Slip(
        "one-hot-everywhere",
        _fused(lambda s: s.p - 1),
        "One is subtracted in every class; it belongs to the labelled class of each row only.",
    ),
    Slip(
        "term-sign",
        _fused(lambda s: s.p + s.t),
        "The one-hot of the labels is added in `{name}`; it pulls against the probabilities.",
    ),
    Slip(
        "term-order",
        _fused(lambda s: s.p - s.t * len(s.z)),
        "The division by the number of examples reaches only the probabilities in `{name}`: it came before the one "
        "was subtracted.",
    ),
    Slip(
        "term-order",
        _fused(lambda s: s.p * len(s.z) - s.t),
        "The division by the number of examples reaches only the one-hot term in `{name}`.",
    ),
    Slip(
        "softmax-axis",
        _fused(lambda s: softmax(s.z, 0) - s.t),
        "The probabilities in `{name}` add up to one down the batch; along the classes they should.",
    ),
    Slip("softmax-twice", _fused(lambda s: softmax(s.p, 1) - s.t), "`{name}` has been through softmax twice."),
    Slip(
        "unnormalised",
        _fused(lambda s: np.exp(s.z) - s.t),
        "exp of the scores stands in `{name}` where probabilities belong: it was not divided by its row sum.",
    ),
    Slip(
        "unnormalised",
        _fused(lambda s: _exp_shifted(s.z) - s.t),
        "exp of the shifted scores stands in `{name}` where probabilities belong: it was not divided by its row sum.",
    ),
    Slip(
        "softmax-missing",
        _fused(lambda s: s.z - s.t),
        "The scores themselves stand in `{name}` where their probabilities belong.",
    ),
    Slip(
        "logarithm-extra",
        _fused(lambda s: np.log(s.p) - s.t),
        "The logarithm of the probabilities stands in `{name}` where the probabilities belong.",
    ),
    Slip(
        "diagonal",
        _fused(lambda s: s.p * (1 - s.p)),
        "`{name}` holds a local derivative of softmax alone; with the logarithm after it most of that cancels.",
    ),
    Slip(
        "softmax-missing",
        _fused(lambda s: s.z / s.z.sum(axis=1, keepdims=True) - s.t),
        "The scores are divided by their sum in `{name}`; softmax takes exp first.",
    ),
)
BINARY = (
    Slip(
        "probabilities-missing",
        lambda s: -s.z * _weight(s),
        "`{name}` holds the targets alone; the probability that the model gives is missing.",
    ),
    Slip(
        "one-hot-missing",
        lambda s: sigmoid(s.x) * _weight(s),
        "`{name}` holds the probability alone; the target it should meet is missing.",
    ),
    Slip(
        "softmax-missing",
        lambda s: (s.x - s.z) * _weight(s),
        "The scores themselves stand in `{name}` where their sigmoid belongs.",
    ),
    Slip(
        "term-sign",
        lambda s: (sigmoid(s.x) + s.z) * _weight(s),
        "The target is added in `{name}`; it pulls against the probability.",
    ),
    Slip(
        "diagonal",
        lambda s: (sigmoid(s.x) - s.z) * sigmoid(s.x) * (1 - sigmoid(s.x)) * _weight(s),
        "The local derivative of sigmoid stands in `{name}` once more; with the logarithm after it, it cancels.",
    ),
)
SQUARED = (
    Slip(
        "power-coefficient",
        lambda s: (s.x - s.z) * _weight(s),
        "The exponent of the square, two, is missing as a factor in `{name}`.",
    ),
    Slip("target-missing", lambda s: 2 * s.x * _weight(s), "`{name}` forgets what was subtracted before the square."),
    Slip(
        "local-missing:{op}",
        lambda s: np.broadcast_to(_weight(s), s.x.shape),
        "`{name}` spreads {up} evenly; the local derivative of a square grows with the error.",
    ),
)


UPSTREAM = Slip("upstream-missing", local, "`{name}` does not use what arrives from above, {up}.")


def _weight(step: Step) -> Array:
    return np.asarray(step.g / step.x.size if step.node.options["reduction"] == "mean" else step.g)


SLIPS: Mapping[str, tuple[Slip, ...]] = {
    "cross_entropy": (*CROSS_ENTROPY, UPSTREAM),
    "binary_cross_entropy_with_logits": (*BINARY, UPSTREAM),
    "mse_loss": (*SQUARED, UPSTREAM),
}
