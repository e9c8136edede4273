"""Tensors that are made from sizes, and what layers of networks make."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from app.grading.reading.abstract import (
    Abstract,
    CollisionError,
    Sizes,
    UnknownError,
    axis,
    is_number,
    joint_kind,
    kind_of,
    product,
    size,
    sizes,
    spread,
    tensor,
    whole,
    wholes,
)
from app.grading.reading.shape_rules.entries import Rule, named


def _filled(*shape: Any, dtype: Any = None, **_: Any) -> Any:
    return Abstract(sizes(shape), kind_of(dtype, "f"))


def _full(size: Any, fill_value: Any, *, dtype: Any = None, **_: Any) -> Any:
    return Abstract(sizes([size]), kind_of(dtype, joint_kind(fill_value)))


def _like(x: Any, *_: Any, dtype: Any = None, **__: Any) -> Any:
    x = tensor(x)
    return x.reshaped(x.shape, kind=kind_of(dtype, x.kind))


def _new(x: Any, *shape: Any, dtype: Any = None, **_: Any) -> Any:
    return Abstract(sizes(shape), kind_of(dtype, tensor(x).kind))


def _new_full(x: Any, size: Any, *_: Any, **__: Any) -> Any:
    return Abstract(sizes([size]), "?")


def _eye(n: Any, m: Any = None, **words: Any) -> Any:
    return Abstract((size(n), size(n if m is None else m)), "f" if not words else "?")


def _arange(*bounds: Any, dtype: Any = None, **_: Any) -> Any:
    start, stop, step = (0, *bounds, 1)[:3] if len(bounds) == 1 else (*bounds, 1)[:3]
    made = range(whole(start), whole(stop), whole(step))
    return Abstract((len(made),), kind_of(dtype, "i"))


def _linspace(start: Any, end: Any, steps: Any, **_: Any) -> Any:
    return Abstract((size(steps),))


def _randint(*given: Any, **_: Any) -> Any:
    shape = given[-1]
    if not isinstance(shape, list | tuple):
        raise UnknownError
    return Abstract(sizes([shape]), "i")


def _permutation(n: Any, **_: Any) -> Any:
    return Abstract((size(n),), "i")


def _tensor(data: Any, dtype: Any = None, **_: Any) -> Any:
    shape: list[int] = []
    part, depth = data, 0
    while isinstance(part, list | tuple):
        shape.append(len(part))
        depth += 1
        if not part or depth > 8 or any(_long(one) != _long(part[0]) for one in part):
            raise UnknownError
        part = part[0]
    if (isinstance(part, Abstract) and part.shape == ()) or is_number(part):
        return Abstract(tuple(shape), kind_of(dtype, "?" if shape else joint_kind(part)))
    if isinstance(data, Abstract):
        return data
    raise UnknownError


def _long(part: Any) -> int:
    return len(part) if isinstance(part, list | tuple) else -1


def _triangle(row: Any, col: Any, offset: Any = 0, **_: Any) -> Any:
    below = sum(max(0, min(size(col), at + 1 + whole(offset))) for at in range(min(size(row), 10_000)))
    return Abstract((2, below), "i")


def _triangle_above(row: Any, col: Any, offset: Any = 0, **_: Any) -> Any:
    whole_ = size(row) * size(col)
    return Abstract((2, whole_ - _triangle(row, col, whole(offset) - 1).shape[1]), "i")


def _loss(x: Any, target: Any, *_: Any, reduction: Any = "mean", **__: Any) -> Any:
    x, t = tensor(x), tensor(target)
    shape = spread(x.shape, t.shape, how="meet")
    return Abstract(() if reduction in ("mean", "sum") else shape)


def _class_loss(x: Any, target: Any, *_: Any, reduction: Any = "mean", **__: Any) -> Any:
    x, t = tensor(x), tensor(target)
    labels = x.shape[:1] + x.shape[2:] if x.rank > 1 else ()
    if not x.rank or (t.shape != labels and t.shape != x.shape):
        raise CollisionError(x.shape, t.shape, None, "meet in a loss") if x.rank else UnknownError
    return Abstract(() if reduction in ("mean", "sum") else labels)


def _convolved(rank: int, across: bool = False) -> Rule:
    def rule(x: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, *rest: Any, **words: Any) -> Any:
        x, kernel = tensor(x), tensor(weight)
        names = ("output_padding", "groups", "dilation") if across else ("dilation", "groups")
        more = dict(zip(names, rest, strict=False)) | words
        groups = size(more.get("groups", 1))
        if kernel.rank != rank + 2 or x.rank not in (rank + 1, rank + 2) or not groups:
            raise UnknownError
        channels = x.rank - rank - 1
        wanted = kernel.shape[0] if across else kernel.shape[1] * groups
        if x.shape[channels] != wanted:
            raise CollisionError(x.shape, kernel.shape, (channels, 0 if across else 1), "convolve")
        steps, pads, gaps = (_each(one, rank) for one in (stride, padding, more.get("dilation", 1)))
        outs = _each(more.get("output_padding", 0), rank)
        here = zip(x.shape[channels + 1 :], kernel.shape[2:], steps, pads, gaps, outs, strict=True)
        if across:
            places = [(one - 1) * step - 2 * pad + gap * (k - 1) + out + 1 for one, k, step, pad, gap, out in here]
        else:
            places = [(one + 2 * pad - gap * (k - 1) - 1) // step + 1 for one, k, step, pad, gap, _ in here]
        if any(one < 1 for one in places):
            raise UnknownError
        made = kernel.shape[1] * groups if across else kernel.shape[0]
        return Abstract((*x.shape[:channels], made, *places))

    return rule


def _each(value: Any, rank: int) -> Sizes:
    found = wholes(value)
    found = found * rank if len(found) == 1 else found
    if len(found) != rank:
        raise UnknownError
    return found


def _pooled(rank: int) -> Rule:
    def rule(x: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, **words: Any) -> Any:
        x = tensor(x)
        if words or x.rank not in (rank + 1, rank + 2):
            raise UnknownError
        kernel, pads = _each(kernel_size, rank), _each(padding, rank)
        steps = kernel if stride is None else _each(stride, rank)
        here = zip(x.shape[-rank:], kernel, steps, pads, strict=True)
        places = [(one + 2 * pad - k) // step + 1 for one, k, step, pad in here]
        if any(one < 1 for one in places):
            raise UnknownError
        return x.reshaped((*x.shape[:-rank], *places), dense=False)

    return rule


def _pooled_to(rank: int) -> Rule:
    def rule(x: Any, output_size: Any) -> Any:
        x = tensor(x)
        if x.rank not in (rank + 1, rank + 2):
            raise UnknownError
        return x.reshaped((*x.shape[:-rank], *_each(output_size, rank)), dense=False)

    return rule


def _shuffled(x: Any, upscale_factor: Any) -> Any:
    x, by = tensor(x), size(upscale_factor)
    if x.rank < 3 or not by or x.shape[-3] % by**2:
        raise UnknownError
    return x.reshaped((*x.shape[:-3], x.shape[-3] // by**2, x.shape[-2] * by, x.shape[-1] * by))


def _unshuffled(x: Any, downscale_factor: Any) -> Any:
    x, by = tensor(x), size(downscale_factor)
    if x.rank < 3 or not by or x.shape[-2] % by or x.shape[-1] % by:
        raise UnknownError
    return x.reshaped((*x.shape[:-3], x.shape[-3] * by**2, x.shape[-2] // by, x.shape[-1] // by))


def _gated(x: Any, dim: Any = -1) -> Any:
    x, at = tensor(x), axis(dim, tensor(x).rank)
    if not x.rank or x.shape[at] % 2:
        raise UnknownError
    return x.reshaped((*x.shape[:at], x.shape[at] // 2, *x.shape[at + 1 :]))


def _layer_norm(x: Any, normalized_shape: Any, weight: Any = None, bias: Any = None, eps: Any = 0.0) -> Any:
    x, inner = tensor(x), wholes(normalized_shape)
    if x.shape[x.rank - len(inner) :] != inner:
        raise CollisionError(x.shape, inner, None, "standardise")
    for one in (weight, bias):
        if one is not None and tensor(one).shape != inner:
            raise CollisionError(inner, tensor(one).shape, None, "standardise")
    return x


def _attention(query: Any, key: Any, value: Any, attn_mask: Any = None, **_: Any) -> Any:
    q, k, v = (tensor(one) for one in (query, key, value))
    if min(q.rank, k.rank, v.rank) < 2:
        raise UnknownError
    return product(product(q, replace(k, shape=(*k.shape[:-2], k.shape[-1], k.shape[-2]))), v)


def _drawn(x: Any, num_samples: Any, *_: Any, **__: Any) -> Any:
    if not tensor(x).rank:
        raise UnknownError
    return Abstract((*tensor(x).shape[:-1], size(num_samples)), "i")


RULES: Mapping[str, Rule] = {
    **named("zeros ones empty rand randn", _filled),
    "full": _full,
    **named("zeros_like ones_like empty_like full_like rand_like randn_like randint_like", _like),
    **named("new_zeros new_ones new_empty", _new),
    "new_full": _new_full,
    "eye": _eye,
    "arange": _arange,
    **named("linspace logspace", _linspace),
    "randint": _randint,
    "multinomial": _drawn,
    "randperm": _permutation,
    **named("tensor as_tensor asarray scalar_tensor", _tensor),
    "new_tensor": lambda x, data, **words: _tensor(data, **words),
    "tril_indices": _triangle,
    "triu_indices": _triangle_above,
    **named("mse_loss l1_loss smooth_l1_loss huber_loss kl_div", _loss),
    **named("binary_cross_entropy binary_cross_entropy_with_logits", _loss),
    **named("cross_entropy nll_loss", _class_loss),
    **{f"conv{rank}d": _convolved(rank) for rank in (1, 2, 3)},
    **{f"conv_transpose{rank}d": _convolved(rank, across=True) for rank in (1, 2, 3)},
    **{f"{way}_pool{rank}d": _pooled(rank) for rank in (1, 2, 3) for way in ("avg", "max")},
    **{f"adaptive_avg_pool{rank}d": _pooled_to(rank) for rank in (1, 2)},
    "pixel_shuffle": _shuffled,
    "pixel_unshuffle": _unshuffled,
    "glu": _gated,
    **named("layer_norm rms_norm", _layer_norm),
    "scaled_dot_product_attention": _attention,
}
