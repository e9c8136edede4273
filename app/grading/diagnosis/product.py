"""Slips at products, quotients, sums and differences.

| code | what is sent |
|---|---|
| `own-factor` | g times the followed operand instead of the other one |
| `local-missing:mul`, `local-missing:div` | g |
| `upstream-missing` | the other factor |
| `divided:mul`, `multiplied:div` | g/z instead of g·z, or the inverse |
| `sum-for-product` | g + z |
| `treated-as-numerator` | a denominator as if it stood above the line |
| `factor-twice:z` | g·z·z |
| `factor-extra:z` | at a sum: g times an operand, as if it were a product |
| `square-missing`, `square-extra`, `numerator-missing`, `output-for-input` | the denominator of a quotient |
| `operand-changed` | a sum or difference that the rule reads, with another sign or one side alone |
| `wrong-operand:T` | the rule of the step with another tensor T of the program in place of what it reads |
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial

import numpy as np

from app.grading.diagnosis.case_view import Bench
from app.grading.diagnosis.evidence import Array, Mistake
from app.grading.diagnosis.rules import CURVES
from app.grading.diagnosis.slips import Slip, at_step, every_step, local, right
from app.grading.diagnosis.steps import Step
from app.grading.diagnosis.vjp import vjp
from app.grading.forward.program import Path

UPSTREAM = Slip(
    "upstream-missing",
    local,
    "`{name}` holds the other side of `{statement}` alone. Multiply it by what arrives from above, {up}.",
)
LOCAL = Slip(
    "local-missing:{op}",
    lambda step: step.g,
    "`{name}` passes {up} on unchanged; in `{statement}` the operand `{x}` is scaled on its way, and so is its "
    "gradient.",
)


def _above(rule: Callable[[Step], Array]) -> Callable[[Step], Array | None]:
    """A slip at the numerator x of x/z."""
    return lambda step: rule(step) if step.position == 0 else None


def _below(rule: Callable[[Step], Array]) -> Callable[[Step], Array | None]:
    """A slip at the denominator x of z/x."""
    return lambda step: rule(step) if step.position == 1 else None


MUL = (
    Slip(
        "own-factor",
        lambda step: step.g * step.x,
        "In `{statement}` each side is scaled by the other side; `{name}` is scaled by `{x}` itself.",
        ("{x}",),
    ),
    LOCAL,
    UPSTREAM,
    Slip(
        "divided:mul",
        lambda step: step.g / step.z,
        "`{name}` divides by `{z}`; the forward multiplies by it, and so does the backward.",
        ("{z}",),
    ),
    Slip(
        "factor-twice:{z}",
        lambda step: step.g * step.z * step.z,
        "`{z}` stands twice in `{name}`; the forward uses it once.",
        ("{z}",),
    ),
    Slip(
        "output-for-input",
        lambda step: step.g * step.y,
        "`{name}` is scaled by the product, `{y}`; at a product each side is scaled by the other side.",
        ("{y}",),
    ),
    Slip(
        "sum-for-product", lambda step: step.g + step.z, "`{name}` adds `{z}` to what arrives; the two are multiplied."
    ),
)
DIV = (
    Slip(
        "multiplied:div",
        _above(lambda s: s.g * s.z),
        "`{name}` multiplies by `{z}`; the forward divides by it, and so does the backward.",
        ("{z}",),
    ),
    Slip(
        "own-factor",
        _above(lambda s: s.g * s.x),
        "`{name}` is scaled by `{x}` itself; the numerator of `{y}` is scaled by one over `{z}`.",
        ("{x}",),
    ),
    Slip(
        "own-factor",
        _above(lambda s: s.g / s.x),
        "`{name}` is divided by `{x}` itself; the numerator of `{y}` is divided by `{z}`.",
        ("{x}",),
    ),
    Slip(
        "square-extra",
        _above(lambda s: s.g / s.z**2),
        "`{name}` divides twice by `{z}`; the numerator is divided once.",
    ),
    Slip(
        "numerator-missing",
        _below(lambda s: -s.g / s.x**2),
        "The numerator of `{y}`, `{z}`, is missing in `{name}`: the larger it is, the more the denominator matters.",
    ),
    Slip(
        "square-missing",
        _below(lambda s: -s.g * s.z / s.x),
        "`{x}` stands in the denominator of the local derivative with a square; `{name}` has it once.",
    ),
    Slip(
        "square-extra",
        _below(lambda s: -s.g * s.z / s.x**3),
        "`{x}` stands in the denominator of the local derivative with a square; `{name}` has a higher power.",
    ),
    Slip(
        "multiplied:div",
        _below(lambda s: -s.g * s.z * s.x**2),
        "`{name}` multiplies by the square of `{x}`; the local derivative divides by it.",
    ),
    Slip("multiplied:div", _below(lambda s: -s.g * s.z), "`{name}` lacks the division by the square of `{x}`."),
    Slip(
        "numerator-missing",
        _below(lambda s: s.g / s.x**2),
        "The numerator of `{y}` is missing in `{name}`, and the sign is opposite.",
    ),
    Slip(
        "treated-as-numerator",
        _below(lambda s: s.g / s.z),
        "`{name}` treats `{x}` as if it stood above the line: a denominator follows the power rule with exponent "
        "minus one.",
    ),
    Slip(
        "treated-as-numerator",
        _below(lambda s: s.g * s.z),
        "`{name}` treats the quotient as a product; `{x}` is the denominator of `{y}`.",
    ),
    Slip(
        "treated-as-numerator",
        _below(lambda s: s.g / s.x),
        "`{name}` treats `{x}` as if it stood above the line: a denominator follows the power rule with exponent "
        "minus one.",
    ),
    LOCAL,
    UPSTREAM,
)
SUM = (
    Slip(
        "factor-extra:{z}",
        lambda step: right(step) * step.z,
        "`{statement}` adds; a sum passes on what arrives without a factor. `{name}` is scaled by `{z}`.",
        ("{z}",),
    ),
    Slip(
        "factor-extra:{x}",
        lambda step: right(step) * step.x,
        "`{statement}` adds; a sum passes on what arrives without a factor. `{name}` is scaled by `{x}`.",
        ("{x}",),
    ),
    Slip(
        "upstream-missing",
        local,
        "`{name}` holds the local derivative of `{statement}` alone. Multiply it by what arrives from above, {up}.",
    ),
)

SLIPS: Mapping[str, tuple[Slip, ...]] = {"mul": MUL, "div": DIV, "add": SUM, "sub": SUM}


def from_scope(bench: Bench) -> Iterator[Mistake]:
    """The rule of each step with another tensor of the program in one of the places that it reads."""
    forward = bench.case.looks[0].forward
    for path, depth, step in every_step(bench):
        for name in forward:
            if name == step.node.operands[step.position].text and step.node.op not in CURVES:
                continue
            if not _may_stand_in(forward[name], step):
                continue
            yield from _replacements(bench, path, depth, step, name)


def of_operands(bench: Bench) -> Iterator[Mistake]:
    """A sum or difference that the rule reads, with another sign or with one of its sides alone."""
    for path, depth, step in every_step(bench):
        for place in _reads(step):
            read = step.node.operands[place] if place >= 0 else None
            if read is None or read.op not in {"add", "sub"}:
                continue
            say = f"`{{name}}` has another expression where the rule for `{{statement}}` reads `{read.text}`."
            for variant in VARIANTS:
                put = partial(_with_variant, place=place, variant=variant)
                yield at_step(bench, path, depth, Slip("operand-changed", put, say))


VARIANTS: tuple[Callable[[Array, Array], Array], ...] = (
    lambda a, b: a + b,
    lambda a, b: a - b,
    lambda a, b: b - a,
    lambda a, b: a + 0 * b,
    lambda a, b: b + 0 * a,
)


def _with_variant(step: Step, place: int, variant: Callable[[Array, Array], Array]) -> Array | None:
    a, b = (operand.value for operand in step.node.operands[place].operands)
    operands = list(step.node.operands)
    operands[place] = replace(operands[place], value=variant(a, b))
    return vjp(replace(step.node, operands=tuple(operands)), step.position, step.g)


def _replacements(bench: Bench, path: Path, depth: int, step: Step, name: str) -> Iterator[Mistake]:
    for place, shown in _reads(step).items():
        if shown != name:
            say = f"`{{name}}` uses `{name}` where the rule for `{{statement}}` has `{shown}`."
            put = partial(_with, place=place, name=name)
            yield at_step(bench, path, depth, Slip(f"wrong-operand:{name}", put, say, (name,)))


OUTPUT, AGAIN = -1, -2
"""Places that are no operand: the output, and the output as the operation gives it for another operand."""


def _reads(step: Step) -> dict[int, str]:
    """The places that the rule of the step reads, with what stands there."""
    node = step.node
    if node.op in {"tanh", "sigmoid", "exp", "sqrt", "expm1", "softmax"}:
        return {OUTPUT: node.text} | ({AGAIN: node.operands[0].text} if node.op in CURVES else {})
    if node.op == "mul":
        return {1 - step.position: node.operands[1 - step.position].text}
    if node.op == "div":
        places = {1: node.operands[1].text}
        return places | ({0: node.operands[0].text} if step.position == 1 else {})
    if node.op == "pow" or node.op in CURVES:
        return {0: node.operands[0].text}
    return {}


def _with(step: Step, place: int, name: str) -> Array | None:
    return replaced(step, place, step.look.forward[name])


def _may_stand_in(tensor: Array, step: Step) -> bool:
    if tensor.dtype.kind != "f":
        return False
    try:
        return np.broadcast_shapes(tensor.shape, step.g.shape) == step.g.shape
    except ValueError:
        return False


def replaced(step: Step, place: int, tensor: Array) -> Array | None:
    """What the step would send if its rule read *tensor* in *place*."""
    node = step.node
    if place == OUTPUT:
        return vjp(replace(node, value=tensor), step.position, step.g)
    if place == AGAIN:
        return vjp(replace(node, value=CURVES[node.op].value(tensor)), step.position, step.g)
    operands = list(node.operands)
    base = operands[place]
    if node.op == "pow" and base.op == "add":
        numbers = [float(each.value) for each in base.operands if each.op == "number" and not each.value.ndim]
        tensor = tensor + numbers[0] if numbers else tensor
    operands[place] = replace(base, value=tensor)
    return vjp(replace(node, operands=tuple(operands)), step.position, step.g)
