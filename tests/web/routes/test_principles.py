"""The question for the principle behind a line: once for a family, after a right answer, and skippable."""

import re

import pytest

from app.content.blocks import Grad
from tests.web.routes.practising import Learner

BOX = "/lessons/linear/code/linear-backward"
FRAGMENT = {"hx-request": "true"}
QUESTION = "Which principle is behind"


@pytest.fixture
def solver(learner: Learner) -> Learner:
    """Somebody whose text of the box is right."""
    box = learner.site.course.at["linear"].exercise("linear-backward")
    assert isinstance(box, Grad)
    learner.check("/lessons/linear", box.name, box.solution.source)
    return learner


def ask(learner: Learner) -> str:
    return learner.client.post(f"{BOX}/principle", headers=FRAGMENT).text


def test_a_right_check_brings_the_question_and_a_wrong_one_does_not(learner):
    box = learner.site.course.at["linear"].exercise("linear-backward")
    for code, brings in (("dX = ____", False), (box.solution.source, True)):
        form = {"code": code, "revision": "0"}
        text = learner.client.post(f"{BOX}/check", data=form, headers=FRAGMENT).text
        assert (f'hx-post="{BOX}/principle"' in text) == brings


def test_nothing_is_asked_where_a_hint_may_have_said_it(learner):
    box = learner.site.course.at["linear"].exercise("linear-backward")
    learner.client.post(f"{BOX}/hint", data={"code": "dX = ____", "revision": "0"})
    form = {"code": box.solution.source, "revision": "1"}

    text = learner.client.post(f"{BOX}/check", data=form, headers=FRAGMENT).text

    assert "Each factor carries" in text
    assert f'hx-post="{BOX}/principle"' not in text


def test_each_family_of_a_box_is_asked_about_once(solver):
    questions = [ask(solver) for _ in range(4)]

    asked = [re.search('name="family" value="(.*?)"', question)[1] for question in questions if question]
    assert sorted(asked) == ["broadcast", "matmul"]
    assert questions[2:] == ["", ""]
    assert QUESTION in questions[0]


@pytest.mark.parametrize(("chosen", "said"), [("factor", "Right."), ("gate", "Another one:")])
def test_an_answer_is_told_with_the_right_principle(solver, chosen, said):
    ask(solver)
    form = {"family": "matmul", "right": "factor", "chosen": chosen}

    text = solver.client.post(f"{BOX}/principle/answer", data=form, headers=FRAGMENT).text

    assert said in text
    assert "Upstream times the other factor" in text


def test_who_has_not_solved_a_box_is_asked_nothing(learner):
    learner.client.get("/lessons/linear")

    assert ask(learner) == ""


def test_a_principle_of_another_family_is_no_answer(solver):
    form = {"family": "matmul", "right": "gate", "chosen": "gate"}

    assert solver.client.post(f"{BOX}/principle/answer", data=form, headers=FRAGMENT).text == ""
