"""Shapes of a forward program's tensors, read from its source alone: quizzes need no jail and no torch.

The program is read on numbers that are made up. What is not on the reader's list is left out, and so is a shape that
depends on the numbers; nothing is guessed, and nothing is raised.
"""

import ast
import warnings
from collections.abc import Iterator, Mapping
from contextlib import suppress

import numpy as np

from app.content.blocks import MASKS, Forward
from app.content.programs import parsed, targets
from app.grading.forward.data import hidden_dims, shape_of
from app.grading.forward.facts import Shape
from app.grading.reading.budget import Budget
from app.grading.reading.interpreter import Interpreter
from app.grading.reading.node import Array, UntracedError

LARGEST = 2**26
"""Entries of one array, or steps to it in sixteens: more than a run of the program may use."""


def infer(forward: Forward) -> dict[str, Shape]:
    """Shapes by name of the inputs and of every intermediate that can be told from the source.

    A size that is the one of a dim, here and wherever the dims are others, remembers which: see `sizes.name_of`.
    """
    here, again = (_shapes(forward, forward.dims, whole) for whole in (0, -1))
    others = hidden_dims(forward, 0)
    there = _shapes(forward, others, 0)
    return {
        name: _with_names(shape, forward.dims, others, there.get(name, ()))
        for name, shape in here.items()
        if again.get(name) == shape
    }


class Size(int):
    """A size with the name of its dim; sums and products of sizes are plain numbers."""

    name: str

    @classmethod
    def of(cls, size: int, name: str) -> "Size":
        one = cls(size)
        one.name = name
        return one


def _with_names(shape: Shape, dims: Mapping[str, int], others: Mapping[str, int], there: Shape) -> Shape:
    if len(there) != len(shape):
        return shape
    known = {(dims[name], others[name]): name for name in dims}
    pairs = list(zip(shape, there, strict=True))
    return tuple(Size.of(pair[0], known[pair]) if pair in known else pair[0] for pair in pairs)


def _shapes(forward: Forward, dims: Mapping[str, int], whole: int) -> dict[str, Shape]:
    """The shapes on sizes *dims*, where every whole number in an input is *whole*."""
    now = Interpreter(_inputs(forward, dims, whole), dims, Budget(masks=False, largest=LARGEST))
    tree = parsed(forward.source)
    with warnings.catch_warnings():
        # Numpy warns of an average of nothing, where torch does not.
        warnings.simplefilter("ignore")
        for statement in tree.body if isinstance(tree, ast.Module) else ():
            for one in _apart(statement):
                with suppress(UntracedError):
                    now.run([one])
    return {name: array.shape for name, array in now.arrays.items()}


def _inputs(forward: Forward, dims: Mapping[str, int], whole: int) -> dict[str, Array]:
    arrays = {}
    for one in forward.inputs:
        with suppress(ValueError):
            fill = np.float64(1.0) if one.real else np.bool_(whole) if one.distribution in MASKS else np.int64(whole)
            arrays[one.name] = np.broadcast_to(fill, shape_of(one, dims))
    return arrays


def _apart(statement: ast.stmt) -> Iterator[ast.stmt]:
    """*statement* with one target each, so that a function of several outputs is read once for each."""
    if not isinstance(statement, ast.Assign) or (names := targets(statement)) is None:
        return
    if isinstance(statement.targets[0], ast.Name) or isinstance(statement.value, ast.Tuple):
        yield statement
        return
    for rank, name in enumerate(names):
        part = ast.Subscript(statement.value, ast.Constant(rank), ast.Load())
        yield ast.Assign([ast.Name(name, ast.Store())], part)
