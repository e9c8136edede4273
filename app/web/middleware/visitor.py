"""Session lookup and rate limits for each request.

A learner is known by a cookie with a random token, looked up in the database when a page asks. A session begins with
the first thing worth keeping; a token that the database does not know is ignored and replaced, never adopted.

What cannot be answered now was saved before: the answer is 429, says so, and tells in `Retry-After` when to come again.
A browser that aborts a request, by its Stop button or because the page was closed, closes the connection. That is the
only sign there is, it needs no second address, and it reaches the very process that does the work.
"""

import asyncio
import math
import re
import time
from collections.abc import Callable, Coroutine, Hashable
from contextlib import nullcontext, suppress
from dataclasses import replace
from hashlib import sha256
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any, TypeVar

import structlog
from sqlalchemy import event
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from app.store import learners
from app.store.cleanup import SESSIONS_STAY
from app.store.database import Database, changing_nothing
from app.store.event_bus import EventBus
from app.store.learner_views import SeenLearner, find_view
from app.web.middleware.frames import COOKIE
from app.web.middleware.security import SAFE_METHODS, HttpMiddleware, cookie_header, cookie_name, with_headers
from app.web.render import first_cookie

log = structlog.get_logger()
T = TypeVar("T")

REMEMBERED_SECONDS = 30.0
COOKIE_SECONDS, EMBEDDED_SECONDS = (round(stay.total_seconds()) for stay in (SESSIONS_STAY, learners.EMBEDDED_STAY))
MINUTE = 60.0
FAULT_SECONDS = 600.0
ENDED = "sessions"
"""What every server is told when a session has ended, or its learner is another or called otherwise."""
ENDED_FILE = "sessions.ended"
"""Of the data folder; a command writes it, of which the server on SQLite hears no other way."""
SIGNED_IN = "Somebody signed in here a moment ago. What was just sent was not saved: send it again."
FRAME_OVER = (
    "Your visit from the learning platform has ended, so this was not saved. Copy it, and open the link there again."
)
FAULTY = "This code stopped the grader more than once. It is saved; change it, or try again in ten minutes."
REMEMBERED = 10_000
END_OF_VIEW = "/seeing/end"
SEEING = "seeing"
"""The cookie with which an instructor looks at pages as one of their learners."""
SEEN_AS = re.compile(r"/|/units/[^/]+|/lessons/[^/]+(/readiness|/reveal/[^/]+)?|/(pictures|static)/.*")
"""Pages of a learner that an instructor may look at, beside that of the class."""
LOOKS_ONLY = "You look at pages as {name} sees them, so nothing can be changed. End it first."
OWN_PAGE = "This page is {name}'s own. You see what is assigned in {group}, and nothing else."
TOO_MANY_CHANGES = "More than {limit} changes came within a minute. This one was not saved; go on in {seconds} s."
TOO_MANY_LEARNERS = "More than {limit} new learners came from your network within a minute. Begin in {seconds} s."
TOO_MANY = "You made more than {limit} checks and runs within a minute. Your text is saved; try again in {seconds} s."


class RetryLaterError(HTTPException):
    """Rate limit or outage: retry after *seconds*. The learner made no mistake.

    An `HTTPException`, so that a plain form gets it as a page; where a fragment was asked for, the box shows it.
    """

    def __init__(self, message: str, seconds: float, *, saved: bool = True) -> None:
        headers = {"retry-after": str(max(1, math.ceil(seconds)))}
        super().__init__(429, message, headers if saved else {**headers, "not-saved": "1"})

    def apply_to(self, response: Response) -> Response:
        """*response*, with the status and the time."""
        response.status_code = self.status_code
        response.headers.update(self.headers or {})
        return response


class RateLimit:
    """A bucket of tokens for each learner, or address: it holds a minute's worth and fills up evenly.

    Args:
        a_minute: Tokens a minute; 0 for no limit.
        said: What is told where none is left, with `{limit}` and `{seconds}`.
        minutes: For a bucket that holds so many minutes' worth, and *a_minute* is for all of them together.
    """

    def __init__(
        self,
        a_minute: int,
        clock: Callable[[], float] = time.monotonic,
        *,
        said: str = TOO_MANY,
        minutes: int = 1,
    ) -> None:
        self._a_minute = a_minute
        self._period = minutes * MINUTE
        self._clock = clock
        self._said = said
        self._full_at: dict[Hashable, float] = {}
        self._most = REMEMBERED

    def consume(self, learner: Hashable) -> None:
        """Take one token.

        Raises:
            RetryLaterError: None is left.
        """
        if not self._a_minute:
            return
        now = self._clock()
        # A bucket is known by the moment at which it would be full again; each token puts that off.
        early = self._full(learner, now, 1) - now - self._period
        if early > 1e-9:
            message = self._said.format(limit=self._a_minute, seconds=max(1, math.ceil(early)))
            raise RetryLaterError(message, early, saved=self._said == TOO_MANY)
        self.charge(learner, 1)

    def charge(self, learner: Hashable, tokens: int) -> None:
        """Take *tokens*, whether they are there or not."""
        if not self._a_minute:
            return
        now = self._clock()
        if len(self._full_at) >= self._most:
            self._full_at = {key: full for key, full in self._full_at.items() if full > now}
            self._most = max(REMEMBERED, 2 * len(self._full_at))  # else each call looks through all, while all are new
        self._full_at[learner] = self._full(learner, now, tokens)

    def _full(self, learner: Hashable, now: float, tokens: int) -> float:
        return max(now, self._full_at.get(learner, now)) + tokens * self._period / self._a_minute


class Quarantine:
    """Texts over which graders came to their end; one that did it again is left alone for a while."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._ends: dict[bytes, list[float]] = {}
        self._most = REMEMBERED

    def note(self, text: str) -> None:
        if len(self._ends) >= self._most:
            self._ends = {key: ends for key, ends in self._ends.items() if ends[-1] > self._clock()}
            self._most = max(REMEMBERED, 2 * len(self._ends))
        self._ends.setdefault(_digest(text), []).append(self._clock() + FAULT_SECONDS)

    def refuse(self, text: str) -> None:
        """
        Raises:
            RetryLaterError: Graders ended over *text* more than once not long ago. Once may have been bad luck.
        """
        ends = [number for number in self._ends.get(_digest(text), ()) if number > self._clock()]
        if len(ends) > 1:
            raise RetryLaterError(FAULTY, ends[1] - self._clock())


def _digest(text: str) -> bytes:
    return sha256(text.encode("utf-8", "surrogatepass")).digest()


async def run_until_disconnect(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """Run *work* and return its result; cancel it when the client disconnects.

    The form must have been read: what is left to receive is the end.

    Raises:
        ClientDisconnect: The client has gone.
    """
    working, leaving = asyncio.ensure_future(work), asyncio.ensure_future(_wait_for_disconnect(request))
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientDisconnect
        return working.result()
    finally:
        for task in (working, leaving):
            task.cancel()
        await asyncio.gather(working, leaving, return_exceptions=True)


async def _wait_for_disconnect(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


class SessionCache:
    """Cache from session token to learner, for a short time, because every autosave needs it.

    Args:
        data_dir: Where a command may leave word that sessions have ended.
    """

    def __init__(
        self,
        database: Database,
        bus: EventBus,
        *,
        changes_a_minute: int,
        new_a_minute: int,
        data_dir: Path | None = None,
    ) -> None:
        self.database = database
        self._bus = bus
        self._ended_file = data_dir / ENDED_FILE if data_dir else None
        self._ended_at = self._last_ended()
        self.changes = RateLimit(changes_a_minute, said=TOO_MANY_CHANGES)
        self.beginnings = RateLimit(new_a_minute, said=TOO_MANY_LEARNERS)
        self._found: dict[str, tuple[float, learners.SessionLearner]] = {}

    def _last_ended(self) -> int:
        """Moment at which a command last ended sessions; 0 if none has."""
        try:
            return self._ended_file.stat().st_mtime_ns if self._ended_file else 0
        except OSError:
            return 0

    async def known(self, token: str) -> learners.SessionLearner | None:
        if (ended := self._last_ended()) != self._ended_at:
            self._ended_at = ended
            self.forget()
        entry = self._found.get(token)
        if entry and entry[0] > time.monotonic():
            return entry[1]
        cache = self._found
        async with self.database.read() as db:
            known = await learners.find_session_learner(db, token)
        if known is not None and cache is self._found:  # else it may have ended since it was read
            self.remember(token, known)
        return known

    def remember(self, token: str, known: learners.SessionLearner) -> None:
        if len(self._found) >= REMEMBERED:
            self._found.clear()
        self._found[token] = (time.monotonic() + REMEMBERED_SECONDS, replace(known, stale=False))

    def forget(self) -> None:
        """Empty the cache, so that the database is asked again."""
        self._found = {}

    async def tell(self, db: AsyncSession) -> None:
        """Have every server forget whom it remembers, when the transaction of *db* is committed; this one at once."""
        event.listen(db.sync_session, "after_commit", lambda _: self.forget(), once=True)
        await self._bus.publish(db, ENDED)

    async def listen(self) -> None:
        """Forget when another server says so, until this is cancelled."""
        with self._bus.subscribe(ENDED) as subscription:
            while True:
                await subscription.wait()
                if subscription.heard:
                    self.forget()


async def tell_servers(db: AsyncSession, bus: EventBus, data_dir: Path) -> None:
    """Like `Sessions.tell`, from a process that is no server."""

    def leave_word(_: object) -> None:
        with suppress(OSError):  # a fleet has heard of it, and each server forgets by itself after a while
            (data_dir / ENDED_FILE).write_text("\n")

    await bus.publish(db, ENDED)
    event.listen(db.sync_session, "after_commit", leave_word, once=True)


class Visitor:
    """The learner behind one request."""

    def __init__(self, sessions: SessionCache, token: str, network: str = "", *, framed: bool = False) -> None:
        self.sessions = sessions
        self.framed = framed
        self.token = token
        self.network = network
        self.known: learners.SessionLearner | None = None
        self.seen: SeenLearner | None = None
        """The learner as whom this instructor looks at pages, and who is taken for the visitor then."""
        self._nobodys = ""
        self.new_token: str | None = None

    @property
    def called(self) -> str:
        """Name of the learner, as far as this request has loaded it; "" without one."""
        if self.known is None:
            return "Account" if self.token else ""
        return self.known.name or ("Account" if self.known.account else "")

    @property
    def account(self) -> bool:
        """True if the learner has a way to sign in, as far as this request has loaded it."""
        return self.known is not None and self.known.account

    @property
    def in_class(self) -> bool:
        """True if the learner is in a class, as far as this request has loaded it."""
        return self.known is not None and self.known.in_class

    @property
    def notice(self) -> str:
        """The kind of an unread notice of the learner, as far as this request has loaded it."""
        return self.known.notice if self.known else ""

    @property
    def visit_over(self) -> bool:
        """True in a frame whose session has ended, or that keeps no cookies, as far as this request has loaded it."""
        return self.framed and not self.token

    async def learner(self) -> int | None:
        """Id of the learner; None for a browser that has nothing stored yet."""
        if self.known is None and self.token:
            self.known = await self.sessions.known(self.token)
            if self.known is not None and self.known.embedded != self.framed:
                self.known = None  # a session of a frame opens no tab, and the other way round
            if self.known is None:
                self._nobodys, self.token = self.token, ""
            elif self.known.stale and not self.framed:
                await self._refresh(self.token)
        return None if self.known is None else self.known.learner

    async def look_as(self, token: str) -> None:
        """Be the learner whose pages this instructor looks at, as long as the *token* of that is good."""
        viewer = await self.learner()
        if viewer is None:
            return
        async with self.sessions.database.read() as db:
            self.seen = await find_view(db, token, viewer)
        if self.seen is not None:
            seen = self.seen
            self.known = learners.SessionLearner(seen.learner, stale=False, name=seen.name, account=True, in_class=True)

    async def begin(self) -> int:
        """The learner, who is about to change something; a new one with a session where there was none.

        Raises:
            RetryLaterError: There were too many changes, or new learners from one network, within a minute.
        """
        learner = await self.learner()
        if self.seen is not None:
            raise HTTPException(403, LOOKS_ONLY.format(name=self.seen.name), {"not-saved": "1"})
        if learner is not None:
            self.sessions.changes.consume(learner)
            return learner
        if self.framed:
            raise HTTPException(403, FRAME_OVER, {"not-saved": "1"})
        self.sessions.beginnings.consume(self.network)
        async with self.sessions.database.write(short=True) as db:
            if self._nobodys and await learners.was_rotated(db, self._nobodys):
                # A cookie of a new learner would take the place of the one that another tab has got by now.
                raise RetryLaterError(SIGNED_IN, 1, saved=False)
            learner, token = await learners.begin_session(db)
        self.switch_learner(learners.SessionLearner(learner, stale=False), token)
        return learner

    def switch_learner(self, known: learners.SessionLearner, token: str) -> None:
        """Switch this browser to *known*, by a new *token*; "" ends the session."""
        self.known, self.token, self.new_token = known if token else None, token, token
        if token:
            self.sessions.remember(token, known)

    async def _refresh(self, token: str) -> None:
        async with self.sessions.database.write(short=True) as db:
            await learners.mark_seen(db, token)
        self.new_token = token  # sent again, so that the browser keeps the cookie for another while


def client_network(scope: Scope) -> str:
    """Network of the client: its address, or of IPv6 the /64, in which one machine has as many as it likes."""
    host = (scope.get("client") or ("", 0))[0]
    try:
        address = ip_address(host)
    except ValueError:
        return str(host)
    return host if address.version == 4 else str(ip_network((int(address) >> 64 << 64, 64)))


def _plain(cookies: bytes) -> bytes:
    """*cookies* without those that hold a quote: FastAPI parses all of them, for every route that there is.

    No cookie of ours has one, and to take quotes away costs some releases of Python quadratic time.
    """
    return b";".join(part for part in cookies.split(b";") if b'"' not in part)


def refuse_as_seen(seen: SeenLearner, method: str, path: str) -> None:
    """
    Raises:
        HTTPException: Not allowed to an instructor who looks as *seen*: it changes something, or is theirs alone.
    """
    if method not in SAFE_METHODS:
        raise HTTPException(403, LOOKS_ONLY.format(name=seen.name), {"not-saved": "1"})
    if path != f"/classes/{seen.class_id}" and not SEEN_AS.fullmatch(path):
        raise HTTPException(403, OWN_PAGE.format(name=seen.name, group=seen.class_name))


class VisitorMiddleware(HttpMiddleware):
    """Puts a `Visitor` into the request's state and sends the cookie of a new session."""

    def __init__(self, app: ASGIApp, sessions: SessionCache, *, secure: bool) -> None:
        super().__init__(app)
        self._sessions = sessions
        self._secure = secure
        self._warned = False

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._look_at_proxy(Headers(scope=scope))
        state = scope.setdefault("state", {})
        framed = state.get("framed", False)
        cookie, seconds = (COOKIE, EMBEDDED_SECONDS) if framed else ("session", COOKIE_SECONDS)
        token = self._cookie(scope, cookie) if state.get("shows_cookie", True) else ""
        visitor = Visitor(self._sessions, token, client_network(scope), framed=framed)
        state["visitor"] = visitor
        scope["headers"] = [(name, _plain(value) if name == b"cookie" else value) for name, value in scope["headers"]]
        if not framed and (seeing := self._cookie(scope, SEEING)):
            await visitor.look_as(seeing)

        def set_cookie(headers: MutableHeaders) -> None:
            if visitor.new_token is not None:
                changed = cookie_header(cookie, visitor.new_token, seconds, secure=self._secure, framed=framed)
                headers.append("set-cookie", changed)

        looks_on = visitor.seen is not None and scope["path"] != END_OF_VIEW
        if visitor.seen is not None and looks_on:
            refuse_as_seen(visitor.seen, scope["method"], scope["path"])
        with changing_nothing() if looks_on else nullcontext():
            await self._app(scope, receive, with_headers(send, set_cookie))

    def _look_at_proxy(self, headers: Headers) -> None:
        """Say once that cookies are not as safe as they could be: a proxy speaks TLS, and was not mentioned to us."""
        if not self._secure and not self._warned and headers.get("x-forwarded-proto", "").lower() == "https":
            self._warned = True
            log.warning("cookies-without-secure", fix="Set BACKHAND_SECURE_COOKIES=1 behind TLS.")

    def _cookie(self, scope: Scope, name: str) -> str:
        return first_cookie(Headers(scope=scope), cookie_name(name, secure=self._secure))
