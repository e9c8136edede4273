"""What is assigned, its dates, and the dates of single learners."""

import re
from datetime import UTC, datetime

import pytest
from starlette.testclient import TestClient

from app.store import assignments
from app.store.tables import Class
from tests.turns import PAGES
from tests.web.classroom import Classroom

INVALID = r'<input [^>]*aria-invalid="true" aria-describedby="problem"'
DUE = datetime(2199, 3, 1, 12, tzinfo=UTC)

pytestmark = pytest.mark.usefixtures("bob")


def test_a_lesson_is_assigned_with_dates_of_the_class(room: Classroom, ada: TestClient, group: Class) -> None:
    page = f"/classes/{group.id}/assignments"
    bob = room.browser("Eve")
    room.join(group, "Eve")

    shown = ada.post(page, data={"lesson": "linear-layer", "due": "2199-03-01T23:59", "share": "0,5", "points": "3"})

    assert shown.status_code == 200, shown.text
    assert "Fri 1 Mar 2199, 23:59" in shown.text
    assert "due Fri 1 Mar 2199, 23:59" in bob.get(f"/classes/{group.id}").text


def test_a_day_that_is_typed_without_a_time_opens_the_lesson_as_it_begins(ada: TestClient, group: Class) -> None:
    days = {"opens": "2199-03-01", "due": "2199-03-01", "late": "2199-03-02", "solutions": "2199-03-01"}

    ada.post(f"/classes/{group.id}/assignments", data={"lesson": "linear-layer", **days})

    (row,) = ada.get(f"/classes/{group.id}/gradebook.json").json()["assignments"]
    page = ada.get(f"/classes/{group.id}/assignments/{row['id']}").text
    assert dict(re.findall(r'name="(opens|due|late|solutions)" value="(.*?)"', page)) == {
        "opens": "2199-03-01T00:00", "due": "2199-03-01T23:59", "late": "2199-03-02T23:59",
        "solutions": "2199-03-01T23:59",
    }  # fmt: skip


def test_the_home_of_a_class_says_until_when_late_work_counts(room: Classroom, group: Class) -> None:
    room.assign(
        group, "linear-layer", due_at=datetime(2199, 3, 1, tzinfo=UTC), late_until=datetime(2199, 3, 8, tzinfo=UTC)
    )
    eve = room.browser("Eve")
    room.join(group, "Eve")

    assert "due Fri 1 Mar 2199, 01:00, late until Fri 8 Mar 2199, 01:00" in eve.get(f"/classes/{group.id}").text


@pytest.mark.in_turn(turns=4, places=PAGES)
@pytest.mark.parametrize(
    ("form", "words"),
    [
        ({"lesson": "no"}, "Choose a lesson"),
        ({"due": "soon"}, "is no date"),
        ({"points": "nan"}, "Points: &#39;nan&#39; is no number"),
        ({"share": "half"}, "Share that late work counts: &#39;half&#39; is no number"),
        ({"points": "-1"}, "Points are from 0"),
        ({"points": "1e400"}, "is no number"),
        ({"points": "1,000"}, "Points: &#39;1,000&#39; can be read in two ways. Write a thousand as 1000, and one"),
        ({"points": "10,000"}, "&#39;10,000&#39; can be read in two ways"),
        ({"points": "1,000,000"}, "&#39;1,000,000&#39; can be read in two ways"),
        ({"points": "2.500"}, "&#39;2.500&#39; can be read in two ways"),
        ({"points": "10001"}, "Points are from 0 to 10000."),
        ({"share": "2"}, "late share is from 0 to 1"),
        ({"due": "2199-01-01", "late": "2198-01-01"}, "would end before it is due"),
        ({"due": "2199-01-01", "opens": "2199-02-01"}, "due before it opens"),
        ({"late": "2199-01-01"}, "Nothing is late without"),
    ],
)
def test_terms_that_do_not_fit_are_refused_with_a_sentence(
    ada: TestClient, group: Class, form: dict[str, str], words: str
) -> None:
    answer = ada.post(f"/classes/{group.id}/assignments", data={"lesson": "linear-layer", **form})

    assert answer.status_code == 409
    assert words in answer.text
    assert "Nothing is assigned yet" in answer.text


@pytest.mark.in_turn(turns=4, places=PAGES)
@pytest.mark.parametrize(
    ("field", "form"),
    [
        ("due", {"due": "soon"}),
        ("points", {"points": "nan"}),
        ("points", {"points": "-1"}),
        ("points", {"points": "1,000"}),
        ("share", {"share": "half"}),
        ("share", {"share": "2"}),
        ("due", {"due": "2199-01-01", "opens": "2199-02-01"}),
        ("late", {"late": "2199-01-01"}),
        ("late", {"due": "2199-01-01", "late": "2198-01-01"}),
    ],
)
def test_the_field_that_is_refused_says_so_and_no_other_one(
    ada: TestClient, group: Class, field: str, form: dict[str, str]
) -> None:
    answer = ada.post(f"/classes/{group.id}/assignments", data={"lesson": "linear-layer", **form})

    (marked,) = re.findall(INVALID, answer.text)
    assert f'name="{field}"' in marked
    assert '<p class="problem" id="problem"' in answer.text


@pytest.mark.parametrize(("typed", "points"), [("1000", 1000), ("1,5", 1.5), ("1.125", 1.125), ("0,333", 0.333)])
def test_points_are_read_with_a_comma_or_a_point_before_a_part(
    ada: TestClient, group: Class, typed: str, points: float
) -> None:
    ada.post(f"/classes/{group.id}/assignments", data={"lesson": "linear-layer", "points": typed})

    (given,) = ada.get(f"/classes/{group.id}/gradebook.json").json()["assignments"]
    assert given["points"] == points


def test_a_grade_that_can_be_read_in_two_ways_is_not_set(room: Classroom, ada: TestClient, group: Class) -> None:
    page = f"/classes/{group.id}/assignments/{room.assign(group, 'linear-layer').id}"

    answer = ada.post(f"{page}/excuses", data={"who": str(room.ids["Bob"]), "points": "1,000"})

    assert answer.status_code == 409
    assert "Points: &#39;1,000&#39; can be read in two ways" in answer.text


def test_a_lesson_is_assigned_twice_only_when_that_is_confirmed(ada: TestClient, group: Class) -> None:
    page = f"/classes/{group.id}/assignments"
    form = {"lesson": "linear-layer", "due": "2199-03-01T23:59"}
    ada.post(page, data=form)

    asked = ada.post(page, data=form)
    confirmed = ada.post(page, data={**form, "confirm": "yes"})

    assert asked.status_code == 409
    assert "is assigned already, due Fri 1 Mar 2199, 23:59" in asked.text
    assert 'name="confirm" value="yes">Assign it all the same' in asked.text
    assert asked.text.count("/assignments/") == 1
    assert "The linear layer, part 2" in confirmed.text


def test_a_date_in_the_past_is_taken_only_when_that_is_confirmed(
    room: Classroom, ada: TestClient, group: Class
) -> None:
    page = f"/classes/{group.id}/assignments"
    form = {"lesson": "linear-layer", "due": "2026-01-01T12:00"}
    row = room.assign(group, "linear-layer", due_at=DUE)

    asked = ada.post(page, data=form)
    changed = ada.post(f"{page}/{row.id}", data=form)
    confirmed = ada.post(f"{page}/{row.id}", data={**form, "confirm": "yes"})

    for answer in (asked, changed):
        assert answer.status_code == 409
        assert "It would be due Thu 1 Jan 2026, 12:00, and now it is" in answer.text
    assert "Save it all the same" in changed.text
    assert "<td>Thu 1 Jan 2026, 12:00</td>" in confirmed.text


def test_a_grade_above_all_points_is_set_only_when_that_is_confirmed(
    room: Classroom, ada: TestClient, group: Class
) -> None:
    page = f"/classes/{group.id}/assignments/{room.assign(group, 'linear-layer').id}"
    form = {"who": str(room.ids["Bob"]), "points": "11"}

    asked = ada.post(f"{page}/excuses", data=form)
    confirmed = ada.post(f"{page}/excuses", data={**form, "confirm": "yes"})

    assert asked.status_code == 409
    assert "11 are more" in asked.text
    assert 'name="confirm" value="yes">Set 11 all the same' in asked.text
    assert f'value="{room.ids["Bob"]}" selected' in asked.text
    assert "Bob: 11 points" not in asked.text
    assert "Bob: 11 points" in confirmed.text


def test_namesakes_are_told_apart_where_one_is_chosen(room: Classroom, ada: TestClient, group: Class) -> None:
    ada.post(f"/classes/{group.id}/roster", data={"text": "Bob,7\nEve,8\nEve,9", "apply": "yes"})
    page = f"/classes/{group.id}/assignments/{room.assign(group, 'linear-layer', due_at=DUE).id}"

    shown = re.findall(r'<option value="\d+">(.*?)</option>', ada.get(page).text)
    planned = ada.post(f"{page}/extensions", data={"text": "9,+2"}).text

    assert shown == ["Bob", "Eve (8)", "Eve (9)"] * 2
    assert "Eve (9): 2 days more" in planned


def test_assistants_grade_where_the_class_says_so(room: Classroom, ada: TestClient, group: Class) -> None:
    tom = room.browser("Tom")
    room.join(group, "Tom", "assistant")
    page = f"/classes/{group.id}/assignments/{room.assign(group, 'linear-layer', due_at=DUE).id}"
    form = {"who": str(room.ids["Bob"]), "points": "7"}

    before = tom.post(f"{page}/excuses", data=form)
    settings = ada.post(
        f"/classes/{group.id}/settings",
        data={"name": "Algebra", "timezone": group.timezone, "assistants_grade": "true"},
    )
    graded = tom.post(f"{page}/excuses", data=form)
    more = tom.post(f"{page}/extensions", data={"text": "Bob,+3", "apply": "yes"})

    assert before.status_code == 404
    assert settings.status_code == 200
    assert "Bob: 7 points" in graded.text
    assert "until Mon 4 Mar 2199" in more.text
    assert "Take the assignment back" not in graded.text
    assert tom.post(page, data={"lesson": "linear-layer"}).status_code == 404
    assert tom.post(f"{page}/delete").status_code == 404
    assert page in tom.get(f"/classes/{group.id}/assignments").text


@pytest.mark.parametrize("typed", ["-1", "nan"])
def test_a_grade_that_is_refused_stays_in_its_own_field(
    room: Classroom, ada: TestClient, group: Class, typed: str
) -> None:
    room.join(group, "Bob")
    page = f"/classes/{group.id}/assignments/{room.assign(group, 'linear-layer', due_at=DUE).id}"

    shown = ada.get(page).text
    (bob,) = re.findall(r'<option value="(\d+)">Bob', shown.partition("Grades by hand")[2])
    answer = ada.post(f"{page}/excuses", data={"who": bob, "points": typed})

    assert answer.status_code == 409
    (marked,) = re.findall(INVALID, answer.text)
    assert f'name="points" value="{typed}"' in marked
    assert marked in answer.text.partition("Grades by hand")[2]


def test_nobody_is_given_time_or_a_grade_before_somebody_is_chosen(
    room: Classroom, ada: TestClient, group: Class
) -> None:
    page = f"/classes/{group.id}/assignments/{room.assign(group, 'linear-layer', due_at=DUE).id}"

    shown = ada.get(page).text
    refused = ada.post(f"{page}/extensions", data={"who": "", "until": "2199-03-04T12:00"})

    assert shown.count('<select name="who" required><option value="">Choose</option>') == 2
    assert refused.status_code == 409
    assert "Choose one learner" in refused.text


def test_some_exercises_of_a_lesson_can_be_chosen(room: Classroom, ada: TestClient, group: Class) -> None:
    row = room.assign(group, "linear-layer")
    page = f"/classes/{group.id}/assignments/{row.id}"

    ada.post(page, data={"choose": "yes", "exercises": ["dw-shape", "gone"]})
    none = ada.post(page, data={"choose": "yes"})

    assert 'value="dw-shape" checked' in ada.get(page).text
    assert ada.get(page).text.count(" checked") == 1
    assert "Choose one exercise at least" in none.text


def test_days_are_shown_before_they_are_given(room: Classroom, ada: TestClient, group: Class) -> None:
    row = room.assign(group, "linear-layer", due_at=DUE)
    page = f"/classes/{group.id}/assignments/{row.id}/extensions"
    form = {"text": "Bob, +3\nMax, +1", "reason": "ill"}

    shown = ada.post(page, data=form)
    nobody = room.write(lambda db: assignments.assignment_times(db, group)).extensions
    ada.post(page, data={**form, "apply": "yes"})
    given = room.write(lambda db: assignments.assignment_times(db, group)).extensions

    assert "Bob: 3 days more, until Mon 4 Mar 2199" in shown.text
    assert "Line 2: Nobody in this class" in shown.text
    assert nobody == {}
    assert [one.due_at for one in given.values()] == [datetime(2199, 3, 4, 12, tzinfo=UTC)]


def test_days_that_change_nothing_are_shown_as_such(room: Classroom, ada: TestClient, group: Class) -> None:
    row = room.assign(group, "linear-layer", due_at=DUE)
    page = f"/classes/{group.id}/assignments/{row.id}/extensions"
    ada.post(page, data={"text": "Bob, +7", "apply": "yes"})

    shown = ada.post(page, data={"text": "Bob, +2"})

    assert "Bob: nothing changes, they have time until Fri 8 Mar 2199, 13:00 already" in shown.text


@pytest.mark.parametrize("until", ["2199-03-01T12:00", "2199-03-01T13:00", "2199-02-01T12:00"])
def test_more_time_that_ends_earlier_is_refused(room: Classroom, ada: TestClient, group: Class, until: str) -> None:
    row = room.assign(group, "linear-layer", due_at=DUE)
    page = f"/classes/{group.id}/assignments/{row.id}/extensions"

    answer = ada.post(page, data={"who": str(room.ids["Bob"]), "until": until})

    assert answer.status_code == 409
    assert "is not after Fri 1 Mar 2199, 13:00" in answer.text


def test_nobody_needs_more_time_for_what_is_never_due(room: Classroom, ada: TestClient, group: Class) -> None:
    row = room.assign(group, "linear-layer")
    page = f"/classes/{group.id}/assignments/{row.id}/extensions"

    assert "never due" in ada.post(page, data={"text": "Bob, +3"}).text
    assert "never due" in ada.post(page, data={"text": "Bob, +3", "apply": "yes"}).text


def test_a_grade_set_by_hand_is_shown_and_taken_back(room: Classroom, ada: TestClient, group: Class) -> None:
    row = room.assign(group, "linear-layer")
    page = f"/classes/{group.id}/assignments/{row.id}"
    bob = str(room.ids["Bob"])

    excused = ada.post(f"{page}/excuses", data={"who": bob, "reason": "ill"})
    graded = ada.post(f"{page}/excuses", data={"who": bob, "points": "7.5"})
    refused = ada.post(f"{page}/excuses", data={"who": "nobody"})
    back = ada.post(f"{page}/excuses/{bob}/delete")

    assert "Bob: excused, ill" in excused.text
    assert "Bob: 7.5 points" in graded.text
    assert "Choose one learner" in refused.text
    assert "7.5 points" not in back.text


@pytest.mark.parametrize(
    ("graded", "extended", "words"),
    [
        (["Bob", "Eve"], ["Bob"], "Delete 2 grades by hand and 1 extension with it"),
        (["Bob"], [], "Delete 1 grade by hand with it"),
        ([], ["Bob", "Eve"], "Delete 2 extensions with it"),
    ],
)
def test_what_was_set_by_hand_is_taken_back_only_by_who_means_it(
    room: Classroom, ada: TestClient, group: Class, graded: list[str], extended: list[str], words: str
) -> None:
    room.browser("Eve")
    room.join(group, "Eve")
    page = f"/classes/{group.id}/assignments/{room.assign(group, 'linear-layer', due_at=DUE).id}"
    for name in graded:
        ada.post(f"{page}/excuses", data={"who": str(room.ids[name]), "points": "7.5"})
    for name in extended:
        ada.post(f"{page}/extensions", data={"who": str(room.ids[name]), "until": "2199-03-04T12:00"})

    asked = ada.post(f"{page}/delete")
    gone = ada.post(f"{page}/delete", data={"sure": "yes"})

    assert asked.status_code == 409
    assert "Nothing was taken back" in asked.text
    assert words in asked.text
    assert gone.status_code == 200
    assert ada.get(page).status_code == 404


def test_what_nothing_was_set_for_by_hand_is_taken_back_at_once(room: Classroom, ada: TestClient, group: Class) -> None:
    page = f"/classes/{group.id}/assignments/{room.assign(group, 'linear-layer').id}"

    assert 'name="sure"' not in ada.get(page).text
    assert ada.post(f"{page}/delete").status_code == 200
    assert ada.get(page).status_code == 404


def test_an_assignment_of_another_class_is_no_page(room: Classroom, ada: TestClient, group: Class) -> None:
    room.browser("Max", teaches=True)
    other = room.assign(room.found("Geometry", "Max"), "linear-layer")
    page = f"/classes/{group.id}/assignments/{other.id}"

    assert ada.get(page).status_code == 404
    assert ada.post(f"{page}/delete").status_code == 404
    assert ada.post(f"{page}/extensions", data={"text": "Bob, +3", "apply": "yes"}).status_code == 404


@pytest.mark.parametrize("action", ["", "/delete", "/extensions"])
def test_what_another_tab_deleted_meanwhile_is_no_fault_of_the_server(
    room: Classroom, ada: TestClient, group: Class, monkeypatch: pytest.MonkeyPatch, action: str
) -> None:
    row = room.assign(group, "linear-layer", due_at=DUE)
    page = f"/classes/{group.id}/assignments/{row.id}"
    ada.post(f"{page}/delete")

    async def still_there(*_: object) -> object:
        return row

    monkeypatch.setattr(assignments, "assignment_in", still_there)
    form = {"who": "Bob", "until": "2199-05-01", "lesson": "linear-layer"}
    answer = ada.post(page + action, data=form)

    assert answer.status_code == 409
    assert "changed the same thing meanwhile" in answer.text
