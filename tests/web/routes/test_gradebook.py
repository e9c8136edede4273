"""Grades as a page and as files: the same numbers, and no cell that a spreadsheet would compute."""

import csv
import io

import pytest

from app.store.tables import Membership
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
        ["Cleo", "", "", "0", "0", "10"],
    ]
    assert [one["points"] for one in found["learners"]] == [1.25, 0]
    assert found["learners"][0]["grades"][0] | {"assignment": 0} == {
        "assignment": 0, "points": 1.25, "in_time": 1, "late": 0, "exercises": 8, "excused": False
    }  # fmt: skip
    assert "<td>1.25</td>" in page


def test_canvas_gets_the_columns_that_its_importer_asks_for(graded, ada):
    found = rows(ada, graded, **{"for": "canvas"})

    assert found[0] == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "The linear layer"]
    assert found[1] == ["Points Possible", "", "", "", "", "10"]
    assert found[2] == ["Bob", "", "s-7", "", "", "1.25"]


def test_moodle_gets_nobody_without_an_id(graded, ada):
    assert rows(ada, graded, **{"for": "moodle"}) == [
        ["ID number", "Full name", "The linear layer"],
        ["s-7", "Bob", "1.25"],
    ]
    assert "1 of this class has no id" in ada.get(f"/classes/{graded.id}/gradebook").text


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
