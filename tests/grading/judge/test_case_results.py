"""Two results of a case are the same by their values, or by the kind of error that came instead."""

import pytest

from app.grading.judge.function_verdict import CaseResult

VALUE_ERROR, TYPE_ERROR = ({"errors": [{"type": kind, "text": "no"}]} for kind in ("ValueError", "TypeError"))
ONE, TWO = ({"result": ["int", number]} for number in (1, 2))


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        (ONE, ONE, True),
        (ONE, TWO, False),
        (VALUE_ERROR, VALUE_ERROR, True),
        (VALUE_ERROR, TYPE_ERROR, False),
        (ONE, VALUE_ERROR, False),
        (VALUE_ERROR, ONE, False),
    ],
)
def test_errors_are_the_same_by_their_kind_and_values_by_themselves(first, second, same):
    results = [CaseResult("case 1", {"case 1": entry}, {}) for entry in (first, second)]

    assert results[0].same_as(results[1]) is same
