"""What a person sees when something went wrong: a page in plain words, never a stack trace.

Errors are logged once, here, without what was submitted.
"""

from collections.abc import Awaitable, Callable
from http import HTTPStatus

import structlog
from fastapi.exceptions import RequestValidationError
from sqlalchemy.exc import InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from app.web.middleware.noting import Noting

log = structlog.get_logger()

TITLES = {
    400: "That request could not be read",
    403: "Not accepted",
    404: "There is no such page",
    405: "That is not how this address is used",
    413: "Too much text",
    422: "That form could not be read",
    429: "Not just now",
    500: "Our fault, not yours",
    503: "The server cannot save right now",
}
MESSAGES = {
    404: "The address may be old, or a letter may be missing. Every lesson is in the course index.",
    405: "Go back to the lesson and use the buttons there.",
    422: "Go back to the lesson and send the form again.",
    500: "Something broke on our side. What you wrote before is saved. Please try again.",
    503: "What you just sent may not be saved: keep a copy of it, and try again in a moment.",
}

Show = Callable[[Request, int, str, str], Awaitable[Response]]


class ErrorPages:
    """Turns every exception into a page. *show* makes it from a status, a title and a message."""

    def __init__(self, app: ASGIApp, show: Show) -> None:
        self._app = app
        self._show = show

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        noting = Noting(send)
        try:
            await self._app(scope, receive, noting)
        except ClientDisconnect:
            return
        except Exception as error:
            status, message = described(error)
            if noting.started:
                raise
            response = await self._show(Request(scope), status, TITLES.get(status, HTTPStatus(status).phrase), message)
            await response(scope, receive, send)


def described(error: Exception) -> tuple[int, str]:
    """The status and the message for people; what is our fault is logged."""
    if isinstance(error, HTTPException):
        said = error.detail if error.detail != HTTPStatus(error.status_code).phrase else ""
        return error.status_code, said or MESSAGES.get(error.status_code, "")
    if isinstance(error, RequestValidationError):
        return 422, MESSAGES[422]
    if isinstance(error, (OperationalError, InterfaceError, PoolTimeout)):
        # Without its statement and parameters: they hold what the learner wrote.
        log.error("database-unavailable", error=str(getattr(error, "orig", "no free connection")))
        return 503, MESSAGES[503]
    log.error("request-failed", exc_info=error)
    return 500, MESSAGES[500]
