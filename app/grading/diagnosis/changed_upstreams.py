"""A part of what arrives in the place of all of it, or another order of it.

| code | what was done with the upstream |
|---|---|
| `one-slice`, `slice-missing` | one slice along an axis, or all but the first or the last |
| `slice-repeated`, `upstream-averaged` | one slice, or the average, in the place of each |
| `upstream-shifted`, `upstream-flipped` | one step early or late along an axis, or in reverse order |
| `upstream-transposed`, `diagonal-only` | the last two axes, of equal size, exchanged, or their diagonal alone |
"""

from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from itertools import combinations

import numpy as np

from app.grading.diagnosis.claims import takes_parts
from app.grading.diagnosis.evidence import Array, Hypothesis, Observation
from app.grading.diagnosis.gradient_analysis import GradientAnalysis
from app.grading.diagnosis.naming import axis_text, in_code, join_words
from app.grading.diagnosis.phrases import sentences_of
from app.grading.diagnosis.steps import PathStep
from app.grading.forward.statements import GradientPath
from app.grading.operations.numerics import swapped

CHANGED = sentences_of("upstreams-changed")
RANK_MAX = 5
WHOLE = frozenset({"averaged", "averaged-all", "transposed"})
"""Changes of an upstream for which no part of it is taken."""
Change = tuple[str, Callable[[Array], Array], str, int | None, str]
"""A code, what was done with the upstream, how the sentence goes on after "In `dW` ", the axis and the end of it."""


def changed_upstream_hypotheses(view: GradientAnalysis) -> Iterator[Hypothesis]:
    seen: set[tuple[str, int, int]] = set()
    for path, depth, step in view.every_step():
        if not 0 < step.g.ndim <= RANK_MAX or not _is_place(step, depth):
            continue
        kind, fields = _kind(step), view.spot(path, depth)
        everywhere = len(view.paths) > 1 and kind not in seen
        seen.add(kind)
        ways = join_words(list(dict.fromkeys(in_code(each.consumer) for each in view.paths)))
        for code, act, say, axis, where in _changes(step.g):
            along = "" if axis is None else axis_text(view.case, fields["y"], axis)
            more = {**fields, "axis": along, "where": where, "ways": ways}
            claim = partial(_takes_part, view, step, say, axis or 0)
            at_step = view.said_of_share(path, depth, f"{CHANGED[say]}.")
            yield view.hypothesis(code, partial(_at, view, path, depth, act), at_step, (), claim, **more)
            if everywhere:
                predict = partial(view.everywhere, partial(_is_alike, kind), partial(_after, act))
                yield view.hypothesis(code, predict, CHANGED[say] + CHANGED["everywhere"], (), claim, **more)


def _is_place(step: PathStep, depth: int) -> bool:
    """True if another place says more: entry by entry what happens to x happens to y."""
    return depth == 0 or step.g.shape != step.x.shape or step.node.op in {"matmul", "conv", "einsum"}


def _changes(g: Array) -> Iterator[Change]:
    """Every change that the gradient *g* may have gone through."""
    for axis in range(g.ndim):
        for end, where in ((0, "first"), (-1, "last")):
            yield "one-slice", partial(_kept, axes=(axis,), end=end), "kept", axis, where
            yield "slice-missing", partial(_dropped, axis=axis, end=end), "dropped", axis, where
            yield "slice-repeated", partial(_repeated, axis=axis, end=end), "repeated", axis, where
        for by in (1, -1):
            yield "upstream-shifted", partial(_shifted, axis=axis, by=by), "shifted", axis, ""
            yield "upstream-shifted", partial(np.roll, shift=by, axis=axis), "shifted", axis, ""
        yield "upstream-flipped", partial(np.flip, axis=axis), "flipped", axis, ""
        yield "upstream-averaged", partial(_averaged, axis=axis), "averaged", axis, ""
    for pair in combinations(range(g.ndim), 2):
        yield "one-slice", partial(_kept, axes=pair, end=0), "kept-of-two", None, ""
    if g.ndim > 1:
        yield "upstream-averaged", partial(_averaged, axis=None), "averaged-all", None, ""
    if g.ndim > 1 and g.shape[-1] == g.shape[-2]:
        yield "upstream-transposed", swapped, "transposed", None, ""
        yield "diagonal-only", lambda g: g * np.eye(g.shape[-1]), "diagonal", None, ""


def _takes_part(view: GradientAnalysis, step: PathStep, say: str, axis: int) -> bool:
    """True if the lines take parts, where that is said; of one that stands for others, whether others are read."""
    return (say in WHOLE or takes_parts(view)) and (say != "repeated" or _reads_several(step, axis))


def _reads_several(step: PathStep, axis: int) -> bool:
    """True if more than one slice of what arrives reaches the operand, so that one may stand in the place of others."""
    slices = (np.where(np.arange(step.g.shape[axis]) == at, 1.0, 0.0) for at in range(step.g.shape[axis]))
    shape = [-1 if each == axis else 1 for each in range(step.g.ndim)]
    return sum(bool(step.sends(step.g * slice_.reshape(shape)).any()) for slice_ in slices) > 1


def _slab(g: Array, axis: int, at: int) -> tuple[slice | int, ...]:
    return tuple(at if each == axis else slice(None) for each in range(g.ndim))


def _kept(g: Array, axes: tuple[int, ...], end: int) -> Array:
    for axis in axes:
        full = np.zeros_like(g)
        full[_slab(g, axis, end)] = g[_slab(g, axis, end)]
        g = full
    return g


def _dropped(g: Array, axis: int, end: int) -> Array:
    full = g.copy()
    full[_slab(g, axis, end)] = 0.0
    return full


def _repeated(g: Array, axis: int, end: int) -> Array:
    return np.broadcast_to(g.take([end], axis), g.shape)


def _shifted(g: Array, axis: int, by: int) -> Array:
    return _dropped(np.roll(g, by, axis), axis, 0 if by > 0 else -1)


def _averaged(g: Array, axis: int | None) -> Array:
    return np.broadcast_to(g.mean(axis=axis, keepdims=True), g.shape)


def _at(
    view: GradientAnalysis, path: GradientPath, depth: int, act: Callable[[Array], Array], look: Observation
) -> Array | None:
    array = view.gradient_if_sent(path, depth, look, _after(act, view.steps(path, look)[depth]))
    # What is left out along an axis that the tensor has itself is a hole in its gradient, and is told as one.
    return None if array is None or _holes(array) > _usual_holes(look) else array


@lru_cache(maxsize=4)
def _usual_holes(look: Observation) -> int:
    return _holes(look.reference)


def _holes(tensor: Array) -> int:
    """Slices that are zero, along any axis."""
    there = tensor != 0
    axes = range(tensor.ndim)
    return int(sum((~there.any(axis=tuple(each for each in axes if each != axis))).sum() for axis in axes))


def _is_alike(kind: tuple[str, int, int], step: PathStep) -> bool:
    return _kind(step) == kind


def _kind(step: PathStep) -> tuple[str, int, int]:
    return step.node.op, step.position, step.g.ndim


def _after(act: Callable[[Array], Array], step: PathStep) -> Array:
    return step.sends(act(step.g))
