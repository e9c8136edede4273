"""What tests of accounts do in a browser without scripts."""

import re

import pytest
from argon2 import PasswordHasher
from httpx2 import Response
from starlette.testclient import TestClient

from app.accounts import passwords

LESSON = "/lessons/linear"
PASSWORD = "seven times eight"


def make_passwords_cheap(patch: pytest.MonkeyPatch) -> None:
    """What makes passwords dear to guess makes tests slow, that of nobody like the others."""
    cheap = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
    patch.setattr(passwords, "_HASHER", cheap)
    patch.setattr(passwords, "_NOBODYS", cheap.hash("known to nobody"))


def begin(client: TestClient, text: str = "dX = 1") -> str:
    """Write something as whoever is there; the token of the session."""
    sent = client.post(f"{LESSON}/code/linear-backward/draft", data={"code": text, "revision": "0"})
    assert sent.status_code == 200, sent.text
    return str(client.cookies["session"])


def take_name(client: TestClient, name: str = "Ada", password: str = PASSWORD, **form: str) -> Response:
    return client.post("/sign-in/name", data={"name": name, "password": password, **form})


def sign_in(client: TestClient, name: str = "Ada", password: str = PASSWORD, **form: str) -> Response:
    return client.post("/sign-in/password", data={"name": name, "password": password, **form})


def text_in_box(client: TestClient) -> str:
    found = re.search(r'<textarea[^>]*name="code"[^>]*>\n?(.*?)</textarea>', client.get(LESSON).text, re.DOTALL)
    assert found
    return found[1]


def first_way(client: TestClient) -> str:
    """What the page for signing in offers first."""
    found = re.search(r'class="way" id="(.*?)"', client.get("/sign-in").text)
    assert found
    return found[1]


def name_shown(client: TestClient) -> str:
    """What the masthead calls whoever is there."""
    found = re.search(r'class="whoami" [^>]*>(.*?)</a>', client.get("/").text)
    assert found
    return found[1]
