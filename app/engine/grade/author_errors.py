"""Errors of forward programs that cannot be used, for their author: what was seen, on which line, what to change."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from app.content.blocks import Forward
from app.content.text.sizes import format_shape
from app.engine.grade.jail_runs import JailFailedError
from app.grading.forward.statements import ForwardProgram, ForwardStatement
from app.grading.reading.shape_inference import infer_shapes
from app.sandbox.wire import Ending

FORWARD_RUN_SECONDS = 20.0
"""How long a forward program may run."""
_NO_ROOM = "can't allocate memory"
_UNFINISHED: dict[Ending, str] = {
    "flood": "makes more than 64 MiB of numbers",
    "memory": "needs more memory than a run may (256 MB)",
    "timeout": f"takes longer than {FORWARD_RUN_SECONDS:g} s",
    "denied": "tries what no program needs, such as opening a file",
    "crashed": "crashes the process that runs it",
}
_WHY = {
    "raised": "did not run: {message}",
    "in-place": "writes in place. Leave out what asks for that, such as `inplace=True`.",
    "draws": (
        "draws random numbers, so it has no one result to be right about. Let the program start from them: an input "
        "such as `noise: [N, D]` is drawn once for everybody."
    ),
    "layer": (
        "makes a layer, whose weights are drawn anew each time and have no name that a gradient could be asked of. "
        "Take them as inputs, {message}."
    ),
    "several": (
        "leaves a {message} and no tensor, so gradients end here. Give each of its tensors a name, such as "
        "`a, b = X.chunk(2, 1)`."
    ),
    "complex": "leaves complex numbers, whose gradients have two parts. Write the step with real numbers.",
    "narrow": "leaves numbers of {message}, which are too coarse to compare gradients. Leave the conversion out.",
    "not-finite": (
        "makes gradients that are not finite: a number too large, a division by 0, or a root or a logarithm at 0. Keep "
        "what it reads away from there, such as by an input of `positive` numbers."
    ),
    "no-derivative": (
        "cannot be differentiated ({message}), so nothing before it has a gradient. Write the step with operations "
        "that have a derivative, or keep it off the way to the output"
    ),
}


_LAYER = re.compile(r"\bnn\.(?!\w*Dropout|RReLU)([A-Z]\w*)\(")
_WRITTEN_OUT = {
    "Linear": "such as `W: [D, H]` and `b: [H]`, and write `X @ W + b`",
    "Embedding": "such as `E: [V, D]`, and write `E[i]`",
    "LayerNorm": "such as `w: [D]` and `b: [D]`, and write `F.layer_norm(X, (D,), w, b)`",
    **{f"Conv{n}d": f"such as a `W`, and write `F.conv{n}d(X, W)`" for n in (1, 2, 3)},
}
"""By layer of `torch.nn`: what a program writes instead."""


class AuthorError(Exception):
    """The forward program cannot be used; *line* is the line of the lesson file, 0 where no line is to blame."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.message = message
        self.line = line


@dataclass(frozen=True, slots=True)
class FailureExplainer:
    """Explainer of a failed run of *forward*, which is read as *program*."""

    forward: Forward
    program: ForwardProgram

    def fails(self, report: Mapping[str, Any], dims: Mapping[str, int]) -> tuple[str, int]:
        """Say why a run on other sizes failed, and on which line of the lesson file."""
        sizes = ", ".join(f"{name} = {size}" for name, size in dims.items())
        if "message" not in report:
            return f"with {sizes}, `{first_nan_tensor(report)}` holds NaN", self.line_writing(first_nan_tensor(report))
        failed = self.program.statements[report["failed"]]
        return f"with {sizes}, `{failed.source}` stops: {report['message']}", self._line_of(failed)

    def unfinished(self, error: JailFailedError, dims: Mapping[str, Mapping[str, int]]) -> Exception:
        """Error that tells the author what to change if the jail ended the run; *error* itself without advice."""
        ending = _UNFINISHED.get(error.reply.ending)
        if error.reply.ending == "done":
            return AuthorError("torch cannot differentiate it, and does not say where. Do less in one line", 0)
        if ending is None:
            return error
        return self._too_large(f"it {ending}", dims)

    def _too_large(self, reason: str, dims: Mapping[str, Mapping[str, int]]) -> AuthorError:
        """*said* of runs on *dims*, with their largest tensor and what to do."""
        shapes = {name: infer_shapes(replace(self.forward, dims=dim)) for name, dim in dims.items()}
        sizes = [(math.prod(shape), name, tensor) for name, some in shapes.items() for tensor, shape in some.items()]
        if not sizes:
            return AuthorError(reason, 0)
        count, name, tensor = max(sizes)
        where = ", ".join(f"{dim} = {size}" for dim, size in dims[name].items())
        shape = format_shape(shapes[name][tensor])
        message = (
            f"{reason}. The largest tensor is `{tensor}` with {shape} = {count:,} numbers, where "
            f"{where}. Give smaller sizes: in `:dims:`, or in `:hidden:` for the runs that nobody sees"
        )
        return AuthorError(message, self.line_writing(tensor))

    def refuse(self, report: Mapping[str, Any], dims: Mapping[str, Mapping[str, int]]) -> None:
        """Look at a run on the lesson's own sizes.

        Raises:
            AuthorError: Something is wrong with it.
        """
        if _NO_ROOM in report.get("message", ""):
            raise self._too_large(f"it {_UNFINISHED['memory']}", dims)
        if "message" in report:
            failed = self.program.statements[report["failed"]]
            why = "in-place" if "in-place operation" in report["message"] else report["why"]
            message = report["message"]
            if why == "draws" and (layer := _LAYER.search(failed.source)):
                why, message = (
                    "layer",
                    _WRITTEN_OUT.get(layer[1], "and write the step with functions of `torch` and `F`"),
                )
            explanation = _WHY[why].replace("{message}", message)
            raise AuthorError(f"`{failed.source}` {explanation}", self._line_of(failed))
        if tensor := first_nan_tensor(report):
            raise AuthorError(f"`{tensor}` holds NaN on the lesson's sizes", self.line_writing(tensor))

    def line_writing(self, tensor: str) -> int:
        """The line of the lesson file that writes *tensor*; 0 for one that is given."""
        return next(
            (
                self._line_of(forward_statement)
                for forward_statement in self.program.statements
                if tensor in forward_statement.outputs
            ),
            0,
        )

    def _line_of(self, statement: ForwardStatement) -> int:
        return self.forward.line_of(statement.node.lineno)


def first_nan_tensor(report: Mapping[str, Any]) -> str:
    """The first tensor of a run that holds NaN; empty where none does."""
    return next((name for name, item in report.get("tensors", {}).items() if item.get("nan")), "")
