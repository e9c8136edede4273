"""The way back into a class for who has no account: a personal link to the seat."""

import re
from html import unescape

import pytest
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.testclient import TestClient

from app.accounts.credentials import VerifiedIdentity, create
from app.store import rosters
from app.store.database import now
from app.store.tables import Class, Membership
from tests.web.classroom import Classroom
from tests.web.conftest import BROWSER


@pytest.fixture
def bob(room: Classroom, group: Class) -> TestClient:
    """Somebody without an account, who solved a question of what is assigned, and wrote for themselves elsewhere."""
    room.assign(group, "linear-layer")
    browser = room.browser("Bob")
    room.join(group, "Bob")
    browser.post("/lessons/linear/quiz/half", data={"answer": "0.5"})
    browser.post("/lessons/linear/code/linear-backward/draft", data={"code": "# my thoughts", "revision": "0"})
    return browser


def seat_link(room: Classroom, ada: TestClient, group: Class) -> str:
    page = ada.post(f"/classes/{group.id}/roster/{room.ids['Bob']}/reset")
    assert page.headers["cache-control"] == "private, no-store"
    found = re.search(r"<code>(http.*?)</code>", re.sub(r"</?span[^>]*>", "", page.text))
    assert found
    return unescape(found[1])


def points(ada: TestClient, group: Class) -> list[tuple[str, float]]:
    book = ada.get(f"/classes/{group.id}/gradebook.json").json()
    return [(one["name"], one["points"]) for one in book["learners"]]


def test_who_has_no_account_gets_a_link_to_the_seat_and_no_password(
    room: Classroom, ada: TestClient, group: Class, bob: TestClient
) -> None:
    before = points(ada, group)
    link = seat_link(room, ada, group)
    fresh = TestClient(room.app, headers=BROWSER)
    looked = fresh.get(link)
    fresh.post(link)

    assert "/join/" in link
    assert ("password" in looked.text, "session" in looked.cookies) == (False, False)
    assert before == points(ada, group) == [("Bob", 1.25)]
    assert "Algebra" in fresh.get("/classes").text
    assert "# my thoughts" not in fresh.get("/lessons/linear").text
    assert "# my thoughts" in bob.get("/lessons/linear").text, "their session lives, with their texts"
    assert bob.get(f"/classes/{group.id}").status_code == 404
    assert (
        "Your seat in Algebra was given to another browser, with a personal link that Ada made" in bob.get("/me").text
    )
    assert "Something was done to your account" in bob.get("/lessons/linear").text


def test_a_link_to_a_seat_works_once_and_not_for_its_instructor(
    room: Classroom, ada: TestClient, group: Class, bob: TestClient
) -> None:
    del bob
    link = seat_link(room, ada, group)

    own = ada.post(link)
    TestClient(room.app, headers=BROWSER).post(link)
    again = TestClient(room.app, headers=BROWSER).post(link)

    assert "This browser is in Algebra already, as Ada" in own.text
    assert again.status_code == 404


@pytest.mark.parametrize("why", ["left", "account", "no instructor", "archived"])
def test_a_link_to_a_seat_is_void_once_its_right_is_gone(
    room: Classroom, ada: TestClient, group: Class, bob: TestClient, why: str
) -> None:
    link = seat_link(room, ada, group)

    async def change(db: AsyncSession) -> None:
        if why == "no instructor":
            (await db.get_one(Membership, (group.id, room.ids["Ada"]))).role = "assistant"
        if why == "archived":
            (await db.get_one(Class, group.id)).archived_at = now()
        if why == "account":
            await create(db, room.ids["Bob"], VerifiedIdentity(kind="passkey", issuer="", subject="key", secret="k"))

    room.write(change)
    if why == "left":
        bob.post(f"/classes/{group.id}/leave", data={"sure": "yes"})

    assert TestClient(room.app, headers=BROWSER).get(link).status_code == 404


def test_a_link_to_a_seat_brings_an_account_what_was_arranged_for_it(
    room: Classroom, ada: TestClient, group: Class, bob: TestClient
) -> None:
    del bob

    async def arrange(db: AsyncSession) -> None:
        person = await db.get_one(Membership, (group.id, room.ids["Bob"]))
        person.external_id, person.label = "7", "A"
        await rosters.accommodate(db, group, person.learner_id, 3, None)

    room.write(arrange)
    link = seat_link(room, ada, group)
    fresh = room.browser("Robert")
    fresh.post("/lessons/linear/quiz/dw-shape", data={"answer": "(3, 2)"})
    fresh.post(link)

    async def seat(db: AsyncSession) -> tuple[str, str | None, str | None, str | None, int]:
        person = await db.get_one(Membership, (group.id, room.ids["Robert"]))
        days = await rosters.extra_days(db, group.id)
        return person.name, person.external_id, person.label, person.seated_by, days[person.learner_id]

    assert room.write(seat) == ("Bob", "7", "A", "link", 3)
    assert points(ada, group) == [("Bob", 2.5)]
