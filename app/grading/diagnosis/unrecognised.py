"""Diagnosis of a mistake that no table holds: only measured facts.

| code | meaning |
|---|---|
| `dtype` | integers or truth values, whose fractions are cut off, or numbers of too few digits |
| `zeros` | every entry is zero |
| `fixed` | the same on any data: no tensor is read |
| `shape` | another shape |
| `upstream-missing:unread`, `upstream-missing` | no line reads what arrives; one term of several has none of it |
| `part-missing:AXIS` | some slices along an axis are zero, and all others right: these positions were not handled |
| `part-wrong:AXIS` | they hold something else |
| `part-wrong:where` | what is wrong lies on one side of a condition of the program |
| `part-wrong:ties` | it lies where a maximum or a minimum has two that are equal |
| `unrecognised` | none of the tables; direction, size and place are given |
"""

from collections.abc import Iterator, Sequence

import numpy as np

from app.grading.diagnosis import sentences
from app.grading.diagnosis.claims import cannot_be_read, takes_parts, writes_parts
from app.grading.diagnosis.evidence import Array, Diagnosis, Observation, WrongGradient, scale_of
from app.grading.diagnosis.feeding_lines import in_line
from app.grading.diagnosis.gradient_analysis import DIFFERENT, GradientAnalysis
from app.grading.diagnosis.layout import wrong_shape
from app.grading.diagnosis.naming import (
    axis_text,
    in_code,
    join_words,
    number_text,
    places_text,
    shown_observation,
    upstream_name,
)
from app.grading.diagnosis.phrases import sentences_of
from app.grading.diagnosis.rerun import names_in
from app.grading.operations.numerics import magnitude
from app.grading.reading.node import UntracedError
from app.grading.reading.tracer import trace_expression
from app.syntax import (
    Expression,
    Node,
    arguments_of,
    as_written,
    called_name,
    is_assignment,
    is_comparison,
    nodes_in,
    number_of,
    parse_expression,
    right_side,
    terms_of,
)

SAY, PLACES = sentences_of("unrecognised"), sentences_of("locality")
ALIKE = 0.999
NOTHING = 1e-10
VISIBLE = 1e-4
COARSE = 1e-2
NEARLY = 0.75
HOLDS = "holds"


def _observations(case: WrongGradient) -> tuple[Observation, ...]:
    """Hidden data and the lesson's own: a type that is right on hidden data alone could be made of hidden numbers."""
    return case.looks if case.visible is None else (*case.looks, case.visible)


def cut_to_integers(case: WrongGradient) -> Diagnosis | None:
    """Right but for the fraction, cut off or rounded, because the tensor cannot hold one."""
    looks = _observations(case)
    if any(look.got.dtype.kind not in "iub" or not look.is_shaped for look in looks):
        return None
    ways = (np.trunc, np.round, np.floor, np.ceil)
    if not any(all(np.array_equal(look.got, way(look.reference)) for look in looks) for way in ways):
        return None
    return sentences.wrong_dtype(case.name, str(case.first_look.got.dtype), right=False)


def too_coarse(case: WrongGradient) -> Diagnosis | None:
    """Right but for digits that the type of number cannot hold."""
    looks = _observations(case)
    if any(look.got.dtype != np.float16 or not look.is_shaped for look in looks):
        return None
    if any(magnitude(look.got - look.reference) > COARSE * scale_of(look) for look in looks):
        return None
    return sentences.unfit_value(case.name, "dtype torch.float16, too few digits")


def all_zeros(case: WrongGradient) -> Diagnosis | None:
    """Zero throughout; where no line reads a gradient that arrives, that is the reason."""
    shaped = all(look.is_shaped and look.got.size for look in case.looks)
    flat = shaped and all(np.abs(look.got).max() <= NOTHING * scale_of(look) for look in case.looks)
    if not flat:
        return None
    arriving = _gradients_before(case)
    unread = arriving and not names_in(case.lines).intersection(arriving)
    more = SAY["unread"].format(join_words([*map(in_code, arriving)])) if unread else SAY["any"]
    return case.told("zeros", SAY["zeros"], more=more)


def _gradients_before(case: WrongGradient) -> list[str]:
    """The gradients in force from which the tensor gets its own, whatever lies between; without that of a loss.

    That is 1, so that right lines may lack it.
    """
    passed, arriving = [case.tensor], list[str]()
    for name in passed:
        made = (output for line in case.statements if name in line.inputs for output in line.outputs)
        for output in made:
            known = f"d{output}" in case.first_look.gradients
            reached, text = (arriving, f"d{output}") if known else (passed, output)
            reached += [text] if text not in reached else []
    return [text for text in arriving if not (np.asarray(case.first_look.gradients[text]) == 1.0).all()]


def diagnose_fixed(view: GradientAnalysis) -> Diagnosis | None:
    """The same on any data, because the lines read no tensor."""
    look = view.first_look
    known = {*look.forward, *look.gradients} - {view.case.name}
    if cannot_be_read(view) or takes_parts(view) or names_in(view.text.lines) & known:
        return None
    arriving = join_words([*map(in_code, _gradients_before(view.case))])
    more = _example(view) or (SAY["nothing"].format(arriving) if arriving else "")
    return view.case.told("fixed", SAY["fixed"], more=more)


def without_upstream(view: GradientAnalysis) -> Diagnosis | None:
    """A gradient, or a term of a sum, into which nothing of what arrives goes, which no right one has."""
    case, look = view.case, view.first_look
    write = case.writes[0] if len(case.writes) == 1 else None
    value = right_side(write) if write is not None and is_assignment(write) else None
    if value is None or not case.reads_upstream or not view.shaped() or cannot_be_read(view):
        return None
    ones = all((np.asarray(array) == 1.0).all() for array in look.upstream.values())
    arriving = dict.fromkeys(name for path in view.paths if (name := upstream_name(path)) in look.gradients)
    up = f", {join_words([in_code(name) for name in arriving])}," if arriving else ""
    if not ones and not view.text.names & look.gradients.keys() - {case.name}:
        return case.told("upstream-missing:unread", SAY["absent"], up=up)
    terms = [(term, names_in(nodes_in(term))) for term in terms_of(value)]
    bare = [term for term, names in terms if names & look.forward.keys() and names <= look.forward.keys()]
    if ones or len(bare) != 1 or len(terms) == 1:
        return None
    return case.told("upstream-missing", SAY["term"], term=as_written(bare[0]), up=up)


def _example(view: GradientAnalysis) -> str:
    """Example of what a number may represent: one that no forward line holds, for the other side of a product."""
    steps = [step for _, _, step in view.every_step()]
    sides = {step.node.operands[1 - step.position].text for step in steps if len(step.node.operands) > 1}
    known = {number_of(node) for forward_statement in view.case.statements for node in nodes_in(forward_statement.node)}
    numbers = [number for number in view.text.numbers if number not in {*known, 0, 1}]
    if len(numbers) != 1 or len(sides) != 1 or not (side := sides.pop()).isidentifier():
        return ""
    return SAY["example"].format(number_text(numbers[0]), side, side)


def another_shape(case: WrongGradient) -> Diagnosis | None:
    """A shape that no row predicts."""
    if all(look.is_shaped for look in case.looks):
        return None
    return case.told("shape", "{wrong}", wrong=wrong_shape(case))


def describe_difference(case: WrongGradient) -> Diagnosis:
    """True facts only: direction, size and where the error sits, or the shapes where they differ."""
    look = _telling(case)
    if look is None:
        return case.told("unrecognised", SAY["hidden"])
    if not look.is_shaped:
        return case.told("unrecognised", "{wrong}", wrong=wrong_shape(case))
    got = np.asarray(look.got, dtype=np.float64)
    facts = [*_direction(got, look.reference), *_place(case, look, got)]
    return case.told("unrecognised", SAY["facts"] if facts else SAY["single"], facts="; ".join(facts))


def _telling(case: WrongGradient) -> Observation | None:
    """The lesson's own numbers, where the error shows on them; what was measured on hidden ones is not told."""
    look = shown_observation(case)
    if not look.is_shaped:
        return look
    if look is not case.visible:
        return None
    apart = magnitude(np.asarray(look.got, dtype=np.float64) - look.reference)
    return look if apart > VISIBLE * magnitude(look.reference) else None


def _direction(got: Array, reference: Array) -> list[str]:
    lengths = float(np.linalg.norm(got)), float(np.linalg.norm(reference))
    if got.size < 2 or not all(np.isfinite(lengths)) or not all(lengths):
        return []
    cosine = float((got * reference).sum()) / (lengths[0] * lengths[1])
    ratio = number_text(lengths[0] / lengths[1])
    kind = "the direction is nearly right" if cosine > ALIKE else "the direction differs"
    if cosine < -ALIKE:
        kind = "the direction is nearly opposite"
    return [f"{kind} (cosine {cosine:.3f}), the length is {ratio} times that of the reference"]


def _place(case: WrongGradient, look: Observation, got: Array) -> list[str]:
    off = np.abs(got - look.reference) > VISIBLE * max(magnitude(look.reference), 1e-300)
    if off.size == 1:
        return []
    share = float(off.mean()) if off.size else 0.0
    if share >= 1.0:
        return ["every entry is off"]
    for axis in range(off.ndim):
        rows = _slices(off, axis)
        if 0 < rows.sum() <= 3 < rows.size:
            places = ", ".join(str(place) for place in np.flatnonzero(rows))
            return [f"all of the error sits at {axis_text(case, case.tensor, axis)}, position {places}"]
    return [f"{int(off.sum())} of the {off.size} entries are off"]


# Where an error sits: some slices along an axis are wrong and all others are right.


def diagnose_confined(view: GradientAnalysis) -> Diagnosis | None:
    case, looks = view.case, view.case.looks if view.shaped() else ()
    off = [np.abs(view.got[look] - look.reference) > DIFFERENT * view.scale[look] for look in looks]
    for axis in range(off[0].ndim if off else 0):
        marks = [_slices(each, axis) for each in off]
        pairs = zip(case.looks, marks, strict=True)
        empty = all(not np.compress(mark, view.got[look], axis).any() for look, mark in pairs)
        if all(0 < mark.sum() <= (mark.size - 1 if empty else mark.size / 2) for mark in marks):
            kind, along = "missing" if empty else "wrong", axis_text(case, case.tensor, axis)
            say = PLACES["zero" if empty and not writes_parts(view) else kind]
            line = "" if empty else _reading(view, axis, marks)
            said = {"where": _visible_places(case.visible, axis), "axis": along, "statement": line}
            return case.told(f"part-{kind}:{axis}", PLACES["read"] if line else say, **said)
    return None


def _reading(view: GradientAnalysis, axis: int, marks: Sequence[Array]) -> str:
    """The one forward line whose share alone reaches the marked positions; empty where there is none."""
    looks = list(zip(view.case.looks, marks, strict=True))
    there = [
        path
        for path in view.paths
        if any((mark & _slices(look.shares[path.key] != 0, axis)).any() for look, mark in looks)
    ]
    return there[0].statement.source if len(there) == 1 < len(view.paths) else ""


def diagnose_gated(view: GradientAnalysis) -> Diagnosis | None:
    """Right on one side of a condition of the program, and wrong nearly throughout on the other."""
    for condition in filter(is_comparison, _forward_nodes(view)):
        if word := _wrong_side(view, condition):
            return view.case.told("part-wrong:where", PLACES["gate"], condition=as_written(condition), word=word)
    return None


def diagnose_ties(view: GradientAnalysis) -> Diagnosis | None:
    """Right but where two are equal of which the program takes the larger or the smaller one."""
    for call in (node for node in _forward_nodes(view) if called_name(node) in {"maximum", "minimum"}):
        sides = arguments_of(call)
        condition = " == ".join(f"({as_written(side)})" for side in sides)
        if len(sides) > 1 and _wrong_side(view, parse_expression(condition)) == HOLDS:
            shown = as_written(parse_expression(condition))
            tie = view.case.told("part-wrong:ties", PLACES["tie"], condition=shown, call=as_written(call))
            deciding = [line for line in view.text.lines if any(map(is_comparison, nodes_in(line)))]
            return in_line(view.case, tie, deciding[0]) if len(deciding) == 1 else tie
    return None


def _forward_nodes(view: GradientAnalysis) -> Iterator[Node]:
    return (node for line in view.case.statements for node in nodes_in(line.node))


def _wrong_side(view: GradientAnalysis, condition: Expression) -> str:
    """On which side of *condition* alone the gradient is wrong, and nearly throughout; empty where that is not so."""
    looks = view.case.looks if view.shaped() else ()
    off = [np.abs(view.got[look] - look.reference) > DIFFERENT * view.scale[look] for look in looks]
    masks = [mask for look in looks if (mask := _mask(condition, look)) is not None]
    if [mask.shape for mask in masks] != [each.shape for each in off]:
        return ""
    for word, sides in ((HOLDS, masks), ("does not hold", [~mask for mask in masks])):
        # Of some draws all entries are on one side.
        both = [(each, side) for each, side in zip(off, sides, strict=True) if 0 < side.sum() < side.size]
        apart = not any((each & ~side).any() for each, side in zip(off, sides, strict=True))
        if len(both) > 1 and apart and all(each.sum() >= NEARLY * side.sum() for each, side in both):
            return word
    return ""


def _mask(condition: Expression, look: Observation) -> Array | None:
    try:
        array = trace_expression(condition, look.forward, look.dims).value
    except UntracedError:
        return None
    return array if array.dtype.kind == "b" else None


def _slices(off: Array, axis: int) -> Array:
    return np.asarray(off.any(axis=tuple(other for other in range(off.ndim) if other != axis)))


def _visible_places(visible: Observation | None, axis: int) -> str:
    """Places of the lesson's own numbers that are wrong, which are public; hidden ones never show theirs."""
    if visible is None or not visible.is_shaped:
        return "some positions"
    got = np.asarray(visible.got, dtype=np.float64)
    mark = _slices(np.abs(got - visible.reference) > VISIBLE * scale_of(visible), axis)
    return places_text([mark]) if 0 < mark.sum() < mark.size else "some positions"
