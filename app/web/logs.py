"""One line per request: what was asked and how it went; no submission, no token, no query."""

import logging
import time

import structlog
from starlette.types import ASGIApp, Message, Receive, Scope, Send

log = structlog.get_logger()


def configure_logs(*, plain: bool) -> None:
    """*plain* for people at a terminal, JSON lines otherwise."""
    # No local variables in tracebacks: they hold tokens and submissions.
    tracebacks = structlog.tracebacks.ExceptionDictTransformer(show_locals=False)
    as_lines = structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            *([] if plain else [structlog.processors.ExceptionRenderer(tracebacks)]),
            as_lines if plain else structlog.processors.JSONRenderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        cache_logger_on_first_use=False,
    )


class RequestLog:
    """Logs pages and answers; files and health checks are left out."""

    def __init__(self, app: ASGIApp, quiet: tuple[str, ...] = ("/static/", "/healthz", "/readyz")) -> None:
        self._app = app
        self._quiet = quiet

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"].startswith(self._quiet):
            await self._app(scope, receive, send)
            return
        began, status = time.perf_counter(), 0

        async def send_noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, send_noting)
        finally:
            milliseconds = round((time.perf_counter() - began) * 1000, 1)
            log.info("request", method=scope["method"], path=scope["path"][:200], status=status, ms=milliseconds)
