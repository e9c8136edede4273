"""How hard operations are is learnt from who solved them, and not from a few."""

import json

import pytest

from app.practice.difficulty import ENOUGH, LEAST, MOST, Estimate, estimate_difficulties, repriced_points
from app.practice.draw import generate_item
from app.practice.operations import OPERATIONS
from app.store.practice_items import ItemOutcome


def tried(name: str, alone: bool, times: int = ENOUGH) -> list[ItemOutcome]:
    return [ItemOutcome(learner, json.dumps([name]), alone) for learner in range(times)]


def test_items_that_all_solve_become_easier_and_unsolved_ones_harder() -> None:
    easy, hard = estimate_difficulties(tried("matmul", True) + tried("softmax", False))

    assert (easy.name, easy.solved, hard.name, hard.solved) == ("matmul", ENOUGH, "softmax", 0)
    assert LEAST <= easy.points < OPERATIONS["matmul"].points
    assert OPERATIONS["softmax"].points < hard.points <= MOST


def test_a_few_tries_say_nothing() -> None:
    assert estimate_difficulties(tried("matmul", True, ENOUGH - 1)) == []


@pytest.mark.parametrize("operations", ['["forgotten"]', "[]"])
def test_operations_that_are_known_no_longer_are_passed_over(operations: str) -> None:
    assert estimate_difficulties([ItemOutcome(1, operations, True)] * ENOUGH) == []


def test_an_exercise_is_as_hard_as_its_operations_turned_out() -> None:
    item = generate_item(1, 1)
    name = item.operations[0]
    found = [Estimate(name, ENOUGH, 0, OPERATIONS[name].points, OPERATIONS[name].points + 1.5)]

    assert repriced_points(item, found) == item.points + 1.5 * item.operations.count(name)
    assert repriced_points(item, []) == item.points
