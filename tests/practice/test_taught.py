"""Which operations stand in a program, and at which of them something went wrong."""

from dataclasses import replace

import pytest

from app.content.blocks import Forward, Input, SourceLocation
from app.grading.operations.table import EXERCISES
from app.practice.draw import generate_item
from app.practice.item_lessons import LEVELS
from app.practice.operations import HEAP
from app.practice.proof import curated_items
from app.practice.taught import _kinds_by_operation, families_of, family_at, operations_in, operations_of, taught_by
from tests.courses import LESSONS, course_in


def program(source: str, *inputs: tuple[str, tuple[str, ...]]) -> Forward:
    return Forward(
        place=SourceLocation("", 1),
        name="program",
        dims={"N": 4, "D": 3},
        inputs=tuple(Input(name=name, sizes=sizes) for name, sizes in inputs),
        output="y",
        source=source,
        source_line=1,
    )


LINEAR = program("y = X @ W + b\n", ("X", ("N", "D")), ("W", ("D", "D")), ("b", ("D",)))


def test_every_operation_is_recognised_from_its_own_example():
    assert [one.name for one in EXERCISES if one.name not in _kinds_by_operation()] == []


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("level", [1, 2, 3])
def test_what_was_drawn_is_recognised_in_the_program(level, seed):
    item = generate_item(level, seed)

    assert families_of(item.operations) <= families_of(operations_in(item.program))


def test_a_line_of_several_steps_has_all_of_them():
    assert {"matmul", "bias"} <= operations_in(LINEAR)


@pytest.mark.parametrize(
    ("tensor", "slip", "family"),
    [("b", "mean", "broadcast"), ("W", "transposed", "matmul"), ("W", "sign", "matmul"), ("Q", "mean", None)],
)
def test_a_slip_belongs_to_the_operation_that_reads_the_tensor(tensor, slip, family):
    assert family_at(LINEAR, tensor, slip) == family


@pytest.mark.parametrize(
    ("source", "slip", "family"),
    [
        ("y = -q[torch.arange(N), t].mean()", "sign", "reduction"),
        ("y = -q[torch.arange(N), t].mean()", "mean-missing", "reduction"),
        ("y = -q[torch.arange(N), t].mean()", "scatter-overwrite", "index"),
        ("y = -q[torch.arange(N), t].mean()", "", "index"),
        ("y = q.T.exp()", "sign", "exponential"),
        ("y = q.T", "sign", "layout"),
        ("p = q[t]\ny = p.mean()", "sign", "index"),
    ],
)
def test_a_slip_in_a_number_belongs_to_the_step_that_computes_it(source, slip, family):
    places = Input(name="t", sizes=("N",), distribution="ints", bound="D")
    picked = program(source, ("q", ("N", "D")))

    assert family_at(replace(picked, inputs=(*picked.inputs, places)), "q", slip) == family


@pytest.mark.parametrize(
    ("sign", "slip", "family"),
    [
        ("-", "mean", "broadcast"),
        ("-", "sum-missing", "broadcast"),
        ("/", "wrong-axis", "broadcast"),
        ("/", "square-missing", "fork"),
    ],
)
def test_a_slip_at_a_subtracted_or_dividing_row_has_a_family(sign, slip, family):
    row = program(f"y = X {sign} m\n", ("X", ("N", "D")), ("m", ("1", "D")))

    assert family_at(row, "m", slip) == family


@pytest.mark.parametrize("level", LEVELS)
def test_every_line_with_a_sum_in_a_proved_item_has_a_family_for_its_slips(level):
    for item in curated_items(level):
        copied = [line.split()[0][1:] for line in item.lines if ".sum(" in line]
        assert [name for name in copied if family_at(item.program, name, "mean") is None] == [], item.name


def test_a_share_that_is_overwritten_belongs_to_the_fork():
    forked = program("h = torch.tanh(X)\ny = h * h + X\n", ("X", ("N", "D")))

    assert family_at(forked, "X", "overwritten") == "fork"


@pytest.mark.parametrize(("share", "family"), [("r", "norm"), ("s", "power"), ("u", "fork"), ("", "power")])
def test_a_slip_in_a_share_belongs_to_the_operation_that_it_comes_through(share, family):
    source = "r = ((X ** 2).sum(0, keepdim=True) + 0.1) ** 0.5\ns = X ** 2\nu = X * s\ny = u / r\n"

    assert family_at(program(source, ("X", ("N", "D"))), "X", "share-doubled", share) == family


def test_a_product_of_heaps_is_taught_by_programs_with_heaps_alone():
    heaps = program("y = X @ W\n", ("X", ("N", "N", "D")), ("W", ("D", "N")))

    assert HEAP not in operations_in(LINEAR)
    assert operations_in(heaps) >= {HEAP, "matmul", "matmul-left"}
    assert family_at(heaps, "X", "transposed") == "matmul"


@pytest.mark.parametrize("seed", range(40))
def test_a_program_with_heaps_says_that_it_needs_them(seed):
    item = generate_item(2, seed, within=("matmul", "add", "sub", "tanh"))

    assert (HEAP in item.needs) == (HEAP in operations_in(item.program))


def test_single_numbers_teach_nothing_about_tensors():
    scalars = program("y = a * b + a\n", ("a", ()), ("b", ()))

    assert operations_in(scalars) == frozenset()


def test_places_that_are_reshaped_teach_nothing_about_gradients():
    places = Input(name="ix", sizes=("N", "N", "D"), distribution="ints", bound="N")
    looked_up = replace(program("flat = ix.view(N * N * D)\ny = C[flat]\n", ("C", ("N", "D"))), inputs=(places,))

    assert "reshape" not in operations_in(looked_up)


def test_the_course_teaches_most_of_what_is_practised():
    kinds = {kind for lesson in course_in(LESSONS).lessons for kind in taught_by(lesson)}

    assert families_of(operations_of(kinds)) >= {"matmul", "broadcast", "activation", "reduction", "softmax", "index"}
