"""The numbers that a program is run on: hidden sizes, inputs and random upstream gradients, all from seeds.

Data decide what can be told apart, so nothing is left to luck: sizes are distinct primes where there is room for them,
indices repeat along every axis and are not all the same, one hidden set lacks the last of them and the other the
first, positive numbers are spread over their whole range.
"""

import hashlib
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from app.content.text.arithmetic import integer_of
from app.grading.forward.counted_dims import counted_dims
from app.grading.forward.sources import ForwardSource, SourceInput
from app.syntax import arguments_of, called_name, index_of, name_of, nodes_in, statements_of

Array = NDArray[Any]
_PRIMES = (5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97)
_POOLS = ((2, 3, *_PRIMES), tuple(range(2, 40)), (2, 3, 4, 5), (2, 3, 4))
LARGEST_TENSOR = 200_000
"""Entries of one tensor on hidden sizes: each try of an explanation makes a few of that size."""
TOGETHER = 400_000
"""Entries of one tensor that has every dim once, where nothing else is known of a program."""
_REPEATS = 3
_PICKS = frozenset({"one_hot", "cross_entropy", "nll_loss", "embedding", "gather", "index_select", "take_along_dim"})
"""Functions to which whole numbers are positions, and not numbers to compute with."""
Absent = Literal["any", "last", "first"]
"""Which index never occurs; `F.one_hot(t)` without a number of classes is right wherever the last one does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draw:
    """Draw of the entries of one data set; all but *again* and *absent* is about standard normal ones.

    Args:
        again: Which of the draws from one seed.
        spread: The standard deviation. Small numbers show what large ones drown, such as the epsilon beside a variance.
        uneven: Powers of two by which rows and entries are larger or smaller than others.
        shift: The mean.
        halves: Whether entries are rounded to halves, so that zeros and ties are among them.
        lowered: Whether what stands last along an axis is so small that no maximum falls there.
    """

    again: int = 0
    spread: float = 1.0
    uneven: float = 0.0
    shift: float = 0.0
    lowered: bool = False
    absent: Absent = "any"
    halves: bool = False


USUAL = Draw()


def size_of(expression: str, dims: Mapping[str, int]) -> int:
    """The value of a size such as `block*n_embd`, read as the parser reads it.

    Raises:
        ValueError: It is no whole number above zero over these *dims*.
    """
    size = integer_of(expression, dims)
    if size < 1:
        raise ValueError(f"{expression!r} is {size}, which is no size")
    return size


def shape_of(input_: SourceInput, dims: Mapping[str, int]) -> tuple[int, ...]:
    return tuple(size_of(size, dims) for size in input_.sizes)


def small_together(dims: Mapping[str, int]) -> bool:
    """True if a tensor that has every one of *dims* once is small enough."""
    return math.prod(dims.values()) <= TOGETHER


def hidden_dims(
    forward: ForwardSource,
    shift: int,
    related: bool = False,
    fits: Callable[[Mapping[str, int]], bool] = small_together,
) -> dict[str, int]:
    """Sizes that no learner has seen, small enough together; a 1 and what program or author fix stay as they are.

    Distinct primes in the order of the visible sizes where there is room for them: they tell most apart. Programs of
    many dims get smaller sizes, and in the end some that are alike.

    Args:
        shift: 0 for the first set, 1 for the second; every size differs between two sets.
        related: Whether a size that is the product of two others, such as a width of heads times head size, stays it.
        fits: Whether sizes are small enough; the smallest are taken where none are.
    """
    fixed = counted_dims(forward) | {name: sizes[shift] for name, sizes in forward.hidden.items()}
    free = {name for name, size in forward.dims.items() if size != 1} - {*fixed, *forward.related}
    order = sorted(free, key=lambda name: (forward.dims[name], name))
    literal = {int(part) for tensor_input in forward.inputs for part in tensor_input.sizes if part.strip().isdecimal()}
    primes = [prime for prime in _PRIMES if prime not in literal | set(forward.dims.values())]
    before = hidden_dims(forward, 0, related, fits) if shift else {}
    drawn = dict(zip(order, primes[shift:], strict=False))
    for pool in _POOLS:
        if len(drawn) == len(order) and fits(_with_derived_sizes(forward, {**forward.dims, **drawn, **fixed}, related)):
            break
        drawn = _ascending(order, pool, [{forward.dims[name], before.get(name, 0)} for name in order])
    return _with_derived_sizes(forward, {**forward.dims, **drawn, **fixed}, related)


def _with_derived_sizes(forward: ForwardSource, sizes: Mapping[str, int], related: bool) -> dict[str, int]:
    """*sizes* of the dims, with those that follow from others."""
    hidden = dict(sizes)
    if related:
        for name, (text, other) in _products(forward.dims).items():
            if name not in forward.related and name not in forward.hidden:
                hidden[name] = hidden[text] * hidden[other]
    for name, expression in forward.related.items():
        hidden[name] = size_of(expression, hidden)
    return hidden


def _ascending(names: Sequence[str], pool: Sequence[int], barred: Sequence[Collection[int]]) -> dict[str, int]:
    """For each of *names* the next of *pool* that is not *barred*; from the beginning again where it ends."""
    sizes_by_name, sizes = {}, cycle(pool)
    for name, bar in zip(names, barred, strict=True):
        sizes_by_name[name] = next(size for size in sizes if size not in bar)
    return sizes_by_name


def _products(dims: Mapping[str, int]) -> dict[str, tuple[str, str]]:
    """By size, two smaller ones that it is the product of; smaller sizes first, so that chains work out."""
    order = sorted((name for name in dims if dims[name] > 1), key=lambda name: dims[name])
    pairs_by_name = {}
    for name in order:
        pairs = [(a, b) for a in order for b in order if dims[a] * dims[b] == dims[name]]
        if pairs:
            pairs_by_name[name] = pairs[0]
    return pairs_by_name


def draw_inputs(
    forward: ForwardSource, dims: Mapping[str, int], seed: str, dtype: str, draw: Draw = USUAL
) -> dict[str, Array]:
    """One tensor per input, of *dtype* where it holds real numbers and int64 where it holds indices."""
    seed = f"{seed}/{draw.again}" if draw.again else seed
    return {
        tensor_input.name: _draw(
            tensor_input,
            dims,
            _generator(seed, tensor_input.name),
            dtype,
            draw,
            alone=_only_picks(forward, tensor_input.name),
        )
        for tensor_input in forward.inputs
    }


def _only_picks(forward: ForwardSource, name: str) -> bool:
    """True if the program uses *name* as positions alone: of such, one value is as good as several."""
    nodes = [node for statement in statements_of(forward.source) for node in nodes_in(statement)]
    picking = [index for node in nodes if (index := index_of(node)) is not None]
    picking += [argument for node in nodes if called_name(node) in _PICKS for argument in arguments_of(node)]
    inside = {node for inner in picking for node in nodes_in(inner)}
    read = [node for node in nodes if name_of(node) == name]
    return bool(read) and inside.issuperset(read)


def draw_upstream(shape: Sequence[int], seed: str, name: str, dtype: str) -> Array:
    """Random, not ones: with ones, a learner who forgets the upstream factor still passes."""
    return np.asarray(_generator(seed, f"d{name}").standard_normal(tuple(shape))).astype(dtype)


def _generator(seed: str, name: str) -> np.random.Generator:
    digest = hashlib.sha256(f"{seed}/{name}".encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:16], "little"))


def _draw(
    input_: SourceInput,
    dims: Mapping[str, int],
    generator: np.random.Generator,
    dtype: str,
    draw: Draw,
    *,
    alone: bool,
) -> Array:
    shape = shape_of(input_, dims)
    match input_.distribution:
        case "ints":
            assert input_.bound is not None, "the parser asks for a bound"
            return _indices(shape, size_of(input_.bound, dims), generator, draw.absent, alone=alone)
        case "onehot":
            rows = int(np.prod(shape[:-1], dtype=np.int64))
            picked = _indices((rows,), shape[-1], generator, draw.absent)
            return np.asarray(np.eye(shape[-1])[picked].reshape(shape)).astype(dtype)
        case "sorted":
            assert input_.bound is not None, "the parser asks for a bound"
            return np.sort(_indices(shape, size_of(input_.bound, dims), generator, draw.absent, alone=alone), axis=-1)
        case "unique" | "permutation":
            return _distinct(shape, size_of(input_.bound, dims) if input_.bound else shape[-1], generator)
        case "bool" | "mask":
            return _mask(shape, generator).astype(np.bool_ if input_.distribution == "bool" else dtype)
        case "causal":
            return np.tril(np.ones(shape, dtype=np.bool_))
        case "positive":
            return _positive(shape, generator).astype(dtype)
        case "normal" | "uniform":
            low, high = input_.parameters
            drawn = generator.standard_normal(shape) * high + low
            return np.asarray(drawn if input_.distribution == "normal" else generator.uniform(low, high, shape)).astype(
                dtype
            )
        case _:
            return _normal(shape, generator, draw).astype(dtype)


def _normal(shape: tuple[int, ...], generator: np.random.Generator, draw: Draw) -> Array:
    drawn = draw.spread * generator.standard_normal(shape)
    if draw.uneven:
        rows = generator.uniform(-draw.uneven, draw.uneven, (*shape[:1], *(1 for _ in shape[1:])))
        drawn = drawn * 2 ** (rows + generator.uniform(-1, 1, shape))
    drawn = np.asarray(drawn + draw.shift)
    if draw.lowered and shape:
        drawn[..., -1] = -np.abs(drawn).max() - 1 - np.abs(drawn[..., -1])
    return np.asarray(np.round(2 * drawn) / 2) if draw.halves else drawn


def _distinct(shape: tuple[int, ...], bound: int, generator: np.random.Generator) -> Array:
    """Rows of different numbers below *bound*.

    Raises:
        ValueError: A row is longer than that.
    """
    if shape[-1] > bound:
        raise ValueError(f"there are no {shape[-1]} different numbers below {bound}")
    rows = int(np.prod(shape[:-1], dtype=np.int64))
    drawn = [generator.permutation(bound)[: shape[-1]] for _ in range(rows)]
    return np.asarray(drawn, dtype=np.int64).reshape(shape)


def _mask(shape: tuple[int, ...], generator: np.random.Generator) -> Array:
    """Zeros and ones, at least one of each in every row of the last axis that has room for both."""
    drawn = generator.random(shape) < 0.5
    if shape and shape[-1] > 1:
        places = _distinct((*shape[:-1], 2), shape[-1], generator)
        np.put_along_axis(drawn, places[..., :1], True, -1)
        np.put_along_axis(drawn, places[..., 1:], False, -1)
    return np.asarray(drawn)


def _positive(shape: tuple[int, ...], generator: np.random.Generator) -> Array:
    """Exponential above 0.2, one draw per quantile: small and large values are there in every sample."""
    count = int(np.prod(shape, dtype=np.int64))
    quantile = (generator.permutation(count) + generator.random(count)) / max(count, 1)
    return np.asarray(0.2 - 1.6 * np.log1p(-quantile)).reshape(shape)


def _indices(
    shape: tuple[int, ...], bound: int, generator: np.random.Generator, absent: Absent, *, alone: bool = False
) -> Array:
    """Indices below *bound*: one row never, the other end at least once, one value again along every axis.

    All of it only where there is room for it. Of two values none is left out: they would all be the same; or, where one
    may stand *alone*, the last is left out of one set, and the other set shows what needs two.
    """
    missing = {"any": int(generator.integers(bound)), "last": bound - 1, "first": 0}[absent]
    kept = 1 if alone and absent == "last" else 2
    used = generator.permutation([index for index in range(bound) if index != missing or bound <= kept])
    end = used.min() if missing else used.max()
    repeated = next((item for item in used if item != end), end)
    array = np.asarray(generator.choice(used, size=shape), dtype=np.int64)
    if array.size > _REPEATS:
        array.flat[generator.permutation(array.size - 1)[:_REPEATS]] = repeated
        steps = np.eye(array.ndim, dtype=np.int64)[[size > 1 for size in shape]]
        array[tuple(np.vstack([0 * steps[:1], steps]).T)] = repeated
    if array.size > 1:
        array.flat[0], array.flat[-1] = repeated, end
    return array
