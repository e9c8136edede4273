"""Parts of a tensor, what is put together of several, and picks by a table of places."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from app.grading.reading.abstract import (
    Abstract,
    CollisionError,
    UnknownError,
    axis,
    joint_kind,
    picked,
    size,
    spread,
    tensor,
    wholes,
)
from app.grading.reading.shape_rules.elsewhere import at_least, select, unsqueeze
from app.grading.reading.shape_rules.entries import Rule, length, named


def _cut(x: Any, sizes: Sequence[int], dim: Any) -> tuple[Abstract, ...]:
    x, at = tensor(x), axis(dim, tensor(x).rank)
    if not x.rank or len(sizes) > 200:
        raise UnknownError
    return tuple(x.reshaped((*x.shape[:at], one, *x.shape[at + 1 :]), dense=False) for one in sizes)


def _split(x: Any, split_size: Any, dim: Any = 0) -> Any:
    long = length(x, dim)
    if isinstance(split_size, list | tuple):
        if sum(wholes(split_size)) != long:
            raise UnknownError
        return _cut(x, wholes(split_size), dim)
    each = size(split_size)
    if not each or long > 200 * each:
        raise UnknownError
    return _cut(x, [min(each, long - start) for start in range(0, long, each)], dim)


def _chunk(x: Any, chunks: Any, dim: Any = 0) -> Any:
    if size(chunks) < 1:
        raise UnknownError
    return _split(x, max(1, -(-length(x, dim) // chunks)), dim)


def _tensor_split(x: Any, indices_or_sections: Any, dim: Any = 0) -> Any:
    long, count = length(x, dim), size(indices_or_sections)
    if not 1 <= count <= 200:
        raise UnknownError
    return _cut(x, [long // count + (at < long % count) for at in range(count)], dim)


def _unbind(x: Any, dim: Any = 0) -> Any:
    if length(x, dim) > 200:
        raise UnknownError
    return tuple(select(x, dim, at) for at in range(length(x, dim)))


def _tensors(parts: Any) -> list[Abstract]:
    if not isinstance(parts, list | tuple) or not parts:
        raise UnknownError
    return [tensor(one) for one in parts]


def _cat(tensors: Any, dim: Any = 0) -> Any:
    found = _tensors(tensors)
    first, at = found[0], axis(dim, found[0].rank)
    for one in found:
        if one.rank != first.rank or not one.rank:
            raise UnknownError
        for place, (here, there) in enumerate(zip(first.shape, one.shape, strict=True)):
            if here != there and place != at:
                raise CollisionError(first.shape, one.shape, (place, place), "cat")
    whole_ = sum(one.shape[at] for one in found)
    return Abstract((*first.shape[:at], whole_, *first.shape[at + 1 :]), joint_kind(*found))


def _stack(tensors: Any, dim: Any = 0) -> Any:
    found = _tensors(tensors)
    for one in found:
        if one.shape != found[0].shape:
            raise CollisionError(found[0].shape, one.shape, None, "stack")
    return _cat([unsqueeze(one, axis(dim, one.rank + 1)) for one in found], dim)


def _stacked_at(dim: int, least: int) -> Rule:
    """`hstack` and the like."""

    def rule(tensors: Any) -> Any:
        found = [at_least(least)(one) for one in _tensors(tensors)]
        return _cat(found, 0 if found[0].rank == 1 else dim)

    return rule


def _columns(tensors: Any) -> Any:
    return _cat([unsqueeze(one, 1) if one.rank == 1 else one for one in _tensors(tensors)], 1)


def _blocks(*tensors: Any) -> Any:
    found = [at_least(2)(one) for one in tensors]
    if any(one.rank != 2 for one in found):
        raise UnknownError
    return Abstract((sum(one.shape[0] for one in found), sum(one.shape[1] for one in found)), joint_kind(*found))


def _spread_all(*tensors: Any) -> Any:
    found = _tensors(tensors)
    return tuple(one.reshaped(spread(*(each.shape for each in found)), dense=False) for one in found)


def _grids(*tensors: Any, indexing: Any = "ij") -> Any:
    found = _tensors(tensors[0] if len(tensors) == 1 and isinstance(tensors[0], list | tuple) else tensors)
    if indexing != "ij" or any(one.rank > 1 for one in found):
        raise UnknownError
    shape = tuple(math.prod(one.shape) for one in found)
    return tuple(one.reshaped(shape, dense=False) for one in found)


def _gather(x: Any, dim: Any, index: Any) -> Any:
    x, i = tensor(x), tensor(index)
    axis(dim, x.rank)
    if x.rank != i.rank or i.kind not in "i?":
        raise UnknownError
    return x.reshaped(i.shape, dense=True)


def _index_select(x: Any, dim: Any, index: Any) -> Any:
    x = tensor(x)
    return picked(x, (*(slice(None),) * axis(dim, x.rank), tensor(index)))


def _take(x: Any, index: Any) -> Any:
    return tensor(x).reshaped(tensor(index).shape, dense=True)


def _embedding(x: Any, weight: Any, *_: Any, **__: Any) -> Any:
    return picked(tensor(weight), tensor(x))


def _one_hot(x: Any, num_classes: Any = -1) -> Any:
    if size(num_classes) < 1:
        raise UnknownError
    return Abstract((*tensor(x).shape, num_classes), "i")


def _masked(x: Any, mask: Any, value: Any) -> Any:
    x = tensor(x)
    return x.reshaped(spread(x.shape, tensor(mask).shape, how="masked_fill"), dense=False)


def _pairs(*tensors: Any) -> Any:
    found = [tensor(one) for one in tensors]
    if len(found) < 2 or any(one.rank != 1 for one in found):
        raise UnknownError
    return Abstract((math.prod(one.shape[0] for one in found), len(found)), joint_kind(*found))


RULES: Mapping[str, Rule] = {
    **named("split split_with_sizes", _split),
    "chunk": _chunk,
    "tensor_split": _tensor_split,
    "hsplit": lambda x, sections: _tensor_split(x, sections, min(1, tensor(x).rank - 1)),
    "vsplit": lambda x, sections: _tensor_split(x, sections, 0),
    "dsplit": lambda x, sections: _tensor_split(x, sections, 2),
    "unbind": _unbind,
    **named("cat concat concatenate", _cat),
    "stack": _stack,
    **named("hstack", _stacked_at(1, 1)),
    **named("vstack row_stack", _stacked_at(0, 2)),
    "dstack": _stacked_at(2, 3),
    "column_stack": _columns,
    "cartesian_prod": _pairs,
    "block_diag": _blocks,
    "broadcast_tensors": _spread_all,
    "meshgrid": _grids,
    "gather": _gather,
    "take": _take,
    "take_along_dim": lambda x, indices, dim: _gather(x, dim, indices),
    "index_select": _index_select,
    "embedding": _embedding,
    "one_hot": _one_hot,
    "masked_fill": _masked,
}
