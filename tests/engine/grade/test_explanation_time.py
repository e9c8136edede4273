import time

import pytest

from app.engine.grade.explanation_time import ExplanationTimeBudget, TimeUpError


def spin() -> None:
    while True:
        pass


def recover_once() -> None:
    try:
        spin()
    except BaseException:  # a rule that takes every error for its own
        spin()


@pytest.mark.parametrize("work", [spin, recover_once])
def test_a_search_ends_where_its_time_ends(work) -> None:
    budget = ExplanationTimeBudget(0.02)

    with pytest.raises(TimeUpError):
        budget.spend(work)

    assert budget.left <= 0


def test_what_one_search_has_spent_is_missing_to_the_next() -> None:
    budget = ExplanationTimeBudget(0.05)
    with pytest.raises(TimeUpError):
        budget.spend(spin)

    with pytest.raises(TimeUpError):
        budget.spend(lambda: "an answer that costs nothing")


def test_a_finished_search_is_answered_and_its_alarm_is_off() -> None:
    budget = ExplanationTimeBudget(0.05)

    assert budget.spend(lambda: 3) == 3

    ends = time.process_time() + 0.1
    while time.process_time() < ends:
        pass
