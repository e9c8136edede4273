import numpy as np
import pytest

from app.grading.diagnosis.naming import places_text


@pytest.mark.parametrize(
    ("marks", "said"),
    [
        ([[1, 0, 1]], "positions 0 and 2"),
        ([[0, 1, 0]], "position 1"),
        ([[0, 1, 0], [0, 1, 0, 0]], "position 1"),
        ([[0, 1, 0], [1, 0, 0]], "some positions"),
        ([[0, 1], [0, 0, 1]], "the last position"),
        ([[1, 1, 1, 1, 1, 0]], "some positions"),
    ],
)
def test_positions_are_named_where_all_looks_agree_and_they_are_few(marks: list[list[int]], said: str) -> None:
    assert places_text([np.array(mark, bool) for mark in marks]) == said
