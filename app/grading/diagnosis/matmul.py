"""Slips at matrix products.

| code | what the learner has |
|---|---|
| `matmul-order` | the right two factors in another order or with other transposes |
| `wrong-operand:M` | a product of the upstream with another tensor M of the program |
| `elementwise-not-matmul` | the factors multiplied entry by entry |
| `matmul-not-elementwise` | a matrix product where the forward multiplies entry by entry |
| `upstream-missing` | the other operand, summed as if the upstream were all ones |
"""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from app.grading.diagnosis.case_view import Bench
from app.grading.diagnosis.evidence import Array, Case, Look, Mistake
from app.grading.diagnosis.rules import reduce_to, swapped
from app.grading.diagnosis.slips import every_step, local
from app.grading.diagnosis.steps import Step
from app.grading.forward.program import Path

ORDERS: tuple[Callable[[Array, Array], Array], ...] = (
    lambda g, m: g @ m,
    lambda g, m: g @ swapped(m),
    lambda g, m: swapped(g) @ m,
    lambda g, m: swapped(g) @ swapped(m),
    lambda g, m: m @ g,
    lambda g, m: swapped(m) @ g,
    lambda g, m: m @ swapped(g),
    lambda g, m: swapped(m) @ swapped(g),
)
"""The eight products of {g, gᵀ} with {M, Mᵀ} in both orders."""

MATRIX = 2
SUM_TEXT = "Its entries are sums of such products."
ENTRYWISE = frozenset({"mul", "tanh", "sigmoid", "relu", "exp", "log", "pow", "div", "neg"})


def mistakes(bench: Bench) -> Iterator[Mistake]:
    for path, depth, step in every_step(bench):
        fields = bench.spot(path, depth)
        if step.node.op == "matmul":
            yield from _of_product(bench, path, depth, step, fields)
        elif step.node.op in ENTRYWISE and step.g.ndim >= 2:
            say = "`{op}` acts entry by entry in `{statement}`; `{name}` holds a matrix product.".format(**fields)
            for other in (_partner, lambda step: step.x, local):
                for order in ORDERS:
                    yield _row(bench, path, depth, "matmul-not-elementwise", order, other, say, ())


def _partner(step: Step) -> Array:
    return step.z if len(step.node.operands) > 1 else step.y


def _of_product(bench: Bench, path: Path, depth: int, step: Step, fields: dict[str, str]) -> Iterator[Mistake]:
    order_text = (
        "`{name}` multiplies the right two tensors, {up} and `{z}`, in another order or with other transposes than "
        "the forward asks for. Write the shape of `{tensor}` first, then place the factors."
    ).format(**fields)
    entry_text = (
        "`{name}` multiplies {up} and `{z}` entry by entry; the backward of a matrix product is a matrix product."
    ).format(**fields)
    for order in ORDERS:
        yield _row(bench, path, depth, "matmul-order", order, lambda step: step.z, order_text, ())
    for transposed in (False, True):

        def multiplied(g: Array, m: Array, transposed: bool = transposed) -> Array:
            return np.asarray(g * (swapped(m) if transposed else m))

        yield _row(bench, path, depth, "elementwise-not-matmul", multiplied, lambda step: step.z, entry_text, ())
    if not step.below and step.z.ndim == step.g.ndim == MATRIX:
        unsummed = partial(_unsummed, bench, path, depth)
        yield Mistake(code="elementwise-not-matmul", predict=unsummed, say=lambda _: f"{entry_text} {SUM_TEXT}")
    ones = "`{name}` holds what the product gives for an upstream of ones; {up} is missing.".format(**fields)
    yield Mistake(code="upstream-missing", predict=partial(_carried_local, bench, path, depth), say=lambda _: ones)
    for name, tensor in step.look.forward.items():
        if tensor.ndim < 1 or tensor.dtype.kind != "f" or _is_operand(tensor, step.z):
            continue
        text = "`{name}` is a product with `{other}`; the forward line is `{statement}`.".format(**fields, other=name)
        for order in ORDERS:
            yield _row(bench, path, depth, f"wrong-operand:{name}", order, partial(_named, name), text, (name,))


def _unsummed(bench: Bench, path: Path, depth: int, _case: Case, look: Look) -> Array | None:
    """Every product of an entry of what arrives and one of the other matrix, before any of them are added up."""
    steps = bench.steps(path, look)
    if depth >= len(steps) or len(bench.paths) > 1:
        return None
    step = steps[depth]
    if step.position == 1:
        return np.asarray(step.z[:, :, None] * step.g[:, None, :])
    return np.asarray(step.g[:, None, :] * step.z[None, :, :])


def _is_operand(tensor: Array, operand: Array) -> bool:
    """Whether the operand is *tensor* itself, transposed or not: then it is not the tensor that is wrong."""
    return np.array_equal(tensor, operand) or (tensor.ndim >= 2 and np.array_equal(swapped(tensor), operand))


def _named(name: str, step: Step) -> Array:
    return step.look.forward[name]


def _row(
    bench: Bench,
    path: Path,
    depth: int,
    code: str,
    act: Callable[[Array, Array], Array],
    other: Callable[[Step], Array],
    text: str,
    mentions: tuple[str, ...],
) -> Mistake:
    predict = partial(_predict, bench, path, depth, act, other)
    return Mistake(code=code, predict=predict, say=lambda _: text, mentions=mentions)


def _predict(
    bench: Bench,
    path: Path,
    depth: int,
    act: Callable[[Array, Array], Array],
    other: Callable[[Step], Array],
    _case: Case,
    look: Look,
) -> Array | None:
    steps = bench.steps(path, look)
    if depth >= len(steps):
        return None
    step = steps[depth]
    try:
        full = np.asarray(act(step.g, other(step)))
    except ValueError:
        return None
    if full.shape == step.x.shape:
        return bench.resent(path, depth, look, full)
    if full.ndim > step.x.ndim and full.shape[-step.x.ndim :] == step.x.shape:
        return bench.resent(path, depth, look, reduce_to(full, step.x.shape))
    return bench.exchanged(path, look, full) if not step.below else None


def _carried_local(bench: Bench, path: Path, depth: int, _case: Case, look: Look) -> Array | None:
    steps = bench.steps(path, look)
    return bench.resent(path, depth, look, local(steps[depth])) if depth < len(steps) else None
