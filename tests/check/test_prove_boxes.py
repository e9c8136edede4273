"""What is said of the author's own code is a sentence, however a name of it stands."""

from typing import get_args

import pytest

from app.check.prove_boxes import STANDS, prove_solution
from app.content.blocks import Code, SourceLocation
from app.grading.judge.verdict import RIGHT, NameVerdict, Standing, Verdict

CODE = Code(place=SourceLocation("a.md", 10), source="dz = dy\ndx = dz\n", line=11)
SAID = {
    "wrong": "dx is wrong: Look.",
    "follows": "dx is off because another one is: Look.",
    "not-yet": "dx is not there yet: Look.",
    "aliased": "dx does not keep its value: Look.",
    "mutated": "dx comes with a change of what is given: Look.",
}


@pytest.mark.parametrize("standing", SAID)
def test_a_solution_that_fails_is_told_in_a_sentence(standing: Standing) -> None:
    right = NameVerdict(name="dz", verdict="right")
    verdict = Verdict(
        outcome="graded", names=(right, NameVerdict(name="dx", verdict=standing, message="Look.", line=2))
    )

    (finding,) = prove_solution(CODE, verdict)

    assert finding.message == f"The solution does not pass. {SAID[standing]}"
    assert (finding.code, finding.place.line) == ("solution-fails", 12)


def test_what_is_no_gradient_is_told_by_its_own_word() -> None:
    others = NameVerdict(name="other lines", verdict="wrong", word="changed too", message="Line 1 is new.")

    (finding,) = prove_solution(CODE, Verdict(outcome="graded", names=(others,)))

    assert finding.message == "The solution does not pass. other lines (changed too): Line 1 is new."


def test_every_way_to_stand_has_its_words() -> None:
    assert STANDS.keys() == set(get_args(Standing)) - RIGHT
