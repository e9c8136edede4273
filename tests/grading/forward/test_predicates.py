"""What operations decide by is seen wherever it happens, and no compiler is loaded for that."""

import subprocess
import sys

import pytest
import torch
import torch.nn.functional as F

from app.grading.forward.predicates import Watch

X = torch.tensor([-4.0, -1.0, 0.0, 1.0, 4.0])
Z = torch.tensor([-5.0, -1.0, 1.0, 1.0, 7.0])
ASKED = {
    "relu": (lambda: torch.relu(X), [(2, 1, 2)]),
    "relu6 at both ends": (lambda: F.relu6(2 * X), [(2, 1, 2), (4, 0, 1)]),
    "a clamp at both ends": (lambda: X.clamp(-1, 1), [(1, 1, 3), (3, 1, 1)]),
    "a clamp at one end": (lambda: X.clamp(max=1), [(3, 1, 1)]),
    "a floor that keeps from zero": (lambda: X.clamp(min=1e-12), []),
    "a clamp between tensors": (lambda: X.clamp(Z, Z + 1), [(2, 2, 1), (4, 1, 0)]),
    "a threshold": (lambda: F.threshold(X, -1.0, 0.0), [(1, 1, 3)]),
    "hard swish": (lambda: F.hardswish(X), [(1, 0, 4), (4, 0, 1)]),
    "a comparison": (lambda: X > 0.5, [(3, 0, 2)]),
    "a comparison the other way": (lambda: X > 0.5, [(3, 0, 2)]),
    "a comparison of two": (lambda: X <= Z, [(2, 2, 1)]),
    "equality": (lambda: X == Z, [(3, 0, 2)]),
    "a mask": (lambda: X.masked_fill(torch.tensor([True] * 4 + [False]), 0), [(1, 0, 4)]),
    "the larger of two": (lambda: torch.maximum(X, Z), [(2, 2, 1)]),
    "the larger of two by max": (lambda: torch.max(X, Z), [(2, 2, 1)]),
    "abs": (lambda: X.abs(), [(2, 1, 2)]),
    "the sum of absolute values": (lambda: X.norm(1), [(2, 1, 2)]),
    "a norm": (lambda: X.norm(), []),
    "leaky relu": (lambda: F.leaky_relu(X), [(2, 1, 2)]),
    "selu": (lambda: F.selu(X), [(2, 1, 2)]),
    "Huber's loss": (lambda: F.huber_loss(X, Z, delta=0.5), [(2, 0, 3)]),
    "a margin inside of a loss": (lambda: F.margin_ranking_loss(X, Z, torch.ones(5)), [(1, 2, 2)]),
    "a place": (lambda: X.argmax(0), [(0, 0, 1)]),
    "places": (lambda: X[:4].view(2, 2).max(1).values, [(0, 0, 2)]),
    "places without an index": (lambda: X[:4].view(2, 2).amin(1), [(2, 0, 0)]),
    "nothing": (lambda: torch.softmax(X @ Z[:, None] + X.exp(), 0), []),
}  # fmt: skip


@pytest.mark.parametrize("kind", ASKED)
def test_what_an_operation_asks_is_counted(kind):
    call, counts = ASKED[kind]
    with Watch() as watch:
        watch.statement = 7
        call()

    assert [(one.below, one.equal, one.above) for one in watch.asked] == counts
    assert {one.statement for one in watch.asked} <= {7}


def test_watching_loads_nothing():
    code = """import sys, torch
from app.grading.forward.predicates import Watch
before = set(sys.modules)
with Watch():
    torch.relu(torch.ones(3)).max(0)
assert set(sys.modules) == before, set(sys.modules) - before
"""
    subprocess.run([sys.executable, "-c", code], check=True)
