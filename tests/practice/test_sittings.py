"""Items of a sitting: as hard for all, in sizes of their own for each, and right in these."""

import pytest

from app.engine.grade.engine import Engine
from app.engine.task import grad_task_of
from app.practice.operations import OPERATIONS
from app.practice.sitting_names import SittingName, sitting_named
from app.practice.sittings import VARIANTS, SittingSlot, draw_items, program_candidates, resized, sitting_item
from app.practice.taught import families_of
from tests.grading.boxes.load import OpenJail

NAME = SittingName(3, 14, 5)
SLOTS = (SittingSlot("matmul", 1, 1), SittingSlot("reduction", 2, 1), SittingSlot("", 2, 1))


@pytest.mark.parametrize("slot", SLOTS, ids=lambda slot: f"{slot.family or 'any'} {slot.level}")
def test_programs_of_an_item_are_as_hard_to_a_point_and_a_line(slot: SittingSlot) -> None:
    programs = program_candidates(slot, 1, "secret", list(OPERATIONS))

    points, lines = {program.points for program in programs}, {len(program.lines) for program in programs}
    assert len({program.forward for program in programs}) == len(programs) >= VARIANTS
    assert max(points) - min(points) <= 1
    assert max(lines) - min(lines) <= 1
    assert all(not slot.family or slot.family in families_of(program.operations) for program in programs)
    assert programs == program_candidates(slot, 1, "secret", list(OPERATIONS))
    assert programs != program_candidates(slot, 1, "another", list(OPERATIONS))


def test_each_learner_has_own_sizes_in_which_the_solution_is_right() -> None:
    engine = Engine(OpenJail(), None)
    rows = [list(enumerate(program_candidates(slot, 1, "secret", list(OPERATIONS)))) for slot in SLOTS]
    drawn = {learner: draw_items(rows, learner, "secret") for learner in range(40)}

    assert drawn[7] == draw_items(rows, 7, "secret")
    assert len({str(items) for items in drawn.values()}) == len(drawn)
    for learner in range(2):
        for number, item in enumerate(drawn[learner], start=1):
            lesson = sitting_item(resized(rows[number - 1][item.program][1], item.sizes), NAME, number, learner)
            (box,) = lesson.boxes
            (program,) = lesson.forwards.values()
            assert program.dims == item.sizes
            assert len(set(item.sizes.values())) == len(item.sizes)
            assert engine.check(grad_task_of(lesson, box), box.solution.source).passed, program.source


@pytest.mark.parametrize("name", ["linear-layer", "practice/sitting-3-14", "practice/sitting-0-1-5", "practice/set-x"])
def test_what_is_no_sitting_is_taken_for_none(name: str) -> None:
    assert sitting_named(str(NAME)) == NAME
    assert sitting_named(name) is None
