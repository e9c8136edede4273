"""Wrong one-line variants of the 26-gradient program are rejected at exactly the changed tensor; right ones pass."""

import pytest

from app.grading.judge.verdict import RIGHT
from tests.grading.boxes.load import HERE, NETWORK

LINES = NETWORK.solution.splitlines()
SPECIFIC = 0.9


def rows(file):
    return [row for row in (HERE / file).read_text().splitlines() if row and not row.startswith("#")]


def variant(row):
    at, name, line = row.split(" | ", 2)
    changed = list(LINES)
    assert changed[int(at) - 1] != line
    changed[int(at) - 1] = line
    return name, "\n".join(changed)


def alternative(row):
    span, lines = row.split(" | ", 1)
    first, last = (int(part) for part in span.split("-"))
    return "\n".join([*LINES[: first - 1], *lines.split(" ;; "), *LINES[last:]])


@pytest.fixture(scope="module", params=[8, pytest.param(1, marks=pytest.mark.prove)], ids=["each eighth", "all"])
def faults(engine, request):
    """By variant: the tensor that was changed, and the names found at fault with their codes."""
    found = {}
    for row in rows("variants.txt")[:: request.param]:
        name, code = variant(row)
        verdict = engine.check(NETWORK.task(grade="value"), code)
        assert not verdict.passed, row
        found[row] = name, {one.name: one.code for one in verdict.names if one.verdict not in {*RIGHT, "follows"}}
    return found


def test_there_are_enough_variants():
    assert len(rows("variants.txt")) >= 150
    assert len(rows("alternatives.txt")) >= 20


def test_every_wrong_variant_is_rejected_at_exactly_the_changed_tensor(faults):
    elsewhere = {row: list(codes) for row, (name, codes) in faults.items() if list(codes) != [name]}

    assert elsewhere == {}


def test_nine_of_ten_variants_get_a_specific_code(faults):
    codes = [code for _, found in faults.values() for code in found.values()]
    specific = [code for code in codes if code and not code.endswith(":unrecognised")]

    assert len(specific) >= SPECIFIC * len(codes)


@pytest.mark.in_turn
@pytest.mark.parametrize("row", rows("alternatives.txt"))
def test_no_right_alternative_is_rejected(engine, row):
    verdict = engine.check(NETWORK.task(grade="value"), alternative(row))

    assert verdict.passed, [one for one in verdict.names if one.verdict not in RIGHT] or verdict
