"""Signing in with a name and a password: what comes along, what ends, and what nobody gets by trying."""

import asyncio

import httpx2
import pytest
from argon2 import PasswordHasher
from fastapi import FastAPI
from starlette.testclient import TestClient

from app.accounts import passwords
from app.accounts.passwords import AT_ONCE, MOST_WAITING
from tests.turns import PAGES
from tests.web.conftest import BROWSER
from tests.web.routes.accounts import (
    LESSON,
    PASSWORD,
    begin,
    first_way,
    make_passwords_cheap,
    sign_in,
    take_name,
    text_in_box,
)

pytestmark = pytest.mark.alone


@pytest.fixture(autouse=True)
def _cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    make_passwords_cheap(monkeypatch)


@pytest.fixture
def _same_minute(app: FastAPI) -> None:
    app.state.site.tries._clock = lambda: 1.0


def test_nothing_asks_for_an_account(client: TestClient) -> None:
    for path in ("/", LESSON, "/sign-in", "/me"):
        assert client.get(path).status_code == 200
    assert "No account is needed" in client.get("/sign-in").text


def test_a_name_makes_an_account_of_what_was_done_here(client: TestClient, other: TestClient) -> None:
    begin(client, "dX = 7")
    take_name(client)

    assert ">Ada</a>" in client.get("/").text
    assert text_in_box(client) == "dX = 7"

    sign_in(other)
    assert text_in_box(other) == "dX = 7"


def test_who_signs_in_brings_along_what_they_did_before(client: TestClient, other: TestClient) -> None:
    begin(client, "dX = 7")
    take_name(client)
    begin(other, "dX = 8")

    sign_in(other)

    assert text_in_box(other) == "dX = 8"
    assert text_in_box(client) == "dX = 8"  # one learner now
    earlier = client.get(f"{LESSON}/code/linear-backward/history").text
    assert "dX = 7" in earlier
    assert "Written before signing in" in earlier


def test_the_session_is_another_one_after_signing_in(client: TestClient, app: FastAPI) -> None:
    planted = begin(client)
    take_name(client)

    assert client.cookies["session"] != planted
    with_old = TestClient(app, headers=BROWSER, cookies={"session": planted})
    assert ">Ada</a>" not in with_old.get("/").text
    assert text_in_box(with_old) != "dX = 1"


def test_a_tab_with_the_cookie_of_before_is_not_made_somebody_new(client: TestClient, app: FastAPI) -> None:
    """Its cookie would take the place of the account's, and what it sent would be nobody's."""
    before = begin(client)
    take_name(client)

    late = TestClient(app, headers=BROWSER, cookies={"session": before})
    answer = late.post(f"{LESSON}/code/linear-backward/draft", data={"code": "dX = 9", "revision": "1"})

    assert answer.status_code == 429
    assert answer.headers["not-saved"] == "1"
    assert "set-cookie" not in answer.headers


@pytest.mark.in_turn(turns=4, places=PAGES)
@pytest.mark.parametrize(
    ("name", "password", "said"),
    [
        ("Ada", "wrong password", "No account here has this name with this password."),
        ("Nobody", PASSWORD, "No account here has this name with this password."),
        ("", PASSWORD, "Write a name"),
        ("Ada", "", "No account here has this name with this password."),
        ("\x00\n", PASSWORD, "Write a name"),
    ],
)
def test_what_does_not_fit_is_said_and_changes_nothing(
    client: TestClient, other: TestClient, name: str, password: str, said: str
) -> None:
    take_name(client)
    before = begin(other)

    answer = sign_in(other, name, password)

    assert answer.status_code == 422
    assert said in answer.text
    assert other.cookies["session"] == before
    assert text_in_box(other) == "dX = 1"


@pytest.mark.in_turn(turns=4, places=PAGES)
@pytest.mark.parametrize(
    ("name", "password", "said"),
    [
        ("Ada", PASSWORD, "Somebody here has this name already."),
        (" aDA ", PASSWORD, "Somebody here has this name already."),
        ("\uff21da", PASSWORD, "Somebody here has this name already."),  # a wide A
        ("Grace", "short", "8 to 200 characters; this one has 5"),
        ("Grace", "x" * 201, "this one has 201"),
        ("Grace Hopper", "grace hopper", "The password is the name."),
        ("x" * 81, PASSWORD, "at most 80 characters"),
        ("\u202eAda", PASSWORD, "Somebody here has this name already."),
    ],
)
def test_a_name_that_is_taken_or_no_good_is_refused_with_a_sentence(
    client: TestClient, other: TestClient, name: str, password: str, said: str
) -> None:
    take_name(client)

    answer = take_name(other, name, password=password)

    assert answer.status_code == 422
    assert said in answer.text
    assert "session" not in other.cookies


def test_a_password_is_the_same_however_a_keyboard_writes_it(client: TestClient, other: TestClient) -> None:
    take_name(client, password="caf\u00e9 au lait")

    assert sign_in(other, password="cafe\u0301 au lait").url.path == "/"
    assert ">Ada</a>" in other.get("/").text


@pytest.mark.parametrize(
    ("back", "arrived"),
    [("/lessons/linear", "/lessons/linear"), ("//evil.example", "/"), ("https://evil.example/", "/"), ("/\\evil", "/")],
)
def test_signing_in_leads_back_to_where_one_was_and_to_no_other_site(
    client: TestClient, back: str, arrived: str
) -> None:
    assert f'value="{arrived}"' in client.get("/sign-in", params={"next": back}).text
    assert take_name(client, back=back).url.path == arrived


def test_signing_out_ends_the_session_and_leaves_the_account(client: TestClient, app: FastAPI) -> None:
    begin(client, "dX = 7")
    take_name(client)
    token = client.cookies["session"]

    client.post("/sign-out")

    assert "session" not in client.cookies
    assert "dX = 7" not in client.get(LESSON).text
    assert ">Ada</a>" not in TestClient(app, headers=BROWSER, cookies={"session": token}).get("/").text
    sign_in(client)
    assert text_in_box(client) == "dX = 7"


def test_nobody_anonymous_is_signed_out_of_their_work(client: TestClient) -> None:
    begin(client, "dX = 7")
    client.post("/sign-out")

    assert text_in_box(client) == "dX = 7"


@pytest.mark.usefixtures("_same_minute")
def test_passwords_are_not_guessed_name_by_name(client: TestClient, other: TestClient) -> None:
    take_name(client, "Grace")
    take_name(client)
    tried = [sign_in(other, password=f"guess number {at}").status_code for at in range(11)]

    assert tried == [422] * 10 + [429]
    assert sign_in(other).status_code == 429


@pytest.mark.usefixtures("_same_minute")
def test_a_name_is_not_guessed_from_many_networks(client: TestClient, app: FastAPI) -> None:
    take_name(client)
    networks = [TestClient(app, headers=BROWSER, client=(f"192.0.2.{at}", 1)) for at in range(12)]
    tried = [sign_in(one, password=f"guess number {at}").status_code for at, one in enumerate(networks)]

    assert tried == [422] * 10 + [429] * 2


@pytest.mark.usefixtures("_same_minute")
def test_names_are_not_guessed_from_one_address(client: TestClient) -> None:
    tried = [sign_in(client, name=f"name {at}").status_code for at in range(11)]

    assert tried == [422] * 10 + [429]


@pytest.mark.usefixtures("_same_minute")
def test_a_class_signs_in_from_one_address_at_once(client: TestClient, app: FastAPI) -> None:
    take_name(client)

    for _ in range(15):
        assert sign_in(TestClient(app, headers=BROWSER)).status_code == 200


@pytest.mark.usefixtures("_same_minute")
def test_a_class_takes_names_and_signs_in_at_the_same_moment(app: FastAPI) -> None:
    async def everybody() -> list[int]:
        transport = httpx2.ASGITransport(app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://testserver", headers=BROWSER) as client:
            seats = [{"name": f"name {at}", "password": PASSWORD} for at in range(20)]
            made = await asyncio.gather(*(client.post("/sign-in/name", data=one) for one in seats))
            client.cookies.clear()
            known = await asyncio.gather(*(client.post("/sign-in/password", data=one) for one in seats))
        await app.state.site.database.close()
        return [one.status_code for one in (*made, *known)]

    assert asyncio.run(everybody()) == [303] * 40


class Counted:
    """A hasher that counts how often it is used."""

    def __init__(self, hasher: PasswordHasher) -> None:
        self._hasher = hasher
        self.hashes = 0

    def hash(self, password: bytes) -> str:
        self.hashes += 1
        return self._hasher.hash(password)

    def verify(self, secret: str, password: bytes) -> bool:
        self.hashes += 1
        return self._hasher.verify(secret, password)


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Counted:
    hasher = Counted(passwords._HASHER)
    monkeypatch.setattr(passwords, "_HASHER", hasher)
    return hasher


@pytest.mark.usefixtures("_same_minute")
def test_a_name_that_is_taken_costs_no_hash(client: TestClient, other: TestClient, counted: Counted) -> None:
    take_name(client)

    statuses = [take_name(other).status_code for _ in range(30)]

    assert statuses == [422] * 10 + [429] * 20
    assert counted.hashes == 1


@pytest.mark.parametrize("name", ["Ada", "Nobody"])
def test_an_unknown_name_costs_as_many_hashes_as_a_known_one(
    client: TestClient, other: TestClient, counted: Counted, name: str
) -> None:
    take_name(client)

    assert sign_in(other, name, "a wrong password").status_code == 422
    assert counted.hashes == 2


@pytest.mark.usefixtures("_same_minute")
def test_new_names_are_counted_before_they_are_hashed(client: TestClient, app: FastAPI, counted: Counted) -> None:
    beginnings = app.user_middleware[-1].kwargs["sessions"].beginnings
    beginnings._clock, beginnings._a_minute = (lambda: 1.0), 4

    statuses = [take_name(TestClient(app, headers=BROWSER), f"name {at}").status_code for at in range(30)]

    assert statuses == [200] * 4 + [429] * 26
    assert (counted.hashes, client.get("/sign-in").status_code) == (4, 200)


@pytest.mark.parametrize("path", ["/sign-in/name", "/sign-in/password"])
def test_no_more_than_twenty_wait_for_a_password(
    app: FastAPI, counted: Counted, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    monkeypatch.setattr(app.state.site.tries, "_a_minute", 0)

    async def crowd() -> list[httpx2.Response]:
        transport = httpx2.ASGITransport(app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://testserver", headers=BROWSER) as client:
            seats = [{"name": f"name {at}", "password": PASSWORD} for at in range(60)]
            answers = await asyncio.gather(*(client.post(path, data=one) for one in seats))
        await app.state.site.database.close()
        return answers

    answers = asyncio.run(crowd())

    refused = [one for one in answers if one.status_code == 429]
    assert counted.hashes == 60 - len(refused) == AT_ONCE + MOST_WAITING
    assert all(int(one.headers["retry-after"]) <= 5 for one in refused)
    assert "Too many people sign in at this moment" in refused[0].text


def test_of_those_who_take_one_name_at_the_same_moment_one_has_it(
    client: TestClient, app: FastAPI, monkeypatch: pytest.MonkeyPatch
) -> None:
    take_name(client)
    monkeypatch.setattr(passwords, "find_credential", nobody_has_it_yet)

    late = TestClient(app, headers=BROWSER)
    answer = take_name(late, password="another password")

    assert answer.status_code == 422
    assert "Somebody else has just taken this." in answer.text
    assert ">Ada</a>" not in late.get("/").text


async def nobody_has_it_yet(*_: object) -> None:
    """What the look at a name said a moment ago."""


def test_another_account_is_not_mixed_with_the_one_before(client: TestClient, other: TestClient) -> None:
    begin(client, "dX = 1")
    take_name(client)
    take_name(other, "Grace")

    sign_in(client, "Grace")

    assert ">Grace</a>" in client.get("/").text
    assert "dX = 1" not in client.get(LESSON).text
    sign_in(client, "Ada")
    assert text_in_box(client) == "dX = 1"


def test_a_new_name_taken_while_signed_in_is_somebody_else(client: TestClient) -> None:
    """On a machine where somebody forgot to sign out, a new account must not be a way into theirs."""
    begin(client, "dX = 1")
    take_name(client)
    take_name(client, "Grace")

    assert "dX = 1" not in client.get(LESSON).text


def test_the_last_way_in_is_remembered_in_a_cookie_for_this_page_alone(client: TestClient) -> None:
    assert first_way(client) == "passkey"
    answer = client.post("/sign-in/name", data={"name": "Ada", "password": PASSWORD}, follow_redirects=False)
    (way,) = [one for one in answer.headers.get_list("set-cookie") if one.startswith("way=")]

    assert "Path=/sign-in;" in way
    assert "Ada" not in way
    assert first_way(client) == "password"
