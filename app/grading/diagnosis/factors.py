"""Names for a number by which a gradient is too large: sizes and constants that were forgotten or added.

| code | the learner's numbers divided by the reference |
|---|---|
| `sign` | -1 |
| `power-coefficient` | one over the exponent of a power: its coefficient is missing |
| `constant-missing`, `constant-twice` | one over a constant of the forward statement, or the constant |
| `doubled`, `halved` | 2, 1/2 |
| `bessel` | n/(n-1), (n-1)/n |
| `factor:N`, `factor:1/N`, `factor:sqrt(N)` … | a size, by its name |
| `size-hard-coded` | a size divided by the same size of the lesson's own data |
| `sign-and-…` | any of these with a minus |
| `factor` | any other number |
| `ROW+F` | what the row ROW of another table predicts, too large by F, see `scaled_mistakes` |
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from app.grading.diagnosis.claims import is_there, numbers_in, stands_for_size
from app.grading.diagnosis.evidence import Observation
from app.grading.diagnosis.gradient_analysis import GradientAnalysis
from app.grading.diagnosis.naming import number_text
from app.grading.diagnosis.phrases import sentences_of
from app.grading.diagnosis.steps import PathStep
from app.grading.forward.statements import ForwardStatement, GradientPath
from app.grading.operations.numerics import magnitude
from app.grading.reading.node import UntracedError, reduced_count
from app.grading.reading.rules import PASSED_ON
from app.grading.reading.tracer import trace_expression

SAY = sentences_of("factors")
UNSCALED = PASSED_ON | {"tensor", "number", "reshape", "permute", "index", "cat", "stack", "log"}
"""Operations that multiply and divide by nothing."""
NEAR = 1e-6
ROUGH = 1e-2
"""On the lesson's own numbers, in which float32 has gone through every line."""

FORMS: Mapping[str, Callable[[float], float]] = {
    "{}": lambda n: n,
    "1/{}": lambda n: 1 / n,
    "{}-1": lambda n: n - 1,
    "1/({}-1)": lambda n: 1 / (n - 1),
    "sqrt({})": math.sqrt,
    "1/sqrt({})": lambda n: 1 / math.sqrt(n),
    "{}^2": lambda n: n**2,
    "1/{}^2": lambda n: 1 / n**2,
}
TWO = {"doubled": 2.0, "halved": 0.5}
EXPONENTS: Mapping[str, float] = {"sqrt": 0.5, "rsqrt": -0.5, "mse_loss": 2.0}
"""Operations that are powers by another name."""
BESSEL: tuple[Callable[[float], float], ...] = (lambda n: n / (n - 1), lambda n: (n - 1) / n)


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedFactor:
    """A number with its name: the *code* of the slip and, as a clause, what it says about the learner's numbers."""

    code: str
    text: str


def named_factor(view: GradientAnalysis, ratios: Sequence[float], paths: Sequence[GradientPath]) -> NamedFactor | None:
    """The name of *ratios*, one per look, on *paths*; None where no table holds it."""
    if _all_near(ratios, [-1.0] * len(ratios)):
        return NamedFactor(code="sign", text=SAY["sign"])
    factor = _factor_by_name(view, ratios, paths)
    if factor is not None:
        return factor
    turned = _factor_by_name(view, [-ratio for ratio in ratios], paths)
    if turned is None:
        return None
    return NamedFactor(code=f"sign-and-{turned.code}", text=f"has the opposite sign and {turned.text}")


def any_factor(view: GradientAnalysis, ratios: Sequence[float]) -> NamedFactor:
    """Factor that has no name; its number is given only if no data change it."""
    if _all_near(ratios, [ratios[0]] * len(ratios)) and _is_ratio_plausible(view, ratios[0]):
        shown = number_text(ratios[0])
        shown = f"{ratios[0]:.8g}" if shown == "1" else shown
        return NamedFactor(code="factor", text=SAY["number"].format(shown))
    return NamedFactor(code="factor", text=SAY["any"])


def _is_ratio_plausible(view: GradientAnalysis, ratio: float) -> bool:
    """True if the lesson's own numbers do not contradict *ratio*, by being off by another one as a whole."""
    visible = view.case.visible
    if visible is None or not visible.is_shaped:
        return True
    got, reference = (np.asarray(array, dtype=np.float64).ravel() for array in (visible.got, visible.reference))
    whole = float(got @ reference) / max(float(reference @ reference), 1e-300)
    proportional = magnitude(got - whole * reference) <= ROUGH * magnitude(got)
    return not proportional or abs(whole - ratio) <= ROUGH * abs(ratio - 1)


def _factor_by_name(
    view: GradientAnalysis, ratios: Sequence[float], paths: Sequence[GradientPath]
) -> NamedFactor | None:
    return (
        _of_constants(view, ratios, paths)
        or _of_two(ratios)
        or _of_sizes(view, ratios, paths)
        or _of_lesson_sizes(view, ratios)
    )


def _all_near(ratios: Sequence[float], wanted: Sequence[float]) -> bool:
    return all(
        math.isfinite(want) and abs(have - want) <= NEAR * abs(want) for have, want in zip(ratios, wanted, strict=True)
    )


def _of_constants(view: GradientAnalysis, ratios: Sequence[float], paths: Sequence[GradientPath]) -> NamedFactor | None:
    """Constants of the forward statements that every one of *paths* goes through."""
    ways = [view.steps(path, view.first_look) for path in paths]
    shared = [step for step in ways[0] if all(any(step.same_as(each) for each in way) for way in ways)]
    return next((factor for step in shared for factor in (_of_step(view, ratios, step),) if factor is not None), None)


def _of_step(view: GradientAnalysis, ratios: Sequence[float], step: PathStep) -> NamedFactor | None:
    node = step.node
    if node.op == "pow" or node.op in EXPONENTS:
        exponent = EXPONENTS.get(node.op) or node.options["exponent"]
        text = f"lacks the exponent of `{node.text}` as a factor"
        # An exponent that stands in the code is hardly missing; a ratio that stands there explains itself.
        if abs(exponent) in {0.0, 1.0, *view.text.numbers} or abs(1 / exponent) in view.text.numbers:
            return None
        if _all_near(ratios, [1 / exponent] * len(ratios)):
            return NamedFactor(code="power-coefficient", text=text)
        if exponent < 0 and _all_near(ratios, [-1 / exponent] * len(ratios)):
            return NamedFactor(code="power-coefficient", text=f"{text}, except for its sign")
    if node.op in {"mul", "div"} and node.operands[1 - step.position].op == "number" and not step.z.ndim:
        constant = float(step.z) if node.op == "mul" else 1 / float(step.z)
        shown = node.operands[1 - step.position].text
        if (
            abs(constant) not in {0.0, 1.0}
            and _all_near(ratios, [1 / constant] * len(ratios))
            and not view.once(is_there)
        ):
            return NamedFactor(code="constant-missing", text=f"lacks the constant `{shown}` of `{node.text}`")
        twice = numbers_in(view).count(float(step.z)) > 1
        if twice and abs(constant) != 1.0 and _all_near(ratios, [constant] * len(ratios)):
            return NamedFactor(code="constant-twice", text=f"has the constant `{shown}` of `{node.text}` twice")
    return None


def multiplies_by(view: GradientAnalysis, line: ForwardStatement, ratios: Sequence[float]) -> bool:
    """True if the forward *line* multiplies or divides by *ratios*, one per look."""
    scales = [_scales(line, look) for look in view.case.looks]
    wanted = [abs(ratio) for ratio in ratios]
    for scale in zip(*scales, strict=True) if len({*map(len, scales)}) == 1 else ():
        if all(scale) and (_all_near(wanted, scale) or _all_near(wanted, [1 / each for each in scale])):
            return True
    return False


def scales(view: GradientAnalysis, line: ForwardStatement) -> bool:
    """True if something in the forward *line* may scale what goes through it; also where that cannot be told."""
    look = view.first_look
    try:
        waiting = [trace_expression(line.node, look.forward, look.dims)]
    except UntracedError:
        return True
    for node in waiting:
        waiting += node.operands
    return any(node.op not in UNSCALED for node in waiting)


def has_number(view: GradientAnalysis, line: ForwardStatement) -> bool:
    """True if the forward *line* multiplies or divides by a number, such as a size; also where that cannot be told."""
    factors = _scales(line, view.first_look)
    return not factors or any(factors)


def _scales(line: ForwardStatement, look: Observation) -> list[float]:
    """By operation of *line*: the number that it multiplies or divides by; 0 where it is none."""
    try:
        waiting = [trace_expression(line.node, look.forward, look.dims)]
    except UntracedError:
        return []
    factors = []
    for node in waiting:
        waiting += node.operands
        numbers = [op_node.value for op_node in node.operands if op_node.op == "number" and not op_node.value.ndim]
        if node.op in {"mul", "div"} and numbers:
            factors.append(abs(float(numbers[0])))
        elif node.op in {"mean", "var", "std"}:
            factors.append(float(reduced_count(node)))
        else:
            factors.append(float(node.options.get("words", {}).get("n", 0.0)))
    return factors


def _of_two(ratios: Sequence[float]) -> NamedFactor | None:
    named = (code for code, number in TWO.items() if _all_near(ratios, [number] * len(ratios)))
    return next((NamedFactor(code=code, text=SAY[code]) for code in named), None)


def _of_sizes(view: GradientAnalysis, ratios: Sequence[float], paths: Sequence[GradientPath]) -> NamedFactor | None:
    table = _sizes(view, paths)
    for label, sizes in table.items():
        for form in BESSEL:
            if min(sizes) > 1 and _all_near(ratios, [form(size) for size in sizes]):
                of = f" with n = `{label}`" if label != "n" else ""
                less = "n − 1" if ratios[0] < 1 else "n"
                return NamedFactor(code="bessel", text=SAY["bessel"].format(of=of, less=less))
    for pattern, form in FORMS.items():
        for label, sizes in table.items():
            if min(sizes) > (2 if "-1" in pattern else 1) and _all_near(ratios, [form(size) for size in sizes]):
                return _size_factor(pattern.format(f"({label})" if " " in label and pattern != "{}" else label))
    labels = list(table)
    for name in labels:
        for other in labels:
            if name != other and _all_near(ratios, [a / b for a, b in zip(table[name], table[other], strict=True)]):
                return _size_factor(f"{name}/{other}")
    return None


def _size_factor(shown: str) -> NamedFactor:
    bare = re.sub(r"^\(([^()]*)\)$", r"\1", shown.removeprefix("1/"))
    # Of a quotient of two sizes nobody knows whether it is above 1.
    text = (
        SAY["number"].format(f"exactly `{bare}`")
        if "/" in bare
        else SAY["large" if bare == shown else "small"].format(bare)
    )
    return NamedFactor(code=f"factor:{shown.replace(' ', '')}", text=text)


def _sizes(view: GradientAnalysis, paths: Sequence[GradientPath]) -> dict[str, tuple[int, ...]]:
    """Sizes by label, one number per look: what the forward averages over first, then the lesson's names, then axes."""
    case, sizes_by_label = view.case, dict[str, tuple[int, ...]]()

    def add(label: str, sizes: Sequence[int]) -> None:
        if label and min(sizes) > 1 and tuple(sizes) not in sizes_by_label.values():
            sizes_by_label[label] = tuple(sizes)

    def axes_of(label: str, shapes: Sequence[tuple[int, ...]]) -> None:
        if len({len(shape) for shape in shapes}) == 1:
            for axis in range(len(shapes[0])):
                add(f"{label}.shape[{axis}]", [shape[axis] for shape in shapes])

    for name in case.first_look.dims:
        if all(name in look.dims for look in case.looks):
            add(name, [look.dims[name] for look in case.looks])
    axes_of(case.tensor, [look.reference.shape for look in case.looks])
    add(f"{case.tensor}.numel()", [look.reference.size for look in case.looks])
    for path in paths:
        axes_of(path.consumer, [look.upstream[path.key].shape for look in case.looks])
        steps = [view.steps(path, look) for look in case.looks]
        for depth, step in enumerate(steps[0][: min(map(len, steps))]):
            if step.node.op in {"mean", "sum", "var", "std"}:
                add(
                    _count_text(view, [each[depth] for each in steps]),
                    [reduced_count(each[depth].node) for each in steps],
                )
            operand = step.node.operands[step.position].text
            if operand.isidentifier():
                axes_of(operand, [each[depth].x.shape for each in steps])
    return sizes_by_label


def _count_text(view: GradientAnalysis, steps: Sequence[PathStep]) -> str:
    """Text of what a reduction counts: all entries of a tensor, or the sizes of the axes that it reduces."""
    node = steps[0].node
    text, axes = node.operands[0].text, node.options["axes"]
    sizes = [[step.x.shape[axis] for step in steps] for axis in axes]
    if len(axes) == steps[0].x.ndim and text.isidentifier():
        return f"{text}.numel()"
    looks = view.case.looks
    dims = {
        name: [look.dims[name] for look in looks]
        for name in looks[0].dims
        if all(name in observation.dims for observation in looks)
    }
    words = [next((name for name, each in dims.items() if each == size), "") for size in sizes]
    return " * ".join(words) if all(words) else f"({text}).numel()" if len(axes) == steps[0].x.ndim else ""


def _of_lesson_sizes(view: GradientAnalysis, ratios: Sequence[float]) -> NamedFactor | None:
    """Numbers in the learner's code that fit the lesson's own sizes only."""
    visible = view.case.visible
    if visible is None:
        return None
    for name, size in _lesson_sizes(view, visible).items():
        hidden = [look.dims[name] for look in view.case.looks]
        for less in (0, 1):
            quotients = [(each - less) / (size - less) for each in hidden if size > less]
            forms = ([each**power for each in quotients] for power in (1.0, -1.0, 0.5, -0.5))
            fits = quotients and any(_all_near(ratios, form) for form in forms)
            if fits and stands_for_size(view, size - less):
                return NamedFactor(code="size-hard-coded", text=SAY["fixed"].format(size, name))
        for label, factor in ((name, float(size)), (f"1/{name}", 1 / size)):
            if size in view.text.numbers and _all_near(ratios, [factor] * len(ratios)):
                return _size_factor(label)
    return None


def _lesson_sizes(view: GradientAnalysis, visible: Observation) -> dict[str, int]:
    looks = view.case.looks
    shared = [name for name in visible.dims if all(name in look.dims for look in looks)]
    return {name: visible.dims[name] for name in shared if any(look.dims[name] != visible.dims[name] for look in looks)}
