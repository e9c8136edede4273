"""Ids of a roster that a provider proves: nobody types one, and a seat is taken by whose it is."""

import json

import httpx2
import pytest
from fastapi import FastAPI
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.testclient import TestClient

from app.content.blocks import Course
from app.settings import Settings
from app.store import classes, roster_lists
from app.store.tables import Class
from app.teaching.roster import read_roster
from app.web.application import create_app
from tests.web.classroom import Classroom
from tests.web.conftest import BROWSER, FakeGrader
from tests.web.routes.test_sign_in_elsewhere import ADDRESS, CROSS, be, campus, leave

__all__ = ["campus"]

pytestmark = pytest.mark.alone

CLAIM = "matriculation_number"


@pytest.fixture
def app(settings: Settings, course: Course, grader: FakeGrader, campus: str) -> FastAPI:
    keys = {"client_id": "backhand", "client_secret": "of backhand", "roster_claim": CLAIM, "title": "University of X"}
    text = json.dumps({"campus": {"issuer": campus, **keys}})
    return create_app(settings.model_copy(update={"address": ADDRESS, "oidc": text}), course, grader)


@pytest.fixture
def listed(room: Classroom, group: Class) -> Class:
    """Grace is expected as 4711, Emmy without an id."""
    text = "name;id\nGrace Hopper;4711\nEmmy Noether;\n"
    room.write(lambda db: roster_lists.apply_list(db, group, read_roster(text).entries, None))
    return group


def signed_in(app: FastAPI, campus: str, sub: str, **claims: object) -> TestClient:
    known = httpx2.put(f"{campus}/users/{sub}", json=claims)
    assert known.is_success, known.text
    browser = TestClient(app, headers=BROWSER)
    browser.get(be(leave(browser), sub), headers=CROSS)
    return browser


def join(browser: TestClient, group: Class, name: str, **form: str) -> str:
    return browser.post(f"/join/{group.join_code}", data={"name": name, **form}).text


def seats(room: Classroom, group: Class) -> set[tuple[str, str | None, str | None, bool]]:
    async def ask(db: AsyncSession) -> set[tuple[str, str | None, str | None, bool]]:
        rows = await classes.list_members(db, group.id)
        return {(one.name, one.external_id, one.seated_by, one.joined_at is not None) for one in rows}

    return room.write(ask)


GRACE = ("Grace Hopper", "4711", "claim", True)
NOBODY_YET = ("Grace Hopper", "4711", None, False)


def test_a_seat_is_taken_by_the_claim_whatever_name_is_given(
    room: Classroom, app: FastAPI, listed: Class, campus: str
) -> None:
    grace = signed_in(app, campus, "grace", **{CLAIM: 4711})

    looked = grace.get(f"/join/{listed.join_code}").text
    join(grace, listed, "G.")

    assert "You come in with the id <strong>4711</strong>" in looked
    assert 'name="external_id"' not in looked
    assert GRACE in seats(room, listed)
    assert "University of X</strong>" in grace.get("/me").text


def test_no_id_is_typed_where_a_provider_says_whose_it_is(
    room: Classroom, app: FastAPI, listed: Class, campus: str
) -> None:
    eve = signed_in(app, campus, "eve", **{CLAIM: "666"})

    said = join(eve, listed, "Eve", external_id="4711")
    join(eve, listed, "Grace Hopper")

    assert "ids come from signing in and are not typed" in said
    assert {NOBODY_YET, ("Grace Hopper", "666", "claim", True)} < seats(room, listed)


def test_a_name_alone_takes_no_seat_that_has_an_id(room: Classroom, listed: Class) -> None:
    for name in ("Grace Hopper", "Emmy Noether"):
        join(room.browser(name), listed, name)

    assert {NOBODY_YET, ("Emmy Noether", None, "name", True)} < seats(room, listed)


def test_only_who_is_proved_to_be_on_the_list_joins_a_class_for_it(
    room: Classroom, app: FastAPI, listed: Class, ada: TestClient, campus: str
) -> None:
    ada.post(f"/classes/{listed.id}/joining", data={"joining": "invited"})
    nobody = TestClient(app, headers=BROWSER)

    page = nobody.get(f"/join/{listed.join_code}").text
    refused = join(nobody, listed, "Grace Hopper")
    foreign = join(signed_in(app, campus, "max", **{CLAIM: "12"}), listed, "Max")
    without = join(signed_in(app, campus, "ida"), listed, "Ida")
    join(signed_in(app, campus, "grace", **{CLAIM: ["4711"]}), listed, "Grace")

    assert f'href="/sign-in/campus?next=/join/{listed.join_code[:3]}-' in page
    assert 'name="name"' not in page
    assert "Sign in where your school knows your id" in refused
    assert "Nobody with the id &#39;12&#39; is expected" in foreign
    assert "Sign in where your school knows your id" in without
    assert GRACE in seats(room, listed)


def test_a_claim_of_now_counts_and_not_that_of_before(
    room: Classroom, app: FastAPI, listed: Class, campus: str
) -> None:
    signed_in(app, campus, "grace", **{CLAIM: "1"})
    again = signed_in(app, campus, "grace", **{CLAIM: "4711"})
    join(again, listed, "Grace")
    second = join(signed_in(app, campus, "eve", **{CLAIM: "4711"}), listed, "Eve")

    assert GRACE in seats(room, listed)
    assert "joined Algebra with the id &#39;4711&#39; already" in second
