import pytest

from app.engine.grader import Run
from app.grading.judge.verdict import NameVerdict, Verdict
from app.web.verdict_words import compared, number, run_announcement, verdict_view


def verdict(*standings: str, hidden_sizes: int = 2) -> Verdict:
    names = tuple(
        NameVerdict(name=f"d{index}", verdict=one, message=f"Say `{one}`.") for index, one in enumerate(standings)
    )
    return Verdict(outcome="graded", passed=set(standings) == {"right"}, names=names, hidden_sizes=hidden_sizes)


@pytest.mark.parametrize(
    ("given", "title"),
    [
        (verdict("right", "right"), "2 of 2 right, checked on 2 hidden sizes"),
        (verdict("right", "right-other-road", hidden_sizes=1), "2 of 2 right, checked on 1 hidden size"),
        (verdict("wrong", "right", hidden_sizes=0), "1 of 2 right"),
        (Verdict(outcome="fault", message="Sorry."), "Our fault, not yours"),
    ],
)
def test_the_totals_claim_only_what_was_run(given: Verdict, title: str) -> None:
    assert verdict_view(given).title == title


def test_the_first_fault_is_explained_and_only_it() -> None:
    view = verdict_view(verdict("right", "follows", "wrong"))

    assert [row.explained for row in view.rows] == [False, True, False]


def test_a_wrong_line_is_explained_before_one_that_is_still_to_be_written() -> None:
    view = verdict_view(verdict("not-yet", "wrong", "not-yet"))

    assert [row.explained for row in view.rows] == [False, True, False]
    assert view.announcement.endswith("d1: Say wrong.")


def test_where_nothing_is_wrong_the_first_blank_is_explained() -> None:
    view = verdict_view(verdict("right", "not-yet", "not-yet"))

    assert [row.explained for row in view.rows] == [False, True, False]


@pytest.mark.parametrize(
    ("given", "mark"),
    [
        (verdict("right"), "right"),
        (verdict("right", "wrong"), "wrong"),
        (verdict("right", "not-yet"), "later"),
        (Verdict(outcome="fault"), "fault"),
        (Verdict(outcome="busy"), "later"),
        (Verdict(outcome="timeout"), "wrong"),
    ],
)
def test_a_blank_is_not_yet_and_not_wrong(given: Verdict, mark: str) -> None:
    assert verdict_view(given).mark == mark


def test_the_spoken_sentence_names_the_first_fault_without_marks() -> None:
    assert verdict_view(verdict("right", "wrong")).announcement == (
        "1 of 2 right, checked on 2 hidden sizes. d1: Say wrong."
    )
    assert verdict_view(verdict("right")).announcement == "1 of 1 right, checked on 2 hidden sizes."


def test_a_run_is_announced_by_what_it_shows() -> None:
    assert run_announcement(Run(outcome="graded")) == "It ran: 0 values shown."
    assert run_announcement(Run(outcome="error", message="`q` is not defined.")) == (
        "Stopped by an error. q is not defined."
    )


def test_nothing_compared_is_not_shown() -> None:
    assert compared(NameVerdict(name="dX", verdict="not-yet")) == ""
    assert compared(NameVerdict(name="dX", verdict="right", exact=False, approx=True, maxdiff=9.313e-10)) == (
        "exact False · approx True · maxdiff 9.31e-10"
    )


@pytest.mark.parametrize(("value", "text"), [(0.0, "0"), (1e-12, "1e-12"), (-0.5, "-0.5"), (float("nan"), "nan")])
def test_a_number_is_zero_only_if_it_is(value: float, text: str) -> None:
    assert number(value) == text
