"""Slips at a maximum or minimum, which routes its gradient to one position.

| code | what is sent |
|---|---|
| `router-dense` | the upstream to every entry |
| `router-shared` | the upstream in equal parts to every entry |
| `router-min`, `router-max` | to the smallest entry instead of the largest, or the inverse |
| `router-axis` | to the winners along another axis |
| `router-labels:T` | to the entries that an integer tensor T names |
| `router-value` | the entry's own value at the winner |
| `upstream-missing` | one at the winner |
"""

from collections.abc import Iterator

import numpy as np

from app.grading.diagnosis.case_view import Bench
from app.grading.diagnosis.evidence import Array, Mistake
from app.grading.diagnosis.rules import kept, one_hot, spread
from app.grading.diagnosis.slips import Slip, at_step, every_step
from app.grading.diagnosis.steps import Step
from app.grading.forward.program import Path

DENSE = Slip(
    "router-dense",
    lambda step: spread(step.g, step.node),
    "`{name}` sends {up} to every entry of `{x}`. In `{statement}` only the winner of each row moves the output.",
)
SHARED = Slip(
    "router-shared",
    lambda step: spread(step.g, step.node) / step.x.size * step.y.size,
    "`{name}` shares {up} out over all entries of `{x}`; the whole of it goes to the one that won.",
)
ONES = Slip(
    "upstream-missing",
    lambda step: np.asarray(_winners(step), dtype=np.float64),
    "`{name}` marks the winners with ones. Multiply the mark by what arrives from above, {up}.",
)
VALUE = Slip(
    "router-value",
    lambda step: _winners(step) * step.x,
    "`{name}` places the entries of `{x}` themselves; what belongs there is what arrives from above, {up}.",
)
SCALED = Slip(
    "router-value",
    lambda step: _winners(step) * step.x * spread(step.g, step.node),
    "`{name}` scales by the entry that won; a route passes the gradient on as it is.",
)


def mistakes(bench: Bench) -> Iterator[Mistake]:
    for path, depth, step in every_step(bench):
        if step.node.op in {"max", "min"}:
            for slip in (DENSE, SHARED, ONES, VALUE, SCALED, _opposite(step)):
                yield at_step(bench, path, depth, slip)
            yield from _other_axes(bench, path, depth, step)
            yield from _labels(bench, path, depth, step)


def _winners(step: Step) -> Array:
    return np.asarray(step.x == kept(step.y, step.node))


def _opposite(step: Step) -> Slip:
    is_max = step.node.op == "max"

    def losers(step: Step) -> Array:
        axes = step.node.options["axes"]
        loser = (step.x.min if is_max else step.x.max)(axis=axes, keepdims=True)
        return np.asarray(spread(step.g, step.node) * (step.x == loser))

    other = "smallest" if is_max else "largest"
    say = f"`{{name}}` sends {{up}} to the {other} entry; `{{statement}}` picks the other end."
    return Slip(f"router-{'min' if is_max else 'max'}", losers, say)


def _other_axes(bench: Bench, path: Path, depth: int, step: Step) -> Iterator[Mistake]:
    for axis in range(step.x.ndim):
        if (axis,) == step.node.options["axes"]:
            continue

        def along(step: Step, axis: int = axis) -> Array:
            best = (step.x.max if step.node.op == "max" else step.x.min)(axis=axis, keepdims=True)
            return np.asarray(spread(step.g, step.node) * (step.x == best))

        say = f"`{{name}}` looks for the winners along axis {axis}; `{{statement}}` compares along another axis."
        yield at_step(bench, path, depth, Slip("router-axis", along, say))


def _labels(bench: Bench, path: Path, depth: int, step: Step) -> Iterator[Mistake]:
    """An integer tensor whose entries were taken for the winners' positions."""
    axes = step.node.options["axes"]
    if len(axes) != 1:
        return
    rest = step.x.shape[: axes[0]] + step.x.shape[axes[0] + 1 :]
    for name, tensor in step.look.forward.items():
        if tensor.dtype.kind != "i" or tensor.shape != rest:
            continue

        def marked(step: Step, name: str = name) -> Array:
            axis = step.node.options["axes"][0]
            mark = np.moveaxis(one_hot(step.look.forward[name], step.x.shape[axis]), -1, axis)
            return np.asarray(spread(step.g, step.node) * mark)

        say = (
            f"`{{name}}` sends {{up}} to the entries that `{name}` names; the winner of `{{statement}}` is the largest."
        )
        yield at_step(bench, path, depth, Slip(f"router-labels:{name}", marked, say, (name,)))
