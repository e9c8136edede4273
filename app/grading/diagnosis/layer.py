"""Slips at layer norm as one operation.

| code | what is sent |
|---|---|
| `statistics-constant` | the mean and the variance were taken for constants |
| `gain-missing`, `gain-outside` | the gain was left out, or came after the averages |
| `spread-missing` | not divided by the spread |
| `term-axis` | averages along other axes |
| `own-factor`, `output-for-input` | the gain: the input or the output in the place of the standardised input |
| `local-missing:layer_norm`, `upstream-missing` | the step left out, or what arrives |
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from app.grading.diagnosis.evidence import Array
from app.grading.diagnosis.rules import Axes, standardised
from app.grading.diagnosis.slips import Slip, local
from app.grading.diagnosis.steps import Step
from app.grading.diagnosis.vjp import vjp

UPSTREAM = Slip("upstream-missing", local, "`{name}` does not use what arrives from above, {up}.")


def _ungained(step: Step) -> Array | None:
    """The gradient of a layer norm whose gain was forgotten."""
    if step.position or len(step.node.operands) == 1:
        return None
    return vjp(replace(step.node, operands=step.node.operands[:1]), 0, step.g)


def _unscaled(step: Step) -> Array | None:
    """The gradient of a layer norm without the division by the spread."""
    return None if step.position else vjp(step.node, 0, step.g) / standardised(step.node)[1]


def _constant(step: Step) -> Array | None:
    if step.position:
        return None
    gain = step.node.operands[1].value if len(step.node.operands) > 1 else 1.0
    return np.asarray(step.g * gain * standardised(step.node)[1])


def _averages_along(step: Step, axes: Axes) -> Array | None:
    if step.position:
        return None
    (u, factor), arriving = standardised(step.node), _arriving(step)
    mean = arriving.mean(axis=axes, keepdims=True)
    return np.asarray(factor * (arriving - mean - u * (arriving * u).mean(axis=axes, keepdims=True)))


def _arriving(step: Step) -> Array:
    return np.asarray(step.g * step.node.operands[1].value if len(step.node.operands) > 1 else step.g)


def _gain_outside(step: Step) -> Array | None:
    plain = _ungained(step)
    return None if plain is None else np.asarray(plain * step.node.operands[1].value)


def _on_another_axis(step: Step) -> Array | None:
    others = [axis for axis in range(step.g.ndim) if (axis,) != step.node.options["axes"]]
    return _averages_along(step, (others[-1],)) if others else None


LAYER_NORM = (
    Slip(
        "term-axis",
        _on_another_axis,
        "The averages in `{name}` run along other axes than the mean and the variance of `{statement}`.",
    ),
    Slip(
        "gain-outside",
        _gain_outside,
        "`{name}` multiplies by the gain at the end. In `{statement}` the gain comes last, so going back it comes "
        "first, before the averages are taken.",
    ),
    Slip(
        "output-for-input",
        lambda s: s.g * s.y if s.position == 1 else None,
        "`{name}` uses the output, `{y}`; the gain scales the input after it was standardised.",
    ),
    Slip(
        "statistics-constant",
        _constant,
        "`{name}` holds the mean and the variance constant. `{x}` moves them as well, and each sends back a share of "
        "its own.",
    ),
    Slip(
        "gain-missing",
        _ungained,
        "`{name}` leaves out the gain of `{statement}`, which scales everything that arrives.",
    ),
    Slip(
        "spread-missing",
        _unscaled,
        "`{name}` lacks the division by the spread of each slice, which `{statement}` makes.",
    ),
    Slip(
        "local-missing:{op}",
        lambda s: s.g if s.position < 2 else None,
        "`{name}` passes {up} on as if `{statement}` changed nothing.",
    ),
    Slip(
        "own-factor",
        lambda s: s.g * s.node.operands[0].value if s.position == 1 else None,
        "`{name}` uses the input as it is; the gain scales the input after it was standardised.",
    ),
    UPSTREAM,
)

SLIPS: Mapping[str, tuple[Slip, ...]] = {"layer_norm": LAYER_NORM}
