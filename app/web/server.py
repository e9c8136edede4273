"""Run the web server with its graders until it is told to stop."""

import asyncio
import contextlib
import errno
import signal
import socket
import sqlite3
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from pathlib import Path
from types import FrameType
from typing import Any, cast

import structlog
import uvicorn
from alembic.util import CommandError
from fastapi import FastAPI
from sqlalchemy.exc import SQLAlchemyError
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from app.content.blocks import Course
from app.course.course import load_course
from app.course.last_good import reload_course
from app.engine.grade.seeds import FILE, SecretError, Seeds, seeds_in
from app.engine.grader import Grader
from app.engine.pool.local_graders import LocalGraders
from app.installation import adopt_misplaced, misplaced_databases
from app.sandbox.kernel import hide_memory
from app.settings import Settings
from app.store import database_errors
from app.store.database import Database
from app.store.invitations import first_word
from app.store.migrate import migrate
from app.teaching.codes import shown_code
from app.web.application import create_app
from app.web.author_preview import Preview
from app.web.connections import BACKLOG, Listener, LoopErrors, most_connections, raise_descriptor_limit
from app.web.course_reload import CourseReload, process_file
from app.web.middleware.reports import configure_logs
from app.web.request_heads import bounded_heads

log = structlog.get_logger()

# Long enough for a check that just began; then connections are closed.
STOP_SECONDS = 10
ONE_NETWORK = "All who come through it are one network to every limit."
NAME_PROXIES = "Name it in BACKHAND_PROXY_ADDRESSES, or have the header taken away on the way here."
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


class ServeError(Exception):
    """The server cannot start; its text tells the operator what to change."""


class Server(uvicorn.Server):
    """Says that it is stopping before it does, so that nothing new is sent here."""

    def __init__(self, config: uvicorn.Config, app: FastAPI) -> None:
        super().__init__(config)
        self._app = app

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._app.state.stopping = True
        # Later: the signal may have interrupted a line of the log, which holds the lock that the next one takes.
        asyncio.get_running_loop().call_soon_threadsafe(self._leave, sig)
        super().handle_exit(sig, frame)

    def _leave(self, sig: int) -> None:
        self._app.state.site.runs.end_streams()  # an open stream would keep the server from stopping
        log.info("stopping", signal=signal.Signals(sig).name)


def serve(
    settings: Settings,
    host: str,
    port: int,
    *,
    reload: bool = False,
    preview: tuple[Path, Sequence[str]] | None = None,
    announce: Callable[[str], None] | None = None,
) -> None:
    """Serve the course of *settings* on *host* and *port*.

    Args:
        reload: For an author: take up changes at once, show drafts and tell on the pages what is wrong.
        preview: The same for one lesson: its file, and the command that checks it. The course may have faults.
        announce: Called with the address as soon as the server takes requests.

    Raises:
        LessonErrors: The course has faults; nothing was started.
        ServeError: The address or the database cannot be used; nothing was started.
    """
    configure_logs(plain=sys.stderr.isatty())
    hide_memory()
    raise_descriptor_limit()
    for path in misplaced_databases(settings.data_dir):
        log.warning("misplaced-database", path=str(path), fix=adopt_misplaced(path, settings.data_dir))
    course = reload_course(Course(units=()), settings.lessons)[0] if preview else load_course(settings.lessons)
    listeners = _bind_sockets(host, port)
    try:
        asyncio.run(_serve(settings, course, host, listeners, reload=reload, preview=preview, announce=announce))
    finally:
        for listener in listeners:
            listener.close()


def _bind_sockets(host: str, port: int) -> list[socket.socket]:
    """A socket for every address of *host*; a name such as localhost has several."""
    listeners: list[socket.socket] = []
    try:
        for family, kind, protocol, _, address in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
            listeners.append(Listener(family, kind, protocol))
            listeners[-1].setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                listeners[-1].setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            listeners[-1].bind(address)
    except OSError as error:
        for item in listeners:
            item.close()
        if error.errno == errno.EADDRINUSE:
            raise ServeError(
                f"Another program listens on port {port} already. Choose a free one with --port, "
                "such as backhand serve --port 8010."
            ) from None
        raise ServeError(f"{host} port {port} cannot be listened on: {error.strerror or error}.") from None
    return listeners


def configured(app: FastAPI, proxies: Sequence[str] = ()) -> uvicorn.Config:
    """Configuration of uvicorn for *app*; *proxies* are trusted addresses or networks."""
    most = most_connections()
    return uvicorn.Config(
        _noting_peers(app, proxies),
        proxy_headers=False,
        http=bounded_heads(most),
        limit_concurrency=most + 1,
        backlog=max(1, min(BACKLOG, most // 8)),  # so many are accepted before one that gives way is closed
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=STOP_SECONDS,
    )


def _noting_peers(app: ASGIApp, proxies: Sequence[str]) -> ASGIApp:
    """Note who is at the other end, before the word of one of *proxies* is taken for where a request comes from.

    Of the addresses that proxies wrote one behind the other the last counts that is none of theirs: what is further to
    the left a browser may have written itself.
    """
    believing: Any = ProxyHeadersMiddleware(cast(Any, app), trusted_hosts=list(proxies))
    networks = [ip_network(proxy) for proxy in proxies]
    warned = False

    async def noted(scope: Scope, receive: Receive, send: Send) -> None:
        nonlocal warned
        peer = scope["peer"] = (scope.get("client") or ("", 0))[0]
        if not warned and any(name == b"x-forwarded-for" for name, _ in scope.get("headers", ())):
            warned = not _is_in(peer, networks)
            if warned:
                log.warning("proxy-not-believed", peer=peer, effect=ONE_NETWORK, fix=NAME_PROXIES)
        await believing(scope, receive, send)

    return noted


def _is_in(peer: str, networks: Sequence[IPv4Network | IPv6Network]) -> bool:
    try:
        return any(ip_address(peer) in network for network in networks)
    except ValueError:
        return False  # a socket of this machine has no address


def _hosts(settings: Settings, host: str) -> frozenset[str]:
    """The names that requests may ask for; empty for any.

    A page of another site can have its own name lead to this machine, and is then of one origin with what it finds
    here. A server that only this machine can reach knows its names; another is told them.
    """
    return settings.host_names or (LOOPBACK if host in LOOPBACK else frozenset())


async def _prepare_database(settings: Settings) -> None:
    try:
        await migrate(settings.resolved_database_url)
    except (SQLAlchemyError, CommandError, ImportError, OSError, sqlite3.Error) as error:
        setting = "BACKHAND_DATABASE_URL" if settings.database_url else "BACKHAND_DATA_DIR"
        reason = database_errors.unusable_reason(settings.resolved_database_url, error)
        raise ServeError(f"The database of {setting} cannot be used: {reason}") from error


async def _tell_first_word(settings: Settings) -> None:
    """Log an invitation code at each start until this server has an instructor."""
    async with Database(settings.resolved_database_url) as database, database.write() as db:
        word = await first_word(db)
    if word:
        log.info(
            "nobody-teaches",
            fix=f"Open {settings.prefix}/join/{shown_code(word)} to become an instructor, if you want classes.",
        )


def _seeds(settings: Settings) -> Seeds:
    try:
        return seeds_in(settings.data_dir)
    except OSError as error:
        path = settings.data_dir / FILE
        raise ServeError(f"The secret of this server, {path}, cannot be read: {error.strerror}.") from error
    except SecretError as error:
        raise ServeError(str(error)) from error


def _graders(settings: Settings) -> AbstractAsyncContextManager[Grader]:
    if not settings.nats_url:
        return LocalGraders(settings, watch=True, secret=True)
    try:
        from app.engine.pool.broker_graders import BrokerGraders  # an extra: nats-py is there where a broker is used
    except ModuleNotFoundError as error:
        raise ServeError(
            f"BACKHAND_NATS_URL is set. {error}. Install Backhand with it: pip install '.[nats]'."
        ) from None
    return BrokerGraders(settings)


async def _serve(
    settings: Settings,
    course: Course,
    host: str,
    listeners: list[socket.socket],
    *,
    reload: bool,
    preview: tuple[Path, Sequence[str]] | None,
    announce: Callable[[str], None] | None,
) -> None:
    asyncio.get_running_loop().set_exception_handler(LoopErrors())
    await _prepare_database(settings)
    seeds = _seeds(settings)
    if not settings.demo:
        await _tell_first_word(settings)
    port = listeners[0].getsockname()[1]
    async with _graders(settings) as graders:
        author = reload or preview is not None
        app = create_app(
            settings, course, graders,
            drafts=author, framed=preview is not None, mark=seeds.mark, hosts=_hosts(settings, host),
        )  # fmt: skip
        name = f"[{host}]" if ":" in host else host
        url = f"http://{name}:{port}{settings.prefix}"
        log.info("serving", url=url, lessons=len(course.lessons), data=str(settings.data_dir.absolute()))
        if announce:
            announce(url)
        with process_file(settings.data_dir):
            shown = Preview(app, *preview) if preview else None
            reloading = CourseReload(app, settings.lessons, course, shown.changed if shown else lambda: None)
            async with _taking_up_changes(reloading, at_once=author):
                if shown:
                    shown.changed()
                await Server(configured(app, settings.proxy_addresses.split()), app).serve(sockets=listeners)
                if shown:
                    await shown.close()


@contextlib.asynccontextmanager
async def _taking_up_changes(course: CourseReload, *, at_once: bool) -> AsyncIterator[None]:
    """SIGHUP has the course read again; or whatever is changed *at once*."""
    tasks: set[asyncio.Task[None]] = set()

    def begin(work: Coroutine[None, None, None]) -> None:
        tasks.add(task := asyncio.create_task(work))
        task.add_done_callback(tasks.discard)

    with contextlib.suppress(AttributeError, NotImplementedError):  # Windows has no such signal
        asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, lambda: begin(course.reload()))
    if at_once:
        begin(course.watch())
    yield
    for task in tuple(tasks):
        task.cancel()
