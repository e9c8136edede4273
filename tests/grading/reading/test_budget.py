"""A submission is read outside of the jail: whatever it asks for, reading it costs next to nothing."""

import ast
import itertools
import tracemalloc

import numpy as np
import pytest

from app.grading.reading import budget as budgets
from app.grading.reading.budget import LARGEST, TOTAL, CostError, EntryBudget, SpentError
from app.grading.reading.interpreter import Interpreter
from app.grading.reading.node import UntracedError

ARRAYS = {"x": np.ones((4, 5)), "row": np.ones((1, 5000)), "column": np.ones((5000, 1)), "i": np.array([0, 1, 2])}
GREEDY = [
    "y = torch.zeros(10 ** 6, 10 ** 6)",
    "y = torch.full((10 ** 6, 10 ** 6), 1.0)",
    "y = torch.eye(10 ** 7)",
    "y = torch.arange(10 ** 12)",
    "y = x.repeat(10 ** 6, 10 ** 6)",
    "y = x.expand(10 ** 9, 4, 5)",
    "y = F.pad(x, (10 ** 9, 0))",
    "y = F.fold(x[:, :1], (10 ** 5, 10 ** 5), 1, stride=10 ** 9)",
    "y = F.fold(x[:, :1], (4, 5), 1, 1, 10 ** 5, 10 ** 9)",
    "y = F.fold(x[:, :1], (4, 5), 1, padding=10 ** 5, stride=10 ** 9)",
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
    "y = torch.zeros(0, 25000, 25000).tril()",
    "y = torch.diag_embed(torch.zeros(0, 20000))",
    "y = F.conv1d(torch.zeros(1, 1, 900), torch.zeros(150000, 1, 1))",
    "y = F.linear(row[0, :3], torch.zeros(5000, 3), column)",
    "y = torch.addmm(column, torch.zeros(1, 2), torch.zeros(2, 5000))",
    "y = sum([row, column])",
    "y = row.clamp(column > 0, 2)",
    "y = F.layer_norm(row, (5000,), torch.ones(5000, 1))",
    "y = torch.einsum('ab,cd->ac', column, column)",
    "y = torch.stack([t * torch.ones(300000) for t in range(4)])",
    "y = torch.cat([torch.ones(9000) for t in range(190)])",
    "z = [1]\nfor t in range(60):\n    z = z + z",
    "z = [1]\nfor t in range(60):\n    z = [z, z]",
    "z = [1]\nfor t in range(60):\n    z.append(z)",
    "z = [[[[0] * 190] * 190] * 190] * 190",
    "f = lambda a: f(a) + f(a)\ny = f(x)",
    "n = round(5, -10 ** 9)",
    "y = torch.kron(row, row)",
    "y = torch.cdist(torch.zeros(3000, 2), torch.zeros(3000, 2))",
    "y = F.conv_transpose1d(torch.zeros(1, 1, 9), torch.zeros(1, 1, 2), stride=10 ** 9)",
    "y = F.avg_pool1d(x[None], 1, padding=10 ** 9)",
    "y = F.scaled_dot_product_attention(column, column, column)",
    "y = x.repeat_interleave(10 ** 9, 1)",
    "y = torch.linspace(0, 1, 10 ** 12)",
    "y = x.new_full((10 ** 6, 10 ** 6), 1.0)",
    "y = torch.linalg.pinv(torch.zeros(1000, 1000))",
    "y = F.prelu(column, row)",
    "y = torch.tensordot(row, row, dims=0)",
    "a = torch.tensor(1" + "0" * 300 + ")\ny = a * a",
    "a = torch.tensor([9007199254740991])\ny = torch.full((1,), 3).long() + [9" + "9" * 400 + "][0]",
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
    budget = EntryBudget()

    for _ in range(TOTAL // LARGEST - 1):
        budget.pay(LARGEST)

    with pytest.raises(CostError):
        budget.pay(LARGEST)
    assert budget.is_empty


def test_whose_time_is_over_does_nothing_more_between_two_looks():
    budget = EntryBudget(seconds=0)

    for _ in range(3):
        with pytest.raises(SpentError):
            budget.pay(1)


def test_one_array_may_not_be_too_large():
    with pytest.raises(CostError):
        EntryBudget().pay(LARGEST + 1)


def test_a_modest_text_is_read():
    scope = Interpreter(ARRAYS, {"n": 3})

    scope.run(ast.parse("y = torch.zeros_like(x)\nfor t in range(n):\n    y += t * x\ny.mul_(2)").body)

    assert np.allclose(scope.arrays["y"], 6.0)


def test_a_statement_that_goes_on_for_long_is_ended_within_itself(monkeypatch):
    monkeypatch.setattr(budgets, "SECONDS_OF_ONE", 0.0)
    scope = Interpreter({}, {})

    with pytest.raises(CostError):
        scope._value(ast.parse("[0 for t in range(3)]", mode="eval").body, None)


def test_every_item_of_a_list_takes_time_that_is_looked_at(monkeypatch):
    monkeypatch.setattr(budgets, "SECONDS_OF_ONE", 0.5)
    ticks = itertools.count()
    monkeypatch.setattr(budgets.time, "process_time", lambda: next(ticks) / 1000)
    scope = Interpreter({}, {})

    with pytest.raises(CostError):
        scope._value(ast.parse("[True for t in range(10 ** 5)]", mode="eval").body, None)


def test_what_one_diagnosis_takes_is_missing_to_the_next(monkeypatch):
    monkeypatch.setattr(budgets, "SECONDS", 1.0)
    monkeypatch.setattr(budgets, "SECONDS_OF_ONE", 0.5)
    clock = iter([0.0, 0.0, 0.8, 0.8, 1.1, 1.1])
    monkeypatch.setattr(budgets.time, "process_time", lambda: next(clock))
    budget = EntryBudget()
    with budget.one():
        pass

    with budget.one():
        assert budget.is_empty


def test_a_text_is_no_tensor():
    with pytest.raises(UntracedError):
        Interpreter(ARRAYS, {}).run(ast.parse("y = 'ij->j'.clone()").body)
