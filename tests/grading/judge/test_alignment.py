"""What a program lacks beside a right one is put where the right one has it."""

import ast

import pytest

from app.grading.judge.slips.alignment import edits_between
from app.grading.judge.slips.trees import replace_nodes

RIGHT = ("a = x * 2", "b = a + 1", "k.add(b)", "c = a - b")


@pytest.mark.parametrize("lacks", RIGHT)
def test_a_line_that_is_missing_is_put_back_between_its_neighbours(lacks: str) -> None:
    own, right = ast.parse("\n".join(line for line in RIGHT if line != lacks)), ast.parse("\n".join(RIGHT))

    (edit,) = edits_between(own, right) or ()

    assert ast.unparse(replace_nodes(own, [edit.replacement])).splitlines() == [*RIGHT]
