"""Who connects to the server, and where a request comes from, are two things behind a proxy."""

import asyncio
from collections.abc import Iterator, MutableMapping
from typing import Any

import pytest
from structlog.testing import capture_logs

from app.web.server import configured


@pytest.fixture
def log() -> Iterator[list[MutableMapping[str, Any]]]:
    with capture_logs() as lines:
        yield lines


@pytest.mark.parametrize(
    ("peer", "forwarded", "client"),
    [
        ("10.1.2.3", "192.0.2.7", "192.0.2.7"),
        ("192.0.2.9", "10.1.2.3", "192.0.2.9"),
        ("10.1.2.3", None, "10.1.2.3"),
        ("10.1.2.3", "198.51.100.1, 192.0.2.7", "192.0.2.7"),
        ("10.1.2.3", "198.51.100.1, 192.0.2.7, 10.1.9.9", "192.0.2.7"),
        ("127.0.0.1", "192.0.2.7", "127.0.0.1"),
    ],
)
def test_who_connects_is_known_behind_a_proxy(peer: str, forwarded: str | None, client: str) -> None:
    seen = {}

    async def app(scope, _receive, _send) -> None:
        seen.update(peer=scope["peer"], client=scope["client"][0])

    headers = [(b"x-forwarded-for", forwarded.encode())] if forwarded else []
    scope = {"type": "http", "client": (peer, 9), "headers": headers, "scheme": "http"}
    ask(app, scope, "10.1.0.0/16")

    assert seen == {"peer": peer, "client": client}


def test_a_proxy_that_is_not_believed_is_told_once(log: list[MutableMapping[str, Any]]) -> None:
    async def app(*_) -> None:
        pass

    scope = {"type": "http", "client": ("192.0.2.9", 9), "scheme": "http"}
    ask(app, {**scope, "headers": []}, "10.1.0.0/16")
    assert not log

    ask(app, {**scope, "headers": [(b"x-forwarded-for", b"192.0.2.7")]}, "10.1.0.0/16", times=3)

    assert [(one["event"], one["peer"]) for one in log] == [("proxy-not-believed", "192.0.2.9")]


def ask(app: Any, scope: dict[str, Any], proxies: str, times: int = 1) -> None:
    config = configured(app, proxies.split())
    config.load()
    for _ in range(times):
        asyncio.run(config.loaded_app(dict(scope), None, None))
