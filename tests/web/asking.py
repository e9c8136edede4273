"""The whole application without a client in between: any request that a server could pass on, however odd.

Clients tidy what they send; an attacker does not. `Asker` hands the bytes of a request to the application as uvicorn
would, and `sound` says what must hold for each answer.
"""

import asyncio
import contextlib
import gzip
import re
import time
from collections.abc import Coroutine, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any, TypeVar
from unittest.mock import patch
from urllib.parse import unquote
from weakref import WeakSet

from fastapi import FastAPI
from fastapi.routing import iter_route_contexts

from app.store import cleanup
from app.web.middleware.visitor import SessionCache
from tests.waiting import SECONDS

HANG_SECONDS = SECONDS
"""No answer takes a tenth of a second here; this bound only tells a hang from a busy machine."""
CANARY = "backhand-canary"

Header = tuple[bytes, bytes]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Answer:
    """*seconds* is how long it took."""

    status: int
    headers: tuple[Header, ...]
    body: bytes
    seconds: float

    def header(self, name: str) -> str:
        return ", ".join(value.decode("latin-1") for key, value in self.headers if key == name.encode())

    @property
    def text(self) -> str:
        body = gzip.decompress(self.body) if self.header("content-encoding") == "gzip" else self.body
        return body.decode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class Ask:
    """*target* is a path with its query as it stands in the request line, percent-encoded."""

    method: str
    target: str
    headers: tuple[Header, ...] = ()
    body: bytes = b""
    chunk: int = field(default=65536)


class Asker:
    """Sends requests to *app*, one after the other, while its lifespan is open."""

    def __init__(self, app: FastAPI, runner: asyncio.Runner) -> None:
        self._app, self._runner = app, runner

    def __call__(self, ask: Ask) -> Answer:
        return self._runner.run(asyncio.wait_for(self._answer(ask), HANG_SECONDS))

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """What *work* gives, in the loop of the application: it may be in the middle of a transaction."""
        return self._runner.run(work)

    async def _answer(self, ask: Ask) -> Answer:
        raw_path, _, query = ask.target.encode("ascii").partition(b"?")
        names = {name for name, _ in ask.headers}
        scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "server": ("127.0.0.1", 8000),
            "client": ("127.0.0.1", 9),
            "scheme": "http",
            "root_path": "",
            "method": ask.method,
            "path": unquote(raw_path.decode("ascii")),
            "raw_path": raw_path,
            "query_string": query,
            "headers": [*([] if b"host" in names else [(b"host", b"testserver")]), *ask.headers],
        }
        parts = [ask.body[start : start + ask.chunk] for start in range(0, len(ask.body), ask.chunk)] or [b""]
        waiting = iter([{"type": "http.request", "body": part, "more_body": part is not parts[-1]} for part in parts])
        sent = []

        async def receive():
            message = next(waiting, None)
            return message or await asyncio.Event().wait()  # who has asked waits for the answer

        async def send(message):
            sent.append(message)

        started = time.monotonic()
        await self._app(scope, receive, send)
        seconds = time.monotonic() - started
        body = b"".join(one.get("body", b"") for one in sent[1:])
        return Answer(sent[0]["status"], tuple(sent[0]["headers"]), body, seconds)


RUNNING: WeakSet[FastAPI] = WeakSet()
"""Applications that a browser of a test has started: they start once, and whoever ends one closes its database."""


async def _never(*_: object) -> None:
    pass


@contextmanager
def without_jobs() -> Iterator[None]:
    """Servers that start meanwhile leave their jobs to the tests: each would ask the database over and over."""
    with patch.object(cleanup, "run_periodically", _never):
        yield


@contextmanager
def without_clock() -> Iterator[None]:
    """A server that does nothing but answer: what it does again and again would be met by chance."""
    with without_jobs(), patch.object(SessionCache, "listen", _never):
        yield


@contextmanager
def asking(app: FastAPI) -> Iterator[Asker]:
    with asyncio.Runner() as runner:
        lifespan = contextlib.nullcontext() if app in RUNNING else app.router.lifespan_context(app)
        runner.run(lifespan.__aenter__())
        try:
            yield Asker(app, runner)
        finally:
            runner.run(lifespan.__aexit__(None, None, None))


def routes_of(app: FastAPI) -> list[tuple[str, str]]:
    """Every method and path that the application answers, whether or not a schema would name it."""
    return sorted(
        (method, context.path)
        for context in iter_route_contexts(app.routes)
        for method in getattr(context, "methods", None) or ()
    )


class Standing(dict[str, str]):
    """What stands for a parameter of a path; for one that is a number, the first."""

    def __missing__(self, _name: str) -> str:
        return "1"


CLASS_CODE = "K7Q-M2X-9DV"
PARAMETERS = {
    "slug": "linear",
    "name": "linear-backward",
    "kind": "code",
    "form": "md",
    "path": "none.css",
    "family": "matmul",
    "key": "matmul",
    "sitting_id": "2",
}


def path_of(template: str, **values: str) -> str:
    """An address of the route *template*."""
    return template.replace(":path}", "}").format_map(Standing(PARAMETERS | {"code": CLASS_CODE} | values))


class Elements(HTMLParser):
    """What a browser could be made to run by a page: elements, handlers and addresses that are not ours."""

    ADDRESSES = frozenset({"href", "src", "action", "formaction", "xlink:href", "data", "srcdoc", "hx-get", "hx-post"})
    OURS = re.compile(r"(?:/(?![/\\])|#|\?|https://|data:image/|mailto:)|$")

    def __init__(self, html: str) -> None:
        super().__init__()
        self.foreign: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = dict(attrs)
        if tag.startswith(CANARY) or (tag == "script" and not names.get("src", "").startswith("/static/")):
            self.foreign.append(f"<{tag} {attrs}>")
        for name, value in attrs:
            if name.startswith(("on", CANARY, "hx-on")) or name == "style":
                self.foreign.append(f"{tag} {name}={value!r}")
            if name in self.ADDRESSES and not self.OURS.match(value or ""):
                self.foreign.append(f"{tag} {name}={value!r}")


def sound(answer: Answer) -> None:
    """What holds for every answer, whatever was asked."""
    assert answer.status < 500, answer.text[-500:]
    assert answer.seconds < HANG_SECONDS
    assert answer.header("content-security-policy").startswith("default-src 'none'")
    assert answer.header("x-content-type-options") == "nosniff"
    assert answer.header("referrer-policy") == "same-origin"
    assert answer.header("cross-origin-opener-policy") == "same-origin"
    for name, value in answer.headers:
        assert re.fullmatch(rb"[a-z0-9-]+", name), name
        assert not re.search(rb"[\r\n\0]", value), value
    location = answer.header("location")
    assert not location or re.match(r"/(?![/\\])[!-~]*$", location), location
    kind = answer.header("content-type")
    if kind.startswith("text/html"):
        assert Elements(answer.text).foreign == []
    elif answer.body:
        assert kind.startswith(
            ("application/json", "text/", "application/x-ipynb+json", "application/zip", "image/", "font/")
        ), kind
    if answer.status >= 400:
        assert "Traceback" not in answer.text


def headers_of(pairs: Iterable[tuple[str, str]]) -> tuple[Header, ...]:
    return tuple((name.encode("latin-1"), value.encode("latin-1", "replace")) for name, value in pairs)
