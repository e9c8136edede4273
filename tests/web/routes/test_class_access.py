"""Only who is in a class sees that there is one."""

import re

import pytest
from starlette.testclient import TestClient

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

    refused = ada.post(f"/classes/{group.id}/leave")
    left = bob.post(f"/classes/{group.id}/leave")

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
