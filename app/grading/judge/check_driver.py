"""The driver that runs a learner's check in the jail: once for each of the author's cases, in the order it is given.

It says what the check returned, and nothing about what it should have returned: that never comes in here.
Cases are made before anything of the learner's runs, each in a scope of its own.
"""

import json
from collections.abc import Callable
from typing import Any

import torch

from app.grading.forward.driver_jobs import CheckHeader, DriverOutput
from app.grading.judge.own_text import ANSWER, OWN, initial_scope, reset_case, run_case, run_text
from app.syntax import Program, parse_code

Tensor = torch.Tensor
_NUMBERS = (bool, int, float)


def run(header: CheckHeader, _arrays: dict[str, Tensor], out: DriverOutput) -> None:
    """Run the learner's text of *header*, then its function on every case."""
    report: dict[str, Any] = {}
    with torch.no_grad():
        made = {key: _case_arguments(header, case, report) for key, case in header["cases"].items()}
        scope, tree = initial_scope(), parse_code(header["source"])
        report[OWN] = run_text(header, scope, tree, out)
        function = scope.get(header["function"])
        if not report[OWN]["errors"] and callable(function) and "failed" not in report:
            for key, arguments in made.items():
                report[key] = _run_check(key, function, arguments, tree, out)
    out.text("report", json.dumps(report))


def _case_arguments(header: CheckHeader, case: str, report: dict[str, Any]) -> list[object]:
    """The arguments that a case writes; a case that fails is the author's fault, and is reported as such."""
    scope = initial_scope()
    reset_case()
    try:
        exec(compile(case, "<case>", "exec"), scope)
        return [scope[name] for name in header["arguments"]]
    except MemoryError:
        raise
    except BaseException as error:
        report["failed"] = {"kinds": {ANSWER: {"kind": f"{type(error).__name__}: {error}"[:500]}}}
        return []


def _run_check(
    key: str, function: Callable[..., object], arguments: list[object], tree: Program, out: DriverOutput
) -> dict[str, Any]:
    """Call the check on one case and send what it returned, if that is a single number or truth value."""
    results: list[object] = []
    if error := run_case(key, lambda: results.append(function(*arguments)), tree, out):
        return {"errors": error}
    (value,) = results
    if isinstance(value, _NUMBERS) and abs(value) < 2**53:
        value = torch.tensor(value, dtype=torch.bool if type(value) is bool else torch.float64)
    if type(value) is Tensor and value.numel() == 1:
        out.tensor(f"{key}/{ANSWER}", value)
        return {}
    return {"kinds": {ANSWER: _kind(value)}}


def _kind(value: object) -> dict[str, Any]:
    if type(value) is Tensor:
        return {"kind": f"tensor of shape {tuple(value.shape)}"[:80]}
    if isinstance(value, int):
        return {"kind": "number beyond all limits"}  # Python refuses to print some of them
    if isinstance(value, float):
        return {"kind": f"number {value}"[:80]}
    return {"kind": type(value).__name__[:80]}
