"""Nudge one entry of a tensor, and lay the learner's own number beside the quotient.

What autograd says of the entry is not asked and not told: the forward program is run in the jail, with the entry moved
up and down, on the lesson's own sizes in float64.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from app.engine.grade.jail_runs import JailFailedError, JailRunner
from app.engine.grade.prepared_task import PreparedTask
from app.engine.grader import Nudge
from app.grading.forward.driver_jobs import NudgeHeader
from app.grading.judge.compare import Array
from app.grading.judge.parsed_submission import ParsedSubmission
from app.grading.judge.run_reports import read_trials
from app.grading.judge.verdict import Verdict
from app.grading.nudge.quotient import STEPS, Quotient, quotient_remark, quotient_text, read_entry, read_quotient
from app.sandbox.wire import Job

_SECONDS = 20.0


class LateError(Exception):
    """A first try of the learner's code was cut."""


@dataclass(frozen=True, slots=True)
class SubmissionSource:
    """Source of the learner's number.

    Args:
        plan: A verdict where the code is not to be run.
        patient: Whether *jail* gives the code all of its time.
    """

    plan: ParsedSubmission | Verdict
    jail: JailRunner
    patient: bool = True


def grade_nudge(bench: PreparedTask, jail: JailRunner, name: str, entry: str, own: SubmissionSource) -> Nudge:
    """Measure how L changed when one *entry* of the tensor was moved of which *name* is the gradient.

    Raises:
        LateError: The learner's code is to be given more time.
        JailFailedError: The jail did not finish the author's program.
    """
    tensor = bench.study.sets["v"].tensors.get(name[1:])
    if tensor is not None and tensor.dtype.kind != "f":
        return _answer(name, f"`{name[1:]}` holds whole numbers, which cannot be moved a little: it has no gradient.")
    if tensor is None or name not in bench.ruling.required:
        return _answer(name, f"`{name}` is not asked for in this box, so there is nothing to nudge.")
    index = read_entry(entry, name, tensor.shape)
    if isinstance(index, str):
        return _answer(name, index)
    quotient = _measure(bench, jail, name[1:], index)
    if isinstance(quotient, str):
        return replace(_answer(name, quotient), entry=index)
    number, why = _number(bench, name, index, own)
    reference = bench.references["v"][name[1:]]
    message = why if number is None else quotient_text(quotient, number, max(reference.scale, reference.noise))
    return Nudge(
        outcome="graded",
        name=name,
        entry=index,
        loss=_loss(bench),
        step=quotient.step,
        above=quotient.above,
        below=quotient.below,
        quotient=quotient.value,
        own=number,
        message=message,
        note=quotient_remark(quotient),
    )


def _answer(name: str, message: str) -> Nudge:
    return Nudge(outcome="refused", name=name, message=message)


def _measure(bench: PreparedTask, jail: JailRunner, tensor: str, entry: tuple[int, ...]) -> Quotient | str:
    study = bench.study
    data, forward = study.sets["v"], study.forward
    inputs = {tensor_input.name: _wide(data.tensors[tensor_input.name]) for tensor_input in forward.inputs}
    header: NudgeHeader = {
        "statements": [
            {"source": forward_statement.source, "outputs": list(forward_statement.outputs)}
            for forward_statement in study.program.statements
        ],
        "inputs": list(inputs),
        "dims": dict(data.dims),
        "outputs": list(forward.outputs),
        "tensor": tensor,
        "entry": list(entry),
        "steps": list(STEPS),
    }
    arrays = inputs | {f"d{name}": _wide(study.forced("v", name)) for name in forward.outputs}
    reply = jail.run(Job(driver="nudge", header=header, arrays=arrays, seconds=_SECONDS))
    if reply.ending != "done" or "escaped" in reply.texts:
        raise JailFailedError(reply)
    if "failed" in reply.texts:
        return f"The forward program does not run with this entry moved: {reply.texts['failed']}"
    quotient = read_quotient(reply.arrays["rows"], float(reply.texts["size"]))
    return quotient or "L is not a finite number beside this entry, so there is no quotient."


def _loss(bench: PreparedTask) -> str:
    tensors = bench.study.sets["v"].tensors
    terms = (name if tensors[name].shape == () else f"(d{name} * {name}).sum()" for name in bench.study.forward.outputs)
    return " + ".join(terms)


def _wide(array: Array) -> Array:
    return array.astype(np.float64) if array.dtype.kind == "f" else array


def _number(bench: PreparedTask, name: str, entry: tuple[int, ...], own: SubmissionSource) -> tuple[float | None, str]:
    """The learner's number there, on the lesson's own sizes; or why there is none."""
    if isinstance(own.plan, Verdict):
        return None, f"Your code was not run, so there is no number of yours to compare. {own.plan.message}"
    reply = own.jail.run(bench.job(own.plan, visible_only=True))
    if reply.ending == "timeout" and not own.patient:
        raise LateError
    if reply.ending != "done":
        return None, "Your code did not finish, so there is no number of yours to compare."
    trial = read_trials(reply.arrays, reply.texts, ["v"])["v"]
    got = trial.final(name)
    if got is None:
        kind = trial.kinds.get(name)
        left = f"no `{name}`" if kind is None else f"`{name}` as something that is no tensor of numbers ({kind})"
        return None, f"Your code left {left}, so there is no number of yours to compare."
    shape = bench.study.sets["v"].tensors[name[1:]].shape
    if got.shape != shape:
        return None, f"Your `{name}` has shape `{got.shape}` and not `{shape}`, so there is no such entry to compare."
    number = float(got[entry])
    return (
        (number, "") if math.isfinite(number) else (None, f"Your number there is {number}, which compares with none.")
    )
