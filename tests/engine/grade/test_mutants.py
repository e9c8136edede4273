"""Every single-edit mutant of every box of the course is rejected."""

import pytest

from app.check.mutants import mutants_of
from tests.grading.boxes.load import BOXES

# A size that the formula does not use, and a spread that broadcasting does anyway, can be edited without harm.
EQUAL = {("L18.c2", "n = -x.shape[0]")}


@pytest.mark.in_turn
@pytest.mark.parametrize(
    "box",
    [box if number % 3 == 0 else pytest.param(box, marks=pytest.mark.prove) for number, box in enumerate(BOXES)],
    ids=lambda box: box.name,
)
def test_every_mutant_is_rejected(engine, box):
    task = box.task(grade="value")

    accepted = [
        (box.name, mutant.code.splitlines()[mutant.line - 1])
        for mutant in mutants_of(box.solution, frozenset(box.require))
        if engine.check(task, mutant.code).passed
    ]

    assert set(accepted) <= EQUAL
