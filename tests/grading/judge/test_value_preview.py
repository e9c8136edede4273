"""How a value of a run without a verdict is shown."""

import pytest
import torch

from app.grading.judge.value_preview import MAP_COLUMNS, MAP_ROWS, shown_as

NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("values", "letters"),
    [
        ([[0.0, 1.0, -1.0]], [".lL"]),
        ([[1.0, 0.25, 0.0069, -0.0071, 1e-30]], ["lfaBa"]),
        ([[NAN, INF, -INF, 2.0, -2.0]], ["???lL"]),
        ([[NAN, 0.0]], ["?."]),
        ([[0.0, 0.0], [0.0, -0.0]], ["..", ".."]),
        ([[3, -3], [0, 1]], ["lL", ".g"]),
        ([[True, False]], ["l."]),
    ],
)
def test_every_entry_is_a_letter_for_its_magnitude_and_its_sign(values, letters):
    assert shown_as("a", torch.tensor(values), printed=False)["map"] == letters


def test_a_number_alone_is_a_map_of_one_letter_and_a_row_of_one_number():
    shown = shown_as("a", torch.tensor(-2.5), printed=False)

    assert (shown["map"], shown["rows"]) == (["L"], [["-2.5"]])


def test_the_map_of_a_large_tensor_keeps_both_ends_of_both_axes():
    large = torch.zeros(MAP_ROWS + 30, MAP_COLUMNS * 3)
    large[0, 0] = large[0, -1] = large[-1, 0] = large[-1, -1] = 1.0

    rows = shown_as("a", large, printed=False)["map"]

    assert (len(rows), {len(row) for row in rows}) == (MAP_ROWS, {MAP_COLUMNS})
    assert rows[0] == rows[-1] == "l" + "." * (MAP_COLUMNS - 2) + "l"
    assert set("".join(rows[1:-1])) == {"."}


def test_axes_before_the_last_stand_below_each_other():
    assert shown_as("a", torch.arange(8.0).reshape(2, 2, 2), printed=False)["map"] == [".e", "gh", "jk", "ll"]


@pytest.mark.parametrize("value", [torch.ones(0, 3), torch.ones(2) * 1j, torch.eye(2).to_sparse()])
def test_what_has_no_entries_to_compare_is_printed_alone(value):
    shown = shown_as("a", value, printed=False)

    assert shown["text"] == str(value)
    assert not {"map", "rows"} & shown.keys()


def test_a_number_beside_one_too_large_to_compare_is_no_zero():
    tensor = torch.tensor([1e300, 1e-300, 0.0], dtype=torch.float64)

    assert shown_as("a", tensor, printed=False)["map"] == ["la."]
