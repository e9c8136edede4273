"""Passkeys, with an authenticator made of a key pair: what is right opens an account, and nothing else does."""

import asyncio
import hashlib
import json
from base64 import urlsafe_b64encode
from dataclasses import dataclass, field
from typing import Any

import cbor2
import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from fastapi import FastAPI
from sqlalchemy import select
from starlette.testclient import TestClient

from app.content.blocks import Course
from app.settings import Settings
from app.store.tables import OneTimeToken
from app.web.application import create_app
from tests.web.conftest import BROWSER, FakeGrader
from tests.web.routes.accounts import begin, first_way, name_shown, take_name, text_in_box

pytestmark = pytest.mark.alone

ORIGIN = "http://testserver"


def text_of(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()


@dataclass
class Device:
    """Makes a key pair, and signs what a browser on *origin* hands it."""

    origin: str = ORIGIN
    host: str = "testserver"
    count: int = 0
    id: bytes = b"the id of a passkey"
    key: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))

    def _said(self, kind: str, challenge: str) -> bytes:
        return json.dumps({"type": kind, "challenge": challenge, "origin": self.origin}).encode()

    def _data(self, flags: int) -> bytes:
        return hashlib.sha256(self.host.encode()).digest() + bytes([flags]) + self.count.to_bytes(4, "big")

    def _shown(self, **response: bytes) -> dict[str, Any]:
        found = {name: text_of(value) for name, value in response.items()}
        own = {"id": text_of(self.id), "rawId": text_of(self.id), "type": "public-key", "clientExtensionResults": {}}
        return {**own, "response": found}

    def make(self, options: dict[str, Any]) -> dict[str, Any]:
        point = self.key.public_key().public_numbers()
        key = cbor2.dumps({1: 2, 3: -7, -1: 1, -2: point.x.to_bytes(32, "big"), -3: point.y.to_bytes(32, "big")})
        data = self._data(0x45) + bytes(16) + len(self.id).to_bytes(2, "big") + self.id + key
        return self._shown(
            clientDataJSON=self._said("webauthn.create", options["challenge"]),
            attestationObject=cbor2.dumps({"fmt": "none", "attStmt": {}, "authData": data}),
        )

    def show(self, options: dict[str, Any]) -> dict[str, Any]:
        self.count += 1
        said, data = self._said("webauthn.get", options["challenge"]), self._data(0x05)
        signature = self.key.sign(data + hashlib.sha256(said).digest(), ec.ECDSA(hashes.SHA256()))
        return self._shown(clientDataJSON=said, authenticatorData=data, signature=signature)


def ask(client: TestClient, **sent: Any) -> dict[str, Any]:
    answer = client.post("/sign-in/passkey/ask", json=sent)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def enter(client: TestClient, shown: Any) -> Any:
    return client.post("/sign-in/passkey/enter", json=shown)


def make(client: TestClient, device: Device, **sent: Any) -> Any:
    return enter(client, device.make(ask(client, make=True, **sent)))


def show(client: TestClient, device: Device, **sent: Any) -> Any:
    return enter(client, device.show(ask(client, **sent)))


def test_a_passkey_makes_an_account_and_opens_it_elsewhere(client: TestClient, other: TestClient) -> None:
    device = Device()
    begin(client, "dX = 7")
    assert make(client, device).json() == {"to": "/"}
    assert show(other, device, back="/lessons/linear").json() == {"to": "/lessons/linear"}

    assert text_in_box(other) == "dX = 7"
    assert first_way(other) == "passkey"


def test_a_passkey_belongs_to_the_host_and_leads_below_the_prefix(settings: Settings, course: Course) -> None:
    device, below = Device(), create_app(settings.model_copy(update={"prefix": "/learn"}), course, FakeGrader())
    with TestClient(below, base_url=f"{ORIGIN}/learn", headers=BROWSER) as client:
        made = make(client, device, back="/lessons/linear")

    assert made.json() == {"to": "/learn/lessons/linear"}


def test_a_device_is_asked_for_a_key_that_it_finds_by_itself(client: TestClient) -> None:
    device = Device()
    options = ask(client, make=True)
    enter(client, device.make(options))

    assert options["authenticatorSelection"]["residentKey"] == "required"
    assert options["rp"]["id"] == "testserver"
    assert ask(client).get("allowCredentials", []) == []
    assert [one["id"] for one in ask(client, make=True)["excludeCredentials"]] == [text_of(device.id)]


def test_a_challenge_is_good_for_one_try(client: TestClient, other: TestClient) -> None:
    device = Device()
    make(client, device)
    shown = device.show(ask(other))
    assert enter(other, shown).status_code == 200
    other.post("/sign-out")

    again = enter(other, shown)

    assert again.status_code == 422
    assert "was tried before" in again.json()["said"]
    assert name_shown(other) == "Sign in"


def test_a_challenge_is_good_in_the_browser_that_asked(client: TestClient, other: TestClient) -> None:
    device = Device()
    make(client, device)
    shown = device.show(ask(client))

    assert enter(other, shown).status_code == 422


@pytest.mark.parametrize(
    "change",
    [
        {"origin": "http://evil.example"},
        {"origin": "https://testserver"},
        {"host": "evil.example"},
        {"key": ec.generate_private_key(ec.SECP256R1())},
        {"id": b"the id of another one"},
        {"count": 0},
    ],
    ids=lambda change: next(iter(change)),
)
def test_nothing_but_the_passkey_itself_opens_an_account(
    client: TestClient, other: TestClient, change: dict[str, Any]
) -> None:
    device = Device(count=5)
    make(client, device)
    copied = Device(**{"id": device.id, "key": device.key, "count": 5, **change})

    said = show(other, copied)

    assert said.status_code == 422
    assert name_shown(other) == "Sign in"


@pytest.mark.parametrize("change", [{"origin": "http://evil.example"}, {"host": "evil.example"}])
def test_no_passkey_of_another_address_is_taken(client: TestClient, change: dict[str, Any]) -> None:
    assert make(client, Device(**change)).status_code == 422
    assert name_shown(client) == "Sign in"


def test_what_was_asked_for_one_thing_is_no_answer_to_the_other(client: TestClient, other: TestClient) -> None:
    device = Device()
    make(client, device)

    assert enter(other, device.make(ask(other))).status_code == 422
    assert enter(other, device.show(ask(other, make=True))).status_code == 422


def test_the_passkey_of_somebody_who_left_opens_nothing(client: TestClient, other: TestClient) -> None:
    device = Device()
    make(client, device)
    client.post("/me/delete", data={"sure": "yes"})

    said = show(other, device)

    assert said.status_code == 422
    assert "No account here has this passkey." in said.json()["said"]


def test_a_passkey_that_exists_is_not_taken_over_by_making_it_again(client: TestClient, other: TestClient) -> None:
    """Whoever knows an id, and shows a key of their own under it, must not come in by that."""
    device = Device()
    begin(client, "dX = 7")
    make(client, device)

    for named in (device.id, b"an innocent id"):
        shown = Device(id=device.id).make(ask(other, make=True))
        said = enter(other, {**shown, "id": text_of(named), "rawId": text_of(named)})

        assert said.status_code == 422
    assert text_in_box(other) != "dX = 7"
    assert show(client, device).status_code == 200


def test_a_passkey_is_added_to_the_account_that_asked(client: TestClient, other: TestClient) -> None:
    device = Device()
    begin(client, "dX = 7")
    take_name(client)
    make(client, device, back="/me", add=True)

    show(other, device)
    assert text_in_box(other) == "dX = 7"


def test_a_passkey_made_on_the_sign_in_page_is_an_account_of_its_own(client: TestClient, other: TestClient) -> None:
    """On a machine where somebody forgot to sign out, it must not be a way into their account."""
    device = Device()
    begin(client, "dX = 7")
    take_name(client)
    make(client, device)

    show(other, device)
    assert text_in_box(other) != "dX = 7"


@pytest.mark.parametrize(
    "sent",
    [{}, {"id": 7}, {"id": "x", "rawId": "x", "type": "public-key", "response": {}}, {"response": {"signature": "%"}},
     {"id": "\ud800", "rawId": None}, {"id": "a\0b"}, {"id": "x" * 100_000}],
    ids=repr,
)  # fmt: skip
@pytest.mark.parametrize("making", [True, False])
def test_what_is_no_passkey_is_refused_with_a_sentence(client: TestClient, sent: Any, making: bool) -> None:
    ask(client, make=making)
    said = client.post("/sign-in/passkey/enter", content=json.dumps(sent), headers={"content-type": "application/json"})

    assert said.status_code == 422
    assert said.json()["said"]


def test_passkeys_are_not_tried_without_end(app: FastAPI, client: TestClient) -> None:
    app.state.site.tries._clock = lambda: 1.0
    tries = [enter(TestClient(app, headers=BROWSER), {}).status_code for _ in range(11)]

    assert tries == [422] * 10 + [429]
    assert client.get("/").status_code == 200


def kept_of_questions(app: FastAPI) -> list[str]:
    async def read() -> list[str]:
        async with app.state.site.database.read() as db:
            return list(await db.scalars(select(OneTimeToken.data_json)))

    return asyncio.run(read())


def test_little_is_kept_of_a_question(client: TestClient, app: FastAPI) -> None:
    """Whatever else was sent along: each row stays for ten minutes."""
    client.post("/sign-in/passkey/ask", json={"back": "/" + "a" * 200_000, "make": "b" * 50_000, "add": [1] * 1000})

    (data,) = kept_of_questions(app)
    assert len(data) < 1000


def test_a_network_has_a_bounded_number_of_open_questions(
    client: TestClient, app: FastAPI, monkeypatch: pytest.MonkeyPatch
) -> None:
    tickets = app.state.site.tickets
    monkeypatch.setattr(tickets, "_clock", lambda: 1.0)
    monkeypatch.setattr(tickets, "_a_minute", 3)

    asked = [client.post("/sign-in/passkey/ask", json={}) for _ in range(5)]

    assert [one.status_code for one in asked] == [200] * 3 + [429] * 2
    assert "from your network within ten minutes" in asked[-1].text
    assert 60 < int(asked[-1].headers["retry-after"]) <= 200
    assert len(kept_of_questions(app)) == 3
    elsewhere = TestClient(app, headers=BROWSER, client=("192.0.2.8", 1))
    assert elsewhere.post("/sign-in/passkey/ask", json={}).status_code == 200
