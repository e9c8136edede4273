"""Dims that a program fixes by itself: it reads every place of their axis by its number.

`X[:, 0]`, `X[:, 1]` and `X[:, 2]` make a program for three places alone, and its gradient may count on three.
"""

from app.content.text.arithmetic import UnreadableError, integer_of
from app.grading.forward.sources import ForwardSource
from app.syntax import Expression, elements_of, index_of, indexed_of, name_of, nodes_in, source_text, statements_of

_WHOLE_AXIS = ":"


def counted_dims(forward: ForwardSource) -> dict[str, int]:
    """The dims of axes that are read by numbers alone, with no place left out."""
    nodes = [node for statement in statements_of(forward.source) for node in nodes_in(statement)]
    sizes: dict[str, int] = {}
    for tensor_input in forward.inputs:
        reads = sum(name_of(node) == tensor_input.name for node in nodes)
        picks = [index_of(node) for node in nodes if name_of(indexed_of(node)) == tensor_input.name]
        indices = [index for index in picks if index is not None]
        for axis, name in enumerate(tensor_input.sizes):
            size = forward.dims.get(name, 0)
            places = {_place_on(axis, index, size) for index in indices}
            if size and reads == len(indices) and places == set(range(size)):
                sizes[name] = size
    return sizes


def _place_on(axis: int, index: Expression, size: int) -> int | None:
    """The place of an axis of *size* that *index* picks by its number; None where it picks otherwise."""
    parts = [source_text(part) for part in elements_of(index) or [index]]
    numbers = [_whole_number(part) for part in parts[: axis + 1]]
    if len(numbers) <= axis or not all(
        part == _WHOLE_AXIS or number is not None for part, number in zip(parts, numbers, strict=False)
    ):
        return None
    place = numbers[axis]
    return place + size if place is not None and place < 0 else place


def _whole_number(text: str) -> int | None:
    try:
        return integer_of(text)
    except UnreadableError:
        return None
