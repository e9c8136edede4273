"""Requests to learning platforms, over HTTPS, to their registered addresses and nowhere else.

Much of what a platform tells is an address: of its keys, its grades, its people. An attacker who could choose one
freely would ask inside of the operator's network with this server's hands. So a request goes to an origin that was
registered, to an address that is public unless the operator said otherwise (looked at when it is connected to, so that
a name cannot change in between), without redirects, for ten seconds and a bounded number of bytes.
"""

import asyncio
import json
import re
import socket
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from email.utils import parsedate_to_datetime
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import Any
from urllib.parse import urlsplit

import httpcore2

from app.accounts.certificates import tls_context
from app.lti.errors import PlatformError
from app.store.tables import LtiPlatform

SECONDS = 10.0
MAX_ANSWER_BYTES = 2 * 1024 * 1024
MAX_QUOTED_CHARS = 300
IS_NEXT = re.compile(r'\brel="?next\b', re.IGNORECASE)
LOOPBACK = ("127.0.0.1", "localhost", "::1")
TRANSLATED = IPv6Network("64:ff9b::/96")
"""Addresses that a network without IPv4 has for those of IPv4 (RFC 6052)."""
HOST = re.compile(r"[a-z0-9._-]+|[0-9a-f:.]+", re.ASCII)
"""What may stand for a host: origins go into the headers of our pages."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Answer of a platform; the names of *headers* are in small letters."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def excerpt(self) -> str:
        """Beginning of the body as a line of text, for people."""
        return " ".join(self.body[: 4 * MAX_QUOTED_CHARS].decode("utf-8", "replace").split())[:MAX_QUOTED_CHARS]

    @property
    def date(self) -> datetime | None:
        """Time of the platform's clock."""
        try:
            return parsedate_to_datetime(self.headers.get("date", ""))
        except ValueError:
            return None

    @property
    def next_page(self) -> str | None:
        """The address of the next page in the header `Link` (RFC 8288), if the answer is a page and no last one."""
        for link in self.headers.get("link", "").split("<")[1:]:
            address, _, rest = link.partition(">")
            if IS_NEXT.search(rest.partition(",")[0]):
                return address
        return None

    def json(self) -> Any:
        """
        Raises:
            PlatformError: It is no JSON.
        """
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError) as error:
            raise PlatformError("It answered with something that is no JSON.", answer=self.excerpt) from error


def origin_of(url: str) -> str:
    """Scheme, host and port of *url*, such as `https://moodle.example.org`; "" if it is none."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return ""
    if parts.scheme not in ("http", "https") or parts.username or parts.password:
        return ""
    if not parts.hostname or not HOST.fullmatch(parts.hostname):
        return ""
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    standard = port in (None, {"http": 80, "https": 443}[parts.scheme])
    return f"{parts.scheme}://{host}" + ("" if standard else f":{port}")


def origins_of(platform: LtiPlatform) -> frozenset[str]:
    """Every origin that belongs to *platform*: its pages, its keys, its grades."""
    addresses = (platform.issuer, platform.auth_url, platform.token_url, platform.jwks_url, *platform.origins.split())
    return frozenset(origin for url in addresses if (origin := origin_of(url)))


def address_fault(url: str, *, private: bool) -> str:
    """Say why *url* is no address that a platform may have; "" if it is one."""
    origin = origin_of(url)
    if not origin or not url.isascii() or not url.isprintable() or " " in url:
        return f"{url[:200]!r} is no address. It wants one such as https://moodle.example.org/mod/lti/certs.php"
    if origin.startswith("https://") or (private and urlsplit(url).hostname in LOOPBACK):
        return ""
    return f"{url[:200]!r} is no address with https, and without it anybody on the way could change what it says."


def is_public(text: str) -> bool:
    """True if an address is one of the internet; what carries an older address within it is what that is."""
    address = ip_address(text.partition("%")[0])
    if isinstance(address, IPv6Address):
        last = IPv4Address(address.packed[-4:])
        carried = address.ipv4_mapped or address.sixtofour or (last if address in TRANSLATED else None)
        if carried is not None:
            address = carried
        elif address.is_site_local or address.packed[:12] == bytes(12):
            return False
    return address.is_global and not address.is_multicast


class NotPublicError(PlatformError):
    """A platform in a private network that was not registered as private."""


class _PublicNetwork(httpcore2.AnyIOBackend):
    """Connects to addresses that are public."""

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        resolved = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
        addresses = [str(entry[4][0]) for entry in resolved]
        if hidden := [address for address in addresses if not is_public(address)]:
            raise NotPublicError(
                f"{host} is {'' if host == hidden[0] else f'{hidden[0]}, '}an address that is not public."
            )
        return await super().connect_tcp(addresses[0], port, timeout, local_address, socket_options)


class PlatformClient:
    """Asks platforms; connections stay open for the next question."""

    def __init__(self) -> None:
        self._pools: dict[bool, httpcore2.AsyncConnectionPool] = {}

    async def ask(
        self,
        platform: LtiPlatform,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        content: bytes | None = None,
    ) -> Answer:
        """Answer of *platform*, whatever its status is.

        Raises:
            PlatformError: It has no such address, does not answer, or answers with too much.
        """
        if fault := address_fault(url, private=platform.private):
            raise PlatformError(fault)
        if origin_of(url) not in origins_of(platform):
            meant = f" If that is meant: backhand lti change {platform.id} --origin {origin_of(url)}."
            raise PlatformError(
                f"It wants {origin_of(url)} to be asked, which is none of its registered addresses."
                f"{meant if platform.id else ''}"
            )
        try:
            async with asyncio.timeout(SECONDS):
                return await self._ask(platform.private, method, url, headers or {}, content)
        except NotPublicError as error:
            # One that registers itself has no number yet.
            command = f"change {platform.id}" if platform.id else "ticket"
            raise NotPublicError(f"{error} If that is meant: backhand lti {command} --private.") from error
        except TimeoutError as error:
            raise PlatformError(f"It did not answer within {SECONDS:g} s.") from error
        except (httpcore2.NetworkError, httpcore2.ProtocolError, httpcore2.TimeoutException, OSError) as error:
            raise PlatformError(f"It cannot be reached: {str(error) or type(error).__name__}") from error

    async def _ask(
        self, private: bool, method: str, url: str, headers: Mapping[str, str], content: bytes | None
    ) -> Answer:
        body = bytearray()
        async with self._pool(private).stream(method, url, headers=[*headers.items()], content=content) as response:
            async for chunk in response.aiter_stream():
                body += chunk
                if len(body) > MAX_ANSWER_BYTES:
                    raise PlatformError(f"It answered with more than {MAX_ANSWER_BYTES // 1024} KiB.")
            pairs = ((name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in response.headers)
            answer = Answer(response.status, dict(pairs), bytes(body))
        if 300 <= answer.status < 400:
            raise PlatformError(
                f"It answered with a redirect ({answer.status}), and none is followed.", status=answer.status
            )
        return answer

    def _pool(self, private: bool) -> httpcore2.AsyncConnectionPool:
        if private not in self._pools:
            network = None if private else _PublicNetwork()
            self._pools[private] = httpcore2.AsyncConnectionPool(ssl_context=tls_context(), network_backend=network)
        return self._pools[private]

    async def close(self) -> None:
        for pool in self._pools.values():
            await pool.aclose()
        self._pools.clear()
