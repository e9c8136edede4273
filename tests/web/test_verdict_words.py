from dataclasses import replace

import pytest

from app.engine.grader import RunResult
from app.grading.judge.verdict import NOT_BEGUN, NOT_JUDGED, NameVerdict, Verdict
from app.web.verdict_words import VerdictView, compared, number_text, run_announcement


def verdict(*standings: str, hidden_sizes: int = 2) -> Verdict:
    names = tuple(
        NameVerdict(
            name=f"d{index}",
            verdict=standing,
            message=f"Say `{standing}`.",
            word=NOT_BEGUN if standing == "not-yet" else "",
        )
        for index, standing in enumerate(standings)
    )
    return Verdict(outcome="graded", passed=set(standings) == {"right"}, names=names, hidden_sizes=hidden_sizes)


@pytest.mark.parametrize(
    ("given", "title"),
    [
        (verdict("right", "right"), "2 of 2 right, checked on 2 hidden sizes"),
        (verdict("right", "right-other-road", hidden_sizes=1), "2 of 2 right, checked on 1 hidden size"),
        (verdict("right", "not-yet", hidden_sizes=0), "1 of 2 right"),
        (verdict("wrong", "right"), "1 line to fix"),
        (verdict("wrong", "follows", "right"), "1 line to fix, 1 follows from it"),
        (verdict("wrong", "aliased", "follows", "mutated", "follows"), "3 lines to fix, 2 follow from them"),
        (verdict("wrong", "right", "not-yet", "not-yet"), "1 line to fix, 2 not begun"),
        (verdict("wrong", "follows", "not-yet"), "1 line to fix, 1 follows from it, 1 not begun"),
        (Verdict(outcome="error", names=verdict("wrong", "not-yet").names), "1 line to fix, 1 not begun"),
        (
            Verdict(
                outcome="error",
                names=(
                    *verdict("wrong", "follows", "not-yet").names,
                    NameVerdict(name="d3", verdict="not-yet", line=2, word=NOT_JUDGED),
                ),
            ),
            "1 line to fix, 1 follows from it, 1 not begun, 1 not judged",
        ),
        (Verdict(outcome="error", names=verdict("wrong", "follows").names), "1 line to fix, 1 follows from it"),
        (Verdict(outcome="error", names=verdict("not-yet", "right").names), "Stopped by an error"),
        (Verdict(outcome="error", names=verdict("right", "right").names, line=3), "A line to fix"),
        (Verdict(outcome="error", names=verdict("not-yet", "right").names, line=1), "A line to fix"),
        (Verdict(outcome="error", line=1), "Stopped by an error"),
        (Verdict(outcome="fault", message="Sorry."), "Our fault, not yours"),
    ],
)
def test_the_title_says_what_is_left_to_do_and_claims_only_what_was_run(given: Verdict, title: str) -> None:
    assert VerdictView(given).title == title


def test_the_first_fault_is_explained_and_only_it() -> None:
    view = VerdictView(verdict("right", "wrong", "follows", "wrong"))

    assert [row.explained for row in view.rows] == [False, True, False, False]


def test_what_follows_from_a_blank_is_explained_after_the_blank() -> None:
    view = VerdictView(verdict("follows", "not-yet", "follows"))

    assert [row.explained for row in view.rows] == [False, True, False]
    assert view.mark == "later"


def test_a_wrong_line_is_explained_before_one_that_is_still_to_be_written() -> None:
    view = VerdictView(verdict("not-yet", "wrong", "not-yet"))

    assert [row.explained for row in view.rows] == [False, True, False]
    assert view.announcement.endswith("d1: Say wrong.")


def test_where_nothing_is_wrong_the_first_blank_is_explained() -> None:
    view = VerdictView(verdict("right", "not-yet", "not-yet"))

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
    assert VerdictView(given).mark == mark


def test_the_spoken_sentence_names_the_first_fault_without_marks() -> None:
    assert VerdictView(verdict("right", "wrong")).announcement == ("1 line to fix. d1: Say wrong.")
    assert VerdictView(verdict("right")).announcement == "1 of 1 right, checked on 2 hidden sizes."


def test_stressed_words_are_spoken_like_others() -> None:
    assert run_announcement(RunResult(outcome="error", message="Take the *other* one, `a * b`.")) == (
        "Stopped by an error. Take the other one, a * b."
    )


def test_a_run_is_announced_by_what_it_shows() -> None:
    assert run_announcement(RunResult(outcome="graded")) == "It ran: 0 values shown."
    assert run_announcement(RunResult(outcome="error", message="`q` is not defined.")) == (
        "Stopped by an error. q is not defined."
    )


def test_nothing_compared_is_not_shown() -> None:
    assert compared(NameVerdict(name="dX", verdict="not-yet")) == ""
    assert compared(NameVerdict(name="dX", verdict="right", exact=False, approx=True, maxdiff=9.313e-10)) == (
        "equal up to rounding, at most 9.31e-10 apart"
    )


@pytest.mark.parametrize(
    ("standing", "exact", "approx", "maxdiff", "said"),
    [
        ("right", True, True, 0.0, "equal to the last bit"),
        ("wrong", False, True, 7e-9, "on these numbers at most 7e-09 apart"),
        ("wrong", False, False, 0.731, "off by up to 0.731"),
        ("follows", False, False, 2.0, "off by up to 2"),
        ("wrong", False, False, None, ""),
        ("not-yet", False, False, 1.0, ""),
    ],
)
def test_a_comparison_is_told_in_words(standing, exact, approx, maxdiff, said) -> None:
    assert compared(NameVerdict(name="dX", verdict=standing, exact=exact, approx=approx, maxdiff=maxdiff)) == said


def test_a_wrong_line_that_is_right_by_luck_is_not_called_equal() -> None:
    agreeing = NameVerdict(name="dx", verdict="wrong", exact=True, approx=True)

    assert compared(agreeing) == "on these numbers equal to the last bit"
    assert compared(replace(agreeing, note="It comes out right only because `dy` is 1 here.")) == ""


def test_lines_are_counted_and_not_names() -> None:
    names = tuple(NameVerdict(name=name, verdict="wrong", line=3) for name in ("dX", "dW"))

    assert VerdictView(Verdict(outcome="graded", names=names)).title == "1 line to fix"


def test_a_hunt_counts_gradients_and_says_how_it_stands() -> None:
    line, dx = NameVerdict(name="line", verdict="right"), NameVerdict(name="dX", verdict="right")
    others = NameVerdict(name="other lines", verdict="wrong", word="changed too")
    missed = replace(line, verdict="wrong", word="not line 3")

    assert VerdictView(Verdict(outcome="graded", passed=True, names=(line, dx))).title == "1 of 1 right"
    assert VerdictView(Verdict(outcome="graded", names=(missed,))).title == "Not line 3"
    assert VerdictView(Verdict(outcome="graded", names=(line, dx, others))).title == "Fixed, and more was changed"


def test_a_marked_line_is_called_by_what_it_writes() -> None:
    for standing in ("right", "wrong"):
        line = NameVerdict(name="line", verdict=standing, word="line 3", step="da")
        assert VerdictView(Verdict(outcome="graded", names=(line,))).rows[0].name == "da"
    assert VerdictView(Verdict(outcome="graded", names=(line,))).rows[0].word == "not the one"
    blank = NameVerdict(name="line", verdict="not-yet", word="not marked yet")
    waiting = VerdictView(Verdict(outcome="graded", names=(blank,)))
    assert (waiting.rows[0].name, waiting.title) == ("line", "The wrong line is not marked yet")
    found = NameVerdict(name="line", verdict="right", word="line 3, found", step="da")
    idle = NameVerdict(name="mending", verdict="not-yet", word="not begun", step="da")
    unmended = VerdictView(Verdict(outcome="graded", names=(found, idle)))
    assert ([row.name for row in unmended.rows], unmended.title) == (["da", "da"], "Found, not mended yet")


def test_what_the_first_fault_says_is_not_said_twice() -> None:
    fault = NameVerdict(name="dX", verdict="wrong", message="Sizes differ. Line 1 stopped there.")
    names = (NameVerdict(name="dY", verdict="right"), fault)

    assert VerdictView(Verdict(outcome="error", message="Sizes differ.", names=names)).message == ""
    assert VerdictView(Verdict(outcome="error", message="Another.", names=names)).message == "Another."


def test_why_lines_below_one_that_stopped_are_right_is_told() -> None:
    fault, right = NameVerdict(name="dY", verdict="wrong", line=2), NameVerdict(name="dX", verdict="right", line=3)
    stopped = Verdict(outcome="error", message="Sizes differ.", line=2, names=(fault, right))

    assert VerdictView(stopped).checked == "The lines below that read nothing of line 2 were run without it."
    assert VerdictView(replace(stopped, names=(replace(right, line=1), fault))).checked == ""
    assert VerdictView(replace(stopped, outcome="graded")).checked == ""


def test_faults_come_first_and_the_one_to_look_at_before_the_others() -> None:
    view = VerdictView(verdict("right", "follows", "wrong", "right", "aliased"))

    assert [row.verdict.name for row in view.first] == ["d2", "d4"]
    assert [row.verdict.name for row in view.rest] == ["d0", "d1", "d3"]


def test_a_right_box_says_what_that_rests_on() -> None:
    assert "any upstream" in VerdictView(verdict("right", "right")).checked
    alone = replace(verdict("right", "right"), any_upstream=False)
    assert "other sizes and other numbers." in VerdictView(alone).checked
    other = replace(verdict("right", "right-other-road"), passed=True)
    assert "any upstream" not in VerdictView(other).checked
    assert VerdictView(other).checked.startswith("The numbers hold for other sizes")
    assert VerdictView(verdict("right", "wrong")).checked == ""


@pytest.mark.parametrize(("value", "text"), [(0.0, "0"), (1e-12, "1e-12"), (-0.5, "-0.5"), (float("nan"), "nan")])
def test_a_number_is_zero_only_if_it_is(value: float, text: str) -> None:
    assert number_text(value) == text


def test_cases_failing_for_the_reason_of_the_first_are_among_the_rest() -> None:
    cases = tuple(
        NameVerdict(name=f"case {number}", verdict="wrong", message=message, facts=(("The case", "a = 1"),))
        for number, message in enumerate(("A line forgets `.data`.", "", ""), 1)
    )
    view = VerdictView(Verdict(outcome="graded", names=(*cases, NameVerdict(name="case 4", verdict="right"))))

    assert [row.verdict.name for row in view.first] == ["case 1"]
    assert [row.verdict.name for row in view.rest] == ["case 2", "case 3", "case 4"]
    assert [row.unsaid for row in view.rest] == [True, True, False]
