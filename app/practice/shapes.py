"""Which shapes an operation takes and gives: the patterns of `operations`, read and matched."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

Shape = tuple[str, ...]
"""Sizes as a lesson writes them: names of dims, sums over them, `1`."""


@dataclass(frozen=True, slots=True)
class OperandPattern:
    """One operand of a form: its axes, and what it is if it is no tensor of normal numbers."""

    axes: tuple[str, ...]
    kind: str = ""

    @property
    def letters(self) -> set[str]:
        """The sizes that it names; what it is may name one, too."""
        return set(re.findall(r"[a-z]", " ".join(self.axes))) | set(re.findall(r"\((\w)\)", self.kind))


@dataclass(frozen=True, slots=True)
class Form:
    operands: tuple[OperandPattern, ...]
    output: tuple[str, ...]
    axis: int | None

    @property
    def is_square(self) -> bool:
        """True if one of its operands has the same size twice."""
        return any(len(set(operand_pattern.axes)) < len(operand_pattern.axes) for operand_pattern in self.operands)


@cache
def form_of(text: str) -> Form:
    """The form that *text* writes, such as `a b, b c -> a c`."""
    operands, _, rest = text.partition(" -> ")
    output, _, axis = rest.partition(" @")
    read = tuple(_operand(part) for part in operands.split(", "))
    return Form(read, tuple(output.split()), int(axis) if axis else None)


def _operand(text: str) -> OperandPattern:
    axes, _, kind = text.partition(":")
    return OperandPattern(tuple(axes.split()), kind)


def match_shape(axes: tuple[str, ...], shape: Shape) -> dict[str, Shape] | None:
    """Match *shape* to the letters of *axes*; None if they do not fit."""
    if axes == ("*",):
        return {"*": shape}
    lead = len(shape) - len(axes) + 1 if axes[:1] == ("...",) else 0
    if lead < 0 or (axes[0] != "..." and len(axes) != len(shape)) or "1" in shape[:lead]:
        return None
    sizes_by_letter: dict[str, Shape] = {"...": shape[:lead]}
    for letter, size in zip(axes[1:] if axes[0] == "..." else axes, shape[lead:], strict=True):
        if (
            (letter == "1") != (size == "1")
            or letter.isdecimal() != size.isdecimal()
            or sizes_by_letter.setdefault(letter, (size,)) != (size,)
        ):
            return None
    return sizes_by_letter


def shape_of(axes: tuple[str, ...], sizes: Mapping[str, Shape]) -> Shape:
    """The shape that *axes* write; `b+c` is a sum of sizes, `2` is 2."""
    return tuple(size for axis in axes for size in (sizes[axis] if axis in ("...", "*") else (_size(axis, sizes),)))


def _size(axis: str, sizes: Mapping[str, Shape]) -> str:
    text = re.sub(r"[a-z]", lambda match: as_factor(sizes[match[0]][0]), axis)
    return re.sub(r"([-+*])", r" \1 ", text) if len(axis) > 1 else sizes[axis][0] if axis in sizes else axis


def as_factor(size: str) -> str:
    """*size* as a factor of something else."""
    return size if size.isalnum() else f"({size})"


def broadcast_shape(first: Shape, other: Shape) -> Shape | None:
    """The shape of both together; None where they do not fit."""
    wide = max(len(first), len(other))
    pairs = zip(("1",) * (wide - len(first)) + first, ("1",) * (wide - len(other)) + other, strict=True)
    sizes = [a if a == b or b == "1" else b if a == "1" else None for a, b in pairs]
    return None if None in sizes else tuple(size for size in sizes if size is not None)
