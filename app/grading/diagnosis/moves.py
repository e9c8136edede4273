"""Slips at operations that only move or add up entries: a sliding kernel, a running total, a diagonal.

| code | what is sent |
|---|---|
| `kernel-flipped` | convolution: the kernel met what arrives in reverse order, or was not turned where it has to be |
| `cumulated-forward`, `cumulated-axis` | running total: the sum of what came before, or along another axis |
| `dense` | diagonal: a share in every entry |
| `local-missing:OP`, `upstream-missing` | the step left out, or what arrives |
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from app.grading.diagnosis.evidence import Array
from app.grading.diagnosis.linear import total_so_far
from app.grading.diagnosis.slips import Slip, local
from app.grading.diagnosis.steps import Step
from app.grading.diagnosis.vjp import vjp

UPSTREAM = Slip("upstream-missing", local, "`{name}` does not use what arrives from above, {up}.")
LOCAL = Slip(
    "local-missing:{op}",
    lambda step: step.g if step.g.shape == step.x.shape else None,
    "`{name}` passes {up} on as if `{statement}` changed nothing.",
)


def _turned_kernel(step: Step) -> Array | None:
    """The gradient of the input, had the kernel been the other way round along its places."""
    if step.position:
        return None
    kernel = step.node.operands[1]
    turned = replace(kernel, value=np.flip(kernel.value, tuple(range(2, kernel.value.ndim))))
    operands = (step.node.operands[0], turned, *step.node.operands[2:])
    return vjp(replace(step.node, operands=operands), 0, step.g)


def _turned_result(step: Step) -> Array | None:
    """The gradient of the kernel, in reverse order along its places."""
    if step.position != 1:
        return None
    return np.flip(vjp(step.node, 1, step.g), tuple(range(2, step.x.ndim)))


def _along_another_axis(step: Step) -> Array | None:
    others = [axis for axis in range(step.g.ndim) if axis != step.node.options["axis"]]
    return total_so_far(step.g, others[-1], backwards=True) if others else None


SLIPS: Mapping[str, tuple[Slip, ...]] = {
    "conv": (
        Slip(
            "kernel-flipped",
            _turned_kernel,
            "The kernel `{z}` lies the wrong way round in `{name}`. Each entry of `{x}` gets back, from every place "
            "that read it, the weight it was read with.",
        ),
        Slip(
            "kernel-flipped",
            _turned_result,
            "`{name}` holds the right numbers with the places of the kernel in reverse order.",
        ),
        UPSTREAM,
    ),
    "cumsum": (
        Slip(
            "cumulated-forward",
            lambda step: total_so_far(step.g, step.node.options["axis"]),
            "`{name}` adds up {up} from the start. An entry of `{x}` is part of every total from its own place on, so "
            "the sum runs from there to the end.",
        ),
        Slip(
            "cumulated-axis",
            _along_another_axis,
            "`{name}` adds up {up} along another axis than `{statement}` does.",
        ),
        LOCAL,
        UPSTREAM,
    ),
    "diagonal": (
        Slip(
            "dense",
            lambda step: np.broadcast_to(step.g[:, None], step.x.shape),
            "`{name}` gives a share to every entry; `{statement}` reads the diagonal only.",
        ),
        UPSTREAM,
    ),
    "einsum": (UPSTREAM,),
    "stack": (UPSTREAM,),
    "where": (UPSTREAM,),
    "maximum": (UPSTREAM, LOCAL),
    "minimum": (UPSTREAM, LOCAL),
}
