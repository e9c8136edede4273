"""Products of matrices and vectors, and the algebra of square matrices."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from app.grading.reading.abstract import (
    Abstract,
    CollisionError,
    Sizes,
    UnknownError,
    axis,
    fits_into,
    joint_kind,
    product,
    size,
    spread,
    tensor,
    together,
    whole,
    wholes,
)
from app.grading.reading.shape_rules.elsewhere import swapped_last
from app.grading.reading.shape_rules.entries import Rule, left_of, named


def _ranked(first: int, second: int) -> Rule:
    def rule(x: Any, other: Any) -> Any:
        a, b = tensor(x), tensor(other)
        if (a.rank, b.rank) != (first, second):
            raise UnknownError
        if first == 3 and a.shape[0] != b.shape[0]:
            raise CollisionError(a.shape, b.shape, (0, 0), "@")
        return product(a, b)

    return rule


def _matmul(x: Any, other: Any) -> Any:
    return product(tensor(x), tensor(other))


def _added(first: int, second: int) -> Rule:
    def rule(x: Any, one: Any, other: Any, **_: Any) -> Any:
        made = _ranked(first, second)(one, other)
        fits_into(tensor(x).shape, made.shape, "+")
        return made

    return rule


def _added_outer(x: Any, vec1: Any, vec2: Any, **_: Any) -> Any:
    made = _outer(vec1, vec2)
    fits_into(tensor(x).shape, made.shape, "+")
    return made


def _added_batches(x: Any, batch1: Any, batch2: Any, **_: Any) -> Any:
    made = _ranked(3, 3)(batch1, batch2)
    fits_into(tensor(x).shape, made.shape[1:], "+")
    return made.reshaped(made.shape[1:])


def _outer(x: Any, vec2: Any) -> Any:
    a, b = tensor(x), tensor(vec2)
    if (a.rank, b.rank) != (1, 1):
        raise UnknownError
    return Abstract((*a.shape, *b.shape), joint_kind(a, b))


def _inner(x: Any, other: Any) -> Any:
    a, b = tensor(x), tensor(other)
    if not a.rank or not b.rank:
        raise UnknownError
    if a.shape[-1] != b.shape[-1]:
        raise CollisionError(a.shape, b.shape, (a.rank - 1, b.rank - 1), "inner")
    return Abstract((*a.shape[:-1], *b.shape[:-1]), joint_kind(a, b))


def _linear(x: Any, weight: Any, bias: Any = None) -> Any:
    x, w = tensor(x), tensor(weight)
    if not x.rank or w.rank not in (1, 2):
        raise UnknownError
    if x.shape[-1] != w.shape[-1]:
        raise CollisionError(x.shape, w.shape, (x.rank - 1, w.rank - 1), "F.linear")
    made = product(x, replace(w, shape=w.shape[::-1]))
    if bias is not None:
        fits_into(tensor(bias).shape, made.shape, "+")
    return made


def _chained(*matrices: Any) -> Any:
    found = matrices[0] if len(matrices) == 1 and isinstance(matrices[0], list | tuple) else matrices
    made = tensor(found[0])
    for one in found[1:]:
        made = product(made, tensor(one))
    return made


def _kron(x: Any, other: Any) -> Any:
    a, b = tensor(x), tensor(other)
    rank = max(a.rank, b.rank)
    one, two = (1,) * (rank - a.rank) + a.shape, (1,) * (rank - b.rank) + b.shape
    return Abstract(tuple(x * y for x, y in zip(one, two, strict=True)), joint_kind(a, b), dense=False)


def _cross(x: Any, other: Any, dim: Any = -1) -> Any:
    return together(tensor(x), tensor(other))


def _distances(x1: Any, x2: Any, p: Any = 2.0) -> Any:
    a, b = tensor(x1), tensor(x2)
    if a.rank < 2 or b.rank < 2:
        raise UnknownError
    if a.shape[-1] != b.shape[-1]:
        raise CollisionError(a.shape, b.shape, (a.rank - 1, b.rank - 1), "cdist")
    return Abstract((*spread(a.shape[:-2], b.shape[:-2]), a.shape[-2], b.shape[-2]))


def _likeness(x1: Any, x2: Any, dim: Any = 1, eps: Any = 0.0) -> Any:
    return Abstract(left_of(together(tensor(x1), tensor(x2)), whole(dim), keepdim=False))


def _apart(x1: Any, x2: Any, p: Any = 2.0, eps: Any = 0.0, keepdim: Any = False) -> Any:
    return Abstract(left_of(together(tensor(x1), tensor(x2)), -1, keepdim))


def _tensordot(x: Any, other: Any, dims: Any = 2) -> Any:
    a, b = tensor(x), tensor(other)
    if isinstance(dims, list | tuple):
        first, second = ([axis(one, x.rank) for one in wholes(part)] for part, x in zip(dims, (a, b), strict=True))
    else:
        first, second = list(range(a.rank - size(dims), a.rank)), list(range(size(dims)))
    if len(first) != len(second) or any(not 0 <= at < a.rank for at in first) or any(at >= b.rank for at in second):
        raise UnknownError
    for at, to in zip(first, second, strict=True):
        if a.shape[at] != b.shape[to]:
            raise CollisionError(a.shape, b.shape, (at, to), "tensordot")
    kept = [one for at, one in enumerate(a.shape) if at not in first]
    return Abstract((*kept, *(one for at, one in enumerate(b.shape) if at not in second)), joint_kind(a, b))


def _einsum(equation: Any, *operands: Any) -> Any:
    parts = operands[0] if len(operands) == 1 and isinstance(operands[0], list | tuple) else operands
    if not isinstance(equation, str) or "." in equation:
        raise UnknownError
    inputs, arrow, output = equation.replace(" ", "").partition("->")
    words = inputs.split(",")
    known: dict[str, tuple[int, Sizes, int]] = {}
    if len(words) != len(parts) or not all(word.isalpha() or not word for word in words):
        raise UnknownError
    for word, one in zip(words, map(tensor, parts), strict=True):
        if len(word) != one.rank:
            raise UnknownError
        for at, (letter, here) in enumerate(zip(word, one.shape, strict=True)):
            there, shape, place = known.setdefault(letter, (here, one.shape, at))
            if there != here and 1 not in (there, here):
                raise CollisionError(shape, one.shape, (place, at), f"einsum, letter {letter}")
            if there == 1:
                known[letter] = here, one.shape, at
    if not arrow:
        output = "".join(sorted(letter for letter in known if inputs.count(letter) == 1))
    if len(set(output)) < len(output) or set(output) - set(known):
        raise UnknownError
    return Abstract(tuple(known[letter][0] for letter in output), joint_kind(*parts), dense=False)


def _square(x: Any) -> Any:
    x = tensor(x)
    if x.rank < 2:
        raise UnknownError
    if x.shape[-1] != x.shape[-2]:
        raise CollisionError(x.shape, (x.shape[-1], x.shape[-1]), (x.rank - 2, 0), "be square")
    return x


def _unchanged_square(x: Any, *_: Any, **__: Any) -> Any:
    return _square(x).reshaped(_square(x).shape, dense=False)


def _of_square(*made: tuple[int, ...]) -> Rule:
    """Of a square matrix: for each of *made*, so many axes of its size."""

    def rule(x: Any, *_: Any, **__: Any) -> Any:
        x = _square(x)
        found = tuple(Abstract((*x.shape[:-2], *x.shape[-1:] * ranks[0]), "f", dense=False) for ranks in made)
        return found if len(found) > 1 else found[0]

    return rule


def _trace(x: Any) -> Any:
    if tensor(x).rank != 2:
        raise UnknownError
    return Abstract((), tensor(x).kind)


def _pinverse(x: Any, *_: Any, **__: Any) -> Any:
    return swapped_last(x)


def _svd(x: Any, full_matrices: Any = True) -> Any:
    x = tensor(x)
    if x.rank < 2 or type(full_matrices) is not bool:
        raise UnknownError
    (m, n), before = x.shape[-2:], x.shape[:-2]
    short = min(m, n)
    wide = (m, n) if full_matrices else (short, short)
    shapes = ((*before, m, wide[0]), (*before, short), (*before, wide[1], n))
    return tuple(Abstract(one, "f", dense=False) for one in shapes)


def _singular(x: Any) -> Any:
    return _svd(x)[1]


def _solve(x: Any, other: Any) -> Any:
    a, b = _square(x), tensor(other)
    if b.rank != a.rank:
        raise UnknownError
    return product(a, b).reshaped(b.shape, dense=False)


def _det(x: Any) -> Any:
    return Abstract(_square(x).shape[:-2])


def _covariance(x: Any, *_: Any, **__: Any) -> Any:
    x = tensor(x)
    if x.rank != 2:
        raise UnknownError
    return Abstract((x.shape[0], x.shape[0]), dense=False)


def _vandermonde(x: Any, N: Any = None, increasing: Any = False) -> Any:
    if tensor(x).rank != 1:
        raise UnknownError
    return Abstract((*tensor(x).shape, tensor(x).shape[0] if N is None else size(N)), tensor(x).kind)


def _counted(x: Any, bins: Any = 100, *_: Any, **__: Any) -> Any:
    return Abstract((size(bins),), tensor(x).kind)


def _buckets(x: Any, boundaries: Any, **_: Any) -> Any:
    return Abstract(tensor(x).shape, "i")


def _sought(sorted_sequence: Any, x: Any, **_: Any) -> Any:
    return _buckets(x, sorted_sequence)


def _qr(x: Any, mode: Any = "reduced") -> Any:
    x = tensor(x)
    if x.rank < 2 or mode != "reduced":
        raise UnknownError
    short = min(x.shape[-2:])
    return x.reshaped((*x.shape[:-1], short), dense=False), x.reshaped((*x.shape[:-2], short, x.shape[-1]), dense=False)


def _of_matrices(x: Any, *_: Any) -> Any:
    if tensor(x).rank < 2:
        raise UnknownError
    return Abstract(tensor(x).shape[:-2])


RULES: Mapping[str, Rule] = {
    "matmul": _matmul,
    "mm": _ranked(2, 2),
    "bmm": _ranked(3, 3),
    "mv": _ranked(2, 1),
    **named("dot vdot", _ranked(1, 1)),
    "addmm": _added(2, 2),
    "addmv": _added(2, 1),
    "baddbmm": _added(3, 3),
    "addbmm": _added_batches,
    "addr": _added_outer,
    **named("outer ger", _outer),
    "inner": _inner,
    "linear": _linear,
    **named("chain_matmul multi_dot", _chained),
    "kron": _kron,
    "cross": _cross,
    "cdist": _distances,
    "cosine_similarity": _likeness,
    "pairwise_distance": _apart,
    "tensordot": _tensordot,
    "einsum": _einsum,
    **named("inverse inv matrix_exp matrix_power cholesky cholesky_inverse", _unchanged_square),
    **named("det logdet", _det),
    "slogdet": lambda x: (_det(x), _det(x)),
    "eigh": _of_square((1,), (2,)),
    "eigvalsh": _of_square((1,)),
    "qr": _qr,
    **named("matrix_norm matrix_rank cond", _of_matrices),
    "trace": _trace,
    **named("pinverse pinv", _pinverse),
    "svd": _svd,
    "svdvals": _singular,
    "solve": _solve,
    **named("cov corrcoef", _covariance),
    "vander": _vandermonde,
    "histc": _counted,
    "bucketize": _buckets,
    "searchsorted": _sought,
}
