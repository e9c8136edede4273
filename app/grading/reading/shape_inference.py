"""Shapes of a forward program's tensors, read from its source alone: quizzes need no jail and no torch.

What is not on the reader's list is left out, and so is a shape that depends on the numbers; nothing is guessed, and
nothing is raised.
"""

import ast
from collections.abc import Mapping
from contextlib import suppress
from math import prod
from typing import Any

from app.content.blocks import INDICES, MASKS, Forward, Input
from app.content.program.programs import parse_program
from app.grading.forward.data import LARGEST_TENSOR, hidden_dims, shape_of, small_together
from app.grading.forward.facts import Shape
from app.grading.reading.abstract import Abstract, Kind
from app.grading.reading.shape_reader import ShapeReader

ALTOGETHER = 2_000_000
"""Entries of all tensors of a program on one set of sizes: a run may send back a few sets of so many."""
STEPS = 100_000
"""Parts of a program that are looked at: a loop of an author's is written out."""


def infer_shapes(forward: Forward) -> dict[str, Shape]:
    """Shapes by name of the inputs and of every intermediate that can be told from the source.

    A size that is the one of a dim, here and wherever the dims are others, remembers which: see `sizes.name_of`.
    """
    others = hidden_dims(forward, 0)
    here, there = (_shapes(forward, dims) for dims in (forward.dims, others))
    return {name: _with_names(shape, forward.dims, others, there.get(name, ())) for name, shape in here.items()}


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


def _shapes(forward: Forward, dims: Mapping[str, int]) -> dict[str, Shape]:
    return {name: value.shape for name, value in scope_on(forward, dims).items() if isinstance(value, Abstract)}


def scope_on(forward: Forward, dims: Mapping[str, int]) -> dict[str, Any]:
    """Scope after *forward* has run on sizes *dims*: the dims, and every tensor that can be inferred."""
    reader = ShapeReader({**dims, **_inputs(forward.inputs, dims)}, steps=STEPS)
    tree = parse_program(forward.source)
    reader.run(tree.body if isinstance(tree, ast.Module) else ())
    return reader.scope


def fits_memory(forward: Forward, dims: Mapping[str, int]) -> bool:
    """True if the largest tensor that *forward* makes on sizes *dims* is small enough, and all of them together are.

    Where a part of the program cannot be told, a tensor that has every one of *dims* has to be small enough as well.
    """
    try:
        inputs = _inputs(forward.inputs, dims)
        reader = _Measuring({**dims, **inputs}, steps=STEPS)
        tree = parse_program(forward.source)
        reader.run(tree.body if isinstance(tree, ast.Module) else ())
    except ValueError:
        return small_together(dims)
    sizes = [prod(value.shape) for value in reader.scope.values() if isinstance(value, Abstract)]
    known = all(isinstance(reader.scope.get(name), Abstract) for name in forward.outputs)
    largest = max([reader.largest, *sizes])
    return largest <= LARGEST_TENSOR and sum(sizes) <= ALTOGETHER and (known or small_together(dims))


class _Measuring(ShapeReader):
    """Knows the *largest* tensor that any part of a program makes."""

    largest = 0

    def value(self, expr: ast.expr) -> Any:
        value = super().value(expr)
        if isinstance(value, Abstract):
            self.largest = max(self.largest, prod(value.shape))
        return value


def _inputs(inputs: tuple[Input, ...], dims: Mapping[str, int]) -> dict[str, Abstract]:
    found = {}
    for tensor_input in inputs:
        with suppress(ValueError):
            kind: Kind = (
                "b" if tensor_input.distribution in MASKS else "i" if tensor_input.distribution in INDICES else "f"
            )
            found[tensor_input.name] = Abstract(shape_of(tensor_input, dims), kind)
    return found
