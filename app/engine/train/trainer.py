"""Does stretches of training runs in a jail: code in, numbers out; nothing is kept between two of them."""

import logging
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from app.engine.grade.jail_runs import JailRunner
from app.engine.grade.outcomes import early_end_verdict
from app.engine.task import PATIENCE
from app.engine.train.corpus_file import examples_for
from app.engine.training_chunk import DTYPES, LONGEST_SECONDS, Array, ChunkResult, TrainingChunk, array_of, numbers_of
from app.grading.forward.driver_jobs import TrainHeader
from app.grading.forward.statements import ProgramError, read_program
from app.grading.judge.run_reports import parse_error, parse_report
from app.grading.judge.torch_errors import translate_error
from app.grading.train.corpus import NamesError
from app.sandbox.gate import Refusal, find_refusal, normalise
from app.sandbox.wire import Job, Reply

_LOG = logging.getLogger(__name__)

CHUNK_SECONDS = 0.4
_MESSAGE_CHARS = 2000
DTYPE = "float32"
OUTPUT_BYTES = 8 * 2**20
# Names are drawn with another seed than batches: one with which no run of the course spells a coarse word.
SAMPLING = 14
BLANK_MESSAGE = "A blank is still to be filled in."
FAULT = "The training run stopped in a fault of the grader: our fault, not yours."


Read = Callable[[str, tuple[str, ...], bool], tuple[str, Refusal | None]]


def apply_gate(code: str, forbid: tuple[str, ...], gate: bool) -> tuple[str, Refusal | None]:
    """*code* as it is run, and why it is not let through, if *gate* is to look at it."""
    code, _ = normalise(code)
    return code, find_refusal(code, forbid) if gate else None


class Trainer:
    """Does stretches in a jail.

    Args:
        names: The list of names to train on; None means the census's.
        read: What reads a learner's code; `apply_gate`, in whatever process.
    """

    def __init__(self, jail: JailRunner, names: Path | None, read: Read = apply_gate) -> None:
        self._jail = jail
        self._names = names
        self._read_code = read

    def run(self, stretch: TrainingChunk, *, gate: bool = True) -> ChunkResult:
        """Answer *stretch*; nothing that a submission does makes it raise."""
        code = stretch.code
        if code is not None:
            code, refused = self._read_code(code, stretch.forbid, gate)
            if refused is not None:
                return ChunkResult(outcome="refused", line=refused.line, message=refused.message)
        try:
            job = self._job(stretch, code)
        except (NamesError, ProgramError) as error:
            return ChunkResult(outcome="fault", message=f"The run could not begin: {error}")
        return _chunk_result(stretch, self._jail.run(job))

    def _job(self, stretch: TrainingChunk, code: str | None) -> Job:
        arrays = {key: array_of(numbers) for key, numbers in stretch.state.items()}
        if stretch.part in ("steps", "gradients", "calibrate", "evaluate"):
            examples = examples_for(stretch.setup, self._names)[stretch.split]
            rows = slice(stretch.first, stretch.stop) if stretch.part in ("calibrate", "evaluate") else slice(None)
            arrays |= {"X": examples.contexts[rows], "Y": examples.targets[rows]}
        header = _header(stretch, code)
        return Job(
            driver="train",
            header=header,
            arrays=arrays,
            seconds=PATIENCE * LONGEST_SECONDS,
            cpu_seconds=LONGEST_SECONDS,
            output_bytes=OUTPUT_BYTES,
        )


def _header(stretch: TrainingChunk, code: str | None) -> TrainHeader:
    setup, forward = stretch.setup, stretch.setup.forward
    inputs = [tensor_input.name for tensor_input in forward.inputs]
    program = read_program(forward.source, inputs, setup.dims, *forward.outputs)
    return {
        "dtype": DTYPE,
        "statements": [
            {"source": forward_statement.source, "outputs": forward_statement.outputs}
            for forward_statement in program.statements
        ],
        "output": forward.output,
        "dims": dict(setup.dims),
        "parameters": [
            {"name": parameter.name, "shape": parameter.shape, "scale": parameter.scale, "shift": parameter.shift}
            for parameter in setup.parameters
        ],
        "context": setup.context,
        "target": setup.target,
        "batch": setup.batch,
        "width": setup.width,
        "logits": setup.logits,
        "mean": setup.mean,
        "variance": setup.variance,
        "rates": setup.rates,
        "part": stretch.part,
        "code": code,
        "seconds": CHUNK_SECONDS,
        "first": stretch.first,
        "stop": stretch.stop,
        "half": stretch.half,
        "seen": stretch.first,
        "count": stretch.count,
        "seed": setup.seed + (SAMPLING if stretch.part == "sample" else 0),
    }


def _chunk_result(stretch: TrainingChunk, reply: Reply) -> ChunkResult:
    if reply.ending != "done":
        verdict = early_end_verdict(reply, LONGEST_SECONDS)
        return ChunkResult(outcome=verdict.outcome, message=verdict.message, wall_ms=reply.wall_ms)
    if "escaped" in reply.texts:
        _LOG.error("the training driver failed: %s", reply.texts["escaped"])
        return ChunkResult(outcome="fault", message=FAULT, wall_ms=reply.wall_ms)
    state = {key: numbers_of(value) for key, value in reply.arrays.items() if _fits(key, value, stretch)}
    done = ChunkResult(outcome="graded", state=state, wall_ms=reply.wall_ms)
    if "failed" in reply.texts:
        return replace(done, **_failure(reply.texts["failed"]))
    missing = [key for key in expected(stretch) if key not in state]
    return replace(done, outcome="fault", message=FAULT) if missing else done


def expected(stretch: TrainingChunk) -> tuple[str, ...]:
    """The keys that a whole answer holds."""
    parameters = [parameter.name for parameter in stretch.setup.parameters]
    match stretch.part:
        case "start":
            return (*(f"p/{name}" for name in parameters), "g")
        case "steps":
            return (*(f"p/{name}" for name in parameters), "g", "losses")
        case "gradients":
            return tuple(f"d/{name}" for name in parameters)
        case "calibrate":
            return ("mean", "variance")
        case "evaluate":
            return ("total",)
        case "sample":
            return ("names",)


def _fits(key: str, value: Array, stretch: TrainingChunk) -> bool:
    """True if a tensor has the expected dtype and shape: learner code may have changed it in its own process."""
    if value.dtype.name not in DTYPES or key not in expected(stretch):
        return False
    kind, _, name = key.partition("/")
    if kind in ("p", "d") and name:
        shape = next(parameter.shape for parameter in stretch.setup.parameters if parameter.name == name)
        return value.shape == shape and (kind == "d" or value.dtype == np.float32)
    if key == "losses":
        return value.ndim == 1 and len(value) <= stretch.stop - stretch.first
    return True


def _failure(text: str) -> dict[str, Any]:
    """The fields of an answer that a report of the jail gives; the report is not trusted to be one."""
    report = parse_report(text)
    if not report:
        return {"outcome": "error", "message": "The code ended in an error that could not be read."}
    message = str(report.get("message", ""))[:_MESSAGE_CHARS]
    if report.get("whose") != "learner":
        return {"outcome": "fault", "message": f"The forward program of this run failed: {message}"}
    if message:
        return {"outcome": "error", "message": message}
    error = parse_error(report)
    message = BLANK_MESSAGE if "____" in error.text else translate_error(error)
    return {"outcome": "error", "line": error.line, "message": message}
