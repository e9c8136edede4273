"""The driver that runs a learner's check in the jail: once for each of the author's cases, in the order it is given.

It says what the check returned, and nothing about what it should have returned: that never comes in here.
Cases are made before anything of the learner's runs, each in a scope of its own.
"""

import ast
import json
import math
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F

from app.grading.forward.driver_jobs import CheckHeader, Output
from app.grading.judge.fault import FILE, raised_by
from app.grading.judge.shown import shown_as

Tensor = torch.Tensor
ANSWER = "answer"
OWN = "own"
_NUMBERS = (bool, int, float)
_PRINTED = 2000


def run(header: CheckHeader, _arrays: dict[str, Tensor], out: Output) -> None:
    """Run the learner's text of *header*, then its function on every case."""
    report: dict[str, Any] = {}
    with torch.no_grad():
        made = {key: _made(header, case, report) for key, case in header["cases"].items()}
        scope = _fresh()
        tree = ast.parse(header["source"])
        with out.capture() as printed:
            error = raised_by(lambda: exec(compile(tree, FILE, "exec"), scope), tree)
        out.text("printed", printed.getvalue())
        function = scope.get(header["function"])
        shown = [shown_as(name, scope[name]) for name in header["shown"] if name in scope]
        missing = {} if callable(function) else {ANSWER: _kind(function)}
        report[OWN] = {"errors": error, "shown": shown, "kinds": missing}
        if not error and callable(function) and "failed" not in report:
            for key, arguments in made.items():
                report[key] = _answered(key, function, arguments, tree, out)
    out.text("report", json.dumps(report))


def _fresh() -> dict[str, Any]:
    return {"torch": torch, "F": F, "math": math}


def _made(header: CheckHeader, case: str, report: dict[str, Any]) -> list[object]:
    """The arguments that a case writes; a case that fails is the author's fault, and is reported as such."""
    scope = _fresh()
    _begin()
    try:
        exec(compile(case, "<case>", "exec"), scope)
        return [scope[name] for name in header["arguments"]]
    except MemoryError:
        raise
    except BaseException as error:
        report["failed"] = {"kinds": {ANSWER: {"kind": f"{type(error).__name__}: {error}"[:500]}}}
        return []


def _answered(
    key: str, function: Callable[..., object], arguments: list[object], tree: ast.Module, out: Output
) -> dict[str, Any]:
    """Call the check on one case and send what it returned, if that is a single number or truth value."""
    found: list[object] = []
    _begin()
    with out.capture() as printed:
        error = raised_by(lambda: found.append(function(*arguments)), tree)
    if printed.getvalue():
        out.text(f"printed/{key}", printed.getvalue()[:_PRINTED])
    if error:
        return {"errors": error}
    (value,) = found
    if isinstance(value, _NUMBERS) and abs(value) < 2**53:
        value = torch.tensor(value, dtype=torch.bool if type(value) is bool else torch.float64)
    if type(value) is Tensor and value.numel() == 1:
        out.tensor(f"{key}/{ANSWER}", value)
        return {}
    return {"kinds": {ANSWER: _kind(value)}}


def _begin() -> None:
    """Nothing that one call sets reaches the next."""
    torch.set_default_dtype(torch.float32)
    torch.default_generator.manual_seed(0)


def _kind(value: object) -> dict[str, Any]:
    if type(value) is Tensor:
        return {"kind": f"tensor of shape {tuple(value.shape)}"[:80]}
    if isinstance(value, int):
        return {"kind": "number beyond all limits"}  # Python refuses to print some of them
    if isinstance(value, float):
        return {"kind": f"number {value}"[:80]}
    return {"kind": type(value).__name__[:80]}
