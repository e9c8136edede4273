"""Security headers and refused requests: redirects, forged requests, oversized bodies.

Plain ASGI: the headers are on every answer, the ones of errors and files too.
"""

import asyncio
import re
import secrets
from collections.abc import Callable

from starlette.datastructures import URL, Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

BODY_BYTES = 256 * 1024
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
CHARSET = re.compile(r"charset[^;]*", re.IGNORECASE)
HOST = re.compile(r"(?:(?P<name>[a-z0-9._-]+)|\[(?P<address>[0-9a-f:.]+)\])(?::\d{1,5})?", re.IGNORECASE)
FROM_PLATFORMS = ("/lti/login", "/lti/launch")
"""Learning platforms send forms here, from their own pages: what is in them proves itself."""
PROBES = ("/healthz", "/readyz")  # asked by address, by whatever looks after the container

NOBODY = "frame-ancestors 'none'"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-{nonce}'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; " + NOBODY
)
FRAMED = "frame-ancestors 'self'; frame-src 'self'"
NOTHING = f"default-src 'none'; {NOBODY}"
"""The policy of what is no page, as a script, a font or JSON: it loads nothing, should a browser ever show it."""
UNUSED = (
    "accelerometer", "browsing-topics", "camera", "display-capture", "geolocation", "gyroscope", "magnetometer",
    "microphone", "midi", "payment", "serial", "usb",
)  # fmt: skip
"""What pages may ask of a browser, and none of ours does."""
HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
# Of who may ask for cookies in a frame our own pages alone are one.
PERMISSIONS = ", ".join((*(f"{name}=()" for name in UNUSED), "storage-access=(self)"))
"""For pages: browsers read it there alone, and it is longer than all other heads of a script or font."""
HSTS = "max-age=31536000"


class HttpMiddleware:
    """Plain ASGI around *app*: `answer` sees the requests, and nothing else that a server may send."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await (self.answer if scope["type"] == "http" else self._app)(scope, receive, send)

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        raise NotImplementedError


def with_headers(send: Send, change: Callable[[MutableHeaders], None]) -> Send:
    """*send* that lets *change* at the headers of the answer before they leave."""

    async def send_changed(message: Message) -> None:
        if message["type"] == "http.response.start":
            change(MutableHeaders(scope=message))
        await send(message)

    return send_changed


class SecurityHeaders(HttpMiddleware):
    """Middleware that adds the headers; the nonce of the style policy is in the request's state as `nonce`.

    Args:
        framed: Our own pages may show each other in frames, as an author's preview does.
    """

    def __init__(self, app: ASGIApp, *, secure: bool, framed: bool = False) -> None:
        super().__init__(app)
        self._policy = POLICY.replace(NOBODY, FRAMED) if framed else POLICY
        self._fixed = {**HEADERS, "strict-transport-security": HSTS} if secure else HEADERS

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        nonce = secrets.token_urlsafe(16)
        scope.setdefault("state", {})["nonce"] = nonce

        policy, state = self._policy.format(nonce=nonce), scope["state"]

        def change(own: MutableHeaders) -> None:
            # Who may frame a page, and where its form leads elsewhere, may be known when it is made.
            ancestors, elsewhere = state.get("frame_ancestors"), state.get("form_action", "")
            is_page = own.get("content-type", "").startswith("text/html")
            allowed = policy if is_page else NOTHING
            framed = allowed.replace(NOBODY, f"frame-ancestors {ancestors}") if ancestors else allowed
            own.update(self._fixed)
            if is_page:
                own["permissions-policy"] = PERMISSIONS
            own["content-security-policy"] = framed.replace("form-action", f"form-action{elsewhere}")

        await self._app(scope, receive, with_headers(send, change))


class RequestGuard(HttpMiddleware):
    """Refuses what no page of ours sends, before anything reads it."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        hosts: frozenset[str] = frozenset(),
        body_bytes: int = BODY_BYTES,
        secure: bool = False,
    ) -> None:
        super().__init__(app)
        self._hosts = hosts
        self._secure = secure
        self._body_bytes = body_bytes

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        if not self._is_here(headers.getlist("host")) and scope["path"] not in PROBES:
            raise HTTPException(400, "The request asks for a host of another name than this server has.")
        own = is_same_site(headers, secure=self._secure) or scope["path"] in FROM_PLATFORMS
        if scope["method"] not in SAFE_METHODS and not own:
            raise HTTPException(403, "This form was sent from another site, so nothing was done.")
        if not _is_utf8(headers.get("content-type", "")):
            raise HTTPException(400, "Forms are read as UTF-8, and this one says that it is written otherwise.")
        if _declared_length(headers) > self._body_bytes:
            raise _too_large(self._body_bytes)
        await self._app(scope, self._counted(receive), send)

    def _is_here(self, hosts: list[str]) -> bool:
        """True if the request names at most one host, and it is ours."""
        match = HOST.fullmatch(hosts[0]) if hosts else None
        if len(hosts) > 1 or (hosts and match is None):
            return False
        return not self._hosts or match is None or (match["name"] or match["address"]).lower() in self._hosts

    def _counted(self, receive: Receive) -> Receive:
        arrived = 0

        async def receive_counted() -> Message:
            nonlocal arrived
            message = await receive()
            arrived += len(message.get("body", b""))
            if arrived > self._body_bytes:
                raise _too_large(self._body_bytes)
            return message

        return receive_counted


def cookie_name(name: str, *, secure: bool) -> str:
    """*name* of a cookie as a browser has it: over TLS no subdomain can set one whose name begins with `__Host-`."""
    return f"__Host-{name}" if secure else name


def cookie_header(name: str, value: str, seconds: int, *, secure: bool, framed: bool) -> str:
    """A cookie of the whole site, which ends with an empty *value*.

    One that is *framed* is sent in the frame of another site. Without TLS, which only tests go without, no browser
    keeps it there.
    """
    parts = [f"{cookie_name(name, secure=secure)}={value}", "Path=/", f"Max-Age={seconds if value else 0}", "HttpOnly"]
    parts.append("SameSite=None" if framed and secure else "SameSite=Lax")
    return "; ".join([*parts, *["Secure"] * secure, *["Partitioned"] * (framed and secure)])


def is_operator(headers: Headers, token: str) -> bool:
    """True if a request shows the operator's *token*.

    Its address proves nothing: behind a proxy every client has the same.
    """
    shown = headers.get("authorization", "")
    return token != "" and secrets.compare_digest(shown.encode(), f"Bearer {token}".encode())


def is_same_site(headers: Headers, *, secure: bool) -> bool:
    """True if a request that changes something comes from a page of this site, which is *secure* behind TLS.

    Browsers say where a request comes from, in `Sec-Fetch-Site` or at least in `Origin`. A client that says neither is
    no current browser; without a cookie it can only act for itself.
    """
    site = headers.get("sec-fetch-site")
    if site is not None:
        return site in ("same-origin", "none")
    origin = headers.get("origin")
    if origin is not None:
        # Compared as it stands: an origin is a scheme and a host, and nothing that has to be taken apart.
        scheme, _, host = origin.lower().partition("://")
        return scheme in (("https",) if secure else ("http", "https")) and host == headers.get("host", "").lower() != ""
    return "cookie" not in headers


def _is_utf8(content_type: str) -> bool:
    """True if a form names no charset but UTF-8.

    A multipart form is decoded as it asks to be, and some of Python's codecs (`utf-7`, `unicode_escape`) make half
    characters that no database takes, others (`idna`) need seconds.
    """
    named = (item.replace('"', "").replace(" ", "").lower() for item in CHARSET.findall(content_type))
    return all(item in ("charset=utf-8", "charset=utf8") for item in named)


def _declared_length(headers: Headers) -> float:
    length = headers.get("content-length", "0")
    # Not as a whole number: Python reads none of more than 4,300 digits.
    return float(length) if length.isascii() and length.isdecimal() else 0


def _too_large(limit: int) -> HTTPException:
    return HTTPException(413, f"More than {limit // 1024} KiB were sent; nothing was stored.")


class RelativeRedirects(HttpMiddleware):
    """Cuts the scheme and the host off a `Location` that names this very server.

    Starlette takes a slash too many away with a redirect to a whole address. Behind a proxy that ends TLS that address
    begins with `http:`, and a page on `https:` must not lead there.
    """

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:

        def cut(headers: MutableHeaders) -> None:
            location, url = headers.get("location", ""), URL(scope=scope)
            own = f"{url.scheme}://{url.netloc}/"
            # Not for a path of two slashes: what remained would name another host.
            if location.startswith(own) and not location.startswith(own + "/"):
                headers["location"] = location.removeprefix(own[:-1])

        await self._app(scope, receive, with_headers(send, cut))


class HeadRequestMiddleware(HttpMiddleware):
    """Asks for GET where HEAD was sent, and lets the headers through: monitors and balancers ask that way."""

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] != "HEAD":
            await self._app(scope, receive, send)
            return
        begun = asyncio.Event()

        async def gone() -> Message:
            # Nobody waits for a body: a stream of events ends where it begins.
            await begun.wait()
            return {"type": "http.disconnect"}

        async def send_head(message: Message) -> None:
            if message["type"] == "http.response.start":
                await send(message)
            elif not begun.is_set():
                begun.set()
                await send({"type": "http.response.body"})

        await self._app({**scope, "method": "GET"}, gone, send_head)
