"""Grades as a page and as files: the same numbers, and no cell that a spreadsheet would compute."""

import csv
import io
from datetime import UTC, datetime

import pytest
from sqlalchemy import select

from app.store.assignments import override_grade
from app.store.database import now
from app.store.tables import Assignment, FormerMember, Membership, Progress
from app.web.views.grade_sheet import shown_points
from tests.web.routes.test_class_board import assign, enrol, group

__all__ = ["group"]


@pytest.fixture
def graded(room, group):
    """Bob solved one of eight exercises, Cleo nothing; Bob has an id."""
    bob, _ = enrol(room, group, "Bob", "Cleo")
    bob.post("/lessons/linear/quiz/half", data={"answer": "0.5"})

    async def number(db):
        (await db.get_one(Membership, (group.id, room.ids["Bob"]))).external_id = "s-7"

    room.write(number)
    return group


def rows(ada, group, **query):
    answer = ada.get(f"/classes/{group.id}/gradebook.csv", params=query)
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert "attachment" in answer.headers["content-disposition"]
    return list(csv.reader(io.StringIO(answer.content.decode("utf-8-sig"))))


def test_page_csv_and_json_tell_the_same_points(graded, ada):
    page = ada.get(f"/classes/{graded.id}/gradebook").text
    found = ada.get(f"/classes/{graded.id}/gradebook.json").json()

    assert rows(ada, graded) == [
        ["Name", "Id", "Group", "The linear layer", "Total", "Of"],
        ["Points", "", "", "10", "", ""],
        ["Bob", "s-7", "", "1.25", "1.25", "10"],
        ["Cleo", "", "", "", "", ""],
    ]
    assert [(one["points"], one["possible"]) for one in found["learners"]] == [(1.25, 10), (0, 0)]
    assert found["learners"][0]["grades"][0] | {"assignment": 0} == {
        "assignment": 0, "points": 1.25, "in_time": 1, "late": 0, "exercises": 8, "excused": False,
        "state": "counted",
    }  # fmt: skip
    assert "<td>1.25</td>" in page


def test_points_of_an_assignment_that_gives_none_are_in_the_total(room, graded, ada):
    async def by_hand(db):
        given = await db.scalar(select(Assignment).where(Assignment.class_id == graded.id))
        given.points = 0
        await override_grade(db, given, room.ids["Cleo"], 3.0, "oral", None)

    room.write(by_hand)

    assert [row[3:] for row in rows(ada, graded)[2:]] == [["0", "0", "0"], ["3", "3", "0"]]
    assert '<td>3 <span class="share">of 0</span></td>' in ada.get(f"/classes/{graded.id}/gradebook").text


def test_work_without_a_right_answer_leaves_a_cell_empty_as_is_said(room, group, ada):
    (bob,) = enrol(room, group, "Bob")
    bob.post("/lessons/linear/quiz/half", data={"answer": "7"})

    (told,) = ada.get(f"/classes/{group.id}/gradebook.json").json()["learners"]

    assert told["grades"][0]["points"] is None
    assert "not due yet while nothing in it was solved" in ada.get(f"/classes/{group.id}/gradebook").text


def test_canvas_gets_the_columns_that_its_importer_asks_for(graded, ada):
    found = rows(ada, graded, **{"for": "canvas"})

    assert found[0] == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "The linear layer"]
    assert found[1] == ["Points Possible", "", "", "", "", "10"]
    assert found[2] == ["Bob", "", "s-7", "", "", "1.25"]


def test_canvas_and_moodle_get_nobody_without_an_id(graded, ada):
    assert [row[0] for row in rows(ada, graded, **{"for": "canvas"})] == ["Student", "Points Possible", "Bob"]
    assert rows(ada, graded, **{"for": "moodle"}) == [
        ["ID number", "Full name", "The linear layer"],
        ["s-7", "Bob", "1.25"],
    ]
    assert "1 without an id is left out of both files" in ada.get(f"/classes/{graded.id}/gradebook").text


def test_ids_that_nobody_joined_with_are_listed_before_an_import(graded, ada):
    ada.post(f"/classes/{graded.id}/roster", data={"text": "Dan,s-9", "apply": "yes"})

    page = ada.get(f"/classes/{graded.id}/gradebook").text.partition("Before you import")[2]

    assert "Moodle cancels the whole import" in page
    assert "<code>s-9</code> Dan" in page


def test_members_without_an_id_are_listed_before_an_import(room, graded, ada):
    ada.post(f"/classes/{graded.id}/roster", data={"text": "name;id\nDan;s-8\nEmmy;s-9", "apply": "yes"})
    for name, number in (("Dan", ""), ("Emmy", "s-9")):
        room.browser(name).post(f"/join/{graded.join_code}", data={"name": name, "external_id": number})

    page = ada.get(f"/classes/{graded.id}/gradebook").text.partition("Before you import")[2]

    assert "<code>s-8</code> Dan" in page
    assert "<code>s-9</code> Emmy" not in page


def test_a_seat_that_nobody_took_has_no_zeros(graded, ada):
    ada.post(f"/classes/{graded.id}/roster", data={"text": "Dan,s-9", "apply": "yes"})

    assert rows(ada, graded)[-1] == ["Dan", "s-9", "", "", "never joined", ""]
    assert rows(ada, graded, **{"for": "canvas"})[-1] == ["Dan", "", "s-9", "", "", ""]
    assert rows(ada, graded, **{"for": "moodle"})[-1] == ["s-9", "Dan", "-"]
    assert "<td>never joined" not in ada.get(f"/classes/{graded.id}/gradebook").text


def test_a_column_keeps_its_heading_when_another_is_due_before(graded, ada):
    page = f"/classes/{graded.id}/assignments"
    for due in ("2199-05-01", "2199-03-01"):
        ada.post(page, data={"lesson": "linear-layer", "due": due, "confirm": "yes"})

    assert rows(ada, graded)[0][3:6] == ["The linear layer, part 3", "The linear layer, part 2", "The linear layer"]


def test_columns_without_a_heading_are_numbered_in_order_of_assignment(room, graded, ada):
    for month in (5, 3):
        room.assign(graded, "linear-layer", due_at=datetime(2199, month, 1, tzinfo=UTC))

    heads = rows(ada, graded)[0]

    assert heads.index("The linear layer, part 3") < heads.index("The linear layer, part 2")


def test_a_column_is_called_as_the_instructor_says(room, graded, ada):
    page = f"/classes/{graded.id}/assignments"
    row = room.assign(graded, "linear-layer", exercises=["half"])
    form = {"heading": "Week 1", "choose": "yes", "exercises": "half"}
    ada.post(page, data={"lesson": "linear-layer", "heading": "Exam", "confirm": "yes"})

    ada.post(f"{page}/{row.id}", data=form)
    refused = ada.post(f"{page}/{row.id}", data={**form, "heading": "Exam"})

    assert rows(ada, graded)[0][3:6] == ["The linear layer", "Week 1", "Exam"]
    assert refused.status_code == 409
    assert "is called &#39;Exam&#39;" in refused.text


def test_a_lesson_that_the_course_lost_keeps_column_and_points(room, graded, ada):
    async def lose(db):
        given = await db.scalar(select(Assignment).where(Assignment.class_id == graded.id))
        given.lesson, given.heading, given.known_exercises_json = "lost", "The linear layer", '["half", "other"]'
        db.add(Progress(learner_id=room.ids["Bob"], lesson="lost", exercise="half", solved_at=now()))

    room.write(lose)

    assert rows(ada, graded)[0][3] == "The linear layer"
    assert rows(ada, graded)[2][3:] == ["5", "5", "10"]
    assert "EX" not in rows(ada, graded, **{"for": "canvas"})[2]
    assert "not in the course any more" in ada.get(f"/classes/{graded.id}/gradebook").text
    assert ada.get(f"/classes/{graded.id}/gradebook.json").json()["assignments"][0]["gone"] is True


def test_a_system_that_is_not_known_is_refused(graded, ada):
    assert ada.get(f"/classes/{graded.id}/gradebook.csv", params={"for": "excel"}).status_code == 422


def test_a_name_that_is_a_formula_leaves_as_text_in_every_file(room, graded, ada):
    async def rename(db):
        person = await db.get_one(Membership, (graded.id, room.ids["Bob"]))
        person.name, person.external_id, person.label = '=HYPERLINK("http://x")', "@1", "A;=1"

    room.write(rename)

    for system in ("", "canvas", "moodle"):
        cells = [cell for row in rows(ada, graded, **({"for": system} if system else {})) for cell in row]
        begins = [part for cell in cells for part in cell.split(";") if cell != "-"]
        assert not [part for part in begins if part.startswith(("=", "+", "-", "@"))]


def test_a_lesson_that_is_assigned_twice_has_two_headings(room, graded, ada):
    assign(room, graded, "linear-layer", ["half"])

    assert rows(ada, graded)[0][3:5] == ["The linear layer", "The linear layer, part 2"]


@pytest.mark.parametrize(("points", "said"), [(None, ""), (0.0, "0"), (10.0, "10"), (1.25, "1.25"), (100.0, "100")])
def test_points_are_written_without_empty_decimals(points, said):
    assert shown_points(points) == said


LEAVINGS = {
    "left": ("bob", "{address}/leave"),
    "removed": ("ada", "{address}/roster/{number}/remove"),
    "deleted": ("bob", "/me/delete"),
}


@pytest.mark.parametrize("how", LEAVINGS)
def test_who_goes_from_a_graded_class_stays_with_name_id_and_points(room, group, ada, how):
    bob, _ = enrol(room, group, "Bob", "Cleo")
    bob.post("/lessons/linear/quiz/half", data={"answer": "0.5"})

    async def number(db):
        (await db.get_one(Membership, (group.id, room.ids["Bob"]))).external_id = "s-7"

    room.write(number)
    address = f"/classes/{group.id}"

    who, where = LEAVINGS[how]
    sent = where.format(address=address, number=room.ids["Bob"])
    {"ada": ada, "bob": bob}[who].post(sent, data={"sure": "yes"})

    _, _, cleo, gone = rows(ada, group)
    assert cleo[0] == "Cleo"
    assert (gone[0].startswith("Bob (left 20"), gone[1], gone[3]) == (True, "s-7", "1.25")
    (former,) = room.write(lambda db: former_of(db, group))
    assert former.reason == how
    assert "0.5" not in former.solved_json, "no text"
    page = ada.get(f"{address}/gradebook").text
    assert "Bob <span" in page
    assert f"/learners/{room.ids['Bob']}" not in page
    assert "Bob" in ada.get(f"{address}/roster").text.partition("Who left")[2]
    assert ada.get(f"{address}/learners/{room.ids['Bob']}").status_code == 404


async def former_of(db, group):
    return (await db.scalars(select(FormerMember).where(FormerMember.class_id == group.id))).all()


def test_who_comes_back_is_there_once(room, group, ada):
    (bob,) = enrol(room, group, "Bob")
    bob.post("/lessons/linear/quiz/half", data={"answer": "0.5"})
    bob.post(f"/classes/{group.id}/leave", data={"sure": "yes"})

    room.join(group, "Bob")

    assert [row[0] for row in rows(ada, group)[2:]] == ["Bob"]
    assert room.write(lambda db: former_of(db, group)) == []


def test_an_instructor_lets_the_grades_of_one_who_left_go(room, group, ada):
    (bob,) = enrol(room, group, "Bob")
    bob.post(f"/classes/{group.id}/leave", data={"sure": "yes"})
    (former,) = room.write(lambda db: former_of(db, group))

    ada.post(f"/classes/{group.id}/former/{former.id}/forget")

    assert rows(ada, group)[2:] == []
    assert "Who left" not in ada.get(f"/classes/{group.id}/roster").text


def test_a_learner_is_told_what_stays_before_leaving_and_before_deleting(room, group):
    (bob,) = enrol(room, group, "Bob")
    address = f"/classes/{group.id}"

    asked = bob.post(f"{address}/leave")

    assert bob.get(address).status_code == 200, "still inside"
    assert all("stay in its gradebook" in one.text for one in (asked, bob.get(f"{address}/leave")))
    told = bob.get("/me").text.partition("Delete everything</h2>")[2]
    assert f"in the gradebook of {group.name}" in told


def test_who_leaves_a_class_without_points_leaves_nothing(room, client):
    del client
    room.browser("Max", teaches=True)
    group = room.found("Geometry", "Max")
    bob = room.browser("Bob")
    room.join(group, "Bob")

    told = bob.get(f"/classes/{group.id}/leave").text
    bob.post(f"/classes/{group.id}/leave", data={"sure": "yes"})

    assert "gradebook" not in told.partition("<h2>")[2].partition("</main>")[0]
    assert room.write(lambda db: former_of(db, group)) == []
