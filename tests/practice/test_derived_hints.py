"""Hints that follow from an exercise: true for the line that they stand behind."""

import re

import pytest

from app.content.text.sizes import format_shape
from app.practice.derived_hints import BLANK_MARK, explain_lines, hint_ladder, line_at_fault, principle
from app.practice.draw import BANDS, generate_item
from app.practice.operations import OPERATIONS

ITEMS = [generate_item(level, seed) for level in BANDS for seed in range(7000, 7030)]
STRETCHED = {"fork", "matmul", "broadcast"}


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.name)
def test_where_copies_are_added_up_the_hint_says_so_and_nowhere_else(item):
    for line, by in zip(item.lines, item.by, strict=True):
        if OPERATIONS[by].family in STRETCHED:
            assert ("the sum of the gradients of its copies" in principle(line, by)) == (".sum(" in line), line


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.name)
def test_a_diagnosis_is_about_a_line_that_writes_its_gradient(item):
    for name in item.require:
        at = line_at_fault(item.lines, item.by, f"{name}:sign")
        assert at is not None
        assert item.lines[at].split()[0] == name
        shares = [line for line in item.lines if line.split()[0] == name]
        lost = line_at_fault(item.lines, item.by, f"{name}:share-missing:y")
        assert lost is not None
        assert ("+=" in item.lines[lost]) == (len(shares) > 1)
    assert line_at_fault(item.lines, item.by, "dnothing:sign") is None


@pytest.mark.in_turn(turns=4)
@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.name)
def test_shapes_are_told_by_the_names_of_their_axes(item):
    for one in item.program.inputs:
        assert item.shapes[one.name] == format_shape(one.sizes), one.name


def test_the_same_sentence_is_not_said_of_every_line() -> None:
    lines = ["dp = de @ Q.T", "dQ = p.T @ de", "dp += dz", "dX = dp * (X > 0)"]

    said = explain_lines(lines, ["matmul", "matmul", "add", "relu"])

    assert said[1] == "The same rule as for `dp`."
    assert len(set(said)) == len(said)


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.name)
def test_no_hint_is_a_blank_alone(item):
    for line, by in zip(item.lines, item.by, strict=True):
        last = hint_ladder(line, by, item.shapes)[-1]
        assert BLANK_MARK in last
        assert not re.fullmatch(rf"`\w+ \+?= {BLANK_MARK}`", last), line


def test_where_the_whole_right_side_is_open_its_parts_are_named():
    line = "dr = torch.zeros_like(r).index_add_(0, i, dx)"

    assert hint_ladder(line, "lookup", {"r": "(V, D)"})[-1] == (
        "The right side calls `torch.zeros_like` and `index_add_` with `dx`, `i`, `r`: `dr = ____`"
    )


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        ("dm = dv.T", "`dm = dv.____`"),
        ("dm = dv.mT", "`dm = dv.____`"),
        ("dm = (dv * w).T", "`dm = (dv * ____).T`"),
        ("dm = dv.T.sum(0)", "`dm = dv.T.____(0)`"),
        ("dm = dv", "The right side is made of `dv` alone: `dm = ____`"),
    ],
)
def test_the_hint_of_a_transposed_line_is_not_that_of_a_copy(line, hint):
    assert hint_ladder(line, "transpose", {"m": "(V, D)"})[-1] == hint
