"""Only who is in a class sees that there is one."""

import re
from datetime import date, timedelta

import pytest
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.testclient import TestClient

from app.store.database import now
from app.store.tables import Class
from tests.web.classroom import Classroom


def test_a_class_is_made_by_whoever_teaches_and_they_are_its_instructor(room: Classroom) -> None:
    ada = room.browser("Ada", teaches=True)

    made = ada.post("/classes/new", data={"name": "Algebra", "called": "Ada L.", "timezone": "Europe/Berlin"})

    assert made.status_code == 200
    assert "Algebra" in made.text
    assert "instructor" in ada.get("/classes").text


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_who_does_not_teach_makes_no_class(room: Classroom, method: str) -> None:
    eve = room.browser("Eve")

    assert eve.request(method, "/classes/new", data={"name": "x", "called": "Eve"}).status_code == 404


@pytest.mark.parametrize("timezone", ["Berlin", "../../etc/passwd", "Etc/GMT+5", "Europe/Berlin\0"])
def test_a_time_zone_that_is_none_is_named(room: Classroom, timezone: str) -> None:
    ada = room.browser("Ada", teaches=True)

    answer = ada.post("/classes/new", data={"name": "Algebra", "called": "Ada", "timezone": timezone})

    assert answer.status_code == 409
    assert "There is no time zone" in answer.text
    assert answer.text.count('aria-invalid="true" aria-describedby="problem"') == 1


@pytest.mark.parametrize(
    ("field", "typed"),
    [("name", " "), ("timezone", "Berlin"), ("keep_until", "soon"), ("keep_until", "0001-01-01"),
     ("keep_until", "2020-03-31")],
)  # fmt: skip
def test_refused_settings_stay_in_their_fields_and_the_fault_is_marked(
    ada: TestClient, group: Class, field: str, typed: str
) -> None:
    form = {"name": "Anew", "timezone": "Europe/Rome", "keep_until": "2199-01-01", "archived": "true", field: typed}

    answer = ada.post(f"/classes/{group.id}/settings", data=form)

    assert answer.status_code == 409
    (marked,) = re.findall(r'<input [^>]*aria-invalid="true" aria-describedby="problem"', answer.text)
    assert f'name="{field}"' in marked
    assert all(f'name="{one}" value="{form[one]}"' in answer.text for one in ("name", "timezone", "keep_until"))
    assert 'name="archived" value="true" checked' in answer.text
    assert "Algebra" in ada.get(f"/classes/{group.id}/settings").text, "nothing was changed"


@pytest.mark.parametrize("name", ["", "x" * 200])
def test_a_name_that_does_not_do_is_marked_where_one_joins(room: Classroom, group: Class, name: str) -> None:
    answer = room.browser("Bob").post(f"/join/{group.join_code}", data={"name": name})

    assert answer.status_code == 409
    assert f'name="name" value="{name}" aria-invalid="true" aria-describedby="problem"' in answer.text


def test_a_class_without_a_name_is_marked_there(room: Classroom) -> None:
    answer = room.browser("Ada", teaches=True).post("/classes/new", data={"called": "Ada", "timezone": "UTC"})

    (marked,) = re.findall(r'<input [^>]*aria-invalid="true" aria-describedby="problem"', answer.text)
    assert 'name="name"' in marked


def test_a_stranger_cannot_tell_whether_a_class_exists(room: Classroom, group: Class, client: TestClient) -> None:
    theirs, none = f"/classes/{group.id}", "/classes/999999"
    nonce = re.compile(r'nonce="[^"]*"|classes(/|%2F)\d+')

    for who in (client, room.browser("Eve"), room.browser("Bob", teaches=True)):
        seen, unseen = who.get(theirs), who.get(none)
        assert (seen.status_code, unseen.status_code) == (404, 404)
        assert nonce.sub("", seen.text) == nonce.sub("", unseen.text)


@pytest.mark.parametrize("path", ["0", "-1", "²", "9" * 10, "9" * 5000, "1.0", "x", "١"])
def test_a_number_that_no_class_has_is_no_page(room: Classroom, path: str) -> None:
    assert room.browser("Bob", teaches=True).get(f"/classes/{path}").status_code == 404


def test_the_only_instructor_cannot_leave(room: Classroom) -> None:
    ada, bob = room.browser("Ada", teaches=True), room.browser("Bob")
    group = room.found("Algebra", "Ada")
    room.join(group, "Bob")

    refused = ada.post(f"/classes/{group.id}/leave", data={"sure": "yes"})
    left = bob.post(f"/classes/{group.id}/leave", data={"sure": "yes"})

    assert refused.status_code == 409
    assert "only instructor" in refused.text
    assert left.status_code == 200
    assert bob.get(f"/classes/{group.id}").status_code == 404
    assert ada.get(f"/classes/{group.id}").status_code == 200


def test_somebody_joins_with_a_name_and_begins_with_the_first_exercise(room: Classroom, group: Class) -> None:
    bob = room.browser("Bob")

    shown = bob.get(f"/join/{group.join_code.lower()}")
    begun = bob.post(f"/join/{group.join_code}", data={"name": "Bob"})

    assert "Algebra" in shown.text
    assert "With Ada" in shown.text
    assert begun.url.path.startswith("/lessons/")
    assert bob.get(f"/classes/{group.id}").status_code == 200


def kept_until(room: Classroom, group: Class, day: date) -> None:
    async def keep(db: AsyncSession) -> None:
        (await db.get_one(Class, group.id)).keep_until = day

    room.write(keep)


def test_the_day_after_which_a_class_is_forgotten_is_on_its_home(
    room: Classroom, group: Class, ada: TestClient, bob: TestClient
) -> None:
    kept_until(room, group, date(2199, 3, 31))

    assert "This class is kept until 31 March 2199" in ada.get(f"/classes/{group.id}").text
    assert "This class is kept until 31 March 2199" in bob.get(f"/classes/{group.id}").text
    assert "31 March" not in ada.get(f"/classes/{group.id}/roster").text
    assert "kept until 2199-03-31" in ada.get("/classes").text


def test_every_page_of_a_class_tells_its_instructor_when_it_goes_soon(
    room: Classroom, group: Class, ada: TestClient, bob: TestClient
) -> None:
    kept_until(room, group, now().date() + timedelta(days=20))

    pages = [ada.get(f"/classes/{group.id}{end}").text for end in ("", "/roster", "/assignments", "/gradebook")]

    assert all("Keep it for longer" in page for page in pages)
    assert "Keep it for longer" not in bob.get(f"/classes/{group.id}").text


def test_a_class_is_deleted_by_who_types_its_name(group: Class, ada: TestClient) -> None:
    address = f"/classes/{group.id}"

    refused = ada.post(f"{address}/delete", data={"name": "Geometry"})
    there = ada.get(address).status_code
    gone = ada.post(f"{address}/delete", data={"name": "Algebra"})

    assert (refused.status_code, there) == (409, 200)
    (marked,) = re.findall(r'<input [^>]*aria-invalid="true"[^>]*>', refused.text)
    assert "autocomplete" in marked
    assert gone.url.path == "/classes"
    assert ada.get(address).status_code == 404
