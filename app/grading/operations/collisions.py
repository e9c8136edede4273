"""Shapes that cannot meet: which two they are, at which axes, and in which operation.

Told only of what torch is sure to refuse.
"""

import math
from collections.abc import Sequence

import numpy as np

from app.syntax import Expression, is_comparison, sides_of, sign_of

Sizes = tuple[int, ...]


class CollisionError(ValueError):
    """Two shapes cannot meet.

    Args:
        shapes: The two.
        axes: The axis of each that does not fit; None where it is no single one.
        how: The operation, such as `@`.
    """

    def __init__(self, shapes: tuple[Sizes, Sizes], axes: tuple[int, int] | None, how: str) -> None:
        super().__init__(f"{shapes[0]} {how} {shapes[1]}")
        self.shapes, self.axes, self.how = shapes, axes, how
        self.place: tuple[Expression, Expression] | None = None
        """First and last part of the text that is to blame: the innermost."""

    def locate(self, expr: Expression) -> None:
        """Place it in *expr*, unless its place is known already."""
        if self.place is None:
            self.place = expr, expr
            sides = sides_of(expr)
            if sides is not None:
                self.place = sides
                self.how = "compare" if is_comparison(expr) else sign_of(expr)


def broadcast_shape(*shapes: Sizes, how: str = "meet") -> Sizes:
    """The shape that *shapes* are broadcast to.

    Raises:
        CollisionError: They cannot be.
    """
    if shapes[1:] == shapes[:-1]:  # all alike, which numpy takes longer to say
        return shapes[0] if shapes else ()
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        raise _unbroadcastable(shapes, how) from None


def _unbroadcastable(shapes: Sequence[Sizes], how: str) -> ValueError:
    wide: Sizes = ()
    for shape in shapes:
        for axis in range(-min(len(wide), len(shape)), 0):
            if wide[axis] != shape[axis] and 1 not in (wide[axis], shape[axis]):
                return CollisionError((wide, shape), (axis + len(wide), axis + len(shape)), how)
        wide = np.broadcast_shapes(wide, shape)
    return ValueError("too many axes")


def check_fit(narrow: Sizes, wide: Sizes, how: str) -> None:
    """Raise a `CollisionError` where *narrow* does not broadcast to *wide*, as it is."""
    if broadcast_shape(narrow, wide, how=how) != wide:
        raise CollisionError((narrow, wide), None, how)


def check_equal(first: Sizes, other: Sizes, how: str) -> None:
    """Raise a `CollisionError` where two shapes differ."""
    if first != other:
        raise CollisionError((first, other), None, how)


def check_axes(first: Sizes, other: Sizes, axes: tuple[int, int], how: str) -> None:
    """Raise a `CollisionError` where the sizes of *first* and *other* at *axes*, one of each, differ."""
    axis, other_axis = axes[0] % len(first), axes[1] % len(other)
    if first[axis] != other[other_axis]:
        raise CollisionError((first, other), (axis, other_axis), how)


def check_joint(shapes: Sequence[Sizes], axis: int, how: str) -> None:
    """Raise a `CollisionError` where tensors of *shapes* cannot be put together: `cat` along *axis*, or `stack`."""
    first, *others = shapes
    for other in others:
        if how == "stack":
            check_equal(first, other, how)
        elif len(first) == len(other):
            for place in range(len(first)):
                if place != axis % len(first):
                    check_axes(first, other, (place, place), how)


def product_shape(a: Sizes, b: Sizes, how: str = "@") -> Sizes:
    """The shape of a matrix product, as `@` has it.

    Raises:
        CollisionError: The inner sizes differ, or the heaps of matrices cannot be broadcast.
    """
    check_axes(a, b, (-1, -2 if len(b) > 1 else 0), how)
    try:
        before = broadcast_shape(a[:-2], b[:-2], how=how)
    except CollisionError as collision:
        raise CollisionError((a, b), collision.axes, how) from None
    return (*before, *a[-2:-1], *(b[-1:] if len(b) > 1 else ()))


def refilled_shape(old: Sizes, wanted: Sequence[int], how: str) -> Sizes:
    """The shape of so many entries as *old* has in the shape *wanted*, in which one size may be -1.

    Raises:
        CollisionError: There are more or fewer entries.
        ValueError: The open size cannot be told.
    """
    count, known = math.prod(old), math.prod(size for size in wanted if size != -1)
    if -1 not in wanted and count != known and min(wanted, default=0) >= 0:
        raise CollisionError((old, tuple(wanted)), None, how)
    is_open = -1 in wanted and (list(wanted).count(-1) > 1 or not known or count % known)
    if is_open or min(wanted, default=0) < -1 or (-1 not in wanted and count != known):
        raise ValueError(f"{old} has no shape {tuple(wanted)}")
    return tuple(count // known if size == -1 else size for size in wanted)
