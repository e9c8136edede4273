"""Budget of reading a text: the entries that it makes, and time.

A submission is not trusted. Every array is paid for before it is made, so that neither memory nor time can be spent on
a text beyond what is set aside for it.
"""

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from app.grading.operations.collisions import broadcast_shape, check_axes
from app.grading.operations.costs import broadcast_entries, entry_count
from app.grading.operations.row import Cost
from app.grading.operations.table import OPERATIONS

LARGEST = 1_000_000
"""Entries of one array."""
TOTAL = 400_000_000
"""Entries that are made for one check, all tries of all its diagnoses together."""
SECONDS, SECONDS_OF_ONE = 1.0, 0.5
"""Of processor time, for one check and for one diagnosis: the wall's would make verdicts depend on the machine."""
ENTRIES_BETWEEN_LOOKS, STEP_ENTRIES = 20_000, 500
"""Between two looks at the clock; a step takes as long as so many entries, whatever it makes."""


class CostError(Exception):
    """The text asks for more than it may have."""


class SpentError(CostError):
    """Nothing is left."""


class DataSizeError(CostError):
    """The numbers in a tensor would decide how many entries there are, or which way is taken."""


class EntryBudget:
    """Entries left for one check.

    Args:
        data_sizes: Whether the numbers in tensors may decide a size, as with a mask, or which way is taken.
        largest: Entries of one array, at most.
        total, seconds: Entries of all of them, and processor time, at most.
    """

    def __init__(
        self,
        *,
        data_sizes: bool = True,
        largest: int = LARGEST,
        total: int = TOTAL,
        seconds: float | None = None,
    ) -> None:
        self.data_sizes = data_sizes
        self._largest = largest
        self._left = total
        self._before_look = 0
        self._seconds = SECONDS
        self._until = time.process_time() + (SECONDS_OF_ONE if seconds is None else seconds)

    @contextmanager
    def one(self) -> Iterator["EntryBudget"]:
        """For one diagnosis of several: what it takes is missing to the others."""
        began = time.process_time()
        self._until = began + min(SECONDS_OF_ONE, self._seconds)
        try:
            yield self
        finally:
            self._seconds -= time.process_time() - began

    @property
    def is_empty(self) -> bool:
        return self._left <= 0 or time.process_time() > self._until

    def is_spent(self, entries: int = 0) -> bool:
        """`is_empty`, but for the time since the last look at the clock: a look takes longer than most operations."""
        self._before_look -= entries + STEP_ENTRIES
        if self._before_look > 0:
            return self._left <= 0
        if self.is_empty:
            return True  # and whoever asks next looks again: nothing more is done of what is spent
        self._before_look = ENTRIES_BETWEEN_LOOKS
        return False

    def pay_for_pick(self, x: Any, index: Any) -> None:
        """Pay for what *index* picks of *x*, at most.

        Raises:
            CostError: See `pay`.
        """
        parts = index if isinstance(index, tuple) else (index,)
        self.refuse_data(*(part for part in parts if isinstance(part, np.ndarray) and part.dtype.kind == "b"))
        self.pay(picked(x, parts))

    def refuse_data(self, *values: Any) -> None:
        """Say no to *values* as sizes, or as a truth, where numbers of tensors decide none.

        Raises:
            DataSizeError: One of them is, or has, a tensor, or a number that was taken out of one.
        """
        if not self.data_sizes and any(map(_is_data, values)):
            raise DataSizeError("as many entries as the numbers say")

    def pay(self, entries: int, steps: int = 0) -> None:
        """Pay for an array, and for the *steps* on the way to it where they are more than its entries.

        Raises:
            CostError: It is too large.
            SpentError: Nothing is left.
        """
        steps = max(entries, steps)
        self._left -= steps + 1
        if entries > self._largest:
            raise CostError(f"{entries} entries")
        if self.is_spent(steps):
            raise SpentError(f"{entries} entries")


def _is_data(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return any(map(_is_data, value))
    return isinstance(value, np.ndarray | np.generic)


HELD_MAX = 10_000
"""Values in one list, those in its lists and so on included: lists of the same lists may be large beyond measure."""


def bounded_list(values: Any) -> Any:
    """*values*, if they are not too many.

    Raises:
        CostError: They are.
    """
    waiting, count = [values], 0
    while waiting:
        value = waiting.pop()
        count += 1
        if isinstance(value, list | tuple):
            waiting += value
        if count + len(waiting) > HELD_MAX:
            raise CostError("too many items")
    return values


def bounded_number(value: Any) -> Any:
    """*value*, if arithmetic stays cheap with it.

    Raises:
        CostError: An integer without bounds.
    """
    if isinstance(value, int) and abs(value) >= 2**53:
        raise CostError("a number without bounds")
    return value


def as_operand(value: Any) -> Any:
    """*value* as an operand of arithmetic.

    Raises:
        CostError: Something that multiplies into a long text or list, or an integer without bounds.
    """
    if isinstance(value, str | bytes | tuple | list):
        raise CostError("no number")
    return bounded_number(value)


def entry_cost(op: str, arguments: Sequence[Any], words: Mapping[str, Any]) -> Cost:
    """Entries that the function *op* is about to make, and steps on the way to them."""
    rule = OPERATIONS[op].cost
    cost = rule(*arguments, **words) if rule is not None else broadcast_entries(*arguments, *words.values())
    return cost if isinstance(cost, tuple) else (int(cost), 0)


def size_arguments(op: str, arguments: Sequence[Any], words: Mapping[str, Any]) -> list[Any]:
    """The arguments whose numbers say how many entries come out."""
    if op == "one_hot" and len(arguments) + len(words) < 2:  # as many classes as the labels say
        return list(arguments)
    sizes = OPERATIONS[op].sizes
    return [] if sizes is None else [*arguments[sizes], *words.values()]


def picked(x: Any, index: Sequence[Any]) -> int:
    """Entries that *index* picks of *x*, at most."""
    places = [rank for rank, part in enumerate(index) if isinstance(part, np.ndarray | list | tuple)]
    if not places:
        return int(np.size(x))
    rest = int(np.size(x)) // max(1, math.prod(x.shape[place] for place in places if place < x.ndim))
    shapes = (np.shape(index[place]) for place in places)
    return int(entry_count(broadcast_shape(*shapes, how="pick together")) * max(rest, 1))


def einsum_steps(subscripts: str, operands: Sequence[Any]) -> int:
    """Steps of an einsum: one for each combination of its letters."""
    parts = subscripts.replace(" ", "").split("->")[0].split(",")
    sizes = _letter_sizes(parts, operands)
    produced = entry_count(tuple(sizes[letter] for letter in subscripts.replace(" ", "").partition("->")[2]))
    return max(produced, entry_count(tuple(sizes.values())) // 16, *(int(np.size(operand)) for operand in operands))


def _letter_sizes(parts: Sequence[str], operands: Sequence[Any]) -> dict[str, int]:
    """The size of each letter of an einsum."""
    places: dict[str, tuple[tuple[int, ...], int]] = {}
    for part, operand in zip(parts, operands, strict=True):
        for axis, (letter, size) in enumerate(zip(part, operand.shape, strict=True)):
            shape, before = places.setdefault(letter, (operand.shape, axis))
            if 1 not in (shape[before], size):
                check_axes(shape, operand.shape, (before, axis), f"einsum, letter {letter}")
            if shape[before] == 1:
                places[letter] = operand.shape, axis
    return {letter: shape[axis] for letter, (shape, axis) in places.items()}
