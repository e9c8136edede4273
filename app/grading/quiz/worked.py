"""A forward program worked out on random numbers, for quizzes that ask for a rule: shapes alone can deceive.

The program is read and never executed. Where it cannot be read, quizzes are left with the shapes.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TypeVar

import numpy as np

from app.content.blocks import Forward
from app.grading.forward.data import Array, draw_inputs, draw_upstream, hidden_dims
from app.grading.reading.node import UntracedError
from app.grading.reading.walk import pull_back, trace_program, values_of

Numbers = Mapping[str, Array]
_SEED = "quiz"
_KEPT = 128
_LOOKS = 3
T = TypeVar("T")


def evaluate_on_random_data(forward: Forward | None) -> Numbers | None:
    """By name, tensors and gradients of *forward* (`W`, `dW`) on sizes that are all different, where they can be.

    The same program gives the same numbers. None where it cannot be read.
    """
    return None if forward is None else _evaluate(_Text.of(forward))


def gradient_slices(forward: Forward, source: str, target: str) -> Sequence[Sequence[Array]] | None:
    """By axis of the tensor *source*: the gradient of *target* when one comes to a single place of the axis.

    Returns:
        For the first places of every axis the gradient of *target*, a single 0 where none arrives. None where the
        program cannot be read.
    """
    return _slices(_Text.of(forward), source, target)


@dataclass(frozen=True, slots=True)
class _Text:
    """A program, the same as another one with the same *content*."""

    content: str
    forward: Forward = field(compare=False)

    @classmethod
    def of(cls, forward: Forward) -> "_Text":
        sizes = (forward.dims, forward.related, forward.hidden)
        return cls(repr((forward.source, forward.inputs, forward.outputs, sizes)), forward)


@lru_cache(maxsize=_KEPT)
def _evaluate(text: _Text) -> Numbers | None:
    def numbers_of(program: Forward, point: Mapping[str, object]) -> Numbers:
        walk = trace_program(program, point)
        return {**walk.values, **{f"d{name}": np.asarray(gradient) for name, gradient in walk.gradients.items()}}

    return _first(text.forward, numbers_of)


@lru_cache(maxsize=_KEPT)
def _slices(text: _Text, source: str, target: str) -> Sequence[Sequence[Array]] | None:
    def slices_of(program: Forward, point: Mapping[str, object]) -> list[list[Array]]:
        shape = values_of(program, point)[source].shape
        whole = draw_upstream(shape, _SEED, source, "float64")
        places = [[_only(whole, axis, at) for at in range(min(size, _LOOKS))] for axis, size in enumerate(shape)]
        none = np.zeros(())
        return [[item.get(target, none) for item in pull_back(program, point, source, each)] for each in places]

    return _first(text.forward, slices_of)


def _only(whole: Array, axis: int, at: int) -> Array:
    kept = np.zeros_like(whole)
    np.moveaxis(kept, axis, 0)[at] = np.moveaxis(whole, axis, 0)[at]
    return kept


def _first(forward: Forward, solve: Callable[[Forward, Mapping[str, object]], T]) -> T | None:
    """Result of *solve* on the first sizes on which *forward* can be read."""
    for related in (False, True, None):
        try:
            dims = forward.dims if related is None else hidden_dims(forward, 0, related=related)
            program = replace(forward, dims=dims)
            point: dict[str, object] = dict(draw_inputs(program, dims, _SEED, "float64"))
            values = values_of(program, point)
            point |= {f"d{name}": draw_upstream(values[name].shape, _SEED, name, "float64") for name in forward.outputs}
            return solve(program, point)
        except (UntracedError, ValueError, KeyError):
            continue
    return None


def is_equal(got: Array, wanted: Array) -> bool:
    """True if two arrays are equal, up to rounding and to axes of a single entry."""
    same = [size for size in got.shape if size != 1] == [size for size in wanted.shape if size != 1]
    return same and bool(np.allclose(got.reshape(wanted.shape), wanted))
