"""Slips at matrix products, and matrix products where there is none.

| code | what the learner has |
|---|---|
| `matmul-order` | the right two factors in another order or with other transposes |
| `wrong-operand:M` | a product of the upstream with another tensor M of the program |
| `elementwise-not-matmul` | the factors multiplied entry by entry |
| `matmul-not-elementwise` | a matrix product where the forward multiplies entry by entry |
| `kernel-flipped` | convolution: the kernel met what arrives in reverse order, or was not turned where it has to be |
"""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from app.grading.diagnosis.claims import multiplies_matrices
from app.grading.diagnosis.evidence import Array, Hypothesis, Observation
from app.grading.diagnosis.gradient_analysis import GradientAnalysis
from app.grading.diagnosis.phrases import format_code, sentences_of
from app.grading.diagnosis.steps import PathStep
from app.grading.forward.statements import GradientPath
from app.grading.operations.numerics import swapped
from app.grading.reading.rules import ELEMENTWISE, backward, with_operand

SAY = sentences_of("products")

Join = Callable[[Array, Array], Array]
ORDERS: tuple[Join, ...] = (
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
ITS_OWN = frozenset({"product", "other"})
"""What is said of a matrix product in the learner's lines; it is not even computed where they have none."""


def product_hypotheses(view: GradientAnalysis) -> Iterator[Hypothesis]:
    multiplies, shaped = multiplies_matrices(view), view.shaped()
    for path, depth, step in view.places():
        for code, join, other, say, word in _join_rows(step):
            if say in ITS_OWN and not multiplies:
                continue
            fields = {**view.spot(path, depth), "word": word}
            predict = partial(_predict, view, path, depth, join, other)
            # Where the shape comes out right, it tells nothing.
            said = view.said_of_share(path, depth, SAY["order-shaped" if say == "order" and shaped else say])
            yield view.hypothesis(format_code(code, fields), predict, said, (word,) * bool(word), **fields)
        two = step.node.op == "matmul" and step.z.ndim == step.g.ndim == 2
        if two and not step.below and len(view.paths) == 1:
            entries = partial(_unsummed_products, view, path, depth)
            yield view.hypothesis("elementwise-not-matmul", entries, SAY["unsummed"], **view.spot(path, depth))
        if step.node.op == "conv" and step.position < 2:
            turned, text = ((_turned_kernel, "flipped"), (_turned_result, "reverse"))[step.position]
            yield view.hypothesis_at_step(path, depth, "kernel-flipped", turned, SAY[text])


def _turned(kernel: Array) -> Array:
    return np.flip(kernel, tuple(range(2, kernel.ndim)))


def _turned_kernel(step: PathStep) -> Array:
    return backward(with_operand(step.node, 1, _turned(step.z)), 0, step.g)


def _turned_result(step: PathStep) -> Array:
    return _turned(step.sends(step.g))


def _partner(step: PathStep) -> Array:
    return step.z if len(step.node.operands) > 1 else step.y


def _join_rows(step: PathStep) -> Iterator[tuple[str, Join, Callable[[PathStep], Array], str, str]]:
    """By code: how what arrives was joined, with what, what is said of it, and of which tensor."""
    if step.node.op in ELEMENTWISE and step.g.ndim >= 2:
        for other in (_partner, lambda step: step.x, lambda step: step.of_ones):
            for order in ORDERS:
                yield "matmul-not-elementwise", order, other, "product", ""
    if step.node.op != "matmul":
        return
    for order in ORDERS:
        yield "matmul-order", order, _partner, "order", ""
    for entrywise in (lambda g, m: g * m, lambda g, m: g * swapped(m)):
        yield "elementwise-not-matmul", entrywise, _partner, "entrywise", ""
    for name, tensor in step.look.forward.items():
        if tensor.ndim and tensor.dtype.kind == "f" and not _is_operand(tensor, step.z):
            for order in ORDERS:
                yield "wrong-operand:{word}", order, partial(_forward_value, name), "other", name


def _unsummed_products(view: GradientAnalysis, path: GradientPath, depth: int, look: Observation) -> Array:
    """Every product of an entry of what arrives and one of the other matrix, before any of them are added up."""
    step = view.steps(path, look)[depth]
    if step.position == 1:
        return np.asarray(step.z[:, :, None] * step.g[:, None, :])
    return np.asarray(step.g[:, None, :] * step.z[None, :, :])


def _is_operand(tensor: Array, operand: Array) -> bool:
    """True if the operand is *tensor* itself, transposed or not: then it is not the tensor that is wrong."""
    return np.array_equal(tensor, operand) or (tensor.ndim >= 2 and np.array_equal(swapped(tensor), operand))


def _forward_value(name: str, step: PathStep) -> Array:
    return step.look.forward[name]


def _predict(
    view: GradientAnalysis,
    path: GradientPath,
    depth: int,
    join: Join,
    other: Callable[[PathStep], Array],
    look: Observation,
) -> Array | None:
    step = view.steps(path, look)[depth]
    full = np.asarray(join(step.g, other(step)))
    if full.shape == look.got.shape != look.reference.shape and not step.below:
        return view.gradient_with_share(path, look, full)
    if full.shape == step.x.shape or (full.ndim > step.x.ndim and full.shape[-step.x.ndim :] == step.x.shape):
        return view.gradient_if_sent(path, depth, look, full)
    # What fits nowhere is seen as it is, if no step below takes it on.
    return None if step.below else view.gradient_with_share(path, look, full)
