"""The roster as its instructor sees and changes it."""

import re
from html import unescape

import pytest
from starlette.testclient import TestClient

from app.store import classes
from app.store.tables import Class
from tests.web.classroom import Classroom
from tests.web.conftest import BROWSER

pytestmark = pytest.mark.usefixtures("bob")


def names(room: Classroom, group: Class) -> list[str]:
    return [one.name for one in room.write(lambda db: classes.people(db, group.id))]


def test_a_list_is_shown_before_it_is_laid_over_the_roster(room: Classroom, ada: TestClient, group: Class) -> None:
    page = f"/classes/{group.id}/roster"
    text = "name,id\nBob,7\nEve,8\n,9"

    shown = ada.post(page, data={"text": text})
    before = names(room, group)
    applied = ada.post(page, data={"text": text, "apply": "yes"})

    assert "Line 4: It has no name." in shown.text
    assert "changes Bob" in shown.text
    assert before == ["Ada", "Bob"]
    assert names(room, group) == ["Ada", "Bob", "Eve"]
    assert "expected" in applied.text


def test_a_file_of_five_thousand_is_laid_over_the_roster_twice_and_nobody_is_there_twice(
    room: Classroom, ada: TestClient, group: Class
) -> None:
    rows = "\ufeffname;id\n" + "\n".join(f"Person {n};{n}" for n in range(5000))
    page = f"/classes/{group.id}/roster"

    for _ in range(2):
        answer = ada.post(page, data={"apply": "yes"}, files={"file": ("roster.csv", rows.encode())})
        assert answer.status_code == 200

    assert len(names(room, group)) == 5002


def test_the_roster_goes_out_guarded_and_comes_in_again_unchanged(
    room: Classroom, ada: TestClient, group: Class
) -> None:
    page = f"/classes/{group.id}/roster"
    ada.post(page, data={"text": '"=cmd|calc, Eve",8,"+A"', "apply": "yes"})
    out = ada.get(f"{page}.csv")
    again = ada.post(page, files={"file": ("roster.csv", out.content)})

    assert out.content.startswith(b"\xef\xbb\xbfname,")
    assert "\"'=cmd|calc, Eve\",8,'+A" in out.text
    assert "attachment" in out.headers["content-disposition"]
    assert "left out" not in again.text
    assert len(names(room, group)) == 3


def test_what_is_changed_about_somebody_is_on_the_roster(room: Classroom, ada: TestClient, group: Class) -> None:
    page = f"/classes/{group.id}/roster"
    bob = f"{page}/{room.ids['Bob']}"

    ada.post(bob, data={"name": "Bob B.", "external_id": "7", "label": "<b>A", "role": "assistant", "extra_days": "3"})

    shown = ada.get(page).text
    assert "&lt;b&gt;A" in shown
    assert "Bob B." in shown
    assert 'value="3"' in ada.get(bob).text


@pytest.mark.parametrize(
    ("field", "form", "words"),
    [
        ("name", {"name": ""}, "Write a name"),
        ("extra_days", {"name": "Bob", "extra_days": "400"}, "400 days cannot"),
        ("external_id", {"name": "Bob", "external_id": "8", "label": "typed"}, "Eve has the id &#39;8&#39;"),
    ],
)
def test_what_cannot_be_is_refused_at_its_field_and_stays_there(
    room: Classroom, ada: TestClient, group: Class, field: str, form: dict[str, str], words: str
) -> None:
    page = f"/classes/{group.id}/roster"
    ada.post(page, data={"text": "Eve,8", "apply": "yes"})

    answer = ada.post(f"{page}/{room.ids['Bob']}", data=form)

    assert answer.status_code == 409
    assert words in answer.text
    assert all(f'name="{name}" value="{typed}"' in answer.text for name, typed in form.items())
    (marked,) = re.findall(r'<input [^>]*aria-invalid="true" aria-describedby="problem"', answer.text)
    assert f'name="{field}"' in marked


def test_the_only_instructor_stays_one(room: Classroom, ada: TestClient, group: Class) -> None:
    page = f"/classes/{group.id}/roster/{room.ids['Ada']}"

    assert "only instructor" in ada.post(page, data={"name": "Ada", "role": "learner"}).text
    assert "only instructor" in ada.post(page + "/remove").text


def test_a_person_of_another_class_is_nobody_here(room: Classroom, ada: TestClient, group: Class) -> None:
    room.browser("Eve")
    other = room.found("Geometry", "Eve")

    assert other.id != group.id
    assert ada.get(f"/classes/{group.id}/roster/{room.ids['Eve']}").status_code == 404
    assert ada.get(f"/classes/{group.id}/roster/{'9' * 30}").status_code == 404


def test_names_with_marks_stand_where_they_would_without(room: Classroom, ada: TestClient, group: Class) -> None:
    ada.post(f"/classes/{group.id}/roster", data={"text": "Zoe\nŁukasz\nÉva\nFay", "apply": "yes"})

    assert names(room, group) == ["Ada", "Bob", "Éva", "Fay", "Łukasz", "Zoe"]


def test_an_assistant_sees_no_code(room: Classroom, ada: TestClient, group: Class) -> None:
    tom = room.browser("Tom")
    room.join(group, "Tom", "assistant")
    code = f"{(group.join_code or '')[:3]}-"

    assert code in ada.get(f"/classes/{group.id}/roster").text
    assert code not in tom.get(f"/classes/{group.id}/roster").text
    assert code not in tom.get(f"/classes/{group.id}").text


def test_whoever_forgot_a_password_comes_back_with_a_link_of_the_instructor(
    room: Classroom, ada: TestClient, group: Class
) -> None:
    bob = room.ids["Bob"]

    page = ada.post(f"/classes/{group.id}/roster/{bob}/reset")
    link = unescape(re.search(r"<code>(http.*?)</code>", page.text)[1])
    fresh = TestClient(room.app, headers=BROWSER)
    answer = fresh.post(link, data={"token": link.partition("=")[2], "name": "Bob B", "password": "a new password"})

    assert page.headers["cache-control"] == "no-store"
    assert answer.status_code == 200
    assert "Algebra" in fresh.get("/classes").text
    assert "used already" in room.browser("Eve").get(link).text


def test_no_link_is_made_into_the_account_of_somebody_who_teaches(
    room: Classroom, ada: TestClient, group: Class
) -> None:
    page = ada.post(f"/classes/{group.id}/roster/{room.ids['Ada']}/reset")

    assert page.status_code == 409
    assert "token=" not in page.text
