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

from app.grading.evidence import Array, Case, Look, Mistake, Path
from app.grading.mistakes.bench import Bench
from app.grading.mistakes.rules import Axes, stretched_axes
from app.grading.mistakes.words import axes_text, listed, shape_text

RANK_MAX = 5


def mistakes(bench: Bench) -> Iterator[Mistake]:
    for path in bench.paths:
        wide = unreduced(bench.case.looks[0], path).shape
        narrow = bench.case.looks[0].reference.shape
        if wide == narrow or not 0 < len(wide) <= RANK_MAX or not fits(wide, narrow):
            continue
        yield from _of_path(bench, path, wide, stretched_axes(wide, narrow))


def unreduced(look: Look, path: Path) -> Array:
    """The share of *path* before a broadcast was undone."""
    return look.unreduced.get(path.key, look.shares[path.key])


def fits(wide: tuple[int, ...], narrow: tuple[int, ...]) -> bool:
    """Whether *narrow* broadcasts to *wide*."""
    try:
        return np.broadcast_shapes(wide, narrow) == wide
    except ValueError:
        return False


def _of_path(bench: Bench, path: Path, wide: tuple[int, ...], right: Axes) -> Iterator[Mistake]:
    def row(code: str, act: Callable[[Array], Any], say: Callable[[Case], str]) -> Mistake:
        return Mistake(code=code, predict=partial(_predict, bench, path, act), say=say)

    yield row("not-reduced", lambda u: u, partial(_say_not_reduced, path=path, wide=wide, axes=right))
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


def _predict(bench: Bench, path: Path, act: Callable[[Array], Any], _case: Case, look: Look) -> Array | None:
    share = np.asarray(act(unreduced(look, path)))
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
    sizes = [unreduced(case.looks[0], path).shape[axis] for axis in axes]
    times = listed([str(size) for size in sizes])
    return f"`{case.tensor}` was copied along {axes_text(case, path.consumer, axes)} ({times} times here)"


def _say_not_reduced(case: Case, path: Path, wide: tuple[int, ...], axes: Axes) -> str:
    shape = shape_text(case.looks[0].reference.shape)
    return (
        f"These numbers are not yet added up: `{case.name}` has shape {shape_text(wide)}, "
        f"`{case.tensor}` has {shape}. "
        f"{_copied(case, path, axes)}, so the shares of all copies are added."
    )


def _say_axis(case: Case, path: Path, axes: Axes, right: Axes) -> str:
    return (
        f"The sum for `{case.name}` runs over {axes_text(case, path.consumer, axes)}. {_copied(case, path, right)}: "
        "a sum undoes a copy along the same axis."
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
