"""A tensor whose numbers are right and whose shape, order or spread is not.

| code | what the learner has |
|---|---|
| `keepdim-lost` | an axis of size 1 is missing |
| `keepdim-added` | an axis of size 1 too many |
| `not-expanded` | one number per slice, not yet spread over the axis it was summed along |
| `transposed` | the last two axes exchanged |
| `axes-reversed` | all axes in reverse order |
| `not-reshaped` | the same numbers in the same order, in another shape |
| `upstream-unchanged` | what arrives from above, in the output's shape |
| `shape` | any other shape |
"""

from collections.abc import Iterator
from functools import partial
from itertools import combinations

import numpy as np

from app.grading.diagnosis.case_view import Bench
from app.grading.diagnosis.evidence import Array, Case, Look, Mistake
from app.grading.diagnosis.naming import shape_text, shown, upstream_name

FLAT = 1e-9


def mistakes(bench: Bench) -> Iterator[Mistake]:
    case = bench.case
    shape = case.looks[0].reference.shape
    ones = [axis for axis, size in enumerate(shape) if size == 1]
    if len(shape) >= 2:
        yield Mistake(
            code="transposed", predict=lambda _, look: np.swapaxes(look.reference, -1, -2), say=_say_transposed
        )
    if len(shape) >= 3:
        yield Mistake(code="axes-reversed", predict=lambda _, look: look.reference.T, say=_say_reversed)
    if bench.shaped():
        return
    for size in range(1, len(ones) + 1):
        for axes in combinations(ones, size):
            yield Mistake(code="keepdim-lost", predict=partial(_squeezed, axes=axes), say=_say_keepdim_lost)
    for axis in range(len(shape) + 1):
        yield Mistake(code="keepdim-added", predict=partial(_widened, axis=axis), say=_say_keepdim_added)
    for keepdim in (True, False):
        for axis in range(len(shape)):
            yield Mistake(
                code="not-expanded", predict=partial(_folded, axis=axis, keepdim=keepdim), say=_say_not_expanded
            )
    got = case.looks[0].got.shape
    yield Mistake(code="not-reshaped", predict=partial(_reshaped, looks=case.looks), say=_say_not_reshaped)
    for path in bench.paths:
        if got == case.looks[0].upstream[path.key].shape:
            yield Mistake(
                code="upstream-unchanged",
                predict=partial(_upstream, key=path.key),
                say=partial(_say_upstream, upstream=upstream_name(path)),
            )


def wrong_shape(case: Case) -> str:
    """The true fact that remains where no prediction fits: two shapes that differ."""
    look = shown(case)
    return (
        f"`{case.name}` has shape {shape_text(look.got.shape)}; a gradient has the shape of its tensor, and "
        f"`{case.tensor}` has {shape_text(look.reference.shape)}."
    )


def _upstream(_case: Case, look: Look, key: str) -> Array:
    return look.upstream[key]


def _squeezed(_case: Case, look: Look, axes: tuple[int, ...]) -> Array:
    return look.reference.squeeze(axes)


def _widened(_case: Case, look: Look, axis: int) -> Array:
    return np.expand_dims(look.reference, axis)


def _folded(_case: Case, look: Look, axis: int, keepdim: bool) -> Array | None:
    """One slice along *axis*, where all slices are equal."""
    reference = look.reference
    if reference.shape[axis] < 2:
        return None
    first = reference.take([0], axis)
    if np.abs(reference - first).max() > FLAT * np.abs(reference).max():
        return None
    return first if keepdim else first.squeeze(axis)


def _reshaped(_case: Case, look: Look, looks: tuple[Look, ...]) -> Array | None:
    shape = next(each.got.shape for each in looks if each is look)
    return look.reference.reshape(shape) if np.prod(shape) == look.reference.size else None


def _say_transposed(case: Case) -> str:
    return (
        f"`{case.name}` holds the transpose of what is asked: its last two axes are exchanged. Look at the order of "
        "the two factors and at which of them is transposed."
    )


def _say_reversed(case: Case) -> str:
    return (
        f"All axes of `{case.name}` stand in reverse order. `.T` reverses every axis; exchange only the two that moved."
    )


def _say_keepdim_lost(case: Case) -> str:
    return (
        f"The numbers are right; {wrong_shape(case)} The axis of size 1 has to stay (`keepdim=True`), or the next "
        "product copies along the wrong axis."
    )


def _say_keepdim_added(case: Case) -> str:
    return f"The numbers are right; {wrong_shape(case)} There is an axis of size 1 too many."


def _say_not_expanded(case: Case) -> str:
    return (
        f"The numbers are right, one per slice, but not yet spread: {wrong_shape(case)} Every entry that was summed "
        "receives its own copy."
    )


def _say_not_reshaped(case: Case) -> str:
    return f"All numbers are there, in the right order; {wrong_shape(case)} Undo the change of shape."


def _say_upstream(case: Case, upstream: str) -> str:
    return f"`{case.name}` is `{upstream}` unchanged, still in the output's shape: {wrong_shape(case)}"
