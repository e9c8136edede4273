"""Shapes of a forward program's tensors, read from its source alone: quizzes need no jail and no torch.

The program is read on drawn numbers, and a value has a shape. What is not on the reader's list is left out, and so is a
shape that depends on the numbers; nothing is guessed, and nothing is raised.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from math import prod

import numpy as np

from app.grading.forward.data import LARGEST_TENSOR, hidden_dims, shape_of, small_together
from app.grading.forward.facts import Shape
from app.grading.forward.sources import ForwardSource, SourceInput
from app.grading.operations.numerics import Array
from app.grading.reading.budget import CostError, DataSizeError, EntryBudget
from app.grading.reading.line_reader import LineReader
from app.grading.reading.node import KnownNodes, UntracedError
from app.grading.reading.size_words import size_words
from app.syntax import statements_of

ALTOGETHER = 2_000_000
"""Entries of all tensors of a program on one set of sizes: a run may send back a few sets of so many."""
PROGRAM_ENTRIES, PROGRAM_STATEMENTS = 100_000_000, 20_000
"""Of one reading of a program; a loop of an author's is written out."""
ON_THE_WAY = 4_000_000
"""Entries that a part of a program may take while it is measured, such as the windows of a convolution."""


def infer_shapes(forward: ForwardSource) -> dict[str, Shape]:
    """Shapes by name of the inputs and of every intermediate that can be told from the source.

    A size that is the one of a dim, here and wherever the dims are others, remembers which: see `sizes.name_of`.
    """
    here = read_program(forward, forward.dims)
    others, there = read_small(forward, 0)
    shapes = carried_shapes(forward) if here.too_large else array_shapes(here.arrays)
    elsewhere = array_shapes(there.arrays)
    return {name: _with_names(shape, forward.dims, others, elsewhere.get(name, ())) for name, shape in shapes.items()}


def array_shapes(arrays: Mapping[str, Array]) -> dict[str, Shape]:
    return {name: array.shape for name, array in arrays.items()}


class Size(int):
    """A size with the name of its dim; sums and products of sizes are plain numbers."""

    name: str

    @classmethod
    def of(cls, size: int, name: str) -> "Size":
        this_size = cls(size)
        this_size.name = name
        return this_size


def _with_names(shape: Shape, dims: Mapping[str, int], others: Mapping[str, int], there: Shape) -> Shape:
    if len(there) != len(shape):
        return shape
    known = {(dims[name], others[name]): name for name in dims}
    pairs = list(zip(shape, there, strict=True))
    return tuple(Size.of(pair[0], known[pair]) if pair in known else pair[0] for pair in pairs)


def read_program(forward: ForwardSource, dims: Mapping[str, int]) -> LineReader:
    """The reader after *forward* has run on sizes *dims*, with the dims and every tensor that can be read in scope.

    It remembers whether there was a tensor of more than `LARGEST_TENSOR` entries, which is not read.
    """
    arrays, is_whole = _drawn_inputs(forward.inputs, dims)
    budget = EntryBudget(data_sizes=False, largest=LARGEST_TENSOR, total=PROGRAM_ENTRIES)
    reader = LineReader({**dims, **arrays}, budget=budget, statements=PROGRAM_STATEMENTS)
    reader.too_large = not is_whole
    if is_whole:
        reader.read(statements_of(forward.source))
    return reader


def read_small(forward: ForwardSource, shift: int) -> tuple[dict[str, int], LineReader]:
    """Sizes for *shift*, see `hidden_dims`, on which no tensor is large, and the reader after *forward* on them."""
    readers: dict[tuple[int, ...], LineReader] = {}

    def fits(dims: Mapping[str, int]) -> bool:
        reader = readers[tuple(dims.values())] = read_program(forward, dims)
        return small_together(dims) and not reader.too_large

    dims = hidden_dims(forward, shift, fits=fits)
    return dims, readers.get(tuple(dims.values())) or read_program(forward, dims)


def carried_shapes(forward: ForwardSource) -> dict[str, Shape]:
    """Shapes on sizes that are too large to be read on, by what becomes of the dims on two smaller sets."""
    smaller = [read_small(forward, shift) for shift in (0, 1)]
    first, second = (array_shapes(reader.arrays) for _, reader in smaller)
    known = {sizes[1:]: sizes[0] for sizes in size_words((forward.dims, *(dims for dims, _ in smaller)))}
    shapes = {}
    for name in (name for name in first if name in second):
        pairs = list(zip(first[name], second[name], strict=False))
        sizes = [pair[0] if pair[0] == pair[1] else known.get(pair) for pair in pairs]
        if len(first[name]) == len(second[name]) and None not in sizes:
            shapes[name] = tuple(size for size in sizes if size is not None)
    return shapes


def fits_memory(forward: ForwardSource, dims: Mapping[str, int]) -> bool:
    """True if the largest tensor that *forward* makes on sizes *dims* is small enough, and all of them together are.

    Where a part of the program cannot be told, a tensor that has every one of *dims* has to be small enough as well.
    """
    try:
        sizes = [prod(shape_of(tensor_input, dims)) for tensor_input in forward.inputs]
    except ValueError:
        return small_together(dims)
    if max(sizes, default=0) > LARGEST_TENSOR:
        return False
    arrays, _ = _drawn_inputs(forward.inputs, dims)
    budget = EntryBudget(data_sizes=False, largest=ON_THE_WAY)
    reader = LineReader({**dims, **arrays}, budget=budget, statements=PROGRAM_STATEMENTS)
    for statement in statements_of(forward.source):
        parts: KnownNodes = {}
        try:
            reader.run([statement], parts)
        except UntracedError as error:
            if isinstance(error.__cause__, CostError) and not isinstance(error.__cause__, DataSizeError):
                return False
            reader.forget_written(statement)
        if max((node.value.size for node in parts.values()), default=0) > LARGEST_TENSOR:
            return False
    known = all(name in reader.arrays for name in forward.outputs)
    return sum(array.size for array in reader.arrays.values()) <= ALTOGETHER and (known or small_together(dims))


def _drawn_inputs(inputs: Sequence[SourceInput], dims: Mapping[str, int]) -> tuple[dict[str, Array], bool]:
    """The inputs that have a shape on *dims*, and whether none of them is too large."""
    numbers, arrays, is_whole = np.random.default_rng(0), dict[str, Array](), True
    for tensor_input in inputs:
        with suppress(ValueError):
            shape = shape_of(tensor_input, dims)
            if prod(shape) > LARGEST_TENSOR:
                is_whole = False
            elif tensor_input.is_mask:
                arrays[tensor_input.name] = np.ones(shape, dtype=bool)
            elif not tensor_input.real:
                arrays[tensor_input.name] = np.zeros(shape, dtype=np.int64)
            else:
                arrays[tensor_input.name] = np.asarray(numbers.random(shape) + 0.5)
    return arrays, is_whole
