"""Request log, request metrics and error pages.

A line says what was asked and how it went; no submission, no token, no query. A page has plain words, never a stack
trace; errors are logged once, here, without what was submitted.
"""

import contextlib
import io
import logging
import re
import secrets
import socket
import time
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import TextIO

import structlog
from fastapi.exceptions import RequestValidationError
from prometheus_client import Counter, Histogram
from sqlalchemy.exc import IntegrityError, InterfaceError, NoResultFound, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.orm.exc import StaleDataError
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from structlog.typing import EventDict, ExcInfo, WrappedLogger

from app.web.middleware.security import HttpMiddleware, with_headers
from app.web.render import URL

log = structlog.get_logger()
QUIET = ("/static/", "/healthz", "/readyz", "/metrics", "/preview/told")
HOST = socket.gethostname()
LEFT = 499  # nobody waited for the answer; the number that proxies write down for it

TITLES = {
    400: "That request could not be read",
    403: "Not accepted",
    404: "There is no such page",
    405: "That is not how this address is used",
    413: "Too much text",
    422: "That form could not be read",
    409: "Something else came first",
    429: "Not just now",
    500: "Our fault, not yours",
    502: "Somebody else does not answer",
    503: "The server cannot save right now",
}
MESSAGES = {
    404: "The address may be old, or a letter may be missing. Every lesson is in the course index.",
    409: "Somebody signed in or changed the same thing meanwhile. What you sent was not saved: send it again.",
    405: "Go back to the lesson and use the buttons there.",
    422: "Go back to the lesson and send the form again.",
    500: "Something broke on our side. What you wrote before is saved. Please try again.",
    503: "What you just sent may not be saved: keep a copy of it, and try again in a moment.",
}
WHEN_READ = {
    503: (
        "This page cannot be shown right now",
        "What is stored about you could not be read. Nothing is lost, and lessons can be read. Try again in a moment.",
    ),
}
"""Title and message where nothing was sent."""

Show = Callable[[Request, int, str, str], Awaitable[Response]]


JOINING = re.compile(r"/{1,200}join.+", re.IGNORECASE | re.DOTALL)


def _path_text(path: str) -> str:
    """*path*, without a code that opens a class."""
    return JOINING.sub("/join/…", path[:200])


class StatusRecorder:
    """A `send` that remembers the status of the answer; *otherwise* as long as none has begun."""

    def __init__(self, send: Send, otherwise: int = 0) -> None:
        self._send = send
        self.status = otherwise
        self.started = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status, self.started = message["status"], True
        await self._send(message)


def configure_logs(*, plain: bool) -> None:
    """*plain* for people at a terminal, JSON lines otherwise."""
    # No local variables in tracebacks: they hold tokens and submissions.
    tracebacks = structlog.tracebacks.ExceptionDictTransformer(show_locals=False)
    as_lines = (_printable, structlog.dev.ConsoleRenderer(exception_formatter=_traceback))
    as_json = (_with_host, structlog.processors.ExceptionRenderer(tracebacks), structlog.processors.JSONRenderer())
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            *(as_lines if plain else as_json),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=_Lines,
        cache_logger_on_first_use=False,
    )


class _Lines(structlog.PrintLogger):
    """Standard output as a log. Where it cannot be written, as on a full disk, requests are answered all the same."""

    def __init__(self, *_: object) -> None:
        super().__init__()

    def msg(self, message: str) -> None:
        with contextlib.suppress(OSError):
            super().msg(message)

    log = debug = info = warn = warning = error = critical = fatal = exception = failure = err = msg


def _with_host(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """With the machine, pod or container that says it, which is one of several where lines are collected."""
    return {**event, "server": HOST}


def _printable(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Replace control characters in values: an address must not move the cursor in the terminal of the operator."""
    return {name: _escaped(value) if isinstance(value, str) else value for name, value in event.items()}


def _escaped(text: str, allowed: str = "") -> str:
    return "".join(name if name.isprintable() or name in allowed else ascii(name)[1:-1] for name in text)


def _traceback(stream: TextIO, error: ExcInfo) -> None:
    plain = io.StringIO()
    structlog.dev.plain_traceback(plain, error)
    stream.write(_escaped(plain.getvalue(), allowed="\n"))


class RequestLog(HttpMiddleware):
    """Logs pages and answers; files and health checks are left out.

    Each has an id, in every line that is logged about it and in the header `X-Request-Id` of its answer.
    """

    def __init__(self, app: ASGIApp, quiet: tuple[str, ...] = QUIET) -> None:
        super().__init__(app)
        self._quiet = quiet

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"].startswith(self._quiet):
            await self._app(scope, receive, send)
            return
        request = secrets.token_hex(8)

        def mark(headers: MutableHeaders) -> None:
            headers["x-request-id"] = request

        with structlog.contextvars.bound_contextvars(request=request):
            await self._logged(scope, receive, with_headers(send, mark))

    async def _logged(self, scope: Scope, receive: Receive, send: Send) -> None:
        began, noting = time.perf_counter(), StatusRecorder(send)
        try:
            await self._app(scope, receive, noting)
        finally:
            milliseconds = round((time.perf_counter() - began) * 1000, 1)
            # Known from the route, after it was found: which class is slow, and which server is.
            group = scope.get("path_params", {}).get("class_id")
            where = {"class": group} if group else {}
            path = _path_text(scope["path"])
            log.info("request", method=scope["method"], path=path, status=noting.status, ms=milliseconds, **where)


class RequestCount(HttpMiddleware):
    """Counts every request; its route is the template of the address, never the address."""

    def __init__(self, app: ASGIApp, requests: Counter, seconds: Histogram) -> None:
        super().__init__(app)
        self._requests = requests
        self._seconds = seconds

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        began, noting = time.perf_counter(), StatusRecorder(send, otherwise=LEFT)
        try:
            await self._app(scope, receive, noting)
        finally:
            self._requests.labels(_route(scope), str(noting.status)).inc()
            self._seconds.labels(_route(scope)).observe(time.perf_counter() - began)


def _route(scope: Scope) -> str:
    if scope["path"].startswith(f"{URL}/"):
        return f"{URL}/{{file}}"
    path: str = getattr(scope.get("route"), "path", "unmatched")
    return path


class ErrorPages(HttpMiddleware):
    """Turns every exception into a page. *show* makes it from a status, a title and a message."""

    def __init__(self, app: ASGIApp, show: Show) -> None:
        super().__init__(app)
        self._show = show

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        noting = StatusRecorder(send)
        try:
            await self._app(scope, receive, noting)
        except ClientDisconnect:
            return
        except Exception as error:
            status, message = describe_failure(error)
            if noting.started:
                raise
            response = await self._show(Request(scope), status, TITLES.get(status, HTTPStatus(status).phrase), message)
            await response(scope, receive, send)


def describe_failure(error: Exception) -> tuple[int, str]:
    """The status and the message for people; what is our fault is logged."""
    if isinstance(error, HTTPException):
        detail = error.detail if error.detail != HTTPStatus(error.status_code).phrase else ""
        return error.status_code, detail or MESSAGES.get(error.status_code, "")
    if isinstance(error, RequestValidationError):
        return 422, MESSAGES[422]
    if isinstance(error, (OperationalError, InterfaceError, PoolTimeout)):
        # Without its statement and parameters: they hold what the learner wrote.
        log.error("database-unavailable", error=_reason(error, "no free connection"))
        return 503, MESSAGES[503]
    if isinstance(error, (IntegrityError, NoResultFound, StaleDataError)):
        # Two requests changed one thing: a learner who was merged into an account, a name that two people took, an
        # assignment that is gone.
        log.warning("request-too-late", error=_reason(error))
        return 409, MESSAGES[409]
    log.error("request-failed", exc_info=error)
    return 500, MESSAGES[500]


def _reason(error: Exception, otherwise: str = "") -> str:
    """Reason of a database *error*, without its values: PostgreSQL's details contain addresses, names and ids."""
    original = getattr(error, "orig", None)
    details = getattr(original, "diag", None)
    parts = (getattr(details, name, None) for name in ("constraint_name", "message_primary"))
    return next((str(item) for item in parts if item), str(original or otherwise or error))[:200]
