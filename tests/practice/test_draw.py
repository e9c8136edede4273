"""Exercises from seeds: the same for everybody, as hard as was asked, and right."""

import re

import pytest

from app.engine.grade.engine import Engine
from app.grading.operations.table import EXERCISES
from app.practice.draw import BANDS, FORKED, NothingFitsError, generate_item
from app.practice.operations import FORKS, OPERATIONS
from tests.grading.boxes.load import OpenJail

LEVELS = sorted(BANDS)
SEEDS = range(12)


@pytest.fixture(scope="module")
def engine():
    return Engine(OpenJail(), None)


@pytest.mark.parametrize("level", LEVELS)
def test_the_same_seed_gives_the_same_exercise_and_another_one_another(level):
    drawn = [generate_item(level, seed) for seed in SEEDS]

    assert drawn == [generate_item(level, seed) for seed in SEEDS]
    assert len({one.forward for one in drawn}) == len(SEEDS)


@pytest.mark.parametrize("level", LEVELS)
def test_an_item_is_as_hard_as_its_level_and_its_solution_passes(engine, level):
    for seed in SEEDS:
        item = generate_item(level, seed)
        low, high = BANDS[level]
        adds = {line.split()[0] for line in item.solution.splitlines() if "+=" in line}

        assert low <= item.points <= high
        assert FORKED[level][0] <= len(adds) <= FORKED[level][1]
        assert engine.check(item.task, item.solution).passed, item.fragment


@pytest.mark.in_turn(turns=4)
@pytest.mark.parametrize("wanted", sorted({slip for one in EXERCISES for slip in one.shows}))
def test_an_exercise_for_a_slip_has_an_operation_that_shows_it(wanted):
    item = generate_item(3, 1, wanted)

    assert any(wanted in OPERATIONS[one].shows for one in item.operations)


@pytest.mark.parametrize("wanted", sorted(FORKS))
def test_an_exercise_for_a_slip_at_forks_has_a_fork(wanted):
    assert "+=" in generate_item(2, 1, wanted).solution


@pytest.mark.parametrize("level", LEVELS)
def test_every_dim_of_a_program_is_a_size_of_it(level):
    for seed in (*range(60), 1007):
        program = generate_item(level, seed).program
        sizes = {word for value in program.inputs for size in value.sizes for word in re.findall(r"\w+", size)}

        assert set(program.dims) <= sizes | set(re.findall(r"(?<![.\w])[A-Z]\b", program.source)), seed


@pytest.mark.parametrize("level", LEVELS)
def test_no_two_names_of_a_program_differ_by_case_alone(level):
    for seed in range(60):
        program = generate_item(level, seed).program
        made = [line.partition(" = ")[0] for line in program.source.splitlines()]
        names = [*program.dims, *(value.name for value in program.inputs), *made]

        assert len({name.casefold() for name in names}) == len(names), seed


def test_an_exercise_keeps_to_the_operations_that_it_may_use():
    within = ("matmul", "bias", "tanh")

    assert {one for seed in SEEDS for one in generate_item(1, seed, within=within).operations} <= set(within)


@pytest.mark.parametrize("wanted", ["scatter", "scatter-overwrite", *sorted(FORKS)])
def test_what_no_operation_shows_is_told(wanted):
    with pytest.raises(NothingFitsError, match=f"shows the slip '{wanted}'"):
        generate_item(1, 1, wanted)


def steps_of(item):
    """Each line of the program: what it makes, what it reads, its operation."""
    for line, name in zip(item.program.source.splitlines(), item.operations, strict=True):
        made, _, text = line.partition(" = ")
        yield made, re.findall(r"[a-zA-Z]\w*", text), OPERATIONS[name]


def test_no_program_asks_for_a_sum_that_is_the_same_whatever_comes_in():
    for seed in range(150):
        settled = set()
        for made, read, row in steps_of(generate_item(3, seed)):
            assert "free" not in row.needs or not settled & set(read), (seed, made)
            settled |= {made} if row.settles else set()


def test_no_program_takes_back_what_it_has_just_done():
    for seed in range(150):
        made_by = {}
        for made, read, row in steps_of(generate_item(3, seed)):
            for one in read:
                before, operation = made_by.get(one, ((), ""))
                again = set(before) & (set(read) - {one})
                assert not (again and {operation, row.name} in ({"add", "sub"}, {"mul", "div"})), (seed, made)
            if row.other:
                made_by[made] = read, row.name
