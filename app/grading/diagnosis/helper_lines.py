"""Where a slip stands that is not in the line which writes the gradient: in a step on the way, in a line of its own.

A step may be any gradient inside of the forward program, under a name of the learner's. If it is none of them, and one
of them in its place makes the gradient right, then it is the step that is off, and not what reads it.
"""

import ast
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from app.bindings import as_written
from app.grading.diagnosis import single_edit_search
from app.grading.diagnosis.edits import Edit
from app.grading.diagnosis.evidence import Array, Diagnosis
from app.grading.diagnosis.gradient_analysis import SAME, GradientAnalysis
from app.grading.diagnosis.grammar import Replacement
from app.grading.diagnosis.phrases import sentences_of
from app.grading.diagnosis.rerun import Rerun, writes

SAY = sentences_of("step")
MEANT = "_meant"
Inside = tuple[Array, ...]
"""A gradient inside of the forward program, on each look."""


def placed(view: GradientAnalysis, diagnosis: Diagnosis) -> Diagnosis:
    """*diagnosis* with the line in which the slip stands, where that makes a step on the way to the gradient."""
    line = _place(view, view.once(single_edit_search.line_replays))
    steps = [] if line is None else sorted(writes(line))
    if line is None or len(steps) != 1 or view.case.name in steps:
        return diagnosis
    if f"where `{steps[0]}` is made" in diagnosis.message or as_written(line)[:40] in diagnosis.message:
        return diagnosis
    told = SAY["stands"].format(line=line.lineno, step=steps[0])
    return replace(diagnosis, message=f"{diagnosis.message}{told}")


def _place(view: GradientAnalysis, reruns: Sequence[Rerun]) -> ast.stmt | None:
    """The line that makes a wrong step; else the one in which what was said was undone, if its step is not right."""
    if not reruns:
        return view.undone_in
    inside = _gradients_inside(view, reruns)
    steps = _steps(reruns)
    right = [at for at, arrays in steps.items() if any(_equal(arrays, each) for each in inside)]
    with view.case.budget.one():
        for at, arrays in steps.items():
            fitting = (each for each in inside if each[0].shape == arrays[0].shape)
            if at not in right and any(_is_right_with(reruns, at, each) for each in fitting):
                return reruns[0].lines[at]
    return None if any(reruns[0].lines[at] is view.undone_in for at in right) else view.undone_in


def _steps(reruns: Sequence[Rerun]) -> Mapping[int, Inside]:
    """By line that makes one: a step that is no gradient of the box, on each look."""
    known, found = reruns[0].look.gradients.keys() | {reruns[0].name}, dict[int, Inside]()
    for at in reruns[0].candidates():
        match reruns[0].lines[at]:
            case ast.Assign(targets=[ast.Name(id=name)]) if name not in known:
                values = [rerun.after.arrays[name] for rerun in reruns if name in rerun.after.arrays]
                if len(values) == len(reruns) and values[0].dtype.kind == "f":
                    found[at] = tuple(values)
    return found


def _gradients_inside(view: GradientAnalysis, reruns: Sequence[Rerun]) -> list[Inside]:
    """The gradient at each operation on the way to the tensor."""
    ways = ([view.steps(path, rerun.look) for rerun in reruns] for path in view.paths)
    return [tuple(step.g for step in steps) for way in ways for steps in zip(*way, strict=False)]


def _equal(one: Inside, other: Inside) -> bool:
    pairs = list(zip(one, other, strict=True))
    return all(a.shape == b.shape for a, b in pairs) and all(
        np.abs(a - b).max(initial=0.0) <= SAME * max(float(np.abs(b).max(initial=0.0)), 1e-300) for a, b in pairs
    )


def _is_right_with(reruns: Sequence[Rerun], at: int, inside: Inside) -> bool:
    """Whether the gradient is right on every look with *inside* for what the line *at* makes."""
    line = reruns[0].lines[at]
    assert isinstance(line, ast.Assign)
    put = ast.Name(MEANT, ast.Load())
    edit = Edit(ast.Assign(line.targets, put), line.value, Replacement("", put))
    for rerun, array in zip(reruns, inside, strict=True):
        rerun.stand(at)
        scope = rerun.before[at].arrays
        scope[MEANT] = array
        try:
            if not rerun.mended(edit):
                return False
        finally:
            del scope[MEANT]
    return True
