"""A number in the code that fits the lesson's own sizes only: right there, wrong on the hidden sizes.

| code | meaning |
|---|---|
| `size-hard-coded` | right on the visible sizes, wrong on hidden ones, and a literal of the code is a visible size |
"""

from collections.abc import Callable, Mapping
from functools import partial
from itertools import count

import numpy as np

from app.grading.diagnosis.evidence import Diagnosis, Observation, scale_of
from app.grading.diagnosis.gradient_analysis import GradientAnalysis
from app.grading.diagnosis.naming import in_code, join_words, upstream_name
from app.grading.diagnosis.phrases import sentences_of
from app.grading.diagnosis.rerun import line_replays
from app.grading.operations.numerics import magnitude
from app.syntax import Node, Statement, nodes_in, number_node, number_of, rewritten

SAY = sentences_of("size")
RIGHT = 1e-5
VACUOUS = 1e-4
SMALLEST = 2
Measure = Callable[[Observation], int]
"""From a look to a size in it."""


def hard_coded(view: GradientAnalysis) -> Diagnosis | None:
    visible = view.case.visible
    if visible is not None and _fixed_shape(view, visible):
        return view.case.told("size-hard-coded", SAY["shape"], cure=_cure(view))
    if visible is None or not _right(visible):
        return None
    literals = [
        number for number in view.text.numbers if number in _sizes(view, visible) and _is_size(view, visible, number)
    ]
    if not literals:
        return None
    return view.case.told("size-hard-coded", SAY["number"], shown=", ".join(map(in_code, map(str, sorted(literals)))))


def _cure(view: GradientAnalysis) -> str:
    visible = view.case.visible
    if visible is not None and _right(visible):
        return SAY["cure"]
    arriving = dict.fromkeys(upstream_name(path) for path in view.paths)
    unread = "" if view.text.words & arriving.keys() else SAY["unread"].format(join_words([*map(in_code, arriving)]))
    return f"{SAY['numbers']}{unread}"


def _fixed_shape(view: GradientAnalysis, visible: Observation) -> bool:
    shape = visible.got.shape
    return shape == visible.reference.shape and all(
        look.got.shape == shape != look.reference.shape for look in view.case.looks
    )


def _right(visible: Observation) -> bool:
    got, reference = np.asarray(visible.got), visible.reference
    if got.shape != reference.shape or got.dtype.kind not in "fiub":
        return False
    scale = magnitude(reference)
    # A gradient that is zero but for rounding is right for many wrong lines.
    return scale > VACUOUS * scale_of(visible) and magnitude(got - reference) <= RIGHT * scale


def _sizes(view: GradientAnalysis, visible: Observation) -> Mapping[float, list[Measure]]:
    """Sizes of the lesson that differ from the hidden ones, and one less; with what each of them may measure."""
    looks = view.case.looks
    measures_by_size: dict[float, list[Measure]] = {}
    for name, value in visible.forward.items():
        hidden = [look.forward[name].shape for look in looks if name in look.forward]
        for axis, size in enumerate(value.shape):
            if any(axis < len(shape) and shape[axis] != size for shape in hidden):
                measures_by_size.setdefault(size, []).append(partial(_size_of, name, axis, 0))
                measures_by_size.setdefault(size - 1, []).append(partial(_size_of, name, axis, 1))
                measures_by_size.setdefault(value.size, []).append(partial(_entries_of, name))
    return {size: measures for size, measures in measures_by_size.items() if size >= SMALLEST}


def _size_of(name: str, axis: int, less: int, look: Observation) -> int:
    return int(look.forward[name].shape[axis]) - less


def _entries_of(name: str, look: Observation) -> int:
    return int(look.forward[name].size)


def _is_size(view: GradientAnalysis, visible: Observation, number: float) -> bool:
    """True if the gradient is right once a size stands where the learner wrote *number*, at one place or all."""
    several = view.once(line_replays)
    if not several:
        return True
    places = sum(number_of(node) == number for line in several[0].lines for node in nodes_in(line))
    with view.case.budget.one():
        for measure in {tuple(map(each, view.case.looks)): each for each in _sizes(view, visible)[number]}.values():
            for rank in (None, *range(places if places > 1 else 0)):
                acts = [partial(_with_size, number, measure(rerun.look), rank) for rerun in several]
                if all(rerun.is_right(rerun.rewritten(act)) for rerun, act in zip(several, acts, strict=True)):
                    return True
    return False


def _with_size(number: float, size: int, rank: int | None, line: Statement) -> Statement:
    """*line* with *size* in the place of *number*, where it is written for the time *rank*, or everywhere."""
    places = count()

    def sized(node: Node) -> Node:
        return number_node(size) if number_of(node) == number and rank in {None, next(places)} else node

    return rewritten(line, sized)
