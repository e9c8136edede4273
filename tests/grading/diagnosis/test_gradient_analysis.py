import numpy as np
import pytest

from app.grading.diagnosis.regression import solve_coefficients

COLUMNS = np.array([[1.0, 2.0], [0.0, 1.0], [3.0, 0.0]])


def test_coefficients_are_found_where_the_columns_add_up_to_what_is_wanted() -> None:
    assert solve_coefficients(COLUMNS, COLUMNS @ [2.0, -3.0], 1e-9) == pytest.approx([2.0, -3.0])


@pytest.mark.parametrize(
    ("columns", "wanted"),
    [
        (COLUMNS, [1.0, 1.0, 1.0]),
        (COLUMNS[:1], [1.0]),
        (COLUMNS * [1.0, 0.0], COLUMNS[:, 0]),
        (COLUMNS[:, [0, 0]], COLUMNS[:, 0]),
    ],
    ids=["no sum of them", "fewer rows than columns", "a column of zeros", "one column twice"],
)
def test_there_are_none_where_there_is_no_answer_or_many(columns: np.ndarray, wanted: list[float]) -> None:
    assert solve_coefficients(columns, np.array(wanted), 1e-9) is None
