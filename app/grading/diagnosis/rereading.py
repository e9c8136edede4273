"""Replay of the learner's lines, one after the other.

| code | what happened |
|---|---|
| `unstable` | the first NaN or infinity was made by exp of a number that is too large for it |
| `unset` | a tensor that `torch.empty` made was not written everywhere |
| `not-finite` | by anything else, such as a division by zero, or by what could not be followed |
| `order` | a gradient was passed on before another line had added its share; with the finished one the line is right |
| `expanded` | a write into a tensor that `.expand` made, all of whose copies are one memory |
| `stale` | a function of the learner's ran several times on one buffer, and the buffer was not cleared in between |
"""

import ast
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress

import numpy as np

from app.bindings import freshly_bound, nodes_of, reads_of, writes
from app.grading.diagnosis import sentences
from app.grading.diagnosis.edits import replace_node
from app.grading.diagnosis.evidence import Array, Diagnosis, Observation, WrongGradient, scope_of
from app.grading.diagnosis.feeding_lines import in_line
from app.grading.diagnosis.gradient_analysis import GradientAnalysis
from app.grading.diagnosis.phrases import sentences_of
from app.grading.reading.interpreter import Interpreter
from app.grading.reading.node import UntracedError
from app.grading.reading.plain_tracer import READING_ERRORS
from app.grading.reading.tracer import Tracer
from app.syntax import as_written, called_name

SAY, EXPANDED = sentences_of("finite"), sentences_of("expanded")
EXPONENTIALS = frozenset({"exp", "expm1", "exp2"})
UNSET = frozenset({"empty", "empty_like", "new_empty"})
"""What makes tensors whose numbers nothing wrote yet; read, they are zeros."""


def not_finite(case: WrongGradient) -> Diagnosis | None:
    broken = [look for look in case.looks if look.got.dtype.kind == "f" and not np.isfinite(look.got).all()]
    if not broken:
        return None
    every = len(broken) == len(case.looks) and not any(np.isfinite(look.got).any() for look in broken)
    which = "Every entry" if every else "An entry"
    return _origin(case, broken[0]) or case.told("not-finite", SAY["somewhere"], which=which)


def _origin(case: WrongGradient, look: Observation) -> Diagnosis | None:
    now = Interpreter(*scope_of(look, case.name))
    with suppress(UntracedError):
        for line in case.lines:
            diagnosis = _in_line(case, line, now) if isinstance(line, ast.Assign) else None
            if diagnosis is not None:
                return diagnosis
            now.run([line])
        return _left_unset(case, look)
    return None


def _left_unset(case: WrongGradient, look: Observation) -> Diagnosis | None:
    """A tensor that was made and not written everywhere, of lines that are finite with zeros in its place."""
    for at, line in enumerate(case.lines):
        for node in ast.walk(line):
            if not isinstance(node, ast.Call) or called_name(node) not in UNSET:
                continue
            marked = replace_node(line, node, ast.BinOp(node, ast.Mult(), ast.Constant(np.nan)))
            now = Interpreter(*scope_of(look, case.name))
            now.run([*case.lines[:at], *([marked] if isinstance(marked, ast.stmt) else []), *case.lines[at + 1 :]])
            if not np.isfinite(now.arrays.get(case.name, 0.0)).all():
                zeros = called_name(node).replace("empty", "zeros")
                return case.told("unset", SAY["unset"], line=line.lineno, text=as_written(node), zeros=zeros)
    return None


def _in_line(case: WrongGradient, line: ast.Assign, now: Interpreter) -> Diagnosis | None:
    tracer = Tracer(now.arrays, now.others, now.budget)
    for expr in _innermost_first(line.value):
        try:
            with np.errstate(all="ignore"):
                value = np.asarray(tracer.value(expr))
        except (UntracedError, *READING_ERRORS):
            continue
        # Of `None`, which makes an axis, and of a function numpy would make a NaN.
        if value.dtype.kind == "f" and not np.isfinite(value).all():
            return in_line(case, _to_diagnosis(case, line, expr), line)
    return None


def _innermost_first(expr: ast.expr) -> Iterator[ast.expr]:
    for child in ast.iter_child_nodes(expr):
        if isinstance(child, ast.expr):
            yield from _innermost_first(child)
    yield expr


def _to_diagnosis(case: WrongGradient, line: ast.stmt, expr: ast.expr) -> Diagnosis:
    text = as_written(expr)
    match expr:
        case (
            ast.Call(func=ast.Attribute(value=ast.Name(id="torch"), attr=attr), args=[inner])
            | ast.Call(func=ast.Attribute(value=inner, attr=attr))
        ) if attr in EXPONENTIALS:
            return sentences.overflowing_exponential(case.name, text, as_written(inner))
        case ast.BinOp(op=ast.Div(), right=right):
            why = f": `{as_written(right)}` holds a zero"
        case ast.Call(func=ast.Attribute(attr="log")):
            why = ": the logarithm meets a zero or a negative number"
        case ast.Call(func=ast.Attribute(attr="sqrt")):
            why = ": the root meets a negative number"
        case ast.Name(id=name):
            return case.told("not-finite", SAY["read"], line=line.lineno, word=name)
        case ast.BinOp(left=left, op=ast.Pow()):
            why = f": `{as_written(left)}` holds a number without such a power"
        case _:
            why = ""
    return case.told("not-finite", SAY["here"], line=line.lineno, text=text, why=why)


# The right lines at the wrong time.

CALLS_MAX = 4


def read_early(view: GradientAnalysis) -> Diagnosis | None:
    """A gradient that a line of the name, or one before it, reads although a later line still writes it."""
    for gradient, at, later in _early(view):
        if all(_right_with(view, look, gradient) for look in view.case.looks):
            lines = view.case.lines
            return sentences.wrong_order(view.case.name, gradient, lines[at].lineno, lines[later].lineno)
    return None


def _early(view: GradientAnalysis) -> Iterator[tuple[str, int, int]]:
    """Gradients, required or not, the line that reads them, and the line that finishes them."""
    known = {f"d{name}" for name in view.first_look.forward} - {view.case.name}
    written = [writes(line) for line in view.case.lines]
    counts = Counter(name for names in written for name in names & known)
    if not any(count > 1 for count in counts.values()):
        return
    last = max((at for at, names in enumerate(written) if view.case.name in names), default=-1)
    for at, line in enumerate(view.case.lines[: last + 1]):
        _, uses = reads_of(nodes_of(line))
        for gradient in sorted((uses & known) - written[at]):
            later = [place for place in range(at + 1, len(written)) if gradient in written[place]]
            if later and any(gradient in names for names in written[:at]):
                yield gradient, at, later[-1]


def _right_with(view: GradientAnalysis, look: Observation, gradient: str) -> bool:
    """True if the learner's lines give the reference once *gradient* is finished from the start."""
    with suppress(KeyError, UntracedError):
        finished = _values_left(view, look, {})[gradient]
        return not view.wrong(_values_left(view, look, {gradient: finished})[view.case.name], look)
    return False


def _values_left(view: GradientAnalysis, look: Observation, finished: Mapping[str, Array]) -> Mapping[str, Array]:
    """Values that the learner's lines leave, without those that write a required or *finished* gradient."""
    arrays, others = scope_of(look, view.case.name)
    now, held = Interpreter({**arrays, **finished}, others), {*look.gradients, *finished} - {view.case.name}
    for line in view.case.lines:
        if not writes(line) & held:
            now.run([line])
    return now.arrays


EXPANDING = frozenset({"expand", "expand_as", "broadcast_to"})


def diagnose_expanded(view: GradientAnalysis) -> Diagnosis | None:
    """Diagnose a write into one copy of an expanded tensor, which changes all; with memory of its own it is right."""
    lines = view.case.lines
    for at, line in enumerate(lines):
        if not (isinstance(line, ast.Assign) and called_name(line.value) in EXPANDING):
            continue
        for name in sorted(freshly_bound(line)):
            into = (
                statement.lineno
                for statement in lines[at + 1 :]
                if name in writes(statement) - freshly_bound(statement)
            )
            later = next(into, None)
            if later is not None and all(_right_apart(view, look) for look in view.case.looks):
                return view.case.told("expanded", EXPANDED["write"], word=name, line=line.lineno, later=later)
    return None


def _right_apart(view: GradientAnalysis, look: Observation) -> bool:
    """True if the learner's lines give the reference where no two entries are one memory."""
    with suppress(KeyError, UntracedError):
        return not view.wrong(_values_left(view, look, {})[view.case.name], look)
    return False


def called_again(view: GradientAnalysis) -> Diagnosis | None:
    """A whole multiple of the reference, where a function of the learner's was called that many times alike."""
    own = {line.name for line in view.case.lines if isinstance(line, ast.FunctionDef)}
    calls = [ast.dump(line) for line in view.case.lines if _function_name(line) in own]
    counts = {calls.count(call) for call in calls} & {*range(2, CALLS_MAX + 1)}
    return next((sentences.stale_state(view.case.name, each) for each in sorted(counts) if _multiple(view, each)), None)


def _function_name(line: ast.stmt) -> str:
    match line:
        case ast.Expr(value=ast.Call(func=ast.Name(id=name))) | ast.Assign(value=ast.Call(func=ast.Name(id=name))):
            return name
    return ""


def _multiple(view: GradientAnalysis, times: int) -> bool:
    return view.shaped() and all(view.equal(np.asarray(times * look.reference), look) for look in view.case.looks)
