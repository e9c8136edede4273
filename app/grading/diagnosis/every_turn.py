"""Slips in a line of a loop that was unrolled: one edit of the line is one of each of its turns."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import islice

from app.grading.diagnosis.call_kinds import reduction_edits, transpose_edits
from app.grading.diagnosis.edits import Edit, edits
from app.grading.diagnosis.evidence import Diagnosis
from app.grading.diagnosis.gradient_analysis import GradientAnalysis
from app.grading.diagnosis.grammar import (
    EditVocabulary,
    exponent_edits,
    grouping_edits,
    minus_edits,
    operator_edits,
    removal_edits,
    sign_edits,
)
from app.grading.diagnosis.rerun import Rerun, line_replays
from app.grading.diagnosis.single_edit_search import to_diagnosis
from app.syntax import Statement, is_assignment, is_update, nodes_in

KINDS = (
    reduction_edits,
    removal_edits,
    transpose_edits,
    sign_edits,
    operator_edits,
    grouping_edits,
    minus_edits,
    exponent_edits,
)
"""Kinds whose edits depend on how a line is built, so that they are the same ones in each turn."""
TRIES_MAX = 300


def diagnose_every_turn(view: GradientAnalysis) -> Diagnosis | None:
    """The edit that makes the gradient right where it is done in each turn."""
    turns = _turns(view.case.lines)
    with view.case.budget.one():
        reruns = view.once(line_replays) if turns else ()
        counting = ([at for at in places if reruns[0].counts(at)] for places in turns if reruns)
        for places in (each for each in counting if len(each) > 1):
            for change in islice(_edits_of_all(reruns[0], places), TRIES_MAX):
                if all(_is_mended(rerun, places, change) for rerun in reruns):
                    return to_diagnosis(view, reruns[0].lines[places[0]], change[0])
    return None


def _turns(lines: Sequence[Statement]) -> list[list[int]]:
    """The lines that are several turns of one, which they have the number of."""
    places: dict[tuple[int, str], list[int]] = defaultdict(list)
    of_number = Counter(line.lineno for line in lines)
    for at, line in enumerate(lines):
        if of_number[line.lineno] > 1 and (is_assignment(line) or is_update(line)):
            places[line.lineno, _form(line)].append(at)
    return [alike for alike in places.values() if len(alike) > 1]


def _form(line: Statement) -> str:
    """The build of *line*, whatever its names and numbers are."""
    return " ".join(type(node).__name__ for node in nodes_in(line))


def _edits_of_all(rerun: Rerun, places: Sequence[int]) -> Iterator[tuple[Edit, ...]]:
    words = EditVocabulary(rerun.after.arrays, inverse=True)
    return zip(*(edits(rerun.lines[at], words, KINDS) for at in places), strict=False)


def _is_mended(rerun: Rerun, places: Sequence[int], change: Sequence[Edit]) -> bool:
    """True if the gradient is right with each of *places* changed."""
    roots = {at: edit.root for at, edit in zip(places, change, strict=False) if isinstance(edit.root, Statement)}
    alike = {edit.change.kind for edit in change}
    return len(alike) == 1 and rerun.is_right(rerun.with_lines(roots))
