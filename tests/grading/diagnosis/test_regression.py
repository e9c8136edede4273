"""How much of each tensor adds up to another."""

import numpy as np

from app.grading.diagnosis.regression import solve_coefficients

COLUMNS = np.random.default_rng(0).standard_normal((40, 3))


def test_coefficients_are_found_that_add_up_to_the_last_digits():
    close = COLUMNS.copy()
    close[:, 1] = close[:, 0] + 1e-4 * close[:, 1]
    wanted = close @ [2.0, -1.0, 0.5]

    found = solve_coefficients(close, wanted, 1e-13 * np.abs(wanted).max())

    assert found is not None
    assert np.allclose(found, [2.0, -1.0, 0.5], rtol=1e-8)


def test_where_none_or_many_add_up_there_is_no_answer():
    wanted = COLUMNS @ [1.0, 2.0, 3.0]

    assert solve_coefficients(COLUMNS, wanted + COLUMNS[:, 0] ** 2, 1e-9) is None
    assert solve_coefficients(COLUMNS[:, [0, 1, 0]], COLUMNS[:, 0], 1e-9) is None
    assert solve_coefficients(COLUMNS * [1, 0, 1], COLUMNS[:, 0], 1e-9) is None
    assert solve_coefficients(COLUMNS[:2], wanted[:2], 1e-9) is None
