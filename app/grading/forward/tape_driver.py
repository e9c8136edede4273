"""The driver that runs a forward program in the jail: its tensors, or its gradients under forced upstreams.

It decides nothing and knows nothing but the author's program; what it sends back is numbers.
"""

import json
from collections.abc import Mapping
from typing import Any

import torch

from app.grading.forward.driver_jobs import DriverOutput, TapeHeader, TapeRun
from app.grading.forward.predicates import Watch
from app.grading.forward.tape import BackwardResult, StatementError, Tape, whole_gradients

Tensor = torch.Tensor


def run(header: TapeHeader, arrays: dict[str, Tensor], out: DriverOutput) -> None:
    """Answer a tape job: mode `forward` evaluates, mode `backward` differentiates under forced upstreams."""
    report: dict[str, Any] = {}
    for job in header["runs"]:
        torch.default_generator.manual_seed(0)
        torch.set_default_dtype(torch.float32 if job["dtype"] == "float32" else torch.float64)
        data = {name: arrays[key] for name, key in job["inputs"].items()}
        try:
            if header["mode"] == "forward":
                report[job["id"]] = _forward(header, job, data, out)
            else:
                tape = Tape(header["statements"], data, job["dims"])
                report[job["id"]] = _backward(header, job, tape, arrays, out)
        except StatementError as failure:
            report[job["id"]] = {"failed": failure.index, "message": failure.message, "why": failure.why}
    out.text("report", json.dumps(report))


def _forward(header: TapeHeader, job: TapeRun, data: Mapping[str, Tensor], out: DriverOutput) -> dict[str, Any]:
    """The tensors of the program, what is odd about them, and the predicates that it decided by."""
    with Watch() as watch:
        tape = Tape(header["statements"], data, job["dims"], watch)
    kinds: dict[str, Any] = {}
    for name, value in tape.values.items():
        if not isinstance(value, Tensor):
            kinds[name] = {"kind": type(value).__name__}
            if isinstance(value, int | float):
                kinds[name]["number"] = value
            continue
        kinds[name] = {"shape": list(value.shape), "nan": bool(torch.isnan(value).any())}
        if name not in job["inputs"] and not job.get("tried"):
            out.tensor(f"{job['id']}/{name}", value)
    try:
        gradients = whole_gradients(header["statements"], data, job["dims"], header["outputs"], None)
    except RuntimeError:
        tape.refuse_flat()
        raise
    finite = all(gradients[name].isfinite().all() for name in data if name in gradients)
    if not finite and not job.get("tried"):
        tape.refuse_infinite(header["outputs"])
    tensors = [tensor for tensor in tape.values.values() if isinstance(tensor, Tensor) and tensor.is_floating_point()]
    return {
        "tensors": kinds,
        "gradable": sorted(gradients),
        "asked": watch.asked,
        "finite": finite and all(bool(tensor.isfinite().all()) for tensor in tensors),
        "largest": max(map(_largest, tensors), default=0.0),
    }


def _backward(
    header: TapeHeader, job: TapeRun, tape: Tape, arrays: Mapping[str, Tensor], out: DriverOutput
) -> dict[str, Any]:
    forced = {name: arrays[key] for name, key in job["forced"].items()}
    sweep = tape.backward(forced)
    upstreams = {name: forced[name] for name in header["outputs"]}
    gradients = {**sweep.gradients, **upstreams}
    if job.get("whole"):
        data = {name: tape.values[name] for name in job["inputs"]}
        gradients = {
            **gradients,
            **whole_gradients(header["statements"], data, job["dims"], header["outputs"], upstreams),
        }
    unreduced = tape.unreduced(sweep, job["want"])
    for name in job["want"]:
        if name in gradients:
            out.tensor(f"{job['id']}/g/{name}", gradients[name])
    if tensor := job.get("detail"):
        _detail(job, tensor, tape, sweep, unreduced, forced, arrays, out)
    return {
        name: {
            "reference": _largest(gradients[name]),
            "shares": {
                f"{i}.{j}": _largest(share) for (i, j), share in sweep.shares.items() if _reads(tape, i, j, name)
            },
            "noise": max(
                (_largest(item) for (i, j), item in unreduced.items() if _reads(tape, i, j, name)), default=0.0
            ),
        }
        for name in job["want"]
        if name in gradients
    }


def _detail(
    job: TapeRun,
    tensor: str,
    tape: Tape,
    sweep: BackwardResult,
    unreduced: Mapping[tuple[int, int], Tensor],
    forced: Mapping[str, Tensor],
    arrays: Mapping[str, Tensor],
    out: DriverOutput,
) -> None:
    """Everything about *tensor*: its shares, their upstreams, what other upstreams and blocked tensors would give."""
    run = job["id"]
    for (i, j), share in sweep.shares.items():
        if not _reads(tape, i, j, tensor):
            continue
        key, node = f"{i}.{j}", tape.nodes[i]
        out.tensor(f"{run}/s/{key}", share)
        if (i, j) in unreduced and unreduced[i, j].shape != share.shape:
            out.tensor(f"{run}/u/{key}", unreduced[i, j])
        consumer = next(name for name in node.outputs if name in sweep.in_force)
        out.tensor(f"{run}/up/{key}", sweep.in_force[consumer])
        for name, at in job["others"].items():
            other = arrays[at]
            if name != consumer and other.shape == sweep.in_force[consumer].shape:
                shares = node.shares({consumer: other})
                if j in shares:
                    out.tensor(f"{run}/o/{key}/{name}", shares[j])
    middle = [name for name in job["blockable"] if name != tensor and isinstance(tape.values.get(name), Tensor)]
    blocks = {name: [name] for name in middle} | ({"*": middle} if len(middle) > 1 else {})
    for label, held in blocks.items():
        still = {name: torch.zeros_like(tape.values[name]) for name in held}
        blocked = tape.backward({**still, **forced}).gradients.get(tensor)
        if blocked is None:
            blocked = torch.zeros_like(tape.values[tensor])
        if not torch.equal(blocked, sweep.gradients[tensor]):
            out.tensor(f"{run}/b/{label}", blocked)


def _reads(tape: Tape, index: int, position: int, name: str) -> bool:
    return tape.nodes[index].inputs[position] == name


def _largest(value: Tensor) -> float:
    return float(value.abs().max()) if value.numel() else 0.0
