"""Line of a slip that is not in the line which writes the gradient: in a step on the way, in a line of its own.

A step may be any gradient inside of the forward program, under a name of the learner's. If it is none of them, and one
of them in its place makes the gradient right, then it is the step that is off, and not what reads it.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from app.bindings import writes
from app.grading.diagnosis.claims import makes_steps
from app.grading.diagnosis.edits import Edit, replace_node
from app.grading.diagnosis.evidence import Array, Diagnosis, WrongGradient
from app.grading.diagnosis.gradient_analysis import GradientAnalysis
from app.grading.diagnosis.grammar import Replacement
from app.grading.diagnosis.phrases import sentences_of
from app.grading.diagnosis.rerun import (
    Inside,
    Rerun,
    finished_steps,
    gradients_inside,
    line_replays,
    steps_made,
)
from app.syntax import (
    Statement,
    as_written,
    is_simple,
    is_update,
    name_node,
    names_loaded,
    parse_expression,
    right_side,
    source_text,
    value_left_by,
)

SAY = sentences_of("step")
MEANT = "_meant"
WRITTEN = re.compile(r"(?<=here )`\w+`(?: or `\w+`)* is written")
"""Where a sentence looks for the slip as long as no line is known."""
FACTORS = ("-1", "2", "0.5")
"""What a term may lack, or have too much: a minus, or a 2."""

SHARES_MAX = 6
"""How many shares are added up in every way."""


def with_line(view: GradientAnalysis, diagnosis: Diagnosis) -> Diagnosis:
    """Return *diagnosis* with the line of the slip, if that line makes a step on the way to the gradient."""
    if diagnosis.step:
        return diagnosis
    # Without a step on the way there is none to look for.
    line = _place(view, view.once(line_replays)) if makes_steps(view) else view.undone_in
    return diagnosis if line is None or view.case.name in writes(line) else placed_at(view, diagnosis, line)


def placed_at(view: GradientAnalysis, diagnosis: Diagnosis, line: Statement) -> Diagnosis:
    """Return *diagnosis* with the slip in *line*, which writes the gradient or makes one step on the way to it."""
    steps = sorted(writes(line))
    if steps == [view.case.name]:
        return replace(diagnosis, line=line.lineno)
    if len(steps) != 1 or steps[0] in view.case.settled:
        return diagnosis
    placed = replace(diagnosis, line=line.lineno, step=steps[0])
    if f"where `{steps[0]}` is made" in diagnosis.message or as_written(line)[:40] in diagnosis.message:
        return placed
    return replace(placed, message=message_at_line(diagnosis.message, steps[0], line.lineno))


def message_at_line(message: str, step: str, line: int) -> str:
    """Return *message* with the slip in *line*, which makes *step*."""
    text, places = WRITTEN.subn(SAY["made"].format(line=line, step=step), message)
    return text if places or f"in line {line}" in message else text + SAY["stands"].format(line=line, step=step)


def wrong_write(view: GradientAnalysis) -> int | None:
    """Of several lines that write the gradient, the one whose part is no sum of shares; None where that is not one.

    Where several are none, each writes a term of a rule: the one that is right with another factor.
    Where all are, a share is missing: in the last of them that writes all entries which are wrong.
    """
    reruns = view.once(line_replays) if len(view.case.writes) > 1 else ()
    writing = [at for at, names in enumerate(reruns[0].written) if view.case.name in names] if reruns else []
    if not all(is_simple(reruns[0].lines[at]) for at in writing):
        return None
    wrong = [at for at in writing if not all(_is_shares(view, rerun, at) for rerun in reruns)]
    covering = [at for at in writing if all(_covers(view, rerun, at) for rerun in reruns)]
    lines = [at for at in wrong if _is_right_scaled(reruns, at)] if len(wrong) > 1 else wrong or covering[-1:]
    return reruns[0].lines[lines[0]].lineno if len(lines) == 1 else None


def _is_right_scaled(reruns: Sequence[Rerun], at: int) -> bool:
    """True if the gradient is right with one of `FACTORS` before what the line *at* writes."""
    line = reruns[0].lines[at]
    value = right_side(line)
    if value is None:
        return False
    for rerun in reruns:
        rerun.stand(at)
    scaled = (parse_expression(f"{factor} * ({source_text(value)})") for factor in FACTORS)
    edits = [Edit(replace_node(line, value, put), value, Replacement("", put)) for put in scaled]
    return any(all(rerun.mended(edit) for rerun in reruns) for edit in edits)


def part_of(rerun: Rerun, at: int) -> Array | None:
    """The part of the gradient that the line *at* adds, or makes; None where that has another shape."""
    now, before = ([*rerun.before, rerun.after][rank].arrays.get(rerun.name) for rank in (at + 1, at))
    if now is None or now.shape != rerun.look.reference.shape:
        return None
    return now if before is None or _makes(rerun, at) else np.asarray(now - before)


def _makes(rerun: Rerun, at: int) -> bool:
    """True if the line *at* makes the gradient anew."""
    line = rerun.lines[at]
    return value_left_by(line) is not None and not is_update(line) and rerun.name not in names_loaded(line)


def _covers(view: GradientAnalysis, rerun: Rerun, at: int) -> bool:
    """True if the line *at* writes each entry that is wrong, on one look."""
    part, reference = part_of(rerun, at), rerun.look.reference
    if part is None or rerun.look.got.shape != reference.shape:
        return False
    return not view.wrong(np.where(part == 0, rerun.look.got, reference), rerun.look)


def _is_shares(view: GradientAnalysis, rerun: Rerun, at: int) -> bool:
    """True if the line *at* adds a sum of some of the gradient's shares, or makes zeros to add to, on one look.

    What writes into a part may write the whole gradient there as well.
    """
    part, reference, makes = part_of(rerun, at), rerun.look.reference, _makes(rerun, at)
    if part is None:
        return False
    shares = [rerun.look.shares[path.key] for path in view.paths[:SHARES_MAX]]
    sums = [sum(some) for count in range(not makes, len(shares) + 1) for some in combinations(shares, count)]
    sums += [] if makes or not part.any() else [np.where(part == 0, part, reference)]
    return any(not view.wrong(np.asarray(reference + part - each), rerun.look) for each in sums)


@np.errstate(all="ignore")
def is_step_inside(case: WrongGradient) -> bool:
    """True if the tensor of *case* is the gradient at one of the operations on the way, in every look.

    What is one of the gradients of the box under another name may be that or a step that lacks everything.
    """
    view = GradientAnalysis(case)
    if any(all(view.equal(look.gradients[name], look) for look in case.looks) for name in case.first_look.gradients):
        return False
    inside = gradients_inside(view, case.looks)
    return any(all(map(view.equal, gradients, case.looks)) for gradients in inside)


def _place(view: GradientAnalysis, reruns: Sequence[Rerun]) -> Statement | None:
    """The line that makes a wrong step; else the one in which what was said was undone, if its step is not right."""
    if not reruns:
        return view.undone_in
    inside, right = gradients_inside(view, [rerun.look for rerun in reruns]), finished_steps(view, reruns)
    with view.case.budget.one():
        for at, arrays in steps_made(reruns).items():
            line = reruns[0].lines[at]
            if at in right or writes(line) <= view.case.settled:
                continue
            if _is_right_with_any(reruns, at, arrays, inside):
                return line
    return None if any(reruns[0].lines[at] is view.undone_in for at in right) else view.undone_in


@np.errstate(all="ignore")
def is_mended_at(case: WrongGradient, step: str) -> bool:
    """True if that of *case* is right with another sign of *step*, or with a gradient inside of the program for it."""
    view = GradientAnalysis(case)
    reruns = line_replays(view)
    if not reruns:
        return False
    inside = gradients_inside(view, [rerun.look for rerun in reruns])
    with case.budget.one():
        made = steps_made(reruns).items()
        return any(
            writes(reruns[0].lines[at]) == {step}
            and _is_right_with_any(reruns, at, arrays, [*inside, tuple(-array for array in arrays)])
            for at, arrays in made
        )


@np.errstate(all="ignore")
def is_wrong_with(case: WrongGradient, step: str, values: Inside) -> bool:
    """True if that of *case* is still wrong with *values*, one for each look, for what a line makes of *step*."""
    reruns = line_replays(GradientAnalysis(case))
    indices = [at for at in steps_made(reruns) if writes(reruns[0].lines[at]) == {step}] if reruns else []
    with case.budget.one():
        return len(indices) == 1 and not _is_right_with(reruns, indices[0], values)


def _is_right_with_any(reruns: Sequence[Rerun], at: int, made: Inside, inside: Sequence[Inside]) -> bool:
    """True if the gradient is right with one of *inside* in the place of what the line *at* has *made*."""
    return any(_is_right_with(reruns, at, each) for each in inside if each[0].shape == made[0].shape)


def _is_right_with(reruns: Sequence[Rerun], at: int, inside: Inside) -> bool:
    """True if the gradient is right on every look with *inside* for what the line *at* makes."""
    line = reruns[0].lines[at]
    value, put = right_side(line), name_node(MEANT)
    assert value is not None
    edit = Edit(replace_node(line, value, put), value, Replacement("", put))
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
