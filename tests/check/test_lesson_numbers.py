"""The lessons' own numbers: each gradient that is looked at, or nudged, there is one that a wrong line changes."""

import math

import numpy as np
import torch
import torch.nn.functional as F

from app.content.blocks import Forward
from app.engine.grade.forward_references import DTYPE, content_of
from app.engine.grade.seeds import PUBLIC
from app.grading.forward.data import draw_inputs, draw_upstream
from tests.courses import LESSONS, course_in

SMALL = 1e-6
LEVELLED = {"logit_maxes", "b1"}
"""What is taken away again further down: that nothing comes back to it is what the lessons say of it."""


def gradients_of(forward: Forward) -> dict[str, torch.Tensor]:
    """By tensor, its gradient on the lesson's own numbers; those without one are missing."""
    seed = PUBLIC.of(content_of(forward), "v", hidden=False)
    drawn = draw_inputs(forward, forward.dims, seed, DTYPE["v"])
    tensors = {name: torch.from_numpy(np.ascontiguousarray(array)) for name, array in drawn.items()}
    scope = {**{name: t.requires_grad_(t.is_floating_point()) for name, t in tensors.items()}, **forward.dims}
    with torch.random.fork_rng(devices=()):
        torch.manual_seed(0)
        exec(forward.source, {"torch": torch, "F": F, "math": math}, scope)
    loss = torch.zeros(())
    for name in forward.outputs:
        shape = tuple(scope[name].shape)
        upstream = torch.from_numpy(draw_upstream(shape, seed, name, DTYPE["v"])) if shape else torch.ones(())
        loss = loss + (upstream * scope[name]).sum()
    read = {name: t for name, t in scope.items() if isinstance(t, torch.Tensor) and t.requires_grad}
    found = torch.autograd.grad(loss, list(read.values()), allow_unused=True)
    return {name: gradient for name, gradient in zip(read, found, strict=True) if gradient is not None}


def test_no_gradient_is_zero_on_the_numbers_of_its_lesson() -> None:
    zero = [
        f"{lesson.name}: d{name} of {forward.name}"
        for lesson in course_in(LESSONS).lessons
        for forward in lesson.all_of(Forward)
        for name, gradient in gradients_of(forward).items()
        if name not in LEVELLED and gradient.abs().max() < SMALL
    ]

    assert zero == []
