"""The site in the frame of a learning platform.

Its pages are the same, below `/embedded`, for sessions of their own.

In a frame a browser sends no cookie that is `SameSite=Lax`, and keeps one only where it is partitioned by the page
around it. So a session of a frame is another one than that of a tab, with a cookie of its own, and neither is believed
in the place of the other. What is below `/embedded` may be framed by registered platforms, and no other page by any
site.

Without `SameSite` a request from elsewhere could bring that cookie along. What changes something is refused by
`RequestGuard`, as everywhere; what only reads has no session, unless it is a page that the browser goes to.
"""

from collections.abc import Awaitable, Callable
from urllib.parse import urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Receive, Scope, Send

from app.web.middleware.security import FROM_PLATFORMS, HttpMiddleware, with_headers

FRAME = "/embedded"
COOKIE = "embedded"
OWN_TAB = ("/sign-in", "/sign-out", "/me", "/join", "/lti/enter", "/reports", "/theme")
"""Starts of paths that have no place in a frame: who is tricked there could lose an account."""


class FrameMiddleware(HttpMiddleware):
    """Takes `/embedded` off a path and puts it before every address of the answer; the request's state says `framed`.

    Args:
        ancestors: The origins of pages that may have one of ours in a frame.
    """

    def __init__(self, app: ASGIApp, *, ancestors: Callable[[], Awaitable[frozenset[str]]]) -> None:
        super().__init__(app)
        self._ancestors = ancestors

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"]
        framed = path == FRAME or path.startswith(FRAME + "/")
        state = scope.setdefault("state", {})
        state["framed"] = framed
        if framed or path in FROM_PLATFORMS:
            state["frame_ancestors"] = " ".join(sorted(await self._ancestors())) or "'none'"
        if not framed:
            await self._app(scope, receive, send)
            return
        path = path.removeprefix(FRAME) or "/"
        query = scope["query_string"]
        if is_of_own_tab(path):
            wanted = path + ("?" + query.decode("latin-1") if query else "")
            path, query = "/lti/own-tab", urlencode({"to": wanted}).encode()
        headers = Headers(scope=scope)
        state["shows_cookie"] = _may_show_cookie(headers)

        def place(answered: MutableHeaders) -> None:
            if (location := answered.get("location", "")).startswith("/"):
                answered["location"] = FRAME + location

        await self._app({**scope, "path": path, "query_string": query}, receive, with_headers(send, place))


def is_of_own_tab(path: str) -> bool:
    """True if *path* is shown in a tab of its own alone."""
    return any(path == start or path.startswith(start + "/") for start in OWN_TAB)


def _may_show_cookie(headers: Headers) -> bool:
    """True if a request may bring its session: it is from our own page, or the browser goes to a page."""
    site = headers.get("sec-fetch-site", "same-origin")
    return site in ("same-origin", "none") or headers.get("sec-fetch-mode") == "navigate"
