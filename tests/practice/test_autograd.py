"""The solution of any exercise is what autograd gives: asked of torch itself, past everything that grades."""

import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import example, given
from hypothesis import strategies as st

from app.content.text.arithmetic import integer_of
from app.grading.forward.data import shape_of
from app.practice.draw import BANDS, generate_item
from tests.examples import examples


def tensors(item, generator):
    dims = dict(item.program.dims)
    for one in item.program.inputs:
        shape = shape_of(one, dims)
        if one.distribution == "ints":
            yield one.name, torch.randint(integer_of(one.bound, dims), shape, generator=generator)
        else:
            yield one.name, torch.randn(shape, generator=generator).requires_grad_()


def agrees(level, seed):
    """Whether the program is finite; where it is, the solution must be what autograd gives."""
    item = generate_item(level, seed)
    generator = torch.Generator().manual_seed(seed)
    inputs = dict(tensors(item, generator))
    scope = {"torch": torch, "F": F, "math": math, **item.program.dims, **inputs}
    for line in item.program.source.splitlines():
        exec(line, scope)
        made = scope[line.split()[0]]
        if made.requires_grad:
            made.retain_grad()
    output = scope[item.program.output]
    upstream = torch.randn(output.shape, generator=generator)
    if not all(bool(scope[line.split()[0]].isfinite().all()) for line in item.program.source.splitlines()):
        return False
    output.backward(upstream)
    plain = {key: one.detach() if isinstance(one, torch.Tensor) else one for key, one in scope.items()}
    plain[f"d{item.program.output}"] = upstream
    exec(item.solution, plain)
    for name in item.require:
        wanted = scope[name[1:]].grad
        if not wanted.isfinite().all():
            return False
        assert plain[name].shape == wanted.shape, (item.solution, name)
        assert torch.allclose(plain[name], wanted, rtol=1e-7, atol=1e-9 * float(wanted.abs().max() + 1)), (
            item.fragment,
            name,
        )
    return True


@pytest.fixture(autouse=True, scope="module")
def _in_double():
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(before)


@examples(20)
@given(level=st.sampled_from(sorted(BANDS)), seed=st.integers(0, 10**6))
@example(level=3, seed=10055)  # drew windows of windows, along an axis of two
def test_the_solution_equals_autograd(level, seed):
    agrees(level, seed)


@pytest.mark.prove
@pytest.mark.parametrize("level", BANDS)
def test_the_solution_equals_autograd_on_a_thousand_seeds(level):
    assert sum(agrees(level, seed) for seed in range(1000)) >= 990
