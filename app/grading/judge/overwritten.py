"""Given tensors whose name was bound to another value, and the later lines that read it.

Such as `dY = dY @ W.T`, and then `dW = X.T @ dY`. That it was meant otherwise cannot be known, so it is told as a fact,
beside what is seen of the result.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import replace

from app.grading.diagnosis import sentences
from app.grading.diagnosis.evidence import Diagnosis
from app.grading.judge.parsed_submission import ParsedSubmission
from app.grading.judge.run_reports import ReportedError
from app.grading.judge.unwritten import comparison_text, idle_line_text, paired_value_text

_VAGUE = frozenset({"shape", "unrecognised", "wrong-upstream"})
Rebound = Sequence[tuple[str, int]]
"""Given names and the statements that bound them to other values, in the order of the run."""


def explain_overwriting(
    diagnosis: Diagnosis, name: str, plan: ParsedSubmission, rebound: Rebound, required: Collection[str]
) -> Diagnosis:
    """*found* of the gradient *name*, below a line that does nothing, or the overwriting that it may come from."""
    if said := comparison_text(name, plan) or idle_line_text(name, plan) or paired_value_text(name, plan):
        return replace(diagnosis, message=f"{said} {diagnosis.message}")
    if diagnosis.code.removeprefix(f"{name}:").partition(":")[0] not in _VAGUE:
        return diagnosis
    for index in _feeding(name, plan, required):
        for given, at in reversed(rebound):
            if at < index and given in plan.lines[index].uses:
                cause = sentences.overwritten_name(name, given, plan.lines[at].line, plan.lines[index].line)
                return replace(cause, message=f"{cause.message} {diagnosis.message}")
    return diagnosis


def overwriting_blame(error: ReportedError, plan: ParsedSubmission, rebound: Rebound) -> str:
    """A sentence on the overwriting that gave an operand of *error* its shape; empty where none did."""
    words = {word for error_operand in error.operands for word in re.findall(r"\w+", error_operand.source)}
    for given, at in reversed(rebound):
        if at < error.statement and given in words:
            return sentences.overwritten_name("", given, plan.lines[at].line, error.line).message
    return ""


def _feeding(name: str, plan: ParsedSubmission, required: Collection[str]) -> list[int]:
    """The statements that *name* is computed by, the last one first, as far back as other *required* gradients."""
    wanted, indices = {name}, []
    for index in range(plan.last.get(name, -1), -1, -1):
        line = plan.lines[index]
        if not wanted.isdisjoint(line.writes):
            indices.append(index)
            wanted |= line.uses - set(required)
    return indices
