"""What is told of a wrong line when the time for explanations is over, or the process ends over them."""

from app.engine.grade import tape_queries
from app.engine.grade.engine import UNEXPLAINED, Engine
from app.engine.grade.explanation_time import Budget
from app.engine.grade.tape_queries import SPENT
from app.grading.judge import judging
from tests.grading.boxes.load import OpenJail, load

BOX = next(box for box in load("boxes.toml") if len(box.require) > 1 and box.forward.dims)
WRONG = "\n".join(f"{name} = {name} * 1.7 + 0.3" for name in BOX.require)


def wrong(box=BOX):
    return f"{box.solution}\n{WRONG}\n"


def spin(_case):
    while True:
        pass


def test_right_and_wrong_are_told_before_reasons_are_looked_for(monkeypatch):
    told = []
    monkeypatch.setattr(tape_queries, "diagnose", lambda _case: told.append("a search"))

    verdict = Engine(OpenJail(), None, tell=told.append).check(BOX.task(), wrong())

    bare = told[0]
    assert [one.verdict for one in bare.names] == [one.verdict for one in verdict.names]
    assert bare.message == UNEXPLAINED
    assert told[1] == "a search"


def test_what_is_told_first_is_not_compared_again_for_the_reasons(monkeypatch):
    compared = []
    monkeypatch.setattr(judging, "closeness", lambda got, _reference: compared.append(got))

    Engine(OpenJail(), None, tell=lambda _bare: None).check(BOX.task(), wrong())

    assert len(compared) == len(BOX.require)


def test_nothing_is_told_of_what_is_right():
    told = []

    assert Engine(OpenJail(), None, tell=told.append).check(BOX.task(), BOX.solution).passed
    assert not told


def test_a_search_without_end_leaves_the_verdict_and_says_so(monkeypatch):
    monkeypatch.setattr(tape_queries, "diagnose", spin)
    monkeypatch.setattr(tape_queries, "Budget", lambda: Budget(0.05))

    verdict = Engine(OpenJail(), None).check(BOX.task(), wrong())

    assert any(one.verdict == "wrong" for one in verdict.names)
    assert all(one.message.endswith(SPENT) for one in verdict.names if one.verdict == "wrong")


def test_all_diagnoses_of_a_check_pay_from_one_purse(monkeypatch):
    purses = []
    monkeypatch.setattr(tape_queries, "diagnose", lambda case: purses.append(case.budget))

    Engine(OpenJail(), None).check(BOX.task(), wrong())

    assert len(purses) > 1
    assert len({id(one) for one in purses}) == 1
