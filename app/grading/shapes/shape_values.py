"""What shape inference computes with: tensors without numbers, sizes that know their dim, and how they combine."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from app.grading.forward.facts import Shape

# Numbers, text, None, Ellipsis, slices, tuples and lists of these, and tensors.
Value = Any


class UnknownShapeError(Exception):
    """The shape cannot be told from the source."""


class Size(int):
    """A size with the name of its dim; sums and products of sizes are plain numbers."""

    name: str

    @classmethod
    def of(cls, size: int, name: str) -> "Size":
        one = cls(size)
        one.name = name
        return one


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor without its numbers; *kind* is `float`, `int` or `bool`."""

    shape: Shape
    kind: str = "float"

    @property
    def count(self) -> int:
        total = 1
        for size in self.shape:
            total *= size
        return total


def tensor(value: Value) -> Tensor:
    if not isinstance(value, Tensor):
        raise UnknownShapeError
    return value


def whole(value: Value) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise UnknownShapeError


def axis_of(value: Value, count: int) -> int:
    axis = whole(value)
    if not -max(count, 1) <= axis < max(count, 1):
        raise UnknownShapeError
    return axis % max(count, 1)


def sizes_of(arguments: Sequence[Value]) -> Shape:
    """The sizes in `(2, 3)` or `((2, 3),)`."""
    if len(arguments) == 1 and isinstance(arguments[0], tuple | list):
        arguments = arguments[0]
    return tuple(whole(size) for size in arguments)


def common(*shapes: Shape) -> Shape:
    """The broadcast of *shapes*; a size that has a name keeps it."""
    rank = max((len(shape) for shape in shapes), default=0)
    padded = [(1,) * (rank - len(shape)) + tuple(shape) for shape in shapes]
    sizes = []
    for column in zip(*padded, strict=True):
        stretched = {int(size) for size in column if size != 1}
        if len(stretched) > 1:
            raise UnknownShapeError
        wide = [size for size in column if size != 1] or list(column)
        sizes.append(next((size for size in wide if isinstance(size, Size)), wide[0]))
    return tuple(sizes)


def broadcast(*values: Value) -> Tensor:
    """Elementwise work on tensors and numbers."""
    tensors = [value for value in values if isinstance(value, Tensor)]
    if not tensors or not all(isinstance(value, Tensor | int | float) for value in values):
        raise UnknownShapeError
    kinds = {value.kind for value in tensors} | {"float" for value in values if isinstance(value, float)}
    kind = next(kind for kind in ("float", "int", "bool") if kind in kinds)
    if kind == "bool" and any(isinstance(value, int) and not isinstance(value, bool) for value in values):
        kind = "int"
    return Tensor(common(*(value.shape for value in tensors)), kind)


def index(owner: Tensor, at: Value) -> Tensor:
    """`owner[at]` with numbers, slices, None, `...` and tensors of whole numbers."""
    parts = list(at) if isinstance(at, tuple) else [at]
    used = sum(part is not None and part is not Ellipsis for part in parts)
    fill = [slice(None)] * (len(owner.shape) - used)
    if used > len(owner.shape) or sum(part is Ellipsis for part in parts) > 1:
        raise UnknownShapeError
    if any(part is Ellipsis for part in parts):
        spot = next(number for number, part in enumerate(parts) if part is Ellipsis)
        parts[spot : spot + 1] = fill
    else:
        parts += fill
    sizes: list[int] = []
    picked: list[Shape] = []
    spots: list[int] = []
    axis = place = first = 0
    for part in parts:
        if part is None:
            sizes.append(1)
            place += 1
            continue
        size = owner.shape[axis]
        axis += 1
        if isinstance(part, slice):
            sizes.append(_cut(size, part))
        elif isinstance(part, Tensor | list):
            first = first if picked else len(sizes)
            picked.append(_picked(part))
            spots.append(place)
        else:
            axis_of(part, size)
            continue
        place += 1
    if picked:
        # What several tensors pick comes first, unless they stand side by side. Numbers were taken out before: unlike
        # in numpy they do not count.
        together = spots[-1] - spots[0] == len(spots) - 1
        first = first if together else 0
        sizes[first:first] = common(*picked)
    return Tensor(tuple(sizes), owner.kind)


def _cut(size: int, part: slice) -> int:
    if part == slice(None):
        return size
    for bound in (part.start, part.stop, part.step):
        if bound is not None:
            whole(bound)
    if part.step is not None and part.step < 1:
        raise UnknownShapeError
    count = len(range(*part.indices(int(size))))
    return size if count == size else count


def _picked(part: Tensor | list[Value]) -> Shape:
    """The shape that picking with whole numbers gives."""
    if isinstance(part, Tensor) and part.kind == "int":
        return part.shape
    if isinstance(part, list) and all(isinstance(one, int) and not isinstance(one, bool) for one in part):
        return (len(part),)
    raise UnknownShapeError
