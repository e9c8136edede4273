"""What torch.autograd says of a submission, without any part of the judge: right, wrong, and by which gradients."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

import torch
import torch.nn.functional as F

from app.content.blocks import Forward
from app.grading.forward.data import Draw, draw_inputs, draw_upstream
from tests.grading.programs.load import Program

CLOSE = 1e-9
SPREADS, SPREADS_ELSEWHERE = (1.0, 3.0, 1.0, 0.3), (1.0, 3.0)
MANY = 5
"""Dims from which on they are kept small."""


@dataclass(frozen=True, eq=False)
class Reference:
    """One set of data: every tensor of the program, each gradient that is asked for, and *every* gradient there is."""

    dims: Mapping[str, int]
    scope: Mapping[str, torch.Tensor]
    gradients: Mapping[str, torch.Tensor]
    every: Mapping[str, torch.Tensor]

    def given(self) -> dict[str, object]:
        """What a submission begins with."""
        tensors = {name: value.detach().clone() for name, value in self.scope.items()}
        return {"torch": torch, "F": F, "math": __import__("math"), **self.dims, **tensors}


def sizes(forward: Forward) -> Iterator[dict[str, int]]:
    """The sizes of the lesson, and others."""
    yield dict(forward.dims)
    free = [name for name in forward.dims if name not in forward.related and name not in forward.hidden]
    pool = (2, 3, 5, 4, 7) if len(free) < MANY else (2, 3, 4)
    for step in (0, 2):
        dims = {name: pool[(at + step) % len(pool)] for at, name in enumerate(free)}
        found = {**forward.dims, **dims, **{name: both[step // 2] for name, both in forward.hidden.items()}}
        for name, expression in forward.related.items():
            found[name] = eval(expression, {}, dict(found))
        yield found


def reference(
    forward: Forward, require: tuple[str, ...], dims: Mapping[str, int], seed: str, spread: float
) -> Reference:
    drawn = draw_inputs(forward, dims, seed, "float64", Draw(spread=spread))
    inputs = {name: torch.from_numpy(value) for name, value in drawn.items()}
    leaves = {name: value.clone().requires_grad_(value.is_floating_point()) for name, value in inputs.items()}
    default = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        scope: dict[str, object] = {"torch": torch, "F": F, "math": __import__("math"), **dims, **leaves}
        exec(forward.source, scope)
    finally:
        torch.set_default_dtype(default)
    tensors = {name: value for name, value in scope.items() if isinstance(value, torch.Tensor)}
    # A loss is where a backward pass begins: its own gradient is one.
    upstreams = {
        f"d{name}": torch.ones((), dtype=torch.float64)
        if name == "loss"
        else torch.from_numpy(draw_upstream(tensors[name].shape, seed, name, "float64"))
        for name in forward.outputs
    }
    asked = {f"d{name}": tensor for name, tensor in tensors.items() if tensor.requires_grad}
    asked |= {name: tensors[name[1:]] for name in require}
    found = torch.autograd.grad(
        [tensors[name] for name in forward.outputs], [*asked.values()], [*upstreams.values()], allow_unused=True
    )
    every = {
        name: torch.zeros_like(tensor) if gradient is None else gradient
        for (name, tensor), gradient in zip(asked.items(), found, strict=True)
    }
    given = {**{name: value.detach() for name, value in tensors.items()}, **upstreams}
    return Reference(dims, given, {name: every[name] for name in require}, every)


@cache
def references(program: Program) -> tuple[Reference, ...]:
    """Data of several sizes and spreads."""
    found = []
    for at, dims in enumerate(sizes(program.forward)):
        for seed, spread in enumerate(SPREADS_ELSEWHERE if at else SPREADS):
            try:
                found.append(reference(program.forward, program.require, dims, f"{at}/{seed}", spread))
            except (RuntimeError, IndexError, ValueError):
                if not at:
                    raise
    return tuple(found)


def wrong_names(program: Program, submission: str) -> set[str]:
    """The gradients that differ from those of torch on any data; `!` where it stops."""
    wrong: set[str] = set()
    try:
        code = compile(submission, "submission", "exec")
    except SyntaxError:
        return {"!"}
    for one in references(program):
        scope = one.given()
        default = torch.get_default_dtype()
        torch.set_default_dtype(torch.float64)
        try:
            exec(code, scope)
        except Exception:
            wrong.add("!")
            continue
        finally:
            torch.set_default_dtype(default)
        wrong |= {name for name, gradient in one.gradients.items() if not _equal(scope.get(name), gradient)}
    return wrong


def _equal(got: object, gradient: torch.Tensor) -> bool:
    if isinstance(got, float) and not gradient.shape:
        got = torch.tensor(got, dtype=torch.float64)
    if not isinstance(got, torch.Tensor) or got.shape != gradient.shape:
        return False
    scale = max(float(gradient.abs().max()) if gradient.numel() else 0.0, 1e-3)
    return bool(torch.isfinite(got).all()) and float((got.double() - gradient).abs().max()) <= CLOSE * scale * 100
