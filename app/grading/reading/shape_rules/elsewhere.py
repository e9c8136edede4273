"""Operations that put the entries of a tensor elsewhere: views, copies along axes, diagonals, sums to a shape."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from app.grading.reading.abstract import (
    Abstract,
    CollisionError,
    UnknownError,
    axes,
    axis,
    fits_into,
    picked,
    refilled,
    size,
    sizes,
    tensor,
    whole,
    wholes,
)
from app.grading.reading.shape_rules.entries import Rule, named


def _reshape(x: Any, *shape: Any, how: str = "reshape") -> Any:
    wanted = shape[0] if len(shape) == 1 and isinstance(shape[0], list | tuple) else shape
    return replace(refilled(tensor(x), wanted, how=how), dense=tensor(x).dense)


def _view(x: Any, *shape: Any) -> Any:
    if not tensor(x).dense:  # torch may refuse it
        raise UnknownError
    return _reshape(x, *shape, how="view")


def _view_as(x: Any, other: Any) -> Any:
    return _view(x, tensor(other).shape)


def _flatten(x: Any, start_dim: Any = 0, end_dim: Any = -1) -> Any:
    x = tensor(x)
    start, end = axis(start_dim, x.rank), axis(end_dim, x.rank)
    if start > end:
        raise UnknownError
    return x.reshaped((*x.shape[:start], math.prod(x.shape[start : end + 1]), *x.shape[end + 1 :]))


def _unflatten(x: Any, dim: Any, sizes: Any) -> Any:
    x, at = tensor(x), axis(dim, tensor(x).rank)
    inner = refilled(Abstract(x.shape[at : at + 1]), wholes(sizes), how="unflatten").shape
    return x.reshaped((*x.shape[:at], *inner, *x.shape[at + 1 :]))


def unsqueeze(x: Any, dim: Any) -> Any:
    x = tensor(x)
    at = axis(dim, x.rank + 1)
    return x.reshaped((*x.shape[:at], 1, *x.shape[at:]))


def _squeeze(x: Any, dim: Any = None) -> Any:
    x = tensor(x)
    gone = frozenset(range(x.rank)) if dim is None else axes(dim, x.rank)
    return x.reshaped([one for at, one in enumerate(x.shape) if one != 1 or at not in gone])


def _permute(x: Any, *order: Any) -> Any:
    x = tensor(x)
    found = [axis(one, x.rank) for one in wholes(order[0] if len(order) == 1 else order)]
    if sorted(found) != list(range(x.rank)):
        raise UnknownError
    return x.reshaped([x.shape[at] for at in found], dense=found == sorted(found))


def _transpose(x: Any, dim0: Any, dim1: Any) -> Any:
    x = tensor(x)
    order = list(range(max(x.rank, 1)))
    one, other = axis(dim0, x.rank), axis(dim1, x.rank)
    order[one], order[other] = order[other], order[one]
    return _permute(x, order) if x.rank else x


def _moved(x: Any, source: Any, destination: Any) -> Any:
    x = tensor(x)
    here, there = ([axis(one, x.rank) for one in wholes(part)] for part in (source, destination))
    if len(set(here)) != len(set(there)) or len(here) != len(there):
        raise UnknownError
    rest = iter([at for at in range(x.rank) if at not in here])
    to = dict(zip(there, here, strict=True))
    return _permute(x, [to[at] if at in to else next(rest) for at in range(x.rank)])


def _turned(x: Any) -> Any:
    """`.t()`."""
    if tensor(x).rank > 2:
        raise UnknownError
    return reversed_axes(tensor(x))


def reversed_axes(x: Abstract) -> Abstract:
    return x.reshaped(x.shape[::-1], dense=x.dense and x.rank < 2)


def swapped_last(x: Any) -> Any:
    x = tensor(x)
    if x.rank < 2:
        raise UnknownError
    return x.reshaped((*x.shape[:-2], x.shape[-1], x.shape[-2]), dense=False)


def _expand(x: Any, *shape: Any) -> Any:
    x, wanted = tensor(x), wholes(shape[0] if len(shape) == 1 else shape)
    added = len(wanted) - x.rank
    if added < 0 or -1 in wanted[:added]:
        raise UnknownError
    full = tuple(here if there == -1 else there for here, there in zip((1,) * added + x.shape, wanted, strict=True))
    for at, (here, there) in enumerate(zip(x.shape, full[added:], strict=True)):
        if here not in (1, there):
            raise CollisionError(x.shape, full, (at, at + added), "expand")
    return x.reshaped(full, dense=False)


def _expand_as(x: Any, other: Any) -> Any:
    return _expand(x, tensor(other).shape)


def _repeat(x: Any, *times: Any) -> Any:
    x, wanted = tensor(x), sizes(times)
    if len(wanted) < x.rank:
        raise UnknownError
    full = (1,) * (len(wanted) - x.rank) + x.shape
    return x.reshaped([one * more for one, more in zip(full, wanted, strict=True)], dense=True)


def _tile(x: Any, *times: Any) -> Any:
    wanted = sizes(times)
    return _repeat(x, *(1,) * (tensor(x).rank - len(wanted)), *wanted)


def _repeat_each(x: Any, repeats: Any, dim: Any = None) -> Any:
    x = tensor(x) if dim is not None else _flatten(x)
    at = axis(0 if dim is None else dim, x.rank)
    if not x.rank:
        raise UnknownError
    return x.reshaped((*x.shape[:at], x.shape[at] * size(repeats), *x.shape[at + 1 :]))


def _flip(x: Any, *dims: Any) -> Any:
    axes(dims[0] if len(dims) == 1 else dims, tensor(x).rank)
    return tensor(x)


def _rotated(x: Any, k: Any = 1, dims: Any = (0, 1)) -> Any:
    return _transpose(x, *wholes(dims)) if whole(k) % 2 else tensor(x)


def _narrow(x: Any, dim: Any, start: Any, length: Any) -> Any:
    x, at = tensor(x), axis(dim, tensor(x).rank)
    if not x.rank or not 0 <= whole(start) <= x.shape[at] - size(length):
        raise UnknownError
    return x.reshaped((*x.shape[:at], size(length), *x.shape[at + 1 :]), dense=False)


def select(x: Any, dim: Any, index: Any) -> Any:
    x = tensor(x)
    return picked(x, (*(slice(None),) * axis(dim, x.rank), whole(index)))


def _diagonal(x: Any, offset: Any = 0, dim1: Any = 0, dim2: Any = 1) -> Any:
    x = tensor(x)
    one, other = axis(dim1, x.rank), axis(dim2, x.rank)
    if one == other:
        raise UnknownError
    long = min(x.shape[one] + min(whole(offset), 0), x.shape[other] - max(whole(offset), 0))
    return x.reshaped([*(here for at, here in enumerate(x.shape) if at not in (one, other)), max(long, 0)], dense=False)


def _diag(x: Any, diagonal: Any = 0) -> Any:
    x = tensor(x)
    if x.rank == 1:
        long = x.shape[0] + abs(whole(diagonal))
        return x.reshaped((long, long))
    if x.rank == 2:
        return _diagonal(x, diagonal)
    raise UnknownError


def _diag_embed(x: Any, offset: Any = 0) -> Any:
    x = tensor(x)
    if not x.rank:
        raise UnknownError
    long = x.shape[-1] + abs(whole(offset))
    return x.reshaped((*x.shape[:-1], long, long), dense=False)


def _unfold(x: Any, dimension: Any, size: Any, step: Any) -> Any:
    x, at = tensor(x), axis(dimension, tensor(x).rank)
    if not x.rank or not 0 < whole(size) <= x.shape[at] or whole(step) < 1:
        raise UnknownError
    return x.reshaped((*x.shape[:at], (x.shape[at] - size) // step + 1, *x.shape[at + 1 :], size), dense=False)


def _pad(x: Any, pad: Any, mode: Any = "constant", value: Any = None) -> Any:
    x, added = tensor(x), wholes(pad)
    if len(added) % 2 or len(added) > 2 * x.rank:
        raise UnknownError
    more = {x.rank - 1 - at // 2: added[at] + added[at + 1] for at in range(0, len(added), 2)}
    return x.reshaped([size(one + more.get(at, 0)) for at, one in enumerate(x.shape)], dense=False)


def at_least(rank: int) -> Rule:
    def rule(x: Any) -> Any:
        x = tensor(x)
        added = {
            (0, 2): (1, 1),
            (0, 3): (1, 1, 1),
            (1, 2): (1, *x.shape),
            (1, 3): (1, *x.shape, 1),
            (2, 3): (*x.shape, 1),
        }
        return x.reshaped(added.get((x.rank, rank), x.shape or (1,)))

    return rule


def _summed_to(x: Any, *shape: Any) -> Any:
    x, wanted = tensor(x), sizes(shape)
    if len(wanted) > x.rank:
        raise UnknownError
    fits_into(wanted, x.shape, "sum_to_size")
    return x.reshaped(wanted, dense=False)


RULES: Mapping[str, Rule] = {
    "reshape": _reshape,
    "view": _view,
    "view_as": _view_as,
    "reshape_as": lambda x, other: _reshape(x, tensor(other).shape),
    "flatten": _flatten,
    "ravel": _flatten,
    "unflatten": _unflatten,
    "unsqueeze": unsqueeze,
    "squeeze": _squeeze,
    "permute": _permute,
    **named("transpose swapaxes swapdims", _transpose),
    **named("movedim moveaxis", _moved),
    "t": _turned,
    "adjoint": swapped_last,
    "expand": _expand,
    "broadcast_to": _expand,
    "expand_as": _expand_as,
    "repeat": _repeat,
    "tile": _tile,
    "repeat_interleave": _repeat_each,
    "flip": _flip,
    "rot90": _rotated,
    "narrow": _narrow,
    "select": select,
    "diagonal": _diagonal,
    "diag": _diag,
    "diagflat": lambda x, offset=0: _diag(_flatten(x), offset),
    "diag_embed": _diag_embed,
    "unfold": _unfold,
    "pad": _pad,
    **{f"atleast_{rank}d": at_least(rank) for rank in (1, 2, 3)},
    "sum_to_size": _summed_to,
}
