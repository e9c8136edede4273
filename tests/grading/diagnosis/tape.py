"""Cases for tests: a box of the course, the learner's code, and what the reference tape says about each gradient.

Each required line is judged on its own, as in a real check: once `dX` has been written for the last time, its value is
kept and replaced by a random tensor.
"""

import ast
import math
from collections.abc import Mapping
from dataclasses import replace

import torch
import torch.nn.functional as F

from app.grading.diagnosis.evidence import Observation, WrongGradient
from app.grading.forward.data import draw_inputs, draw_upstream, hidden_dims
from app.grading.forward.statements import ForwardProgram, read_program
from app.grading.forward.tape import Tape
from app.grading.judge.parsed_submission import parse_submission

SEEDS = ("one", "two")


class Bed:
    """A box with its tapes: one for each hidden seed, and one on the lesson's own sizes."""

    def __init__(self, box, given=()):
        self.box = box
        self.forward = box.forward
        self.program: ForwardProgram = read_program(
            self.forward.source, [one.name for one in self.forward.inputs], self.forward.dims, *self.forward.outputs
        )
        self.forced_names = {name[1:] for name in (*box.require, *given)} | set(self.program.outputs)
        self.required = [name[1:] for name in box.require]
        self.sights = [self._sight(seed, shift) for shift, seed in enumerate(SEEDS)]
        self.visible_sight = self._sight("visible", None)

    def _sight(self, seed, shift):
        dims = self.forward.dims if shift is None else hidden_dims(self.forward, shift)
        try:
            return Sight(self, seed, dims)
        except Exception:
            return Sight(self, seed, self.forward.dims)

    def case(self, tensor: str, gots, writes=(), visible=None) -> WrongGradient:
        """The case in which the learner's `d<tensor>` is gots[0] under the first seed and gots[1] under the second."""
        looks = tuple(replace(sight.look(tensor), got=got) for sight, got in zip(self.sights, gots, strict=True))
        seen = self.visible_sight.look(tensor)
        return WrongGradient(
            name=f"d{tensor}",
            tensor=tensor,
            statements=self.program.statements,
            paths=self.program.paths(tensor),
            looks=looks,
            visible=replace(seen, got=visible) if visible is not None else seen,
            axes={one.name: one.sizes for one in self.forward.inputs},
            writes=tuple(writes),
        )

    def judged(self, code: str) -> dict[str, WrongGradient]:
        """A case for every required gradient that *code* gets wrong."""
        plan = parse_submission(code)
        runs = [sight.learner(code) for sight in self.sights]
        seen = self.visible_sight.learner(code)
        found = {}
        for tensor in self.required:
            gots = [run.get(tensor) for run in runs]
            if any(got is None for got in gots) or self.right(tensor, gots):
                continue
            writes = [line.node for line in plan.writing(f"d{tensor}")]
            found[tensor] = self.case(tensor, gots, writes, seen.get(tensor))
        return found

    def right(self, tensor, gots) -> bool:
        for sight, got in zip(self.sights, gots, strict=True):
            look = sight.look(tensor)
            scale = max(abs(look.reference).max(), *(abs(share).max() for share in look.shares.values()))
            if got.shape != look.reference.shape or not abs(got - look.reference).max() <= 1e-6 * scale:
                return False
        return True


class Sight:
    """A box on one set of data."""

    def __init__(self, bed: Bed, seed: str, dims: Mapping[str, int]):
        self.bed, self.seed, self.dims = bed, seed, dims
        rows = [
            {"source": one.source, "outputs": list(one.outputs), "inputs": list(one.inputs)}
            for one in bed.program.statements
        ]
        drawn = draw_inputs(bed.forward, dims, seed, "float64")
        self.data = {name: torch.from_numpy(one) for name, one in drawn.items()}
        default = torch.get_default_dtype()
        torch.set_default_dtype(torch.float64)
        try:
            self.tape = Tape(rows, self.data, dims)
            self.forced = {name: self._draw(name) for name in bed.program.tensors if name in bed.forced_names}
            self.sweep = self.tape.backward(self.forced)
            self.unreduced = self.tape.unreduced(self.sweep, self.tape.values)
        finally:
            torch.set_default_dtype(default)
        self._looks: dict[str, Observation] = {}

    def _draw(self, name):
        value = self.tape.values[name]
        if not value.is_floating_point():
            return value
        drawn = draw_upstream(value.shape, self.seed, name, "float64")
        # The upstream of a scalar loss is one, in a lesson as in life.
        is_loss = name in self.bed.program.outputs and not value.shape
        return torch.ones_like(value) if is_loss else torch.from_numpy(drawn)

    def look(self, tensor: str) -> Observation:
        if tensor not in self._looks:
            self._looks[tensor] = self._look(tensor)
        return self._looks[tensor]

    def _look(self, tensor: str) -> Observation:
        program, sweep = self.bed.program, self.sweep
        keys = {f"{i}.{j}": (i, j) for i, j in sweep.shares if program.statements[i].inputs[j] == tensor}
        middle = [
            name
            for statement in program.statements
            for name in statement.outputs
            if name not in self.bed.forced_names and name != tensor
        ]
        blocks = {name: [name] for name in middle} | ({"*": middle} if len(middle) > 1 else {})
        blocked = {}
        for label, held in blocks.items():
            still = {name: torch.zeros_like(self.tape.values[name]) for name in held}
            found = self.tape.backward({**still, **self.forced}).gradients.get(tensor)
            found = torch.zeros_like(self.tape.values[tensor]) if found is None else found
            if not torch.equal(found, sweep.gradients[tensor]):
                blocked[label] = found.numpy()
        upstream = {
            key: next(sweep.in_force[name] for name in program.statements[i].outputs if name in sweep.in_force).numpy()
            for key, (i, _) in keys.items()
        }
        return Observation(
            got=sweep.gradients[tensor].numpy(),
            reference=sweep.gradients[tensor].numpy(),
            shares={key: sweep.shares[at].numpy() for key, at in keys.items()},
            unreduced={key: self.unreduced.get(at, sweep.shares[at]).numpy() for key, at in keys.items()},
            upstream=upstream,
            forward={name: one.numpy() for name, one in self.tape.values.items() if isinstance(one, torch.Tensor)},
            gradients={f"d{name}": one.numpy() for name, one in self.forced.items() if name != tensor},
            blocked=blocked,
            dims=self.dims,
        )

    def learner(self, code: str) -> dict[str, object]:
        """What *code* leaves in each required gradient, line by line; a line that raises leaves nothing."""
        plan = parse_submission(code)
        scope = {"torch": torch, "F": F, "math": math, **self.dims}
        scope |= {name: one.clone() for name, one in self.tape.values.items() if isinstance(one, torch.Tensor)}
        scope |= {f"d{name}": one.clone() for name, one in self.forced.items() if name not in self.bed.required}
        left: dict[str, object] = {}
        default = torch.get_default_dtype()
        torch.set_default_dtype(torch.float64)
        try:
            for index, line in enumerate(plan.lines):
                exec(compile(ast.Module([line.node], []), "<learner>", "exec"), scope)
                for tensor in self.bed.required:
                    if plan.last.get(f"d{tensor}") == index:
                        left[tensor] = scope[f"d{tensor}"].detach().numpy().copy()
                        scope[f"d{tensor}"] = self.forced[tensor].clone()
        except Exception as error:
            left["error"] = error
        finally:
            torch.set_default_dtype(default)
        return left
