"""To whom the server speaks, and how much it listens to."""

import asyncio
import re
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from app.lti import platform_client
from app.lti.errors import PlatformError
from app.lti.platform_client import PlatformClient, address_fault, is_public, origin_of, origins_of
from app.store.database import now
from app.store.tables import LtiPlatform

pytestmark = pytest.mark.anyio

Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def registered(url: str, *, private: bool = True, **values: str) -> LtiPlatform:
    addresses = {"auth_url": f"{url}/auth", "token_url": f"{url}/token", "jwks_url": f"{url}/jwks", "origins": ""}
    row = {"issuer": url, "client_id": "b", "name": "Moodle", "private": private, **addresses, **values}
    return LtiPlatform(**row, added_at=now())


@asynccontextmanager
async def serving(answer: bytes | Talk) -> AsyncIterator[str]:
    """A server on this machine that answers so, by its address."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await reader.readuntil(b"\r\n\r\n")
            if callable(answer):
                await answer(reader, writer)
            else:
                writer.write(answer)
        finally:
            writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


async def asked(answer: bytes | Talk) -> str:
    """What is said of a platform that answers so."""
    client = PlatformClient()
    try:
        async with serving(answer) as url:
            with pytest.raises(PlatformError) as told:
                await client.ask(registered(url), "GET", f"{url}/jwks")
    finally:
        await client.close()
    return str(told.value)


async def test_a_redirect_is_not_followed() -> None:
    assert "redirect" in await asked(
        b"HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n"
    )


async def test_an_answer_has_a_bounded_length() -> None:
    async def pour(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 99999999\r\n\r\n")
        try:
            for _ in range(64):
                writer.write(bytes(65536))
                await writer.drain()
        except ConnectionError:
            pass

    assert "more than 2048 KiB" in await asked(pour)


async def test_an_answer_has_a_bounded_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform_client, "SECONDS", 0.05)
    forever = asyncio.Event()

    async def hang(*_: object) -> None:
        await asyncio.wait_for(forever.wait(), 5)

    said = await asked(hang)
    assert "did not answer" in said


async def test_nobody_there_is_told() -> None:
    client = PlatformClient()
    with pytest.raises(PlatformError, match="cannot be reached"):
        await client.ask(registered("http://127.0.0.1:1"), "GET", "http://127.0.0.1:1/jwks")
    await client.close()


NOT_PUBLIC = (
    "127.0.0.1", "10.1.2.3", "192.168.0.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1",
    "::1", "fd00::1", "fe80::1%eth0", "fec0::1", "::ffff:10.1.2.3", "::10.1.2.3", "2002:a01:203::", "64:ff9b::10.1.2.3",
)  # fmt: skip


@pytest.mark.parametrize("address", NOT_PUBLIC)
async def test_an_address_that_is_not_public_is_not_asked(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    """Looked at when it is connected to: what the name meant before says nothing."""

    async def resolved(*_: object, **__: object) -> list[object]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("93.184.216.34", 443)), (0, 0, 0, "", (address, 443))]

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", resolved)
    client = PlatformClient()
    url = "https://moodle.example.org"
    with pytest.raises(PlatformError, match="not public"):
        await client.ask(registered(url, private=False), "GET", f"{url}/jwks")
    await client.close()


@pytest.mark.parametrize(("number", "command"), [(4, "change 4 --private"), (None, "ticket --private")])
async def test_what_lets_a_private_network_in_can_be_pasted(
    monkeypatch: pytest.MonkeyPatch, number: int | None, command: str
) -> None:
    async def resolved(*_: object, **__: object) -> list[object]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("10.1.2.3", 443))]

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", resolved)
    client, platform = PlatformClient(), registered("https://10.1.2.3", private=False)
    if number is not None:
        platform.id = number
    said = f"10.1.2.3 is an address that is not public. If that is meant: backhand lti {command}."
    with pytest.raises(PlatformError, match=f"^{re.escape(said)}$"):
        await client.ask(platform, "GET", "https://10.1.2.3/jwks")
    await client.close()


async def test_what_registers_another_origin_can_be_pasted() -> None:
    platform = registered("https://moodle.example.org")
    platform.id = 4
    with pytest.raises(PlatformError, match=r"backhand lti change 4 --origin https://school\.example\.org\.$"):
        await PlatformClient().ask(platform, "GET", "https://school.example.org/scores?page=2")


@pytest.mark.parametrize("address", ["93.184.216.34", "2606:4700::1111", "64:ff9b::93.184.216.34"])
def test_an_address_of_the_internet_is_public(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "url",
    [
        "https://elsewhere.example.org/scores",
        "https://moodle.example.org.elsewhere.example/scores",
        "https://moodle.example.org@elsewhere.example/scores",
        "https://moodle.example.org:8443/scores",
        "http://moodle.example.org/scores",
        "file:///etc/passwd",
        "https://[::1/scores",
        "https://moodle.example.org/a b",
        "https://moodle.example.org;sandbox/scores",
        "",
    ],
)
async def test_only_registered_addresses_are_asked(url: str) -> None:
    with pytest.raises(PlatformError, match=r"none of its registered addresses|is no address"):
        await PlatformClient().ask(registered("https://moodle.example.org", private=False), "GET", url)


def test_http_is_for_this_machine_alone() -> None:
    assert address_fault("http://127.0.0.1:9000/jwks", private=True) == ""
    assert "https" in address_fault("http://127.0.0.1:9000/jwks", private=False)
    assert "https" in address_fault("http://moodle.example.org/jwks", private=True)


def test_origins_of_a_platform_are_those_of_its_addresses_and_added_ones() -> None:
    platform = registered("https://a.example", auth_url="https://b.example:443/auth", origins="https://c.example:8443")
    platform.issuer = "urn:no-address"

    assert origins_of(platform) == {"https://a.example", "https://b.example", "https://c.example:8443"}
    assert origin_of("https://A.example:443/x") == "https://a.example"


@pytest.mark.parametrize("host", ["a;script-src *", "a'", "a,b", "m\u00fcnchen.example", "a\nb"])
def test_what_is_no_host_has_no_origin_that_a_header_could_carry(host: str) -> None:
    assert origin_of(f"https://{host}/") in ("", "https://ab")
