"""Numpy that operations, their rules and their readers share."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Axes = tuple[int, ...]
Act = Callable[..., Array]


def softmax(x: Array, axes: Axes | int) -> Array:
    powers = np.exp(x - x.max(axis=axes, keepdims=True))
    return np.asarray(powers / powers.sum(axis=axes, keepdims=True))


def sigmoid(x: Array) -> Array:
    return np.asarray(0.5 * (1.0 + np.tanh(0.5 * x)))


def magnitude(x: Array) -> float:
    """The largest of its entries without their signs; 0 where there is none."""
    return float(np.abs(x).max(initial=0.0))


def swapped(matrix: Array) -> Array:
    """The transpose of the last two axes."""
    return np.swapaxes(matrix, -1, -2) if matrix.ndim > 1 else matrix


def erf(x: Array) -> Array:
    return np.asarray(np.frompyfunc(math.erf, 1, 1)(x), dtype=np.float64)


def one_hot(labels: Array, classes: int) -> Array:
    return np.asarray(labels[..., None] == np.arange(classes), dtype=np.float64)


def standardise(x: Array, axes: Axes, eps: float) -> tuple[Array, Array]:
    """The input of a layer norm with mean 0 and variance 1, and the factor that made the variance 1."""
    factor = np.asarray((x.var(axis=axes, keepdims=True) + eps) ** -0.5)
    return (x - x.mean(axis=axes, keepdims=True)) * factor, factor


def sizes_of(sizes: Sequence[Any]) -> tuple[int, ...]:
    """The sizes of `f(2, 3)` or `f((2, 3))`."""
    return tuple(sizes[0]) if len(sizes) == 1 and isinstance(sizes[0], tuple | list) else tuple(sizes)


def gather_index(dim: int, index: Array) -> tuple[Any, ...]:
    """The index of `x.gather(dim, index)`, as numpy has it."""
    places: list[Any] = list(np.indices(index.shape, sparse=True))
    places[dim] = index
    return tuple(places)
