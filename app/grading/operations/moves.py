"""Operations that put entries of their first argument elsewhere, copy them or leave them out.

Going back needs no rule of its own: each entry of the upstream gradient goes to where its copy came from.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from app.grading.operations.collisions import check_axes, refilled_shape
from app.grading.operations.costs import entry_count, of_first, repeated_entries
from app.grading.operations.numerics import Array, sizes_of, swapped
from app.grading.operations.row import Cost, Operation, OperationExercise

VIEWS, PICKS = "views", "picks"
BACK = "What was moved is moved back"
WINDOWED = (
    "Each weight of the kernel meets every window and gets the sum over them; an entry gets a share from each window "
    "that it stands in."
)
AFTER_FIRST = slice(1, None)


def _move(
    name: str,
    value: Callable[..., Array],
    *,
    also: str = "",
    known_as: str = "",
    cost: Callable[..., int | Cost] = of_first,
    sizes: slice | None = None,
    group: str = "",
    exercises: tuple[OperationExercise, ...] = (),
) -> Operation:
    return Operation(
        name, "move", value, also=also, known_as=known_as, cost=cost, sizes=sizes, group=group,
        exercises=exercises,
    )  # fmt: skip


def _reshaped(x: Array, *sizes: Any) -> Array:
    return x.reshape(refilled_shape(x.shape, sizes_of(sizes), "reshape"))


def _viewed(x: Array, *sizes: Any) -> Array:
    # Like torch, and unlike `reshape`, it copies nothing.
    return x.reshape(refilled_shape(x.shape, sizes_of(sizes), "view"), copy=False)


def _flattened(x: Array, start_dim: int = 0, end_dim: int = -1) -> Array:
    start, end = start_dim % max(x.ndim, 1), end_dim % max(x.ndim, 1)
    if start > end:
        raise ValueError("the axes are the wrong way round")
    return x.reshape(*x.shape[:start], math.prod(x.shape[start : end + 1]), *x.shape[end + 1 :])


def _expanded(x: Array, *sizes: Any) -> Array:
    wanted = sizes_of(sizes)
    # A new axis has no size that -1 could leave as it is.
    added = len(wanted) - x.ndim
    full = (*wanted[:added], *map(_own_size, x.shape, wanted[added:]))
    if min(full, default=0) >= 0:
        for axis, size in enumerate(x.shape):
            if size != 1:
                check_axes(x.shape, full, (axis, axis + added), "expand")
    return np.broadcast_to(x, full)


def _own_size(old: int, new: int) -> int:
    return old if new == -1 else new


def _expansion_cost(x: Any, *sizes: Any) -> int:
    return of_first(x) + entry_count(*sizes)


def _squeezed(x: Array, dim: Any = None) -> Array:
    axes = range(x.ndim) if dim is None else [axis % max(x.ndim, 1) for axis in np.atleast_1d(dim)]
    return x.squeeze(tuple(axis for axis in axes if x.ndim and x.shape[axis] == 1))


def _padded(x: Array, pad: Sequence[int], *_: Any, **__: Any) -> Array:
    pairs = [(pad[at], pad[at + 1]) for at in range(0, len(pad), 2)][::-1]
    return np.pad(x, [(0, 0)] * (x.ndim - len(pairs)) + pairs)


def _padding_cost(x: Any, pad: Sequence[int], *_: Any, **__: Any) -> int:
    added = [0] * (np.ndim(x) - len(pad) // 2) + [abs(pad[at]) + abs(pad[at + 1]) for at in range(0, len(pad), 2)][::-1]
    return entry_count([size + more for size, more in zip(np.shape(x), added, strict=True)])


def _unfolded(x: Array, dim: int, size: int, step: int) -> Array:
    windows = np.lib.stride_tricks.sliding_window_view(x, size, dim)
    return windows[tuple(slice(None, None, step) if at == dim % x.ndim else slice(None) for at in range(windows.ndim))]


def _unflattened(x: Array, dim: int, sizes: Sequence[int]) -> Array:
    axis = dim % x.ndim
    inner = refilled_shape(x.shape[axis : axis + 1], sizes, "unflatten")
    return x.reshape(*x.shape[:axis], *inner, *x.shape[axis + 1 :])


def _pixel_unshuffled(x: Array, factor: int) -> Array:
    *before, height, width = x.shape
    apart = x.reshape(*before, height // factor, factor, width // factor, factor)
    places = np.moveaxis(apart, (-3, -1), (-4, -3))
    return places.reshape(*before[:-1], before[-1] * factor**2, height // factor, width // factor)


def _diagonal(x: Array) -> Array:
    if x.ndim != 2:
        raise ValueError("a diagonal of more than a matrix")
    return np.diagonal(x)


def _spread_on_diagonal(x: Array) -> Array:
    full = np.zeros((*x.shape, x.shape[-1]))
    full[..., np.arange(x.shape[-1]), np.arange(x.shape[-1])] = x
    return full


MOVES = (
    _move(
        "T", np.transpose, known_as="permute", group=VIEWS,
        exercises=(OperationExercise(
            name="transpose", family="layout", points=1, forward="{0}.T", back=("g.T",), shapes=("a b -> b a",),
            gives="=", principle=BACK + ".", undoes="transpose", slips="transposed",
        ),),
    ),
    _move("t", np.transpose, known_as="permute", group=VIEWS),
    _move("mT", swapped, also="adjoint", known_as="permute", group=VIEWS),
    _move("H", swapped),
    _move(
        "transpose", np.swapaxes, also="swapaxes swapdims", known_as="permute", group=VIEWS,
        exercises=(OperationExercise(
            name="swap-axes", family="layout", points=2, level=2, forward="{0}.transpose(1, 2)",
            back=("g.transpose(1, 2)",), shapes=("a b c -> a c b",), gives="=", weight=3, undoes="swap-axes",
            principle=BACK + ": the same two axes change places again.",
        ),),
    ),
    _move(
        "permute", lambda x, *order: x.transpose(sizes_of(order)), group=VIEWS,
        exercises=(OperationExercise(
            family="layout", points=3, level=2, forward="{0}.permute(2, 0, 1)", gives="=", weight=3,
            back=("g.permute(1, 2, 0)",), shapes=("a b c -> c a b",),
            principle=BACK + ": the inverse order of the axes undoes the order.",
        ),),
    ),
    _move("movedim", np.moveaxis, known_as="permute"),
    _move("moveaxis", np.moveaxis, known_as="permute"),
    _move(
        "reshape", _reshaped, sizes=AFTER_FIRST, group=VIEWS,
        exercises=(OperationExercise(
            family="layout", points=2, level=2, weight=3, forward="{0}.reshape({a}, {b} * {c})", gives="=",
            back=("g.reshape({a}, {b}, {c})",), shapes=("a b c -> a b*c",),
            principle="A reshape moves nothing in memory: the upstream gradient takes the old shape again.",
        ),),
    ),
    _move("view", _viewed, known_as="reshape", sizes=AFTER_FIRST, group=VIEWS),
    _move("view_as", lambda x, y: _viewed(x, y.shape), known_as="reshape"),
    _move("reshape_as", lambda x, y: _reshaped(x, y.shape), known_as="reshape"),
    _move("unsqueeze", lambda x, dim: np.expand_dims(x, dim), known_as="reshape", group=VIEWS),
    _move("squeeze", _squeezed, known_as="reshape", group=VIEWS),
    _move("flatten", _flattened, known_as="reshape", group=VIEWS),
    _move("ravel", np.ravel, known_as="reshape"),
    _move("unflatten", _unflattened, sizes=AFTER_FIRST),
    _move("expand", _expanded, cost=_expansion_cost, sizes=AFTER_FIRST, group=VIEWS),
    _move("expand_as", lambda x, y: _expanded(x, *y.shape), cost=lambda _x, y: of_first(y)),
    _move("broadcast_to", _expanded, cost=_expansion_cost, sizes=AFTER_FIRST),
    _move(
        "repeat", lambda x, *sizes: np.tile(x, sizes_of(sizes)), cost=repeated_entries, sizes=AFTER_FIRST, group=VIEWS
    ),
    _move("tile", lambda x, *sizes: np.tile(x, sizes_of(sizes)), cost=repeated_entries, sizes=AFTER_FIRST),
    _move(
        "repeat_interleave", lambda x, repeats, dim=None: np.repeat(x, repeats, dim), sizes=AFTER_FIRST,
        cost=lambda x, repeats, *_, **__: entry_count(x.shape) * entry_count(repeats),
    ),
    _move("flip", lambda x, *dims: np.flip(x, sizes_of(dims))),
    _move("roll", lambda x, shifts, dims=None: np.roll(x, shifts, dims)),
    _move("diagonal", _diagonal),
    _move("diag_embed", _spread_on_diagonal, cost=lambda x: of_first(x) * entry_count(x.shape[-1])),
    _move("diag", np.diag, cost=lambda x, *_: max(1, int(np.size(x))) ** (2 if np.ndim(x) == 1 else 1)),
    _move("tril", np.tril),
    _move("triu", np.triu),
    _move("pad", _padded, cost=_padding_cost, sizes=AFTER_FIRST),
    _move("pixel_unshuffle", _pixel_unshuffled),
    _move(
        "narrow", lambda x, dim, start, length: x[(*(slice(None),) * (dim % x.ndim), slice(start, start + length))],
        sizes=AFTER_FIRST,
    ),
    _move("select", lambda x, dim, index: x[(*(slice(None),) * (dim % x.ndim), index)]),
    _move(
        "unfold", _unfolded, cost=lambda x, _dim, size, _step: repeated_entries(x, size), sizes=AFTER_FIRST,
        exercises=(OperationExercise(
            name="convolution", family="convolution", points=6, level=3, weight=2,
            forward="{0}.unfold(1, 2, 1) @ {1}", shapes=("a b, 2 -> a b-1",), back=(
                "F.pad(g * z[0], (0, 1)) + F.pad(g * z[1], (1, 0))",
                "(g.unsqueeze(2) * z.unfold(1, 2, 1)).sum((0, 1))",
            ),
            principle=WINDOWED,
        ),),
    ),
    Operation(
        "cat", "join", np.concatenate, also="concat concatenate", takes="tensors dim", group=VIEWS,
        exercises=(OperationExercise(
            name="concat", family="layout", points=3, level=2, weight=2, forward="torch.cat([{0}, {1}], 1)",
            gives="signed", back=("g[:, :x.shape[1]]", "g[:, z.shape[1]:]"), shapes=("a b, a c -> a b+c",),
            principle="What was joined is cut apart again, at the same place.",
        ),),
    ),
    Operation("stack", "join", np.stack, takes="tensors dim", group=VIEWS),
    Operation("unbind", "cut", takes="input dim rank"),
    Operation("chunk", "cut", takes="input chunks dim rank"),
    Operation(
        "split", "cut", also="split_with_sizes", takes="input split_size_or_sections dim split_size size rank"
    ),
)  # fmt: skip
