"""Programs that have a name: each is an exercise like any other, and is given before one that means nothing."""

import asyncio
from collections import Counter

import pytest

from app.check.bounded_grader import RetryingGrader
from app.practice.draw import named_items
from app.practice.item import GeneratedItem
from app.practice.named_programs import NAMED
from app.practice.operations import OPERATIONS
from app.practice.proof import prove_item
from tests.graders import SharedGraders

ITEMS = [item for level in (1, 2, 3) for item in named_items(level)]


@pytest.mark.in_turn
@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.program.output + str(-item.seed))
def test_it_is_proved_like_one_that_was_drawn(item: GeneratedItem, graders: SharedGraders) -> None:
    proof = asyncio.run(prove_item(item, RetryingGrader(graders)))

    assert proof.reason == ""


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.program.output + str(-item.seed))
def test_every_line_is_a_row_of_the_table_of_its_level(item: GeneratedItem) -> None:
    assert all(step is not None for step in item.steps)
    assert all(OPERATIONS[name].level <= item.level for name in item.operations)
    assert set(item.by) <= set(item.operations)


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.program.output + str(-item.seed))
def test_no_two_names_differ_by_case_alone(item: GeneratedItem) -> None:
    names = Counter(name.casefold() for name in {*item.shapes, *item.program.dims})

    assert max(names.values()) == 1
    assert "T" not in item.program.dims


def test_each_says_what_it_is_behind_its_program() -> None:
    assert len(ITEMS) == len(NAMED) == len({item.name for item in ITEMS})
    for item in ITEMS:
        assert item.has_name
        assert item.fragment.index("{forward}") < item.fragment.index(NAMED[-item.seed - 1].says)
