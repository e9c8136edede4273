"""A platform that registers itself with the operator's ticket."""

import re
from typing import Any

import pytest
from fastapi import FastAPI
from sqlalchemy import delete, select
from starlette.testclient import TestClient

from app.accounts import one_time_tokens
from app.lti.registration import TICKET_LIVES
from app.store.tables import LtiDeployment, LtiPlatform
from tests.lti.platform import FROM_ELSEWHERE, Platform
from tests.web.classroom import Classroom
from tests.web.conftest import BROWSER
from tests.web.routes.platforms import platform, shared, standing_platform

__all__ = ["platform", "shared", "standing_platform"]


@pytest.fixture
def ticket(room: Classroom) -> str:
    async def issue(db: Any) -> str:
        await db.execute(delete(LtiPlatform).where(LtiPlatform.client_id == "made-by-itself"))
        return await one_time_tokens.issue(db, "lti-ticket", {"private": True}, lives=TICKET_LIVES)

    return str(room.write(issue))


def ask(client: TestClient, platform: Platform, ticket: str, token: str = "let me in", url: str = "") -> Any:
    query = {
        "ticket": ticket,
        "openid_configuration": url or f"{platform.url}/.well-known/openid-configuration",
        "registration_token": token,
    }
    return client.get("/lti/register", params=query, headers=FROM_ELSEWHERE)


def press(client: TestClient, page: Any) -> Any:
    fields = dict(re.findall(r'<input type="hidden" name="(.*?)" value="(.*?)"', page.text))
    return client.post("/embedded/lti/register", data=fields, headers=BROWSER)


def added(room: Classroom) -> LtiPlatform | None:
    return room.write(lambda db: db.scalar(select(LtiPlatform).where(LtiPlatform.client_id == "made-by-itself")))


def test_a_platform_registers_itself_and_is_known(
    platform: Platform, client: TestClient, room: Classroom, ticket: str
) -> None:
    page = ask(client, platform, ticket)
    assert added(room) is None
    assert f"frame-ancestors {platform.url}" in page.headers["content-security-policy"]
    done = press(client, page)

    assert "Registered" in done.text
    row = added(room)
    assert row
    assert (row.issuer, row.name, row.auth_url) == (platform.url, "Moodle", f"{platform.url}/auth")
    query = select(LtiDeployment.deployment_id).where(LtiDeployment.platform_id == row.id)
    assert room.write(lambda db: db.scalars(query)).all() == ["77"]
    (sent,) = platform.registered
    assert sent["initiate_login_uri"] == "http://testserver/lti/login"
    assert "lti-ags/scope/score" in sent["scope"]


def test_a_ticket_is_used_once(platform: Platform, client: TestClient, ticket: str) -> None:
    page = ask(client, platform, ticket)
    press(client, page)

    assert press(client, page).status_code == 403
    assert ask(client, platform, ticket).status_code == 403


def test_without_a_ticket_nobody_is_asked_and_nobody_frames(platform: Platform, client: TestClient) -> None:
    platform.asked = []
    page = ask(client, platform, "guessed")

    assert page.status_code == 403
    assert "frame-ancestors 'none'" in page.headers["content-security-policy"]
    assert (
        client.post("/lti/register", data={"ticket": "guessed", "openid_configuration": platform.url}).status_code
        == 403
    )


ODD = {
    "another host": {"issuer": "http://localhost:1"},
    "an endpoint of another host": {"registration_endpoint": "http://localhost:1/register"},
    "no keys": {"jwks_uri": ""},
    "an address without TLS": {"token_endpoint": "http://moodle.example.org/token"},
}


@pytest.mark.parametrize("odd", ODD)
def test_a_platform_that_is_not_what_it_says_is_not_registered(
    platform: Platform, client: TestClient, room: Classroom, ticket: str, odd: str
) -> None:
    platform.configuration = ODD[odd]
    told = press(client, ask(client, platform, ticket))

    assert told.status_code == 422
    assert added(room) is None
    platform.configuration = {}
    assert press(client, ask(client, platform, ticket)).status_code == 200


def test_what_a_platform_says_against_it_is_told(platform: Platform, client: TestClient, ticket: str) -> None:
    told = press(client, ask(client, platform, ticket, token="another"))

    assert told.status_code == 422
    assert "invalid_token" in told.text


def test_an_address_that_is_none_is_refused(platform: Platform, client: TestClient, app: FastAPI, ticket: str) -> None:
    assert app
    assert ask(client, platform, ticket, url="file:///etc/passwd").status_code == 422
    by_http = ask(client, platform, ticket, url="http://m.example/configuration")
    assert (by_http.status_code, "is no address with https" in by_http.text) == (422, True)
    by_hand = client.get("/lti/register", params={"ticket": ticket})
    assert (by_hand.status_code, "the registration form of a learning platform" in by_hand.text) == (422, True)
