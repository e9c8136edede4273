"""Finds the one small edit that makes the learner's lines right, and so the place of the slip.

The learner's text is read in numpy. Where that reading reproduces the learner's own tensor, every edit of the grammar
is tried; the first that gives the reference in all looks shows where the slip sits. The sentence names that place and
what kind of thing is wrong with it, never what belongs there.
"""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice

from app.bindings import as_written
from app.grading.diagnosis.call_kinds import function_edits, insertion_edits, unread_tensor_edits
from app.grading.diagnosis.edits import KINDS, Edit, edits
from app.grading.diagnosis.evidence import Diagnosis
from app.grading.diagnosis.gradient_analysis import GradientAnalysis
from app.grading.diagnosis.grammar import EditVocabulary, Kind
from app.grading.diagnosis.layout import wrong_shape
from app.grading.diagnosis.phrases import LINE, format_code
from app.grading.diagnosis.rerun import Rerun, inside_of
from app.grading.diagnosis.statement_edits import statement_edits, turned_loops
from app.grading.reading.interpreter import COMPOUND

TRIES_MAX = 2500
TRIES_IN_LOOPS = 1500
SHOWN_MAX = 100
FUNCTIONS = ("exp", "log", "tanh", "sigmoid", "sqrt", "square", "relu", "sign", "neg", "reciprocal", "cosh")

FUNCTIONS_IN_LOOPS = frozenset({"square", "sqrt"})
"""Those that are tried in a loop although no forward line has them."""

PUT_IN = (function_edits, insertion_edits)
LIKELY = tuple(kind for kind in KINDS if kind not in PUT_IN)
"""What is put in has the most edits, and can make up for a slip in another line."""


def diagnose_single_edit(view: GradientAnalysis) -> Diagnosis | None:
    return mended_by(view, None)


def mended_by(view: GradientAnalysis, kinds: Sequence[Kind] | None) -> Diagnosis | None:
    """The slip that an edit of one of *kinds* mends; of all kinds where there are none."""
    with view.case.budget.one():
        reruns = view.once(line_replays)
        edit = next(_mending(reruns, kinds), None)
    return None if edit is None else _said(view, reruns[0].line, edit)


def is_mended(view: GradientAnalysis, kinds: Sequence[Kind]) -> bool:
    """Whether an edit of one of *kinds* makes the gradient right; also where the lines cannot be read again."""
    with view.case.budget.one():
        reruns = view.once(line_replays)
        return not reruns or next(_mending(reruns, kinds), None) is not None


def line_replays(view: GradientAnalysis) -> Sequence["Rerun"]:
    """The learner's lines read on each look; empty where they cannot be, or do not come to what the learner has."""
    case = view.case
    if any(look.got.size == 0 for look in case.looks):
        return ()
    if not case.lines or any(isinstance(line, ast.FunctionDef) for line in case.lines):
        return ()
    reruns = [rerun for look in case.looks if (rerun := Rerun.of(view, look, case.budget)) is not None]
    return reruns if len(reruns) == len(case.looks) else ()


def _mending(several: Sequence["Rerun"], kinds: Sequence[Kind] | None) -> Iterator[Edit]:
    return (edit for edit in _tried(several, kinds) if all(rerun.mended(edit) for rerun in several[1:]))


def _said(view: GradientAnalysis, line: ast.stmt, edit: Edit) -> Diagnosis:
    assert isinstance(edit.root, ast.stmt)
    fault = _at_fault(line, edit.root)
    text = as_written(fault)
    if isinstance(fault, ast.For) and edit.change.kind == "order":
        text = text.partition(":")[0]
    shown = text if len(text) <= SHOWN_MAX else f"{text[: SHOWN_MAX - 1]}…"
    change = edit.change
    nodes = {"old": edit.old, "new": change.new, "piece": change.piece or edit.old}
    fields = {**{word: as_written(node) for word, node in nodes.items()}, "call": _call(edit.old)}
    code, say = LINE["unread" if _continues(view, edit) else change.kind]
    message = f"In `{shown}`, {say.format(**fields)}."
    message = message if view.shaped() else f"{message} {wrong_shape(view.case)}"
    return Diagnosis(code=f"{view.case.name}:{format_code(code, fields)}", message=message)


def _continues(view: GradientAnalysis, edit: Edit) -> bool:
    """Whether the edit reads what an earlier line left in the gradient, where the line replaces it unread."""
    new = edit.change.new
    return edit.change.kind in {"name", "gradient"} and isinstance(new, ast.Name) and new.id == view.case.name


def _call(node: ast.AST) -> str:
    """A call of a method without what it is called on."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return as_written(ast.Call(ast.Name(node.func.attr), node.args, node.keywords))
    return as_written(node)


def _tried(several: Sequence["Rerun"], kinds: Sequence[Kind] | None) -> Iterator[Edit]:
    """The edits that make the first look right: of all lines the likely ones, then those that can hide another slip."""
    for likely in ((True, False) if kinds is None else (True,)) if several else ():
        rerun = several[0]
        for at in rerun.candidates():
            for item in several:
                item.stand(at)
            for edit in (
                _edits(rerun, likely) if kinds is None else edits(rerun.line, EditVocabulary(inverse=True), kinds)
            ):
                if rerun.before[at].budget.is_empty:
                    return
                if not rerun.is_elsewhere(edit) and rerun.mended(edit):
                    yield edit


def _edits(rerun: Rerun, likely: bool) -> Iterator[Edit]:
    inside = isinstance(rerun.line, COMPOUND)
    seen = rerun.after if inside else rerun.before[rerun.at]
    arrays = {name: array for name, array in seen.arrays.items() if name != rerun.name or not inside}
    sizes = {name: number for name, number in seen.others.items() if isinstance(number, int | float)}
    parts = _parts_of(rerun.view) if not inside else ()
    names = {
        word.attr
        for path in rerun.view.paths
        for word in ast.walk(path.statement.node)
        if isinstance(word, ast.Attribute)
    }
    functions = (
        tuple(function for function in FUNCTIONS if function in FUNCTIONS_IN_LOOPS | names) if inside else FUNCTIONS
    )
    words = EditVocabulary(
        arrays, rerun.look.gradients.keys(), sizes, parts, functions, _numbers_of(rerun.view), inverse=True
    )
    most = TRIES_IN_LOOPS if inside else TRIES_MAX
    if not likely:
        yield from islice(edits(rerun.line, words, PUT_IN), most)
        return
    # What was computed and is read nowhere was most likely forgotten here.
    unread = {name: array for name, array in arrays.items() if name in rerun.unread}
    if unread:
        yield from edits(rerun.line, replace(words, arrays=unread), (unread_tensor_edits,))
    yield from turned_loops(rerun.line)
    yield from islice(chain(edits(rerun.line, words, LIKELY), statement_edits(rerun.line, words)), most)


def _parts_of(view: GradientAnalysis) -> tuple[ast.expr, ...]:
    """What the forward lines that read the tensor are made of."""
    found = {}
    for path in view.paths:
        for node in ast.walk(path.statement.node):
            if isinstance(node, ast.BinOp | ast.Call):
                found[ast.unparse(node)] = node
    return tuple(found.values())


def _numbers_of(view: GradientAnalysis) -> tuple[float, ...]:
    """The numbers that stand in the forward lines that read the tensor."""
    nodes = (node for path in view.paths for node in ast.walk(path.statement.node))
    values = (node.value for node in nodes if isinstance(node, ast.Constant))
    return tuple(dict.fromkeys(value for value in values if isinstance(value, float)))


def _at_fault(line: ast.stmt, edited: ast.stmt) -> ast.stmt:
    """The innermost statement of *line* that the edit changed."""
    while isinstance(line, COMPOUND) and isinstance(edited, COMPOUND):
        pairs = [(old, new) for old, new in zip(inside_of(line), inside_of(edited), strict=True) if old is not new]
        if len(pairs) != 1:
            break
        line, edited = pairs[0]
    return line
