"""Where NaN or infinity came from: the first operation of the learner's lines that made it from finite numbers.

| code | what made it |
|---|---|
| `unstable` | exp of a number that is too large for it |
| `not-finite` | anything else, such as a division by zero, or what could not be followed |
"""

import ast
from collections.abc import Iterator

import numpy as np

from app.bindings import as_written
from app.grading.diagnosis import sentences
from app.grading.diagnosis.evidence import Case, Diagnosis, Look, scope_of
from app.grading.diagnosis.phrases import sentences_of
from app.grading.reading.interpreter import Interpreter
from app.grading.reading.node import UntracedError
from app.grading.reading.tracer import READING_ERRORS, Tracer

SAY = sentences_of("finite")
EXPONENTIALS = frozenset({"exp", "expm1", "exp2"})


def not_finite(case: Case) -> Diagnosis | None:
    broken = [look for look in case.looks if look.got.dtype.kind == "f" and not np.isfinite(look.got).all()]
    if not broken:
        return None
    found = _origin(case, broken[0])
    if found is not None:
        return found
    every = len(broken) == len(case.looks) and not any(np.isfinite(look.got).any() for look in broken)
    return case.told("not-finite", SAY["somewhere"], which="Every entry" if every else "An entry")


def _origin(case: Case, look: Look) -> Diagnosis | None:
    now = Interpreter(*scope_of(look, case.name))
    try:
        for line in case.lines:
            if isinstance(line, ast.Assign):
                found = _in_line(case, line, now)
                if found is not None:
                    return found
            now.run([line])
    except UntracedError:
        return None
    return None


def _in_line(case: Case, line: ast.Assign, now: Interpreter) -> Diagnosis | None:
    tracer = Tracer(now.arrays, now.others, now.budget)
    for expr in _innermost_first(line.value):
        try:
            with np.errstate(all="ignore"):
                value = np.asarray(tracer.value(expr), dtype=np.float64)
        except (UntracedError, *READING_ERRORS):
            continue
        if value.size and not np.isfinite(value).all():
            return _said(case, line, expr)
    return None


def _innermost_first(expr: ast.expr) -> Iterator[ast.expr]:
    for child in ast.iter_child_nodes(expr):
        if isinstance(child, ast.expr):
            yield from _innermost_first(child)
    yield expr


def _said(case: Case, line: ast.stmt, expr: ast.expr) -> Diagnosis | None:
    text = as_written(expr)
    match expr:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="torch"), attr=attr), args=[inner]) if attr in EXPONENTIALS:
            return sentences.unstable(case.name, text, as_written(inner))
        case ast.Call(func=ast.Attribute(value=inner, attr=attr)) if attr in EXPONENTIALS:
            return sentences.unstable(case.name, text, as_written(inner))
        case ast.BinOp(op=ast.Div(), right=right):
            why = f"`{as_written(right)}` holds a zero"
        case ast.Call(func=ast.Attribute(attr="log")):
            why = "the logarithm meets a zero or a negative number"
        case ast.BinOp(left=left, op=ast.Pow()):
            why = f"`{as_written(left)}` holds a number without such a power"
        case _:
            return None
    return case.told("not-finite", SAY["here"], line=line.lineno, text=text, why=why)
