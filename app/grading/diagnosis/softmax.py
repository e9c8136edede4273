"""Slips at softmax, log-softmax, log-sum-exp and a mask before them.

| code | what is sent, with p the probabilities and g the upstream |
|---|---|
| `average-missing` | p·g: the weighted average is not subtracted |
| `diagonal` | g·p·(1 - p), as if the scores did not share one budget |
| `weights-missing` | the average is not weighted by p |
| `outer-factor-missing` | g minus the average, not scaled by p |
| `softmax-axis` | probabilities or averages along another axis |
| `mean-for-sum` | a mean where the row is summed |
| `mask-missing`, `mask-flipped` | a masked entry that lets a gradient through |
| `other-rule:OP` | the rule of softmax for log-softmax, or the inverse |
| `row-sum-missing`, `first-term-missing`, `probabilities-missing` | log-softmax |
| `unnormalised` | exp of the scores that was not divided by its sum |
"""

from collections.abc import Callable, Mapping

import numpy as np

from app.grading.diagnosis.evidence import Array
from app.grading.diagnosis.rules import Axes, softmax, spread
from app.grading.diagnosis.slips import Slip, local
from app.grading.diagnosis.steps import Step

UPSTREAM = Slip("upstream-missing", local, "`{name}` does not use what arrives from above, {up}.")
LOCAL = Slip(
    "local-missing:{op}",
    lambda step: spread(step.g, step.node) if step.node.op == "logsumexp" else step.g,
    "`{name}` passes {up} on as if `{statement}` changed nothing.",
)


def _axes(step: Step) -> Axes:
    axes: Axes = step.node.options["axes"]
    return axes


def _total(step: Step, array: Array) -> Array:
    return np.asarray(array.sum(axis=_axes(step), keepdims=True))


def _on_other_axis(rule: Callable[[Step, Axes], Array]) -> Callable[[Step], Array | None]:
    def predict(step: Step) -> Array | None:
        others = [axis for axis in range(step.x.ndim) if (axis,) != _axes(step)]
        return rule(step, (others[-1],)) if others else None

    return predict


SOFTMAX = (
    Slip(
        "average-missing",
        lambda s: s.y * s.g,
        "`{name}` scales {up} by the probabilities. Raising one score lowers the others: the weighted average along "
        "the row is not subtracted yet.",
    ),
    Slip(
        "diagonal",
        lambda s: s.g * s.y * (1 - s.y),
        "`{name}` treats each score on its own. All scores of a row share one budget, so each of them also moves the "
        "others' probabilities.",
    ),
    Slip(
        "weights-missing",
        lambda s: s.y * (s.g - _total(s, s.g)),
        "What is subtracted in `{name}` is the plain sum of {up}; each entry counts with its probability there.",
    ),
    Slip(
        "weights-missing",
        lambda s: s.y * (s.g - s.g.mean(axis=_axes(s), keepdims=True)),
        "What is subtracted in `{name}` is the plain average of {up}; each entry counts with its probability there.",
    ),
    Slip(
        "outer-factor-missing",
        lambda s: s.g - _total(s, s.g * s.y),
        "The difference in `{name}` is right; it still has to be scaled by the probabilities.",
    ),
    Slip(
        "outer-factor-missing",
        lambda s: s.y * s.g - _total(s, s.g * s.y),
        "In `{name}` the average is subtracted as it is; both terms are scaled by the probabilities.",
    ),
    Slip(
        "term-sign",
        lambda s: s.y * (s.g + _total(s, s.g * s.y)),
        "The weighted average is added in `{name}`; raising one score lowers the others.",
    ),
    Slip(
        "softmax-axis",
        _on_other_axis(lambda s, axes: s.y * (s.g - (s.g * s.y).sum(axis=axes, keepdims=True))),
        "The average in `{name}` runs along another axis than the one along which `{statement}` adds up to one.",
    ),
    Slip(
        "mean-for-sum",
        lambda s: s.y * (s.g - (s.g * s.y).mean(axis=_axes(s), keepdims=True)),
        "The products of {up} and the probabilities are averaged in `{name}`; they are summed, because the "
        "probabilities are the weights already.",
    ),
    Slip(
        "other-rule:log_softmax",
        lambda s: s.g - s.y * _total(s, s.g),
        "`{name}` follows the rule of log-softmax; the forward line is `{statement}`.",
    ),
    Slip(
        "mask-missing",
        lambda s: _with_probabilities(s, _unmasked(s)),
        "The probabilities in `{name}` are those without the mask of `{statement}`.",
    ),
    LOCAL,
    UPSTREAM,
)


def _with_probabilities(step: Step, p: Array | None) -> Array | None:
    return None if p is None else np.asarray(p * (step.g - _total(step, step.g * p)))


def _unmasked(step: Step) -> Array | None:
    """The probabilities, had nothing been covered before."""
    inner = step.node.operands[0]
    return softmax(inner.operands[0].value, _axes(step)) if inner.op == "masked_fill" else None


LOG_SOFTMAX = (
    Slip(
        "row-sum-missing",
        lambda s: s.g - np.exp(s.y) * s.g,
        "In `{name}` each probability meets only its own entry of {up}; every entry of the row moves it.",
    ),
    Slip(
        "upstream-missing",
        lambda s: s.g - np.exp(s.y),
        "The probabilities stand in `{name}` as they are; in the rule for `{statement}` they are scaled by the row sum "
        "of {up}.",
    ),
    Slip(
        "other-rule:softmax",
        lambda s: np.exp(s.y) * (s.g - _total(s, s.g * np.exp(s.y))),
        "`{name}` follows the rule of softmax; the forward line is `{statement}`.",
    ),
    Slip(
        "other-rule:softmax",
        lambda s: np.exp(s.y) * s.g,
        "`{name}` scales {up} by the probabilities, as a part of the softmax rule does; the forward line is "
        "`{statement}`.",
    ),
    Slip(
        "unnormalised",
        lambda s: s.g - np.exp(s.x) * _total(s, s.g),
        "exp of the scores stands in `{name}` where probabilities belong: it was not divided by its sum.",
    ),
    Slip(
        "softmax-axis",
        _on_other_axis(lambda s, axes: s.g - softmax(s.x, axes) * _total(s, s.g)),
        "The probabilities in `{name}` add up to one along another axis than those of `{statement}`.",
    ),
    Slip(
        "first-term-missing",
        lambda s: -np.exp(s.y) * _total(s, s.g),
        "`{name}` holds what comes back through the normalising sum. The direct way is missing.",
    ),
    Slip(
        "probabilities-missing",
        lambda s: s.g - _total(s, s.g),
        "The row sum of {up} is subtracted whole in `{name}`; each entry takes its probability's part of it.",
    ),
    Slip(
        "mean-for-sum",
        lambda s: s.g - np.exp(s.y) * s.g.mean(axis=_axes(s), keepdims=True),
        "{up} is averaged along the row in `{name}`; the shares are summed.",
    ),
    Slip(
        "term-sign",
        lambda s: s.g + np.exp(s.y) * _total(s, s.g),
        "What comes back through the normalising sum is added in `{name}`; it is taken away.",
    ),
    Slip(
        "output-for-input",
        lambda s: s.g - s.y * _total(s, s.g),
        "`{name}` uses the logarithm of the probabilities, `{y}`, where the probabilities themselves belong.",
    ),
    Slip(
        "softmax-axis",
        _on_other_axis(lambda s, axes: s.g - np.exp(s.y) * s.g.sum(axis=axes, keepdims=True)),
        "The sum in `{name}` runs along another axis than the one along which `{statement}` normalises.",
    ),
    LOCAL,
    UPSTREAM,
)
LOGSUMEXP = (
    Slip(
        "unnormalised",
        lambda s: spread(s.g, s.node) * np.exp(s.x),
        "`{name}` holds exp of the scores; divided by their sum they become the probabilities that belong here.",
    ),
    Slip(
        "softmax-axis",
        _on_other_axis(lambda s, axes: spread(s.g, s.node) * softmax(s.x, axes)),
        "The probabilities in `{name}` add up to one along another axis than the one of `{statement}`.",
    ),
    LOCAL,
    UPSTREAM,
)


SLIPS: Mapping[str, tuple[Slip, ...]] = {
    "softmax": SOFTMAX,
    "log_softmax": LOG_SOFTMAX,
    "logsumexp": LOGSUMEXP,
    "masked_fill": (
        Slip(
            "mask-missing",
            lambda s: s.g,
            "`{name}` lets a gradient through where `{statement}` wrote a constant; nothing passes there.",
        ),
        Slip(
            "mask-flipped",
            lambda s: np.where(s.node.options["mask"], s.g, 0.0),
            "The mask in `{name}` is the wrong way round: it keeps what `{statement}` covered.",
        ),
    ),
}
