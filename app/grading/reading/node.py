"""One operation of a statement with its value, and what its axes and its moves say."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from app.grading.operations.numerics import Array, Axes
from app.syntax import Expression, Node, as_written, source_text


class UntracedError(Exception):
    """A text uses something that is not on the list: a part of it, or why."""

    def __str__(self) -> str:
        # Most are caught and forgotten, and writing out a part takes long.
        what = self.args[0] if self.args else ""
        return source_text(what) if isinstance(what, Node) else str(what)


@dataclass(slots=True, eq=False)  # not frozen: a text has hundreds, and to freeze one takes longer than to make it
class OpNode:
    """One operation of a statement with its value; it stays as it is.

    Args:
        op: Such as `mul`, `tanh`, `sum`; `tensor` for a tensor that is read, `number` for anything without gradient.
        expr: Its place in the source; None for a node that was made up.
        options: Such as `axes`, `keepdim`, `index`; `words` are further names that its rule reads, and `act` is what a
            move does to any arrays in the place of its operands.
    """

    op: str
    value: Array
    operands: "tuple[OpNode, ...]" = ()
    expr: Expression | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """As written in the source."""
        return "" if self.expr is None else _text_of(self.expr)


KnownNodes = dict[Node, OpNode]
"""What was read, by the part of the text."""


@lru_cache(maxsize=1024)
def _text_of(expr: Expression) -> str:
    return as_written(expr)


def stretched_axes(wide: tuple[int, ...], narrow: tuple[int, ...]) -> Axes:
    """The axes of *wide* along which an array of shape *narrow* was copied to fill it."""
    added = len(wide) - len(narrow)
    kept = (added + axis for axis, size in enumerate(narrow) if size == 1 and wide[added + axis] != 1)
    return (*range(added), *kept)


def reduce_to(gradient: Array, shape: tuple[int, ...]) -> Array:
    """Undo a broadcast: sum *gradient* over every axis that was copied."""
    if gradient.shape == shape:
        return gradient
    return np.asarray(gradient.sum(axis=stretched_axes(gradient.shape, shape))).reshape(shape)


def is_broadcastable(wide: tuple[int, ...], narrow: tuple[int, ...]) -> bool:
    """True if *narrow* broadcasts to *wide*."""
    try:
        return np.broadcast_shapes(wide, narrow) == wide
    except ValueError:
        return False


def with_kept_axes(value: Array, node: OpNode) -> Array:
    """The output of a reduction, or a gradient at it, with the reduced axes kept at size 1."""
    return value if node.options.get("keepdim", True) else np.expand_dims(value, node.options["axes"])


def reduced_count(node: OpNode) -> int:
    """Number of entries that a reduction adds into one."""
    shape = node.operands[0].value.shape
    return math.prod(shape[axis] for axis in node.options["axes"])


def moved_back(node: OpNode, position: int, g: Array) -> Array:
    """Each entry of *g* to the entry of the operand that a move has put there; entries that went nowhere get none."""
    taken, places = _places(node, position)
    operand = node.operands[position].value
    return np.bincount(places, np.broadcast_to(g, taken.shape)[taken], operand.size).reshape(operand.shape)


@lru_cache(maxsize=8)
def _places(node: OpNode, position: int) -> tuple[Array, Array]:
    """Which entries of the output come from the operand, and the place that each of them has there."""
    marks = [np.zeros(operand.value.shape) for operand in node.operands]
    marks[position] = np.arange(1.0, marks[position].size + 1).reshape(marks[position].shape)
    origin = node.options["act"](*marks)
    taken = origin > 0
    return taken, origin[taken].astype(np.int64) - 1
