"""Tensors of which nothing is known but their shape and what kind of numbers they hold, and how shapes meet."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

Sizes = tuple[int, ...]
Kind = Literal["f", "i", "b", "?"]
LARGEST = 2**53
MOST_AXES = 24


class UnknownError(Exception):
    """Nothing can be told: an operation that is not listed, a size that the numbers decide, or no tensor at all."""


class CollisionError(Exception):
    """Shapes that cannot meet, which torch is sure to refuse.

    Args:
        one, other: The shapes.
        axes: The axis of each that does not fit; None where it is no single one.
        how: What they should have done, such as `@`.
    """

    def __init__(self, one: Sizes, other: Sizes, axes: tuple[int, int] | None, how: str) -> None:
        super().__init__(how)
        self.one, self.other, self.axes, self.how = one, other, axes, how
        self.place: Any = None


@dataclass(frozen=True, slots=True)
class Abstract:
    """A tensor.

    Args:
        kind: Of its entries: real, whole, truths, or nobody knows.
        dense: Whether it is sure to lie in memory in its own order, so that `view` takes it.
    """

    shape: Sizes
    kind: Kind = "f"
    dense: bool = True

    def __post_init__(self) -> None:
        if len(self.shape) > MOST_AXES or any(not 0 <= one < LARGEST for one in self.shape):
            raise UnknownError

    @property
    def rank(self) -> int:
        return len(self.shape)

    def reshaped(self, shape: Sequence[int], *, dense: bool | None = None, kind: Kind | None = None) -> "Abstract":
        return replace(
            self,
            shape=tuple(shape),
            dense=self.dense if dense is None else dense,
            kind=self.kind if kind is None else kind,
        )


DTYPES: dict[str, Kind] = {
    **dict.fromkeys(("float", "float16", "float32", "float64", "double", "half", "bfloat16"), "f"),
    **dict.fromkeys(("long", "int", "short", "int8", "int16", "int32", "int64", "uint8", "byte", "char"), "i"),
    "bool": "b",
}
"""Types of numbers, by their names in torch."""
DTYPE_OF: dict[Kind, str] = {"f": "float32", "i": "int64", "b": "bool"}


def kind_of(dtype: object, otherwise: Kind = "?") -> Kind:
    """The kind of numbers that *dtype* is, or the tensor has that stands in its place; *otherwise* where it is None."""
    if dtype is None:
        return otherwise
    return dtype.kind if isinstance(dtype, Abstract) else DTYPES.get(str(dtype), "?")


class AnyNumber:
    """A number of Python's that nobody knows."""


NUMBER = AnyNumber()


def is_number(value: object) -> bool:
    return isinstance(value, bool | int | float | AnyNumber)


def tensor(value: object) -> Abstract:
    """*value*, which has to be a tensor.

    Raises:
        UnknownError: It is none.
    """
    if isinstance(value, Abstract):
        return value
    raise UnknownError


def whole(value: object) -> int:
    """*value*, which has to be a number that is known."""
    if type(value) is int and abs(value) < LARGEST:
        return value
    raise UnknownError


def size(value: object) -> int:
    if whole(value) < 0:
        raise UnknownError
    return whole(value)


def wholes(values: object) -> Sizes:
    if isinstance(values, list | tuple):
        return tuple(whole(one) for one in values)
    return (whole(values),)


def sizes(values: Sequence[Any]) -> Sizes:
    """The sizes of `f(2, 3)` or `f((2, 3))`."""
    flat = values[0] if len(values) == 1 and isinstance(values[0], list | tuple) else values
    return tuple(size(one) for one in flat)


def axis(value: object, rank: int) -> int:
    """An axis of *rank*, from 0; a scalar has one for this purpose, as torch has it."""
    at = whole(value)
    if not -max(rank, 1) <= at < max(rank, 1):
        raise UnknownError
    return at % max(rank, 1)


def axes(values: object, rank: int) -> frozenset[int]:
    found = [axis(one, rank) for one in wholes(values)]
    if len(set(found)) < len(found):
        raise UnknownError
    return frozenset(found)


def spread(*shapes: Sizes, how: str = "meet") -> Sizes:
    """The shape that *shapes* are spread over each other to.

    Raises:
        CollisionError: They cannot be.
    """
    out: Sizes = ()
    for shape in shapes:
        rank = max(len(out), len(shape))
        wide, narrow = (1,) * (rank - len(out)) + out, (1,) * (rank - len(shape)) + shape
        for at, (one, other) in enumerate(zip(wide, narrow, strict=True)):
            if one != other and 1 not in (one, other):
                raise CollisionError(out, shape, (at - rank + len(out), at - rank + len(shape)), how)
        out = tuple(other if one == 1 else one for one, other in zip(wide, narrow, strict=True))
    return out


def fits_into(narrow: Sizes, wide: Sizes, how: str) -> None:
    """Raise where *narrow* cannot be spread over *wide*."""
    if spread(narrow, wide, how=how) != wide:
        raise CollisionError(narrow, wide, None, how)


def joint_kind(*values: object) -> Kind:
    """The kind of numbers that arithmetic with *values* gives."""
    kinds = [value.kind for value in values if isinstance(value, Abstract)]
    if any(isinstance(value, float) for value in values):
        kinds.append("f")
    if "?" in kinds or any(isinstance(value, AnyNumber) for value in values):
        return "f" if "f" in kinds else "?"
    return "f" if "f" in kinds else "i" if "i" in kinds or any(type(value) is int for value in values) else "b"


def together(*values: object, how: str = "meet") -> Abstract:
    """What becomes of values that are spread over each other, entry by entry."""
    found = [value for value in values if isinstance(value, Abstract)]
    if not found or not all(isinstance(value, Abstract) or is_number(value) for value in values):
        raise UnknownError
    shape = spread(*(one.shape for one in found), how=how)
    return Abstract(shape, joint_kind(*values), all(one.dense for one in found))


def product(a: Abstract, b: Abstract, how: str = "@") -> Abstract:
    """A matrix product, as `@` has it."""
    if "?" in (a.kind, b.kind) or a.kind != b.kind or not a.rank or not b.rank:
        raise UnknownError
    inner = b.rank - 2 if b.rank > 1 else 0
    if a.shape[-1] != b.shape[inner]:
        raise CollisionError(a.shape, b.shape, (a.rank - 1, inner), how)
    before = spread(a.shape[:-2], b.shape[:-2], how=how)
    return Abstract((*before, *a.shape[-2:-1], *(b.shape[-1:] if b.rank > 1 else ())), a.kind)


def refilled(x: Abstract, wanted: Sequence[object], *, how: str) -> Abstract:
    """*x* with its entries in the shape *wanted*, in which one size may be -1."""
    parts = [whole(one) for one in wanted]
    known = math.prod(one for one in parts if one != -1)
    count = math.prod(x.shape)
    if parts.count(-1) > 1 or any(one < -1 for one in parts) or (-1 in parts and not known):
        raise UnknownError
    if count % known if -1 in parts else count != known:
        raise (
            CollisionError(x.shape, tuple(max(one, 0) for one in parts), None, how) if -1 not in parts else UnknownError
        )
    return x.reshaped([count // known if one == -1 else one for one in parts])


def picked(x: Abstract, index: object) -> Abstract:
    """`x[index]`.

    Raises:
        UnknownError: Truths pick as many entries as the numbers say.
    """
    parts = list(index) if isinstance(index, tuple) else [index]
    parts = [Abstract(_listed(one), "i") if isinstance(one, list) else one for one in parts]
    used = sum(part is not None and part is not ... for part in parts)
    if used > x.rank or parts.count(...) > 1:
        raise UnknownError
    at = parts.index(...) if ... in parts else len(parts)
    parts[at : at + 1] = [slice(None)] * (x.rank - used)
    return _picked(x, parts)


def _listed(values: list[Any]) -> Sizes:
    if not values or not all(type(one) is int for one in values):
        raise UnknownError
    return (len(values),)


def _picked(x: Abstract, parts: Sequence[object]) -> Abstract:
    """Whole numbers are taken out first, as torch has it: they do not count among the tensors that pick."""
    shape: list[int] = []
    picks: list[tuple[int, Sizes]] = []
    at = 0
    for part in parts:
        if part is None:
            shape.append(1)
            continue
        here, at = x.shape[at], at + 1
        if isinstance(part, slice):
            shape.append(len(range(*slice(*map(_bound, (part.start, part.stop, part.step))).indices(here))))
        elif isinstance(part, Abstract):
            if part.kind != "i":
                raise UnknownError
            if not part.rank:  # picks one, like a number
                continue
            picks.append((len(shape), part.shape))
        elif not -here <= whole(part) < here:
            raise UnknownError
    if not picks:
        return x.reshaped(shape, dense=False)
    places = [place for place, _ in picks]
    # Tensors that stand side by side leave their shape there, others in front: a slice between them sets them apart.
    start = places[0] if len(set(places)) == 1 else 0
    shape[start:start] = spread(*(one for _, one in picks), how="pick together")
    return x.reshaped(shape)


def _bound(value: object) -> int | None:
    return None if value is None else whole(value)
