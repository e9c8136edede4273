"""One line per request: what was asked and how it went; no submission, no token, no query."""

import io
import logging
import time
from typing import TextIO

import structlog
from starlette.types import ASGIApp, Receive, Scope, Send
from structlog.typing import EventDict, ExcInfo, WrappedLogger

from app.web.middleware.noting import Noting

log = structlog.get_logger()


def configure_logs(*, plain: bool) -> None:
    """*plain* for people at a terminal, JSON lines otherwise."""
    # No local variables in tracebacks: they hold tokens and submissions.
    tracebacks = structlog.tracebacks.ExceptionDictTransformer(show_locals=False)
    as_lines = structlog.dev.ConsoleRenderer(exception_formatter=_traceback)
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            _printable if plain else structlog.processors.ExceptionRenderer(tracebacks),
            as_lines if plain else structlog.processors.JSONRenderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        cache_logger_on_first_use=False,
    )


def _printable(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Values without control characters: an address must not move the cursor of whoever reads the log."""
    return {name: _escaped(value) if isinstance(value, str) else value for name, value in event.items()}


def _escaped(text: str, kept: str = "") -> str:
    return "".join(one if one.isprintable() or one in kept else ascii(one)[1:-1] for one in text)


def _traceback(stream: TextIO, error: ExcInfo) -> None:
    plain = io.StringIO()
    structlog.dev.plain_traceback(plain, error)
    stream.write(_escaped(plain.getvalue(), kept="\n"))


class RequestLog:
    """Logs pages and answers; files and health checks are left out."""

    def __init__(self, app: ASGIApp, quiet: tuple[str, ...] = ("/static/", "/healthz", "/readyz", "/metrics")) -> None:
        self._app = app
        self._quiet = quiet

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"].startswith(self._quiet):
            await self._app(scope, receive, send)
            return
        began, noting = time.perf_counter(), Noting(send)
        try:
            await self._app(scope, receive, noting)
        finally:
            milliseconds = round((time.perf_counter() - began) * 1000, 1)
            log.info("request", method=scope["method"], path=scope["path"][:200], status=noting.status, ms=milliseconds)
