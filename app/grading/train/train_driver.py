"""The driver that trains in the jail: some steps, a calibration, a loss, a few names, each in one bounded run.

The state of a training run (parameters, the generator of batches) comes in and goes out as numbers, so nothing survives
in this process. With the learner's code the gradients are what that code leaves in `dW`; without it they are torch's.
Nothing that is said here is a verdict: losses and gradients are compared outside.
"""

import contextlib
import json
import math
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import CodeType
from typing import Any

import torch
import torch.nn.functional as F

from app.grading.forward.driver_jobs import DriverOutput, TrainHeader
from app.grading.judge.fault import FILE, describe_error, is_out_of_memory
from app.syntax import Program, parse_code, program_of

Tensor = torch.Tensor
Scope = dict[str, Any]
Gradients = Callable[[Scope], Sequence[Any]]

PROGRAM = "<forward>"
ROWS = 4096
LONGEST_NAME = 30
_MESSAGE_CHARS = 2000


class GradientError(Exception):
    """The learner's code left no usable gradient."""


def run(header: TrainHeader, arrays: dict[str, Tensor], out: DriverOutput) -> None:
    """Do the part of a training run that *header* names."""
    torch.set_default_dtype(getattr(torch, header["dtype"]))
    # Whatever an author's or a learner's own draw may be, it must not depend on the moment.
    torch.default_generator.manual_seed(0)
    # Where no tape is wanted torch keeps none at all, not even the books of who changed what: a fifth of a step.
    with torch.inference_mode(not _needs_tape(header)):
        PARTS[header["part"]](Model(header, arrays), out)


class Model:
    """A forward program with its present parameters."""

    def __init__(self, header: TrainHeader, arrays: Mapping[str, Tensor]) -> None:
        self.header = header
        self.names = [dict_type["name"] for dict_type in header["parameters"]]
        self.values = {name: arrays[f"p/{name}"].clone() for name in self.names if f"p/{name}" in arrays}
        self.held = {key.removeprefix("h/"): value for key, value in arrays.items() if key.startswith("h/")}
        self.generator = torch.Generator()
        if "g" in arrays:
            self.generator.set_state(arrays["g"].clone())
        self.contexts, self.targets = (_examples(arrays.get(key)) for key in ("X", "Y"))
        self.fixed: Scope = {"torch": torch, "F": F, "math": math, **header["dims"]}
        self.upstream = f"d{header['output']}"

    def scope(self, contexts: Tensor, targets: Tensor) -> Scope:
        """The names that the program starts from, with one batch."""
        batch: Scope = {self.header["context"]: contexts, self.header["target"]: targets}
        return {**self.fixed, self.header["batch"]: len(contexts), **self.values, **self.held, **batch}

    def drawn(self) -> Iterator[Scope]:
        """Scopes with one batch after another; what all of them share is put together once."""
        size, rows = self.header["dims"][self.header["batch"]], len(self.targets)
        context, target = self.header["context"], self.header["target"]
        shared = self.scope(self.contexts[:size], self.targets[:size]) | {self.header["batch"]: size}
        while True:
            batch = torch.randint(0, rows, (size,), generator=self.generator)
            yield {**shared, context: self.contexts[batch], target: self.targets[batch]}

    def program(self, until: Sequence[str] = ()) -> CodeType:
        """The statements that are needed for *until* (or all of them), without those that write a held tensor."""
        chosen = []
        wanted = set(until)
        for statement in self.header["statements"]:
            if not set(statement["outputs"]) <= self.held.keys():
                chosen.append(statement["source"])
            wanted -= set(statement["outputs"])
            if until and not wanted:
                break
        return compile("\n".join(chosen), PROGRAM, "exec")

    def gradients(self) -> Gradients:
        """Function of one step that returns the gradients of the parameters from a scope after the forward program."""
        code = self.header["code"]
        if code is None:
            leaves = [value.requires_grad_() for value in self.values.values()]
            output = self.header["output"]
            return lambda scope: torch.autograd.grad(scope[output], leaves, materialize_grads=True)
        compiled = compile(code, FILE, "exec")
        names = [f"d{name}" for name in self.names]

        def own(scope: Scope) -> list[Any]:
            scope[self.upstream] = torch.ones(())
            exec(compiled, scope)
            return [scope.get(name) for name in names]

        return own

    def check(self, gradients: Sequence[Any]) -> None:
        """Refuse what cannot be subtracted from a parameter entry by entry; torch would stretch some of it silently.

        Raises:
            GradientError: A gradient is missing, no tensor, or of another shape than its parameter.
        """
        for name, gradient in zip(self.names, gradients, strict=True):
            shape = tuple(self.values[name].shape)
            if gradient is None:
                raise GradientError(f"No tensor called `d{name}` was left in scope.")
            if type(gradient) is not Tensor:
                raise GradientError(f"`d{name}` is a {type(gradient).__name__}, not a tensor.")
            if tuple(gradient.shape) != shape:
                raise GradientError(f"`d{name}` has the shape {tuple(gradient.shape)}; `{name}` has {shape}.")


def _examples(rows: Tensor | None) -> Tensor:
    if rows is None:
        return torch.empty(0, dtype=torch.int64)
    return rows if rows.is_floating_point() else rows.long()


def start(model: Model, out: DriverOutput) -> None:
    """The parameters before the first step, and the generator that draws the batches after them."""
    model.generator.manual_seed(model.header["seed"])
    for dict_type in model.header["parameters"]:
        drawn = torch.randn(dict_type["shape"], generator=model.generator)
        out.tensor(f"p/{dict_type['name']}", drawn * dict_type["scale"] + dict_type["shift"])
    out.tensor("g", model.generator.get_state())


def steps(model: Model, out: DriverOutput) -> None:
    """As many steps as the time allows, from `first` to before `stop`."""
    header = model.header
    losses: list[Tensor] = []
    gradients: Sequence[Any] = ()
    step, half, (early, late) = header["first"], header["half"], header["rates"]
    deadline = time.perf_counter() + header["seconds"]
    try:
        forward, gradients_of, scopes = model.program(), model.gradients(), model.drawn()
        output, values = header["output"], list(model.values.values())
        untaped = torch.no_grad() if _needs_tape(header) else contextlib.nullcontext()
        while step < header["stop"] and (not losses or time.perf_counter() < deadline):
            scope = next(scopes)
            exec(forward, scope)
            losses.append(scope[output].detach())
            gradients = gradients_of(scope)
            if len(losses) == 1:
                model.check(gradients)
            rate = early if step < half else late
            with untaped:
                for value, gradient in zip(values, gradients, strict=True):
                    value.add_(gradient, alpha=-rate)
            step += 1
    except BaseException as error:  # also an exit: the steps before it count
        _report(_unfit(model, gradients) or error, header["code"], out)
        losses = losses[: step - header["first"]]
    out.tensor("losses", torch.stack(losses) if losses else torch.empty(0))
    for name, value in model.values.items():
        out.tensor(f"p/{name}", value)
    out.tensor("g", model.generator.get_state())


def _unfit(model: Model, gradients: Sequence[Any]) -> GradientError | None:
    """Error of the last *gradients*, if a later step than the first could not use them."""
    try:
        if gradients:
            model.check(gradients)
    except GradientError as error:
        return error
    return None


def gradients(model: Model, out: DriverOutput) -> None:
    """The gradients of the parameters on the next batch."""
    try:
        scope = next(model.drawn())
        forward, gradients_of = model.program(), model.gradients()
        exec(forward, scope)
        returned = gradients_of(scope)
        model.check(returned)
    except BaseException as error:
        _report(error, model.header["code"], out)
        return
    for name, gradient in zip(model.names, returned, strict=True):
        out.tensor(f"d/{name}", gradient)


def calibrate(model: Model, out: DriverOutput) -> None:
    """Mean and variance of all rows, merged with those of the rows that were `seen` before.

    Source: T. F. Chan, G. H. Golub, R. J. LeVeque, "Updating formulae and a pairwise algorithm for computing sample
    variances", 1979, http://i.stanford.edu/pub/cstr/reports/cs/tr/79/773/CS-TR-79-773.pdf
    """
    names = [name for name in (model.header["mean"], model.header["variance"]) if name is not None]
    mean, variance = (model.held.pop(name, None) for name in names)
    program, seen = model.program(names), model.header["seen"]
    for rows in _chunks(len(model.targets)):
        scope = model.scope(model.contexts[rows], model.targets[rows])
        exec(program, scope)
        new_mean, new_variance = (scope[name].double() for name in names)
        size = rows.stop - rows.start
        if mean is None or variance is None:
            mean, variance = new_mean, new_variance
        else:
            total, shift = seen + size, new_mean - mean
            squares = variance * (seen - 1) + new_variance * (size - 1) + shift**2 * (seen * size / total)
            mean, variance = mean + shift * (size / total), squares / (total - 1)
        seen += size
    out.tensor("mean", mean)
    out.tensor("variance", variance)


def evaluate(model: Model, out: DriverOutput) -> None:
    """The sum of the losses of all rows."""
    program = model.program()
    total = torch.zeros((), dtype=torch.float64)
    for rows in _chunks(len(model.targets)):
        scope = model.scope(model.contexts[rows], model.targets[rows])
        exec(program, scope)
        total += scope[model.header["output"]].double() * (rows.stop - rows.start)
    out.tensor("total", total)


def sample(model: Model, out: DriverOutput) -> None:
    """Names that the model spells, symbol by symbol, as rows of indices."""
    header = model.header
    model.generator.manual_seed(header["seed"])
    program = model.program([header["logits"]])
    names = torch.zeros(header["count"], LONGEST_NAME, dtype=torch.uint8)
    for row in range(header["count"]):
        context = [0] * header["width"]
        for place in range(LONGEST_NAME):
            scope = model.scope(torch.tensor([context]), torch.zeros(1, dtype=torch.int64))
            exec(program, scope)
            odds = F.softmax(scope[header["logits"]][0], dim=0)
            index = int(torch.multinomial(odds, 1, generator=model.generator))
            names[row, place] = index
            context = [*context[1:], index]
            if index == 0:
                break
    out.tensor("names", names)


PARTS: Mapping[str, Callable[[Model, DriverOutput], None]] = {
    "start": start,
    "steps": steps,
    "gradients": gradients,
    "calibrate": calibrate,
    "evaluate": evaluate,
    "sample": sample,
}


def _needs_tape(header: TrainHeader) -> bool:
    """True if torch has to compute the gradients."""
    return header["part"] in ("steps", "gradients") and header["code"] is None


def _chunks(rows: int) -> list[slice]:
    """All *rows* in nearly equal pieces: a last piece of one row would have no variance."""
    pieces = math.ceil(rows / ROWS)
    return [slice(rows * index // pieces, rows * (index + 1) // pieces) for index in range(pieces)]


def _report(error: BaseException, code: str | None, out: DriverOutput) -> None:
    """Report what went wrong, and in whose text: the learner's code, or the program before it.

    Raises:
        MemoryError: It was the memory that ran out, which the sandbox tells in its own words.
    """
    if isinstance(error, MemoryError) or is_out_of_memory(error):
        raise MemoryError from None
    if isinstance(error, GradientError):
        report: dict[str, Any] = {"whose": "learner", "message": str(error)}
    elif code is not None and _is_learners(error):
        report = {"whose": "learner", **describe_error(error, _tree(code))}
    else:
        report = {"whose": "author", "message": f"{type(error).__name__}: {error}"[:_MESSAGE_CHARS]}
    out.text("failed", json.dumps(report))


def _is_learners(error: BaseException) -> bool:
    if isinstance(error, SyntaxError) and error.filename == FILE:
        return True
    return any(frame.filename == FILE for frame in traceback.extract_tb(error.__traceback__))


def _tree(code: str) -> Program:
    try:
        return parse_code(code)
    except (SyntaxError, ValueError):
        return program_of([])
