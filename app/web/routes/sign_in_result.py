"""Result of a sign-in: the new session and the page that follows, for every method."""

from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from app.accounts.credentials import VerifiedIdentity, sign_in
from app.web.middleware.security import cookie_name
from app.web.middleware.visitor import Visitor
from app.web.render import back_to, first_cookie, own_path
from app.web.site import Site

WAY_COOKIE = "way"
MERGE_COOKIE = "merge"
WAY_SECONDS = 400 * 24 * 3600
MINUTES = 600

# What browsers call themselves, and what people call them; the first that is found counts: most claim to be others too.
BROWSERS = (
    ("Edg/", "Edge"), ("OPR/", "Opera"), ("SamsungBrowser", "Samsung Internet"), ("Firefox", "Firefox"),
    ("FxiOS", "Firefox"), ("CriOS", "Chrome"), ("Chrome", "Chrome"), ("Safari", "Safari"),
)  # fmt: skip
MACHINES = (
    ("iPhone", "an iPhone"), ("iPad", "an iPad"), ("Android", "Android"), ("Windows", "Windows"), ("CrOS", "ChromeOS"),
    ("Mac OS X", "a Mac"), ("Linux", "Linux"),
)  # fmt: skip


def device_of(request: Request) -> str:
    """The browser in words, such as `Firefox on Linux`."""
    agent = request.headers.get("user-agent", "")[:500]
    browser = next((word for mark, word in BROWSERS if mark in agent), "A browser")
    machine = next((word for mark, word in MACHINES if mark in agent), "")
    return f"{browser} on {machine}" if machine else browser


async def sign_in_response(
    request: Request, site: Site, visitor: Visitor, proof: VerifiedIdentity, *, way: str, back: str, add: bool = False
) -> Response:
    """Sign in, and go on to *back*; to the question which account stays, where there were two."""
    async with site.database.write() as db:
        in_result = await sign_in(db, visitor.token, proof, device_of(request), add=add)
        await visitor.sessions.tell(db)
    visitor.switch_learner(in_result.known, in_result.token)
    response = back_to("/me/merge" if in_result.apart else own_path(back))
    keep_cookie(request, response, WAY_COOKIE, way, "/sign-in", WAY_SECONDS)
    if in_result.apart:
        keep_cookie(request, response, MERGE_COOKIE, in_result.apart, "/me/merge", MINUTES)
    return response


def spend_ticket(site: Site, visitor: Visitor) -> None:
    """Count a question about signing in, before it is kept.

    Raises:
        RetryLaterError: There were too many of this network.
    """
    visitor.sessions.beginnings.consume(visitor.network)
    site.tickets.consume(visitor.network)


async def is_adding(visitor: Visitor, asked_by: int | None) -> bool:
    """True if a method is to be added to the account of this browser: the same account asked for it."""
    return asked_by is not None and asked_by == await visitor.learner()


def proxied_subject(request: Request, site: Site) -> str:
    """User named by a proxy in front of this server; "" if there is none."""
    peer = request.scope.get("peer") or (request.client.host if request.client else "")
    return site.doors.user_of(peer, request.headers.getlist(site.doors.header)) if site.doors.header else ""


def is_secure(request: Request) -> bool:
    return bool(request.app.state.settings.secure_cookies)


def _cookie_scope(request: Request, name: str, path: str) -> dict[str, Any]:
    """Attributes of a cookie: one that is called after its host has no path of its own."""
    secure = is_secure(request)
    key, path = cookie_name(name, secure=secure), "/" if secure else path
    return {"key": key, "path": path, "secure": secure, "httponly": True, "samesite": "lax"}


def keep_cookie(request: Request, response: Response, name: str, value: str, path: str, seconds: int) -> None:
    """Have the browser send *value* along to *path* and below."""
    response.set_cookie(value=value, max_age=seconds, **_cookie_scope(request, name, path))


def drop_cookie(request: Request, response: Response, name: str, path: str) -> None:
    response.delete_cookie(**_cookie_scope(request, name, path))


def shown_cookie(request: Request, name: str) -> str:
    """Value of the cookie that `keep` set under that *name*, or ""."""
    return first_cookie(request.headers, cookie_name(name, secure=is_secure(request)))


async def account_of(visitor: Visitor) -> int:
    """The learner of this browser.

    Raises:
        HTTPException: There is none yet.
    """
    learner = await visitor.learner()
    if learner is None:
        raise HTTPException(403, "You are not signed in here. Sign in, and try again.")
    return learner
