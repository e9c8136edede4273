"""The axes of every tensor in the author's words, read off from hidden sizes that are all different."""

from collections.abc import Mapping

from app.grading.forward.data import Array, size_of
from app.grading.forward.sources import ForwardSource


def axis_names(
    forward: ForwardSource, tensors: Mapping[str, Mapping[str, Array]], dims: Mapping[str, Mapping[str, int]]
) -> dict[str, tuple[str, ...]]:
    """By tensor, one word per axis: the size expression that fits in every data set, or else the plain number.

    Args:
        tensors: By data set, the tensors.
        dims: By data set, the sizes in force.
    """
    declared = {tensor_input.name: tensor_input.sizes for tensor_input in forward.inputs}
    expressions = [*forward.dims, *(size for sizes in declared.values() for size in sizes if not size.isdecimal())]
    known = [(text, tuple(size_of(text, dim) for dim in dims.values())) for text in dict.fromkeys(expressions)]
    first = next(iter(tensors.values()))
    names = dict(declared)
    for name in first:
        sizes = list(zip(*(tensor[name].shape for tensor in tensors.values()), strict=False))
        names.setdefault(name, tuple(_word(size, known) for size in sizes))
    return names


def _word(sizes: tuple[int, ...], known: list[tuple[str, tuple[int, ...]]]) -> str:
    fitting = [text for text, values in known if values == sizes]
    return fitting[0] if len(fitting) == 1 else str(sizes[0])
