"""A submission is read outside of the jail: whatever it asks for, reading it costs next to nothing."""

import ast
import tracemalloc

import numpy as np
import pytest

from app.grading.diagnosis.tracing.budget import LARGEST, TOTAL, Budget, CostError
from app.grading.diagnosis.tracing.interpreter import Interpreter
from app.grading.diagnosis.tracing.node import UntracedError

ARRAYS = {"x": np.ones((4, 5)), "row": np.ones((1, 5000)), "column": np.ones((5000, 1)), "i": np.array([0, 1, 2])}
GREEDY = [
    "y = torch.zeros(10 ** 6, 10 ** 6)",
    "y = torch.full((10 ** 6, 10 ** 6), 1.0)",
    "y = torch.eye(10 ** 7)",
    "y = torch.arange(10 ** 12)",
    "y = x.repeat(10 ** 6, 10 ** 6)",
    "y = x.expand(10 ** 9, 4, 5)",
    "y = F.pad(x, (10 ** 9, 0))",
    "y = F.one_hot(i, 10 ** 12)",
    "y = torch.bincount(i, minlength=10 ** 12)",
    "y = row + column",
    "y = row * column",
    "y = column @ row",
    "y = torch.outer(row[0], column[:, 0])",
    "y = torch.einsum('ab,cd->abcd', row, column)",
    "y = torch.maximum(row, column)",
    "y = torch.where(row > 0, row, column)",
    "y = row > column",
    "y = x[[i] * 10 ** 9]",
    "y = [0] * 10 ** 10",
    "y = 'a' * 10 ** 10",
    "y = (1,) * 10 ** 10",
    "for t in range(10 ** 12):\n    y = x",
    "y = [x for t in range(10 ** 9)]",
    "n = 99999\nfor t in range(60):\n    n = n * n",
    "y = torch.diag(row[0])",
    "y = torch.arange(0, 1, 1e-12 * x.size(0))",
    "y = F.one_hot(torch.zeros(0).long(), 10 ** 9)",
    "y = F.conv1d(torch.zeros(1, 0, 10 ** 6), torch.zeros(1, 0, 10 ** 3))",
    "n = 1e300 // 1\nfor t in range(9):\n    n = n ** 1\ny = torch.zeros(int(n), 2)",
    "y = x[:, :0].expand(10 ** 9, 4, 0).repeat(1, 1, 10 ** 9)",
    "y = column[torch.zeros(1001, 1000).long()]",
]


@pytest.mark.parametrize("text", GREEDY)
def test_a_greedy_text_is_refused_before_it_costs_anything(text):
    tracemalloc.start()
    try:
        with pytest.raises(UntracedError):
            Interpreter(ARRAYS, {"n": 3}).run(ast.parse(text).body)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert peak < 64 * LARGEST


def test_what_is_spent_is_spent():
    budget = Budget()

    for _ in range(TOTAL // LARGEST - 1):
        budget.pay(LARGEST)

    with pytest.raises(CostError):
        budget.pay(LARGEST)
    assert budget.is_empty


def test_one_array_may_not_be_too_large():
    with pytest.raises(CostError):
        Budget().pay(LARGEST + 1)


def test_a_modest_text_is_read():
    scope = Interpreter(ARRAYS, {"n": 3})

    scope.run(ast.parse("y = torch.zeros_like(x)\nfor t in range(n):\n    y += t * x\ny.mul_(2)").body)

    assert np.allclose(scope.arrays["y"], 6.0)
