"""Attempts of a class as JSON lines: under pseudonyms, of what is assigned, and only where the class allows it."""

import json
from typing import Any

import pytest
from sqlalchemy import select
from starlette.testclient import TestClient

from app.engine.grade.seeds import PUBLIC
from app.store.tables import AuditEvent, Class
from tests.web.classroom import Classroom
from tests.web.conftest import WRONG

pytestmark = pytest.mark.alone
BOX = "/lessons/linear/code/linear-backward/check"


def allow(browser: TestClient, group: Class, allowed: str = "yes") -> None:
    assert browser.post(f"/classes/{group.id}/attempts", data={"allowed": allowed}).status_code == 200


def lines(browser: TestClient, group: Class) -> list[dict[str, Any]]:
    answer = browser.get(f"/classes/{group.id}/attempts.jsonl")
    assert answer.status_code == 200
    return [json.loads(line) for line in answer.text.splitlines()]


def test_each_attempt_is_a_line_with_its_result(
    room: Classroom, ada: TestClient, group: Class, bob: TestClient
) -> None:
    room.assign(group, "linear-layer")
    bob.post(BOX, data={"code": WRONG, "revision": "0"})
    bob.post("/lessons/linear/quiz/pick", data={"answer": "1"})
    allow(ada, group)

    wrong, right = lines(ada, group)

    assert (wrong["verb"], wrong["object"]) == ("checked", "linear-layer#linear-backward")
    assert wrong["result"] == {"success": False, "code": "dX:transposed", "response": WRONG}
    assert (right["verb"], right["object"]) == ("answered", "linear-layer#pick")
    assert right["result"] == {"success": True, "code": None, "response": '["1"]'}
    assert wrong["timestamp"] < right["timestamp"]
    assert right["timestamp"].endswith("+00:00")


def test_a_learner_has_one_pseudonym_in_a_class_and_another_elsewhere(
    room: Classroom, ada: TestClient, group: Class, bob: TestClient
) -> None:
    other = room.found("Geometry", "Ada")
    eve = room.browser("Eve")
    for each in (group, other):
        room.assign(each, "linear-layer")
        room.join(each, "Eve")
        allow(ada, each)
    for browser in (bob, eve):
        browser.post("/lessons/linear/quiz/pick", data={"answer": "0"})
        browser.post("/lessons/linear/quiz/pick", data={"answer": "1"})

    here = [line["actor"] for line in lines(ada, group)]
    there = {line["actor"] for line in lines(ada, other)}

    assert len(set(here)) == 2
    assert sorted(map(here.count, set(here))) == [2, 2]
    assert not there & set(here)
    assert [line["actor"] for line in lines(ada, group)] == here
    file = ada.get(f"/classes/{group.id}/attempts.jsonl").text
    assert "Bob" not in file
    assert "Eve" not in file


def test_what_is_not_assigned_and_who_has_left_is_not_in_it(
    room: Classroom, ada: TestClient, group: Class, bob: TestClient
) -> None:
    room.assign(group, "linear-layer", exercises=("pick",))
    eve = room.browser("Eve")
    room.join(group, "Eve")
    for browser in (bob, eve):
        browser.post("/lessons/linear/quiz/pick", data={"answer": "1"})
        browser.post("/lessons/linear/quiz/half", data={"answer": "0.5"})
    eve.post(f"/classes/{group.id}/leave", data={"sure": "yes"})
    allow(ada, group)

    assert [line["object"] for line in lines(ada, group)] == ["linear-layer#pick"]


def test_it_is_closed_until_the_class_allows_it_and_again_afterwards(
    ada: TestClient, group: Class, bob: TestClient
) -> None:
    home, file = f"/classes/{group.id}", f"/classes/{group.id}/attempts.jsonl"
    assert ada.get(file).status_code == 409
    assert "under a pseudonym" not in bob.get(home).text

    allow(ada, group)
    assert ada.get(file).status_code == 200
    assert "under a pseudonym" in bob.get(home).text

    allow(ada, group, "no")
    assert ada.get(file).status_code == 409
    assert "under a pseudonym" not in bob.get(home).text


def test_whoever_takes_them_out_is_written_down(room: Classroom, ada: TestClient, group: Class) -> None:
    allow(ada, group)
    allow(ada, group)
    lines(ada, group)

    async def verbs(db) -> list[tuple[str, int | None]]:
        query = select(AuditEvent).where(AuditEvent.verb.like("attempts-%")).order_by(AuditEvent.id)
        return [(row.verb, row.actor) for row in await db.scalars(query)]

    assert room.write(verbs) == [("attempts-out", room.ids["Ada"]), ("attempts-taken-out", room.ids["Ada"])]


def test_without_a_secret_there_is_no_pseudonym() -> None:
    with pytest.raises(ValueError, match="secret"):
        PUBLIC.pseudonym("somebody")
