"""What the administrator of a platform is told."""

import re

import pytest
from starlette.testclient import TestClient

from tests.lti.platform import CLAIM, Platform
from tests.web.routes.platforms import frame, platform, shared, standing_platform

__all__ = ["platform", "shared", "standing_platform"]


@pytest.fixture(autouse=True)
def _forget(client: TestClient) -> None:
    client.app.state.site.lti.trials.clear()  # type: ignore[attr-defined]


def tried(client: TestClient, platform: Platform) -> str:
    return client.post("/lti/setup", data={"issuer": platform.url, "client_id": platform.client_id}).text


def test_the_page_has_every_address_that_is_entered(client: TestClient) -> None:
    text = client.get("/lti/setup").text

    for path in ("/lti/launch", "/lti/login", "/lti/jwks"):
        assert f"<code>http://testserver{path}</code>" in text
    assert "curlsecurityblockedhosts" in text  # 8


def test_a_platform_that_works_is_told_so(client: TestClient, platform: Platform) -> None:
    text = tried(client, platform)

    assert "keys answer: 1 key." in text
    assert "Its clock is that of this server" in text
    assert "lets it send grades" in text
    assert "dep-1" in text
    assert "Not yet" not in text


@pytest.mark.parametrize(("ahead", "said"), [(40.0, "s ahead"), (-40.0, "s behind")])
def test_a_clock_that_is_wrong_is_told_with_its_seconds(
    client: TestClient, platform: Platform, ahead: float, said: str
) -> None:
    platform.ahead = ahead
    text = tried(client, platform)

    assert said in text
    assert any(f"Its clock is {seconds} {said}" in text for seconds in range(30, 51))


def test_a_platform_is_asked_once_within_a_while(client: TestClient, platform: Platform) -> None:
    tried(client, platform)
    platform.asked = []
    tried(client, platform)

    assert platform.asked == []


def test_keys_of_this_server_that_a_platform_does_not_take_are_told(client: TestClient, platform: Platform) -> None:
    other, platform.tool_keys = platform.tool_keys, lambda: {"keys": []}
    text = tried(client, platform)
    platform.tool_keys = other

    assert "Grades cannot be sent" in text


def test_only_who_knows_the_client_id_may_try(client: TestClient, platform: Platform) -> None:
    for client_id in ("", "another"):
        sent = client.post("/lti/setup", data={"issuer": platform.url, "client_id": client_id})
        assert sent.status_code == 422
        assert "No platform with this issuer" in sent.text


TOLD = {
    "canvas": ({"product_family_code": "canvas"}, {}, "Canvas", "In Canvas, the developer key has to be on"),
    "moodle": ({}, {"lms": "moodle-2"}, "Moodle", "curlsecurityblockedhosts has to allow it."),
}


@pytest.mark.parametrize("code", TOLD)
def test_14_help_is_in_the_words_of_what_the_platform_said_it_is(
    client: TestClient, platform: Platform, code: str
) -> None:
    product, beyond, name, said = TOLD[code]
    claims = {CLAIM + "tool_platform": product, CLAIM + "ext": beyond}
    platform.launch(frame(client.app), platform.person("u", "Ada", "Instructor"), **claims)  # type: ignore[arg-type]
    refused = platform.launch(client, platform.people["u"], **claims, **{CLAIM + "deployment_id": "another"})
    platform.tool_keys, keys = lambda: {"keys": []}, platform.tool_keys
    client.app.state.site.lti.services._tokens.clear()  # type: ignore[attr-defined]
    text = tried(client, platform)
    platform.tool_keys = keys

    assert said in text
    assert re.findall(r"<details open>\s*<summary>(.*?)<", text) == [name]
    assert f"In {name} it is at " in refused.text
    assert "<details open>" not in client.get("/lti/setup").text
