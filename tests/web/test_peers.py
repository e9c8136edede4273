"""Who connects to the server, and where a request comes from, are two things behind a proxy."""

import asyncio

import pytest

from app.web.server import configured


@pytest.mark.parametrize(
    ("peer", "forwarded", "client"),
    [
        ("127.0.0.1", "192.0.2.7", "192.0.2.7"),
        ("192.0.2.9", "127.0.0.1", "192.0.2.9"),
        ("127.0.0.1", None, "127.0.0.1"),
    ],
)
def test_who_connects_is_known_behind_a_proxy(peer: str, forwarded: str | None, client: str) -> None:
    seen = {}

    async def app(scope, _receive, _send) -> None:
        seen.update(peer=scope["peer"], client=scope["client"][0])

    headers = [(b"x-forwarded-for", forwarded.encode())] if forwarded else []
    scope = {"type": "http", "client": (peer, 9), "headers": headers, "scheme": "http"}
    config = configured(app)
    config.load()
    asyncio.run(config.loaded_app(scope, None, None))

    assert seen == {"peer": peer, "client": client}
