"""What an operation costs is told before it makes anything."""

import numpy as np
import pytest

from app.grading.operations.table import OPERATIONS


@pytest.mark.parametrize(("width", "cost"), [(1, 2 * 3 * 5), (7, 2 * 3 * 7)])
def test_attention_costs_the_larger_of_its_scores_and_its_output(width, cost):
    q, k, v = (np.zeros((2, *size)) for size in ((3, 4), (5, 4), (5, width)))

    assert OPERATIONS["scaled_dot_product_attention"].cost(q, k, v) == cost
