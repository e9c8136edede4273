"""Hidden sizes fit into memory by what a program really makes, and an author hears what to do where they do not."""

from dataclasses import replace
from math import prod

import pytest

from app.content.blocks import Input
from app.engine.grade.engine import Engine
from app.engine.grade.facts_cache import FactsCache
from app.engine.grade.forward_references import ForwardReferences
from app.engine.grade.hidden_draws import HIDDEN
from app.grading.forward.data import LARGEST_TENSOR
from tests.grading.boxes.load import Box, OpenJail, make_forward

IMAGES = Input(name="x", sizes=("N", "C", "p*H", "p*W"))
WINDOWS = "xr = x.reshape(N, C, H, p, W, p)\n"
WHOLE = "dx = dxr.reshape(N, C, p * H, p * W)"
TILES = """a = x.view(N, C, p * H, W, p)
t = a.permute(0, 1, 3, 2, 4).contiguous()
xr = t.view(N, C, W, H, p * p)
m = xr.mean(4)
out = m.transpose(2, 3)
"""
UNTILED = """dm = dout.transpose(2, 3)
dxr = dm[..., None].expand(N, C, W, H, p * p) / p ** 2
dt = dxr.reshape(N, C, W, p * H, p)
dx = dt.permute(0, 1, 3, 2, 4).reshape(N, C, p * H, p * W)"""
POOLED = {
    "largest": (
        f"{WINDOWS}out = xr.amax((3, 5))\n",
        "dxr = dout[:, :, :, None, :, None] * (xr == out[:, :, :, None, :, None])\n" + WHOLE,
    ),
    "mean": (
        f"{WINDOWS}out = xr.mean((3, 5))\n",
        "dxr = (dout / p ** 2)[:, :, :, None, :, None].expand(N, C, H, p, W, p)\n" + WHOLE,
    ),
    "mean of tiles": (TILES, UNTILED),
}


def pooled(kind, require):
    source, solution = POOLED[kind]
    forward = make_forward("pool", "N: 2, C: 3, H: 4, W: 5, p: 2", "x: [N]", "out", source)
    return Box("pool", replace(forward, inputs=(IMAGES,)), require, solution)


@pytest.mark.parametrize("kind", POOLED)
def test_pooling_by_reshape_works_forwards_and_backwards(engine, kind):
    box = pooled(kind, ("dxr", "dx"))

    verdict = engine.check(box.task(grade="value"), box.solution)

    assert verdict.passed, verdict
    assert verdict.hidden_sizes == 2
    assert not engine.check(box.task(grade="value"), box.solution.replace("dx = d", "dx = -d")).passed


def test_product_over_all_steps_is_right_where_the_program_counts_them(engine):
    source = "y = x[:, 0] @ w + x[:, 1] @ w * 2 + x[:, 2] @ w * 3\n"
    forward = make_forward("steps", "B: 8, T: 3, D: 5", "x: [B, T, D]; w: [D]", "y", source)
    stacked = 'dw = torch.einsum("btd,bt->d", x, torch.stack([dy, 2 * dy, 3 * dy], 1))'
    box = Box("steps", forward, ("dw",), "dw = x[:, 0].T @ dy + 2 * x[:, 1].T @ dy + 3 * x[:, 2].T @ dy")

    verdict = engine.check(box.task(), stacked)

    assert verdict.passed, verdict
    assert verdict.hidden_sizes == 2


def test_sizes_are_bounded_by_the_largest_tensor():
    study = ForwardReferences(pooled("largest", ("dx",)).forward, OpenJail(), FactsCache(None))

    for name in HIDDEN:
        largest = max(one.size for one in study.sets[name].tensors.values())
        assert 1_000 < largest <= LARGEST_TENSOR
        assert len({*study.sets[name].dims.values()}) == 5


def test_dims_that_never_meet_get_distinct_primes():
    dims = "A: 2, B: 3, C: 4, D: 6, E: 8, F: 9, G: 10"
    inputs = "a: [A, B]; b: [B, C]; c: [C, D]; d: [D, E]; e: [E, F]; f: [F, G]"
    forward = make_forward("chain", dims, inputs, "y", "y = a @ b @ c @ d @ e @ f\n")
    study = ForwardReferences(forward, OpenJail(), FactsCache(None))

    for name in HIDDEN:
        sizes = study.sets[name].dims.values()
        assert prod(sizes) > LARGEST_TENSOR
        assert all(size % divisor for size in sizes for divisor in range(2, size))


def test_a_part_of_a_line_counts_as_a_tensor():
    source = "y = ((x[:, None, :, None] - z[None, :, None, :]) ** 2).sum((1, 2, 3))\n"
    forward = make_forward("pairs", "A: 40, B: 50, C: 60, D: 70", "x: [A, C]; z: [B, D]", "y", source)
    study = ForwardReferences(replace(forward, hidden={"A": (60, 61), "B": (60, 61)}), OpenJail(), FactsCache(None))

    for name in HIDDEN:
        assert prod(study.sets[name].dims.values()) <= LARGEST_TENSOR


class Small(OpenJail):
    """A jail without room for gradients."""

    def run(self, job):
        reply = super().run(job)
        return replace(reply, ending="memory") if job.header.get("mode") == "backward" else reply


def test_gradients_without_room_are_told_with_a_remedy_and_no_retry():
    box = pooled("mean", ("dx",))

    verdict = Engine(Small(), None).check(box.task(grade="value"), box.solution)

    assert verdict.outcome == "fault"
    assert "in `:hidden:`" in verdict.message
    assert "again" not in verdict.message
