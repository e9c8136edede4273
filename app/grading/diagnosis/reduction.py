"""A broadcast that was undone in another way than by summing over the axes that were copied.

| code | what was done with the share before it was summed |
|---|---|
| `not-reduced` | nothing |
| `wrong-axis` | summed over other axes than the ones that were copied, with or without keepdim |
| `mean` | averaged over the right axes |
| `mean-wrong-axis` | averaged over other axes |
| `one-slice` | one slice was kept |
| `largest` | the largest (or smallest) entry was kept |
| `summed-all` | summed into a single number |
"""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from app.grading.diagnosis.case_view import Bench
from app.grading.diagnosis.evidence import Array, Case, Look, Mistake
from app.grading.diagnosis.naming import axes_text, listed, shape_text, shown
from app.grading.diagnosis.rules import Axes, stretched_axes
from app.grading.forward.program import Path

RANK_MAX = 5


def mistakes(bench: Bench) -> Iterator[Mistake]:
    for path in bench.paths:
        wide = unreduced(bench.case.looks[0], path).shape
        narrow = bench.case.looks[0].reference.shape
        if wide != narrow and 0 < len(wide) <= RANK_MAX and fits(wide, narrow):
            yield from _of_path(bench, path, unreduced, stretched_axes(wide, narrow))
        elif wide == narrow:
            yield from _hidden_sum(bench, path)


def unreduced(look: Look, path: Path) -> Array:
    """The share of *path* before a broadcast was undone."""
    return look.unreduced.get(path.key, look.shares[path.key])


def _hidden_sum(bench: Bench, path: Path) -> Iterator[Mistake]:
    """A sum that no broadcast shows: a vector in a matrix product, or a bias inside of `conv2d` and the like."""
    looks = bench.case.looks
    if all(_vector_product(bench, look, path) is not None for look in looks):
        source = partial(_vector_product, bench)
        wide = looks[0].upstream[path.key].ndim
        yield from _of_path(bench, path, source, tuple(range(wide)))
        return
    rank = looks[0].upstream[path.key].ndim
    for axes in _axis_sets(rank) if rank <= RANK_MAX else ():
        if all(_is_sum(look, path, axes) for look in looks):
            yield from _of_path(bench, path, lambda look, path: look.upstream[path.key], axes)
            return


def _is_sum(look: Look, path: Path, axes: Axes) -> bool:
    share, total = look.shares[path.key], look.upstream[path.key].sum(axis=axes)
    return total.shape == share.shape and bool(np.allclose(total, share, rtol=1e-9, atol=1e-12))


def _vector_product(bench: Bench, look: Look, path: Path) -> Array | None:
    """The products whose sum is the gradient of a vector v in M @ v."""
    steps = bench.steps(path, look)
    step = steps[-1] if steps else None
    if step is None or step.node.op != "matmul" or step.position == 0 or step.x.ndim != 1 or step.z.ndim < 2:
        return None
    return np.asarray(step.g[..., None] * step.z)


def fits(wide: tuple[int, ...], narrow: tuple[int, ...]) -> bool:
    """Whether *narrow* broadcasts to *wide*."""
    try:
        return np.broadcast_shapes(wide, narrow) == wide
    except ValueError:
        return False


Source = Callable[[Look, Path], Any]


def _of_path(bench: Bench, path: Path, source: Source, right: Axes) -> Iterator[Mistake]:
    wide = source(bench.case.looks[0], path).shape

    def row(code: str, act: Callable[[Array], Any], say: Callable[[Case], str]) -> Mistake:
        return Mistake(code=code, predict=partial(_predict, bench, path, source, act), say=say)

    yield row("not-reduced", lambda u: u, partial(_say_not_reduced, path=path, axes=right))
    for axes in _axis_sets(len(wide)):
        for keepdim in (False, True):
            summed = partial(np.sum, axis=axes, keepdims=keepdim)
            mean = partial(np.mean, axis=axes, keepdims=keepdim)
            if axes == right:
                yield row("mean", mean, partial(_say_mean, path=path, axes=axes))
                continue
            everything = len(axes) == len(wide)
            code = "summed-all" if everything else "wrong-axis"
            yield row(code, summed, partial(_say_axis, path=path, axes=axes, right=right))
            yield row("mean-wrong-axis", mean, partial(_say_axis, path=path, axes=axes, right=right))
    for keepdim in (False, True):
        for extreme in (np.max, np.min):
            largest = partial(extreme, axis=right, keepdims=keepdim)
            yield row("largest", largest, partial(_say_slice, path=path, axes=right))
        for end in (0, -1):
            slices = partial(_one_slice, axes=right, end=end, keepdim=keepdim)
            yield row("one-slice", slices, partial(_say_slice, path=path, axes=right))


def _axis_sets(rank: int) -> Iterator[Axes]:
    for size in range(1, rank + 1):
        yield from combinations(range(rank), size)


def _predict(
    bench: Bench, path: Path, source: Source, act: Callable[[Array], Any], _case: Case, look: Look
) -> Array | None:
    share = np.asarray(act(source(look, path)))
    reference = look.reference
    # The same numbers in the tensor's own shape differ from it only by keepdim.
    if share.size == reference.size and share.shape != reference.shape and len(bench.paths) > 1:
        share = share.reshape(reference.shape)
    return bench.exchanged(path, look, share)


def _one_slice(unreduced: Array, axes: Axes, end: int, keepdim: bool) -> Array:
    for axis in reversed(axes):
        unreduced = unreduced.take([end], axis) if keepdim else unreduced.take(end, axis)
    return unreduced


def _copied(case: Case, path: Path, axes: Axes) -> str:
    look = shown(case)
    wide = unreduced(look, path).shape
    if wide == look.reference.shape:
        return f"`{case.tensor}` is used along {axes_text(case, path.consumer, axes)} of `{path.consumer}`"
    if look is not case.visible:
        # Hidden sizes are nobody's business: the learner cannot see them.
        return f"`{case.tensor}` was copied along {axes_text(case, path.consumer, axes)}"
    times = listed([str(wide[axis]) for axis in axes])
    return f"`{case.tensor}` was copied along {axes_text(case, path.consumer, axes)}, {times} times here"


def _say_not_reduced(case: Case, path: Path, axes: Axes) -> str:
    got, reference = (shape_text(array.shape) for array in (shown(case).got, shown(case).reference))
    return (
        f"These numbers are not yet added up: `{case.name}` has shape {got}, `{case.tensor}` has {reference}. "
        f"{_copied(case, path, axes)}, so the shares of all copies are added."
    )


def _say_axis(case: Case, path: Path, axes: Axes, right: Axes) -> str:
    return (
        f"The sum for `{case.name}` runs over {axes_text(case, path.consumer, axes)}. "
        f"{_copied(case, path, right)}: a "
        "sum undoes a copy along the same axis."
    )


def _say_mean(case: Case, path: Path, axes: Axes) -> str:
    return (
        f"`{case.name}` averages over {axes_text(case, path.consumer, axes)}. {_copied(case, path, axes)}, and every "
        "copy counts in full: nothing divides by their number."
    )


def _say_slice(case: Case, path: Path, axes: Axes) -> str:
    return (
        f"Only one slice along {axes_text(case, path.consumer, axes)} is left in `{case.name}`. "
        f"{_copied(case, path, axes)}, and each copy has a share."
    )
