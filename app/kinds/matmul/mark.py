"""Products: `X.T @ dY`. A product is right when it gives the gradient's numbers, not only its shape.

Whether a product is right is decided on random numbers, so every way to write it counts. Where the program cannot be
worked out, its shape decides; the course is refused if that leaves a choice.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product as pairs

import numpy as np

from app.content.blocks import Forward
from app.content.program.programs import sound_tree, tensors_of
from app.content.text.sizes import format_shape, shape_text
from app.grading.forward.facts import Shape
from app.grading.operations.numerics import Array
from app.grading.quiz.feedback import (
    Feedback,
    right_feedback,
    tensor_of,
    underivable_feedback,
    unread_feedback,
    wrong_feedback,
)
from app.grading.quiz.worked import Numbers, evaluate_on_random_data
from app.grading.reading.node import is_broadcastable, reduce_to
from app.kinds.matmul.block import MatmulQuestion
from app.syntax import (
    Expression,
    arguments_of,
    called_name,
    is_assignment,
    is_binary,
    name_of,
    names_loaded,
    nodes_in,
    owner_of,
    right_side,
    sides_of,
    source_text,
    targets_of,
)

TRANSPOSED = re.compile(r"\.(?:T|mT|H|t\(\)|transpose\((?:0,1|1,0|-1,-2|-2,-1)\)|swapaxes\((?:0,1|1,0|-1,-2|-2,-1)\))$")


@dataclass(frozen=True, slots=True)
class OfferedTensor:
    """One tensor that the page offers, with its shape as it is and transposed."""

    name: str
    shape: Shape

    @property
    def transposed(self) -> Shape:
        return swapped(self.shape)


@dataclass(frozen=True, slots=True)
class ProductFactor:
    """One side of a product."""

    name: str
    transposed: bool

    def __str__(self) -> str:
        return f"{self.name}.T" if self.transposed else self.name


@dataclass(frozen=True, slots=True)
class ForwardProduct:
    """The forward product that a gradient comes from: *left* @ *right*, and the gradient that arrives at it."""

    left: ProductFactor
    right: ProductFactor
    upstream: str


def operands_offered(
    quiz: MatmulQuestion, shapes: Mapping[str, Shape], forward: Forward | None
) -> tuple[OfferedTensor, ...]:
    """The tensors that meet in the quiz's product, and the upstream; all tensors where no product was found."""
    rule = rule_of(quiz, forward, shapes)
    if rule:
        names: Sequence[str] = (rule.upstream, rule.left.name, rule.right.name)
    else:
        tensors = tensors_of(forward) if forward else tuple(shapes)
        names = (*tensors, *(forward.upstreams if forward else ()))
    unique = dict.fromkeys(name for name in names if name != quiz.of)
    owners = {name: tensor_of(name, shapes) for name in unique}
    return tuple(OfferedTensor(name, shapes[owner]) for name, owner in owners.items() if owner and shapes[owner])


def right_products(quiz: MatmulQuestion, shapes: Mapping[str, Shape], forward: Forward | None) -> tuple[str, ...]:
    """Every product of the offered operands that is right; a quiz with none is the author's fault."""
    offered = operands_offered(quiz, shapes, forward)
    factors = [
        ProductFactor(offered_tensor.name, transposed) for offered_tensor in offered for transposed in (False, True)
    ]
    factors = [
        product_factor
        for product_factor in factors
        if not product_factor.transposed or len(shapes[tensor_of(product_factor.name, shapes) or ""]) > 1
    ]
    return tuple(f"{a} @ {b}" for a, b in pairs(factors, repeat=2) if _is_right(quiz, (a, b), shapes, forward))


def mark_matmul(
    quiz: MatmulQuestion, values: Sequence[str], shapes: Mapping[str, Shape], forward: Forward | None
) -> Feedback:
    target = tensor_of(quiz.of, shapes)
    if target is None:
        return underivable_feedback(quiz.of)
    factors = factors_in(values)
    if factors is None:
        return unread_feedback("Choose two tensors, such as `A.T @ B`.")
    for factor in factors:
        if tensor_of(factor.name, shapes) is None:
            return unread_feedback(_unknown(factor.name, forward))
    left, right_side = (_shape(factor, shapes) for factor in factors)
    text = f"{factors[0]} @ {factors[1]}"
    result = product_shape(left, right_side)
    if result is None:
        return wrong_feedback(_unfit(factors, left, right_side), text)
    if _is_right(quiz, factors, shapes, forward):
        batch = tuple(range(len(result) - len(shapes[target])))
        whole = f"({text}).sum({format_shape(batch)})" if batch else text
        return right_feedback(f"`{quiz.of} = {whole}` has the shape {shape_text(shapes[target])} of `{target}`.", text)
    for distractor in quiz.tempting:
        if factors_in([distractor.value]) == factors:
            return wrong_feedback(distractor.html, text)
    if result == shapes[target]:
        return wrong_feedback(_fits_only(quiz, text, result, forward, shapes), text)
    return wrong_feedback(
        f"`{text}` has the shape {shape_text(result)}; `{quiz.of}` needs {shape_text(shapes[target])}.", text
    )


def _unknown(name: str, forward: Forward | None) -> str:
    if forward and {name, name.removeprefix("d")} & set(tensors_of(forward)):
        return f"The shape of `{name}` is not known: the graders cannot be reached just now. Try again in a minute."
    return f"There is no tensor called `{name[:40]}` here."


def factors_in(values: Sequence[str]) -> tuple[ProductFactor, ProductFactor] | None:
    """The two sides of a product: of `["X.T @ dY"]`, or of `["X.T", "dY"]`."""
    factors = [_factor(word) for value in values for word in re.split(r"@|\*(?!\*)", re.sub(r"\s+", "", value))]
    if len(factors) != 2 or factors[0] is None or factors[1] is None:
        return None
    return factors[0], factors[1]


def _factor(word: str) -> ProductFactor | None:
    transposed = False
    word = word.strip("()") if word.startswith("(") and word.endswith(")") else word
    for _ in range(4):
        shorter = TRANSPOSED.sub("", word)
        if shorter == word:
            break
        word, transposed = shorter, not transposed
    return ProductFactor(word, transposed) if re.fullmatch(r"[^\W\d]\w*", word) else None


def swapped(shape: Shape) -> Shape:
    return (*shape[:-2], shape[-1], shape[-2]) if len(shape) > 1 else shape


def _shape(factor: ProductFactor, shapes: Mapping[str, Shape]) -> Shape:
    shape = shapes[tensor_of(factor.name, shapes) or ""]
    return swapped(shape) if factor.transposed else shape


def product_shape(left: Shape, right_side: Shape) -> Shape | None:
    """The shape of a matrix product as torch makes it, or None where the inner numbers differ."""
    if not left or not right_side or left[-1] != right_side[-2 if len(right_side) > 1 else -1]:
        return None
    try:
        batch = np.broadcast_shapes(left[:-2], right_side[:-2])
    except ValueError:
        return None
    named = [*left[:-2], *right_side[:-2]]
    batch = tuple(next((size for size in named if size == item), item) for item in batch)
    return (*batch, *left[-2:-1], *(right_side[-1:] if len(right_side) > 1 else ()))


def rule_of(quiz: MatmulQuestion, forward: Forward | None, shapes: Mapping[str, Shape]) -> ForwardProduct | None:
    """The one product of the forward program that reads the quiz's tensor and passes its upstream on unchanged."""
    tree = sound_tree(forward.source if forward else "")
    tensor = tensor_of(quiz.of, shapes)
    if tensor is None:
        return None
    products = []
    for statement in tree.body:
        names, value = [*map(name_of, targets_of(statement))], right_side(statement)
        if value is None or len(names) != 1 or not names[0] or not is_assignment(statement):
            continue
        for left, right in _products(value):
            if tensor in (left.name, right.name):
                products.append(ForwardProduct(left, right, f"d{names[0]}"))
    reads = sum(tensor in names_loaded(node) for node in nodes_in(tree) if name_of(node) == tensor)
    return products[0] if len(products) == 1 and reads == 1 else None


def _products(expression: Expression) -> Iterator[tuple[ProductFactor, ProductFactor]]:
    """Products in *expression* whose gradient is the one of the whole: it, or a term of a sum."""
    pair = sides_of(expression)
    if pair is not None and is_binary(expression, "+ -"):
        yield from _products(pair[0])
        yield from _products(pair[1]) if is_binary(expression, "+") else ()
    sides: Sequence[Expression] = (pair or ()) if is_binary(expression, "@") else ()
    owner = owner_of(expression)
    if owner is not None and called_name(expression) in ("matmul", "mm", "mv", "bmm"):
        arguments = arguments_of(expression)
        sides = arguments if name_of(owner) == "torch" else (owner, *arguments)
    if len(sides) == 2:
        left, right = (_factor(source_text(side).replace(" ", "")) for side in sides)
        if left and right:
            yield left, right


def _is_right(
    quiz: MatmulQuestion,
    factors: tuple[ProductFactor, ProductFactor],
    shapes: Mapping[str, Shape],
    forward: Forward | None,
) -> bool:
    """True if the product of *factors* gives the numbers, or the shape where the numbers cannot be worked out."""
    result = product_shape(_shape(factors[0], shapes), _shape(factors[1], shapes))
    if result is None:
        return False
    numbers = evaluate_on_random_data(forward)
    if numbers is not None and {quiz.of, *(factor.name for factor in factors)} <= numbers.keys():
        return _gives(numbers[quiz.of], factors, numbers)
    return result == shapes[tensor_of(quiz.of, shapes) or ""]


def _gives(wanted: Array, factors: tuple[ProductFactor, ProductFactor], numbers: Numbers) -> bool:
    """True if the product of *factors*, summed over the batch axes that *wanted* lacks, is *wanted*."""
    plain = ((numbers[product_factor.name], product_factor.transposed) for product_factor in factors)
    left, right_side = (array.swapaxes(-1, -2) if turned and array.ndim > 1 else array for array, turned in plain)
    try:
        got = np.asarray(left @ right_side)
    except ValueError:
        return False
    return is_broadcastable(got.shape, wanted.shape) and bool(np.allclose(reduce_to(got, wanted.shape), wanted))


def _unfit(factors: tuple[ProductFactor, ProductFactor], left: Shape, right_side: Shape) -> str:
    inner = int(left[-1]) if left else 0
    other = int(right_side[-2 if len(right_side) > 1 else -1]) if right_side else 0
    shapes_text = f"`{factors[0]}` is `{format_shape(left)}` and `{factors[1]}` is `{format_shape(right_side)}`: "
    if not left or not right_side:
        return shapes_text + "a single number has no axis to sum over in a matrix product."
    if inner != other:
        return f"{shapes_text}the inner numbers must match, and {inner} is not {other}."
    return f"{shapes_text}their batch axes do not fit together."


def _fits_only(
    quiz: MatmulQuestion, text: str, result: Shape, forward: Forward | None, shapes: Mapping[str, Shape]
) -> str:
    rule = rule_of(quiz, forward, shapes)
    forward_text = (
        f" Write out one entry of `{rule.left} @ {rule.right}` and ask which numbers it meets." if rule else ""
    )
    return (
        f"The shape fits, but the numbers do not: `{text}` is `{format_shape(result)}` like `{quiz.of}`, "
        f"yet it is another product. Where sizes are equal, shapes alone cannot decide.{forward_text}"
    )
