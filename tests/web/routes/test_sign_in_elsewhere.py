"""Signing in at a provider, with a real one beside, and by the word of a proxy."""

import json
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from fastapi import FastAPI
from sqlalchemy import select
from starlette.testclient import TestClient

from app.accounts import providers
from app.accounts.certificates import tls_context
from app.accounts.providers import OAuthEndpoints
from app.content.blocks import Course
from app.settings import Settings
from app.store.tables import OneTimeToken
from app.web.application import create_app
from tests.waiting import until
from tests.web.conftest import BROWSER, FakeGrader
from tests.web.routes.accounts import begin, first_way, name_shown, take_name, text_in_box

pytestmark = pytest.mark.alone

ADDRESS = "http://testserver"
CROSS = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@pytest.fixture(scope="module")
def campus() -> Iterator[str]:
    """The address of a provider that lets everybody be whom they say."""
    port = free_port()
    program = Path(sys.executable).with_name("oidc-provider-mock")
    process = subprocess.Popen(
        [program, "--port", str(port), "--require-nonce", "true"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    address = f"http://127.0.0.1:{port}"

    def answers() -> bool:
        assert process.poll() is None
        try:
            return httpx2.get(f"{address}/.well-known/openid-configuration", verify=tls_context()).is_success
        except httpx2.TransportError:
            return False

    try:
        until(answers)
        yield address
    finally:
        process.terminate()
        process.wait()


def with_providers(settings: Settings, **issuers: str) -> Settings:
    keys = {"client_id": "backhand", "client_secret": "of backhand"}
    text = json.dumps({name: {"title": name.title(), "issuer": one, **keys} for name, one in issuers.items()})
    return settings.model_copy(update={"address": ADDRESS, "oidc": text})


@pytest.fixture
def app(settings: Settings, course: Course, grader: FakeGrader, campus: str) -> FastAPI:
    nobody = f"http://127.0.0.1:{free_port()}"
    return create_app(with_providers(settings, campus=campus, away=nobody, again=campus), course, grader)


def leave(client: TestClient, name: str = "campus", **query: str) -> str:
    """Begin at the page; the address of the provider to which it leads."""
    answer = client.get(f"/sign-in/{name}", params=query, follow_redirects=False)
    assert answer.status_code == 303, answer.text
    return answer.headers["location"]


def be(address: str, who: str) -> str:
    """Be *who* at the provider; the path and query with which it sends the browser back."""
    answer = httpx2.post(address, data={"sub": who}, verify=tls_context())
    assert answer.is_redirect, answer.text
    back = urlsplit(answer.headers["location"])
    return f"{back.path}?{back.query}"


def come(client: TestClient, back: str) -> Any:
    return client.get(back, headers=CROSS)


def enter(client: TestClient, who: str, name: str = "campus", **query: str) -> Any:
    return come(client, be(leave(client, name, **query), who))


def test_a_provider_opens_the_account_on_every_device(client: TestClient, other: TestClient) -> None:
    begin(client, "dX = 7")
    assert enter(client, "ada", next="/lessons/linear").url.path == "/lessons/linear"
    enter(other, "ada")

    assert text_in_box(other) == "dX = 7"
    assert first_way(client) == "campus"


def test_the_question_has_a_state_a_nonce_and_a_verifier_that_stay_here(client: TestClient) -> None:
    answer = client.get("/sign-in/campus", follow_redirects=False)
    asked = parse_qs(urlsplit(answer.headers["location"]).query)
    (cookie,) = [one for one in answer.headers.get_list("set-cookie") if one.startswith("asked=")]

    assert asked["code_challenge_method"] == ["S256"]
    assert {"state", "nonce", "code_challenge"} <= set(asked)
    assert asked["scope"] == ["openid profile"]
    assert "Path=/sign-in;" in cookie
    assert "Max-Age=600;" in cookie
    assert asked["state"][0] not in cookie


def test_a_provider_sends_browsers_back_below_the_prefix(settings: Settings, course: Course, campus: str) -> None:
    below = with_providers(settings, campus=campus).model_copy(update={"prefix": "/learn"})
    with TestClient(create_app(below, course, FakeGrader()), base_url=f"{ADDRESS}/learn", headers=BROWSER) as client:
        back = be(leave(client), "ada")
        answer = client.get(f"{ADDRESS}{back}", headers=CROSS, follow_redirects=False)

    assert back.startswith("/learn/sign-in/campus/back?")
    assert answer.headers["location"] == "/learn/"


@pytest.mark.parametrize("change", ["state=other", "state=", "code=", "error=access_denied&code="])
def test_an_answer_to_another_question_is_a_page_that_says_so(client: TestClient, change: str) -> None:
    token = begin(client)
    back = be(leave(client), "ada")
    for one in change.split("&"):
        name = one.partition("=")[0]
        back = re.sub(rf"{name}=[^&]*", one, back) if f"{name}=" in back else f"{back}&{one}"

    said = come(client, back)

    assert said.status_code == 403
    assert 'role="alert"' in said.text
    assert client.cookies["session"] == token


def test_a_token_for_another_question_is_not_believed(client: TestClient, app: FastAPI) -> None:
    """The nonce says which question an id token answers."""
    back = be(leave(client), "ada")

    async def ask_otherwise() -> None:
        async with app.state.site.database.write() as db:
            ticket = (await db.scalars(select(OneTimeToken))).one()
            data = json.loads(ticket.data_json)
            data["asked"]["nonce"] = "of another question"
            ticket.data_json = json.dumps(data)

    assert client.portal is not None
    client.portal.call(ask_otherwise)
    said = come(client, back)

    assert said.status_code == 403
    assert "could not be believed" in said.text
    assert name_shown(client) == "Sign in"


def test_a_provider_that_names_another_issuer_is_not_believed(client: TestClient, app: FastAPI) -> None:
    app.state.site.doors.providers["campus"].issuer = "https://elsewhere.example"

    said = enter(client, "ada")

    assert said.status_code == 403
    assert "is not from Campus" in said.text
    assert name_shown(client) == "Sign in"


def test_an_answer_counts_once_and_in_the_browser_that_asked(client: TestClient, other: TestClient) -> None:
    back = be(leave(client), "ada")

    assert come(other, back).status_code == 403
    assert come(client, back).status_code == 200
    assert come(client, back).status_code == 403
    assert name_shown(other) == "Sign in"


def test_an_answer_of_one_provider_is_none_of_another(client: TestClient) -> None:
    back = be(leave(client, "campus"), "ada")

    assert come(client, back.replace("/campus/", "/again/")).status_code == 403


def test_another_site_begins_nothing(client: TestClient) -> None:
    assert client.get("/sign-in/campus", headers=CROSS, follow_redirects=False).status_code == 403


def test_a_provider_that_is_away_is_our_page_and_nothing_is_lost(client: TestClient) -> None:
    begin(client, "dX = 7")

    said = client.get("/sign-in/away")

    assert said.status_code == 502
    assert "Away (127.0.0.1) does not answer. Nothing is lost" in said.text
    assert text_in_box(client) == "dX = 7"


def test_an_unknown_provider_is_no_page(client: TestClient) -> None:
    assert client.get("/sign-in/elsewhere").status_code == 404
    assert client.get("/sign-in/elsewhere/back").status_code == 404


def test_the_same_subject_of_another_issuer_is_another_person(
    settings: Settings, course: Course, grader: FakeGrader, campus: str
) -> None:
    here = with_providers(settings, campus=campus, there=campus.replace("127.0.0.1", "localhost"))
    with TestClient(create_app(here, course, grader), headers=BROWSER) as client:
        other = TestClient(client.app, headers=BROWSER)
        begin(client, "dX = 7")
        enter(client, "ada")

        enter(other, "ada", "there")
        assert text_in_box(other) != "dX = 7"


def test_a_way_is_added_to_the_account_that_asked_for_it(client: TestClient, other: TestClient) -> None:
    begin(client, "dX = 7")
    take_name(client)
    shown = enter(client, "ada", next="/me", add="yes")
    assert shown.url.path == "/me"
    assert name_shown(client) == "Ada"
    ways = shown.text.partition("Ways to sign in")[2].partition("</section>")[0]
    assert ways.count("<strong>") == 2
    assert "http://" not in ways  # a provider is called by its title, and not by its address

    enter(other, "ada")

    assert text_in_box(other) == "dX = 7"


def test_a_new_person_on_a_signed_in_machine_gets_an_own_account(client: TestClient, other: TestClient) -> None:
    begin(client, "dX = 7")
    take_name(client)
    enter(client, "grace")

    assert text_in_box(client) != "dX = 7"
    enter(other, "grace")
    assert name_shown(other) != "Ada"


def test_a_way_is_not_added_to_whom_the_browser_has_become_meanwhile(client: TestClient) -> None:
    take_name(client)
    back = be(leave(client, add="yes"), "grace")
    take_name(client, "Tom")

    come(client, back)

    assert name_shown(client) not in ("Ada", "Tom")


def test_a_provider_without_openid_is_believed_by_its_api(
    settings: Settings, course: Course, grader: FakeGrader, campus: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = httpx2.get(f"{campus}/.well-known/openid-configuration", verify=tls_context()).json()
    hub = OAuthEndpoints(
        found["authorization_endpoint"], found["token_endpoint"], found["userinfo_endpoint"], "openid read", "sub"
    )
    monkeypatch.setitem(providers.WITHOUT_OPENID, "https://hub.example", hub)
    here = with_providers(settings, hub="https://hub.example")
    with TestClient(create_app(here, course, grader), headers=BROWSER) as client:
        begin(client, "dX = 7")
        enter(client, "ada", "hub")
        other = TestClient(client.app, headers=BROWSER)
        enter(other, "ada", "hub")

        assert text_in_box(other) == "dX = 7"


@pytest.fixture
def proxied(settings: Settings, course: Course, grader: FakeGrader) -> FastAPI:
    values = {"proxy_header": "X-Forwarded-User", "proxy_addresses": "10.1.0.0/16 fd00::1"}
    return create_app(settings.model_copy(update=values), course, grader)


@pytest.mark.parametrize(
    ("peer", "shown", "believed"),
    [
        ("10.1.2.3", ["ada"], True),
        ("fd00::1", ["ada"], True),
        ("10.2.0.1", ["ada"], False),
        ("10.1.2.3", [], False),
        ("10.1.2.3", [""], False),
        ("10.1.2.3", ["ada", "grace"], False),
        ("testclient", ["ada"], False),
        ("", ["ada"], False),
    ],
)
def test_a_proxy_is_believed_from_its_address_alone(
    proxied: FastAPI, peer: str, shown: list[str], believed: bool
) -> None:
    with TestClient(proxied, headers=BROWSER, client=(peer, 9)) as client:
        headers = [("x-forwarded-user", one) for one in shown]

        assert ("Go on as ada" in client.get("/sign-in", headers=headers).text) == believed
        entered = client.post("/sign-in/proxy", headers=headers)
        assert entered.status_code == (200 if believed else 403)
        assert name_shown(client) == ("ada" if believed else "Sign in")
