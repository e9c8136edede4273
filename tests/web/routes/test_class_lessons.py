"""A lesson as a class has it, and the way of one learner through it: true, neutral, and for nobody else."""

import json
from datetime import timedelta

import pytest
from sqlalchemy import select

from app.store import board, progress
from app.store.tables import Attempt
from app.web.views.text_changes import MAX_COMPARED_LINES, diff_lines
from app.web.views.trace_view import between
from tests.web.asking import CANARY, Elements
from tests.web.conftest import RIGHT
from tests.web.routes.test_class_board import AT, CHECK, assign, enrol, group, wrong

__all__ = ["group"]

BOX = "/lessons/linear/code/linear-backward"


def shown(ada, group, page):
    answer = ada.get(f"/classes/{group.id}/{page}")
    assert answer.status_code == 200
    return " ".join(answer.text.split())


def trace_of(ada, group, room, name="Bob"):
    return shown(ada, group, f"learners/{room.ids[name]}?lesson=linear")


def test_a_cell_tells_how_far_somebody_is_and_the_newest_code(group, ada, bob):
    wrong(bob)
    wrong(bob, "other")
    bob.post("/lessons/linear/quiz/half", data={"answer": "0.5"})

    page = shown(ada, group, "lessons/linear")

    assert '<span class="tip">tried, 2 tries; newest: dX:transposed</span>' in page
    assert '<span class="tip">solved, 1 try</span>' in page
    assert page.count('data-state="untouched"') == 6


def test_what_was_solved_after_opening_the_solution_is_told_apart(room, group, ada, bob):
    async def open_it(db):
        await progress.open_solution(db, room.ids["Bob"], "linear-layer", "linear-backward")

    room.write(open_it)
    bob.post(CHECK, data={"code": RIGHT, "revision": 0})

    assert "solved after opening the solution, 1 try" in shown(ada, group, "lessons/linear")
    assert "Solved after opening the solution." in trace_of(ada, group, room)


def test_a_trace_shows_every_attempt_with_what_changed(room, group, ada, bob):
    for code in ("dX = 1\ndW = 2\n", "dX = 1\ndW = 3\n", RIGHT):
        bob.post(CHECK, data={"code": code, "revision": 0})

    page = trace_of(ada, group, room)

    assert [f"attempt {number}" in page for number in (1, 2, 3, 4)] == [True, True, True, False]
    assert "<del>− dW = 2</del>" in page
    assert "<ins>+ dW = 3</ins>" in page
    assert "This is the transpose of <code>dX</code>." in page
    assert "Right." in page


def test_a_pasted_text_is_noted_and_a_drafted_one_is_not(room, group, ada, bob):
    cleo = enrol(room, group, "Cleo")[0]
    cleo.post(f"{BOX}/draft", data={"code": "dX = ____", "revision": 0})
    for one in (bob, cleo):
        one.post(CHECK, data={"code": RIGHT, "revision": 1})

    assert "The whole text arrived at once; no earlier draft was saved." in trace_of(ada, group, room)
    assert "arrived at once" not in trace_of(ada, group, room, "Cleo")


@pytest.mark.alone
def test_an_attempt_keeps_the_revision_of_its_draft(room, group, bob):
    assert group
    for code in ("a = 1", "a = 2"):
        bob.post(CHECK, data={"code": code, "revision": 0})

    async def revisions(db):
        return list(await db.scalars(select(Attempt.revision).order_by(Attempt.id)))

    assert room.write(revisions) == [1, 2]


def test_a_learner_who_tried_nothing_has_an_empty_trace(room, group, ada, bob):
    assert bob
    assert "has not answered anything yet" in shown(ada, group, f"learners/{room.ids['Bob']}")
    assert "Nothing was answered in this lesson yet." in trace_of(ada, group, room)


def test_work_in_lessons_that_are_not_assigned_is_on_no_page(room, ada):
    group = room.found("Algebra", "Ada")
    assign(room, group, "linear-layer", ["half"])
    [bob] = enrol(room, group, "Bob")
    wrong(bob, "secret_text = 1")
    bob.post("/lessons/linear/quiz/half", data={"answer": "7"})

    pages = ("board", "lessons", "lessons/linear", "slips", f"learners/{room.ids['Bob']}", "gradebook")
    texts = [shown(ada, group, page) for page in pages]

    assert not any("secret_text" in one or "linear-backward" in one or "dX:" in one for one in texts)
    assert "<code>7</code>" in texts[4]
    assert ada.get(f"/classes/{group.id}/lessons/reading").status_code == 404
    assert ada.get(f"/classes/{group.id}/learners/{room.ids['Bob']}?lesson=reading").status_code == 404


def test_what_is_typed_and_not_checked_is_on_no_page(room, group, ada, bob):
    bob.post(f"{BOX}/draft", data={"code": "secret_draft = 1", "revision": 0})

    for page in PAGES:
        assert "secret_draft" not in shown(ada, group, page.format(bob=room.ids["Bob"]))


def test_what_learners_write_is_text_on_every_page(room, group, ada):
    tag = f"<{CANARY} onload=x>"
    names = [f"{tag}{number}" for number in range(3)]
    for one in enrol(room, group, *names):
        wrong(one, f"dX = '{tag}'")
        one.post("/lessons/linear/quiz/half", data={"answer": tag})
    first = room.ids[names[0]]

    for page in (*PAGES[:7], "board?place=linear/half", f"board?place={AT}&project=1&graph=1"):
        answer = ada.get(f"/classes/{group.id}/{page.format(bob=first)}")
        assert answer.status_code == 200
        assert Elements(answer.text).foreign == []
    assert CANARY in shown(ada, group, f"board?place={AT}&project=1")


def test_an_instructor_of_one_class_sees_nobody_of_another(room, group, ada, bob):
    assert bob
    other = room.browser("Zoe", teaches=True)
    theirs = room.found("Biology", "Zoe")
    assign(room, theirs, "linear-layer")

    assert other.get(f"/classes/{theirs.id}/learners/{room.ids['Bob']}").status_code == 404
    assert other.get(f"/classes/{group.id}/learners/{room.ids['Bob']}").status_code == 404
    assert ada.get(f"/classes/{theirs.id}/lessons/linear").status_code == 404
    assert ada.get(f"/classes/{group.id}/learners/{room.ids['Ada']}").status_code == 404


@pytest.mark.parametrize("number", ["abc", "-1", "9" * 20, "²"])
def test_a_number_that_no_learner_has_is_no_page(group, ada, number):
    assert ada.get(f"/classes/{group.id}/learners/{number}").status_code == 404


PAGES = ("board", "board?place=" + AT, "slips", "lessons", "lessons/linear", "learners/{bob}", "gradebook",
         "gradebook.csv", "gradebook.csv?for=canvas", "gradebook.csv?for=moodle", "gradebook.json")  # fmt: skip


@pytest.mark.parametrize(("role", "status"), [("learner", 404), ("assistant", 200), ("instructor", 200)])
def test_an_assistant_sees_what_an_instructor_sees_and_a_learner_nothing(room, group, bob, role, status):
    assert bob
    dan = room.browser("Dan")
    room.join(group, "Dan", role)

    seen = {page: dan.get(f"/classes/{group.id}/{page.format(bob=room.ids['Bob'])}").status_code for page in PAGES}

    assert seen == dict.fromkeys(PAGES, status)


def test_work_of_who_left_the_class_is_on_no_page_at_once(room, group, ada, bob):
    wrong(bob)
    bob.post(f"/classes/{group.id}/leave", data={"sure": "yes"})

    for page in PAGES:
        answer = ada.get(f"/classes/{group.id}/{page.format(bob=room.ids['Bob'])}")
        assert answer.status_code == (404 if "learners" in page else 200)
        if "gradebook" in page:  # where points of who left are records
            assert f"/learners/{room.ids['Bob']}" not in answer.text
        else:
            assert "Bob" not in answer.text
        assert "dX:transposed" not in answer.text


def test_how_much_a_class_has_solved_stands_beside_each_lesson(room, group, ada, bob):
    enrol(room, group, "Cleo")
    bob.post("/lessons/linear/quiz/half", data={"answer": "0.5"})

    page = shown(ada, group, "lessons")

    assert "<td>8</td><td>6 %</td><td>0.5 of 8</td>" in page


def test_class_home_says_mistakes_in_words_and_leads_to_the_board(group, ada, bob):
    wrong(bob)

    page = " ".join(ada.get(f"/classes/{group.id}").text.split())

    assert "<li>the transpose of the right answer <span" in page
    assert f'1 learner at <a href="/classes/{group.id}/board?place=linear-layer/linear-backward">' in page


def test_a_text_too_long_to_compare_is_shown_as_it_is():
    long = "\n".join(str(number) for number in range(MAX_COMPARED_LINES + 1))

    assert {one.kind for one in diff_lines(long, long + "\nx")} == {"same"}


def test_a_difference_keeps_one_line_around_a_change():
    before, after = "a\nb\nc\nd\ne\nf\ng", "a\nb\nc\nX\ne\nf\nY"

    found = [(one.kind, one.text) for one in diff_lines(before, after)]

    assert found == [
        ("same", "c"), ("gone", "d"), ("new", "X"), ("same", "e"), ("same", "f"), ("gone", "g"), ("new", "Y")
    ]  # fmt: skip
    assert diff_lines("same", "same") == ()


@pytest.mark.parametrize(
    ("time", "said"),
    [
        (timedelta(seconds=5), "5 s"),
        (timedelta(minutes=1), "1 minute"),
        (timedelta(minutes=59, seconds=59), "59 minutes"),
        (timedelta(hours=25), "1 day"),
    ],
)
def test_the_time_between_two_attempts_is_told_in_its_largest_unit(time, said):
    assert between(time) == said


def test_an_attempt_shows_although_its_code_is_no_json(room, group, ada, bob):
    assert bob

    async def add(db):
        answered = progress.NewAttempt(
            kind="code", text="a", verdict=json.dumps({"of": "old"}), correct=False, code="x:y"
        )
        await progress.record_attempt(db, room.ids["Bob"], "linear-layer", "linear-backward", answered)
        assert await board.latest_lesson(db, group.id, room.ids["Bob"]) == "linear-layer"

    room.write(add)

    assert "x:y" in trace_of(ada, group, room)
    assert "x:y" in shown(ada, group, "board")
