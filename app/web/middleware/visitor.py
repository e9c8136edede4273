"""Who sent a request: a cookie with a random token, looked up in the database when somebody asks.

A session begins with the first thing worth keeping. A token that the database does not know is ignored and replaced,
never adopted.
"""

import time
from ipaddress import ip_address, ip_network

import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.store import learners
from app.store.database import Database
from app.web.limits import TOO_MANY_CHANGES, TOO_MANY_LEARNERS, Allowance
from app.web.render import cookie

log = structlog.get_logger()

REMEMBERED = 10_000
REMEMBERED_SECONDS = 30.0
COOKIE_SECONDS = 400 * 24 * 3600  # the longest that browsers keep one


class Sessions:
    """Who is behind a token; what was found is remembered for a short while, since every keystroke's save asks."""

    def __init__(self, database: Database, *, changes_a_minute: int, new_a_minute: int) -> None:
        self.database = database
        self.changes = Allowance(changes_a_minute, said=TOO_MANY_CHANGES)
        self.beginnings = Allowance(new_a_minute, said=TOO_MANY_LEARNERS)
        self._found: dict[str, tuple[float, int]] = {}

    async def known(self, token: str) -> learners.Known | None:
        kept = self._found.get(token)
        if kept and kept[0] > time.monotonic():
            return learners.Known(kept[1], stale=False)
        async with self.database.read() as db:
            known = await learners.known(db, token)
        if known is not None:
            self.remember(token, known.learner)
        return known

    def remember(self, token: str, learner: int) -> None:
        if len(self._found) >= REMEMBERED:
            self._found.clear()
        self._found[token] = (time.monotonic() + REMEMBERED_SECONDS, learner)


class Visitor:
    """The learner behind one request."""

    def __init__(self, sessions: Sessions, token: str, network: str = "") -> None:
        self._sessions = sessions
        self._token = token
        self._network = network
        self._learner: int | None = None
        self.new_token: str | None = None

    async def learner(self) -> int | None:
        """The learner, or None for somebody who has nothing stored yet."""
        if self._learner is None and self._token:
            found = await self._sessions.known(self._token)
            if found is None:
                self._token = ""
                return None
            self._learner = found.learner
            if found.stale:
                await self._refresh(self._token)
        return self._learner

    async def begin(self) -> int:
        """The learner, who is about to change something; a new one with a session where there was none.

        Raises:
            NotNowError: There were too many changes, or new learners from one network, within a minute.
        """
        learner = await self.learner()
        if learner is not None:
            self._sessions.changes.spend(learner)
        else:
            self._sessions.beginnings.spend(self._network)
            async with self._sessions.database.write() as db:
                learner, self.new_token = await learners.begin_session(db)
            self._sessions.remember(self.new_token, learner)
            self._learner = learner
        return learner

    async def _refresh(self, token: str) -> None:
        async with self._sessions.database.write() as db:
            await learners.mark_seen(db, token)
        self.new_token = token  # sent again, so that the browser keeps the cookie for another while


def network_of(scope: Scope) -> str:
    """Where a request comes from: an address, or of IPv6 the /64 in which one machine has as many as it likes."""
    host = (scope.get("client") or ("", 0))[0]
    try:
        address = ip_address(host)
    except ValueError:
        return str(host)
    return host if address.version == 4 else str(ip_network((int(address) >> 64 << 64, 64)))


class VisitorMiddleware:
    """Puts a `Visitor` into the request's state and sends the cookie of a new session."""

    def __init__(self, app: ASGIApp, sessions: Sessions, *, secure: bool) -> None:
        self._app = app
        self._sessions = sessions
        self._secure = secure
        self._warned = False
        self._cookie = "__Host-session" if secure else "session"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        self._look_at_proxy(Headers(scope=scope))
        visitor = Visitor(self._sessions, cookie(Headers(scope=scope), self._cookie), network_of(scope))
        scope.setdefault("state", {})["visitor"] = visitor

        async def send_cookie(message: Message) -> None:
            if message["type"] == "http.response.start" and visitor.new_token:
                MutableHeaders(scope=message).append("set-cookie", self._set(visitor.new_token))
            await send(message)

        await self._app(scope, receive, send_cookie)

    def _look_at_proxy(self, headers: Headers) -> None:
        """Say once that cookies are not as safe as they could be: a proxy speaks TLS, and was not mentioned to us."""
        if not self._secure and not self._warned and headers.get("x-forwarded-proto", "").lower() == "https":
            self._warned = True
            log.warning("cookies-without-secure", fix="Set BACKHAND_SECURE_COOKIES=1 behind TLS.")

    def _set(self, token: str) -> str:
        parts = [f"{self._cookie}={token}", "Path=/", f"Max-Age={COOKIE_SECONDS}", "HttpOnly", "SameSite=Lax"]
        return "; ".join([*parts, "Secure"] if self._secure else parts)
