"""Operations that are linear in each operand, beyond the matrix product: value and vector-Jacobian product in numpy.

`einsum`, `conv1d` to `conv3d`, `cumsum`, `stack`, `flip`, `roll`, `diagonal` and `where`.
"""

from collections.abc import Callable, Mapping
from itertools import product

import numpy as np

from app.grading.diagnosis.evidence import Array
from app.grading.diagnosis.rules import Axes, Node, reduce_to


def einsum(subscripts: str, *operands: Array) -> Array:
    return np.asarray(np.einsum(subscripts, *operands))


def einsum_vjp(node: Node, position: int, g: Array) -> Array:
    inputs, output = node.options["subscripts"].replace(" ", "").split("->")
    letters = inputs.split(",")
    mine, x = letters[position], node.operands[position].value
    others = [at for at in range(len(letters)) if at != position]
    known = set(output).union(*(letters[at] for at in others))
    # An index that stands in this operand alone was summed away: its share is the same all along it.
    reached = "".join(letter for letter in mine if letter in known)
    parts = [output, *(letters[at] for at in others)]
    share = np.einsum(f"{','.join(parts)}->{reached}", g, *(node.operands[at].value for at in others))
    shape = [size if letter in known else 1 for letter, size in zip(mine, x.shape, strict=True)]
    return np.broadcast_to(share.reshape(shape), x.shape)


def convolution(x: Array, kernel: Array, stride: Axes, padding: Axes) -> Array:
    """Of *x* [batch, in, *places] with *kernel* [out, in, *places]; as torch has it, nothing is flipped."""
    rank = kernel.ndim - 2
    windows = _windows(x, kernel.shape[2:], stride, padding)
    places = list(range(2 + rank, 2 + 2 * rank))
    return np.moveaxis(np.tensordot(windows, kernel, ([1, *places], [1, *range(2, 2 + rank)])), -1, 1)


def _windows(x: Array, sizes: Axes, stride: Axes, padding: Axes) -> Array:
    """Every window of *x*: [batch, in, *positions, *places in the window]."""
    rank = len(sizes)
    padded = np.pad(x, ((0, 0), (0, 0), *((each, each) for each in padding)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, sizes, tuple(range(2, 2 + rank)))
    return windows[(slice(None), slice(None), *(slice(None, None, each) for each in stride))]


def convolution_vjp(node: Node, position: int, g: Array) -> Array:
    x, kernel = (operand.value for operand in node.operands[:2])
    stride, padding = node.options["stride"], node.options["padding"]
    rank = kernel.ndim - 2
    spread = tuple(range(2, 2 + rank))
    if position == 1:
        windows = _windows(x, kernel.shape[2:], stride, padding)
        return np.tensordot(g, windows, ([0, *spread], [0, *spread]))
    if position > 1:
        return np.asarray(g.sum((0, *spread)))
    full = np.zeros((*x.shape[:2], *(size + 2 * pad for size, pad in zip(x.shape[2:], padding, strict=True))))
    for place in product(*(range(size) for size in kernel.shape[2:])):
        reach = [
            slice(at, at + step * (size - 1) + 1, step)
            for at, step, size in zip(place, stride, g.shape[2:], strict=True)
        ]
        weights = kernel.reshape(*kernel.shape[:2], -1)[:, :, np.ravel_multi_index(place, kernel.shape[2:])]
        share = np.tensordot(g, weights, ([1], [0]))
        full[(slice(None), slice(None), *reach)] += np.moveaxis(share, -1, 1)
    inner = [slice(pad, pad + size) for pad, size in zip(padding, x.shape[2:], strict=True)]
    return full[(slice(None), slice(None), *inner)]


def total_so_far(x: Array, axis: int, backwards: bool = False) -> Array:
    return np.flip(np.flip(x, axis).cumsum(axis), axis) if backwards else x.cumsum(axis)


def diagonal_vjp(node: Node, _position: int, g: Array) -> Array:
    full = np.zeros(node.operands[0].value.shape)
    rows = np.arange(g.shape[-1])
    full[rows, rows] = g
    return full


def where_vjp(node: Node, position: int, g: Array) -> Array:
    mask = node.options["mask"]
    return reduce_to(np.where(mask if position == 0 else ~mask, g, 0.0), node.operands[position].value.shape)


def extreme_of_two_vjp(node: Node, position: int, g: Array) -> Array:
    mine, other = node.operands[position].value, node.operands[1 - position].value
    wins = mine > other if node.op == "maximum" else mine < other
    return np.asarray(g * (wins + 0.5 * (mine == other)))


LINEAR_VJPS: Mapping[str, Callable[[Node, int, Array], Array]] = {
    "einsum": einsum_vjp,
    "conv": convolution_vjp,
    "cumsum": lambda node, _position, g: total_so_far(g, node.options["axis"], backwards=True),
    "stack": lambda node, position, g: g.take(position, node.options["axis"]),
    "flip": lambda node, _position, g: np.flip(g, node.options["axes"]),
    "roll": lambda node, _position, g: np.roll(g, [-each for each in node.options["shifts"]], node.options["axes"]),
    "diagonal": diagonal_vjp,
    "where": where_vjp,
    "maximum": extreme_of_two_vjp,
    "minimum": extreme_of_two_vjp,
}
