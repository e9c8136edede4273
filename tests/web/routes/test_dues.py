"""A member is told quietly what is due; solutions stay closed as long as their class wants, private lessons private."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from app.content.blocks import Course
from app.course.course import read_course
from app.grading.judge.verdict import NameVerdict, Verdict
from app.settings import Settings
from app.store.assignments import give_unit
from app.store.database import now
from app.store.tables import Class
from app.web.application import create_app, take_course
from tests.courses import course_in
from tests.web.classroom import Classroom
from tests.web.conftest import FakeGrader

DUE = datetime(2199, 3, 1, 12, tzinfo=UTC)
BOX = "/lessons/linear/code/linear-backward"
SECRET = "the-exam"


@pytest.fixture
def app(settings: Settings, course: Course, grader: FakeGrader) -> FastAPI:
    """The course, with its second unit as an exam that is private."""
    unit = course.units[0]
    moved = {"path": "9-exam/01-the-exam.md", "address": ""}
    exam = replace(unit.lessons[0], name=SECRET, slug=SECRET, title="The exam", **moved)
    private = replace(unit, slug="exam", number=9, title="Exam", lessons=(exam,), private=True)
    return create_app(settings, Course(units=(*course.units, private)), grader)


@pytest.fixture
def member(room: Classroom, group: Class) -> Callable[[str], TestClient]:
    def join(name: str) -> TestClient:
        browser = room.browser(name)
        browser.post(f"/join/{group.join_code}", data={"name": name})
        return browser

    return join


def test_what_is_due_stands_on_the_index_and_above_the_lesson(room, group, member, client) -> None:
    room.assign(group, "linear-layer", due_at=DUE)
    bob = member("Bob")

    for path in ("/", "/lessons/linear"):
        assert "due Fri 1 Mar 2199, 13:00, in <a" in bob.get(path).text
        assert 'class="due"' not in client.get(path).text
    assert 'class="due"' not in bob.get("/lessons/reading").text


@pytest.mark.parametrize(
    ("terms", "words"),
    [
        ({"opens_at": DUE}, "opens Fri 1 Mar 2199, 13:00"),
        ({}, "without a date"),
        ({"due_at": datetime(2020, 3, 1, 12, tzinfo=UTC)}, "was due Sun 1 Mar 2020, 13:00"),
        ({"due_at": datetime(2020, 3, 1, 12, tzinfo=UTC), "late_until": DUE}, "counts 50% until Fri 1 Mar 2199"),
    ],
)
def test_a_date_is_told_as_it_stands(room, group, member, terms: dict[str, datetime], words: str) -> None:
    room.assign(group, "linear-layer", **terms)

    assert words in member("Bob").get("/lessons/linear").text


def test_who_leaves_is_told_nothing_more(room, group, member) -> None:
    room.assign(group, "linear-layer", due_at=DUE)
    bob = member("Bob")

    bob.post(f"/classes/{group.id}/leave", data={"sure": "yes"})

    assert 'class="due"' not in bob.get("/").text


def test_a_new_member_begins_with_what_is_due_and_is_told_once(room, group) -> None:
    room.assign(group, SECRET, due_at=DUE)
    bob = room.browser("Bob")

    begun = bob.post(f"/join/{group.join_code}", data={"name": "Bob"})

    assert begun.url.path == f"/lessons/{SECRET}"
    assert "due joined" in begun.text
    assert "due joined" not in bob.get(f"/lessons/{SECRET}").text


def test_a_solution_stays_closed_to_a_class_until_its_date(room, group, member, client) -> None:
    room.assign(group, "linear-layer", solutions_at=DUE)
    bob = member("Bob")
    form = {"code": "dX = 1", "revision": "0"}

    refused = bob.post(f"{BOX}/solution", data=form)
    for browser in (bob, client):
        browser.post(f"{BOX}/check", data=form)
    still = bob.post(f"{BOX}/solution", data=form)

    for answer in (refused, still):
        assert answer.status_code == 409
        assert "Algebra keeps this solution closed until Fri 1 Mar 2199, 13:00." in answer.text
    assert "dX = 1" in bob.get("/lessons/linear").text
    assert client.post(f"{BOX}/solution", data=form).status_code == 200


def test_what_passed_brings_no_solution_that_a_class_keeps_closed(room, group, member, client, grader) -> None:
    room.assign(group, "linear-layer", solutions_at=DUE)
    grader.outcome = Verdict(outcome="graded", passed=True, names=(NameVerdict(name="dX", verdict="right"),))
    form, htmx = {"code": "dX = 1  # mine", "revision": "0"}, {"hx-request": "true"}

    kept, open_to_all = (one.post(f"{BOX}/check", data=form, headers=htmx).text for one in (member("Bob"), client))

    assert 'id="linear-backward-solution" hx-swap-oob' not in kept
    assert 'id="linear-backward-solution" hx-swap-oob' in open_to_all


def test_a_date_that_is_past_keeps_no_solution_closed(room, group, member) -> None:
    room.assign(group, "linear-layer", solutions_at=now() - timedelta(seconds=1))

    assert member("Bob").post(f"{BOX}/solution", data={"code": "x", "revision": "0"}).status_code == 200


PRIVATE = (f"/lessons/{SECRET}", f"/lessons/{SECRET}/export.md", "/units/exam")


def shown(browser: TestClient) -> set[int]:
    assert (SECRET in browser.get("/").text) == (browser.get(PRIVATE[0]).status_code == 200)
    return {browser.get(path).status_code for path in PRIVATE}


def test_a_private_lesson_is_no_page_but_for_the_classes_that_have_it(room, group, member, client) -> None:
    bob, eve = member("Bob"), room.browser("Eve")
    before = shown(bob)
    room.assign(group, SECRET)

    assert before == {404}
    assert shown(bob) == {200}
    for browser in (client, eve, room.browser("Max", teaches=True)):
        assert shown(browser) == {404}
        form = {"code": "x", "revision": "0"}
        assert browser.post(f"/lessons/{SECRET}/code/linear-backward/check", data=form).status_code == 404


def test_a_private_lesson_stays_behind_when_next_term_is_made(room, group, ada) -> None:
    for lesson in (SECRET, "linear-layer"):
        room.assign(group, lesson)
    assert "1 of a private unit stays here, too" in ada.get(f"/classes/{group.id}/next").text

    answer = ada.post(f"/classes/{group.id}/next", data={"name": "Spring"})

    assert answer.url.path.endswith("/assignments")
    assert "linear" in answer.text
    later = int(answer.url.path.split("/")[2])
    assert later != group.id
    assert "The exam" not in ada.get(f"/classes/{later}").text


def test_a_private_lesson_is_closed_before_it_opens_and_after_one_left(room, group, member) -> None:
    bob = member("Bob")
    row = room.assign(group, SECRET, opens_at=DUE)

    closed = shown(bob)
    promised = bob.get("/").text
    room.assign(group, SECRET)
    opened = shown(bob)
    bob.post(f"/classes/{group.id}/leave", data={"sure": "yes"})

    assert (closed, opened, shown(bob)) == ({404}, {200}, {404})
    assert "Something new: opens Fri 1 Mar 2199" in promised
    assert row.lesson not in promised


def test_an_instructor_sees_a_private_unit_that_was_given_to_the_class(room) -> None:
    ada = room.browser("Ada", teaches=True)
    group = room.found("Algebra", "Ada")
    before = shown(ada)
    room.write(lambda db: give_unit(db, group.id, "exam"))
    tom = room.browser("Tom")
    room.join(group, "Tom", "assistant")
    bob = room.browser("Bob")
    room.join(group, "Bob")

    assert before == {404}
    assert shown(ada) == {200}
    assert f'value="{SECRET}"' in ada.get(f"/classes/{group.id}/assignments").text
    assert (shown(tom), shown(bob)) == ({404}, {404})
    room.write(lambda db: give_unit(db, group.id, "exam", back=True))
    assert shown(ada) == {404}


def test_an_exam_of_a_colleague_is_no_page_for_who_teaches_another_class(room, group, ada) -> None:
    room.write(lambda db: give_unit(db, group.id, "exam"))
    room.assign(group, SECRET, opens_at=DUE)
    max_ = room.browser("Max", teaches=True)
    other = room.found("Geometry", "Max")
    room.browser("Tom")
    room.join(group, "Tom", "assistant")

    assert (shown(ada), shown(max_)) == ({200}, {404})
    assert SECRET not in max_.get(f"/classes/{other.id}/assignments").text
    refused = max_.post(f"/classes/{other.id}/assignments", data={"lesson": SECRET, "points": "1"})
    assert SECRET not in max_.get(f"/classes/{other.id}/assignments").text, refused.text


def test_a_unit_says_itself_that_it_is_private(tmp_path) -> None:
    folder = tmp_path / "1-exam"
    folder.mkdir()
    (folder / "unit.md").write_text("---\ntitle: Exam\nprivate: true\n---\nAn exam.\n")
    (folder / "01-one.md").write_text("---\ntitle: One\nid: one\nestimate: 5 min\ngoals: [a]\n---\nText.\n")

    assert [unit.private for unit in course_in(tmp_path).units] == [True]


def test_no_page_links_into_a_private_unit_from_outside(tmp_path) -> None:
    top = "---\ntitle: {0}\nid: {0}\nestimate: 5 min\ngoals: [a]\n---\n{1}\n"
    for folder, key in (("1-open", ""), ("2-exam", "private: true\n")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "unit.md").write_text(f"---\ntitle: {folder}\n{key}---\nText.\n")
    (tmp_path / "1-open" / "01-one.md").write_text(top.format("one", "See [it](../2-exam/01-two.md)."))
    (tmp_path / "2-exam" / "01-two.md").write_text(top.format("two", "See [it](02-three.md)."))
    (tmp_path / "2-exam" / "02-three.md").write_text(top.format("three", "Back to [one](../1-open/01-one.md)."))

    faults = read_course(tmp_path)[1]

    assert [(one.place.path.rpartition("/")[2], one.code) for one in faults] == [("01-one.md", "private")]


def test_a_course_that_was_taken_up_anew_keeps_private_what_is(app, room, group, member, client) -> None:
    bob = member("Bob")
    room.assign(group, SECRET)

    client.portal.call(take_course, app, app.state.site.whole)

    assert shown(bob) == {200}
    assert shown(client) == {404}
