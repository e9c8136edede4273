"""Differences of a gradient from its reference on the lesson's own sizes: a map by strength, and a pattern."""

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from app.grading.judge.compare import Array, Reference, allowed_on_view
from app.grading.judge.verdict import STEPS, Differences
from app.grading.operations.numerics import magnitude

SIDE = 64
NAMED = 4
SPREAD = 1e-3
"""How far numbers may lie apart that count as one, beside the largest difference."""
_SIGNS = np.array([".", *STEPS, "?", *reversed(STEPS.upper())])


def differences(got: Array | None, reference: Reference) -> Differences | None:
    """Yours minus the reference; None where the shapes differ, or nothing does, or there is one number only."""
    if got is None or got.shape != reference.gradient.shape or got.size < 2:
        return None
    yours, gradient = got.astype(np.float64), reference.gradient.astype(np.float64)
    with np.errstate(all="ignore"):
        off = yours - gradient
    off[np.abs(off) <= allowed_on_view(reference)] = 0.0
    finite = np.isfinite(off)
    largest = magnitude(off[finite])
    if finite.all() and not largest:
        return None
    rows = off.reshape(-1, off.shape[-1])
    corner = _corner(rows)
    part = rows[tuple(slice(start, start + SIDE) for start in corner)]
    return Differences(
        rows=tuple(map("".join, _steps(part, largest).tolist())),
        largest=largest,
        shape=off.shape,
        corner=corner,
        pattern=_pattern(yours, gradient, off, largest) if finite.all() else _unfit(int((~finite).sum()), off.size),
    )


def _steps(off: Array, largest: float) -> Array:
    # By the square root, so that small differences beside a large one can still be told from none.
    with np.errstate(all="ignore"):
        step = np.ceil(len(STEPS) * np.sqrt(np.abs(off) / (largest or 1.0))) * np.sign(off)
    # Counted from the end where it is below zero: the signs for those stand there, the strongest first.
    array: Array = _SIGNS[np.where(np.isfinite(off), step, len(STEPS) + 1).astype(np.int64)]
    return array


def _corner(rows: Array) -> tuple[int, int]:
    """First row and column of the part of a large table that is shown: around the largest difference."""
    worst = np.unravel_index(int(np.nan_to_num(np.abs(rows), nan=np.inf).argmax()), rows.shape)
    starts = [max(0, min(int(at) - SIDE // 2, size - SIDE)) for at, size in zip(worst, rows.shape, strict=True)]
    return starts[0], starts[1]


def _unfit(count: int, size: int) -> str:
    return f"{count:,} of the {size:,} entries {'is' if count == 1 else 'are'} not a number."


# The pattern, told by the axes along which nothing changes. Axes of size 1 tell nothing.


def _pattern(yours: Array, gradient: Array, off: Array, largest: float) -> str:
    axes = [axis for axis, size in enumerate(off.shape) if size > 1]
    words = _Words([off.shape[axis] for axis in axes], axes)
    yours, gradient, off = (array.reshape(words.sizes) for array in (yours, gradient, off))
    with np.errstate(all="ignore"):
        return next(_patterns(yours, gradient, off, SPREAD * largest, words))


def _patterns(yours: Array, gradient: Array, off: Array, spread: float, words: "_Words") -> Iterator[str]:
    """Every pattern that holds, the plainest first."""
    if not yours.any():
        yield "Every entry is zero."
    places = range(off.ndim)
    for count in range(off.ndim, 0, -1):
        for along in combinations(places, count):
            if (np.ptp(off, axis=along) <= spread).all():
                yield words.same("number", along)
            # Numbers far smaller than the reference are near to any multiple of it that is as small.
            near = min(spread, SPREAD * magnitude(yours))
            if (np.abs(yours - _scaled(yours, gradient, along)) <= near).all():
                yield words.same("factor", along)
    yield from words.few(off != 0)


def _scaled(yours: Array, gradient: Array, along: tuple[int, ...]) -> Array:
    """The reference times the one factor along these axes that comes nearest to *yours*."""
    weight = (gradient**2).sum(along, keepdims=True)
    factor = (yours * gradient).sum(along, keepdims=True) / np.where(weight == 0, 1.0, weight)
    scaled: Array = factor * gradient
    return scaled


class _Words:
    """Sentences about a tensor of these *sizes*; with two axes they speak of rows and columns."""

    def __init__(self, sizes: Sequence[int], axes: Sequence[int]) -> None:
        self.sizes = tuple(sizes)
        self.axes = axes

    def same(self, what: str, along: tuple[int, ...]) -> str:
        if len(along) == len(self.sizes):
            return f"Every entry is off by the same {what}."
        if len(self.sizes) == 2:
            name, other = (("column", "rows"), ("row", "columns"))[along[0]]
            return f"Each {name} is off by one {what}, the same in all {self.sizes[along[0]]:,} {other}."
        names = " and ".join(f"axis {self.axes[at]}" for at in along)
        return f"Along {names} every entry is off by the same {what}."

    def few(self, differs: Array) -> Iterator[str]:
        """Places where it differs, if that is not everywhere."""
        places = range(differs.ndim)
        total, count = differs.size, int(differs.sum())
        for at in places if count > 1 and differs.ndim > 1 else ():
            hit = np.flatnonzero(differs.any(axis=tuple(place for place in places if place != at)))
            if 2 * len(hit) <= self.sizes[at]:
                yield self._only(at, hit.tolist())
        if differs.ndim == 2:
            for at, name in enumerate(("row", "column")):
                if (differs.sum(1 - at) == 1).all():
                    yield f"In each {name} one entry differs."
        everywhere = f"All {total:,} entries differ, in no pattern by {self._by}."
        yield everywhere if count == total else f"{count:,} of the {total:,} entries {_differ(count)}."

    @property
    def _by(self) -> str:
        return "row or column" if len(self.sizes) == 2 else "axis"

    def _only(self, at: int, hit: list[int]) -> str:
        many, name = (("rows", "row"), ("columns", "column"))[at] if len(self.sizes) == 2 else ("places", "place")
        along = "" if len(self.sizes) == 2 else f" along axis {self.axes[at]}"
        if len(hit) > NAMED:
            return f"Only {len(hit):,} of the {self.sizes[at]:,} {many}{along} differ."
        named = ", ".join(map(str, hit[:-1])) + (" and " if hit[1:] else "") + str(hit[-1])
        return f"Only {name if len(hit) == 1 else many} {named}{along} {_differ(len(hit))}."


def _differ(count: int) -> str:
    return "differs" if count == 1 else "differ"
