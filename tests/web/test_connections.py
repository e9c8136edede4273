"""More connections than there are descriptors, and connections that send nothing: the server stays there for others."""

import asyncio
import contextlib
import errno
import os
import resource
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
import structlog
from fastapi import FastAPI

from app.web import request_heads
from app.web.connections import FEWEST, MAX_CONNECTIONS, Listener, LoopErrors, most_connections
from app.web.server import _bind_sockets
from tests.waiting import SECONDS, until
from tests.web.listening import listening

COURSE = Path(__file__).parent / "course"
FEW_DESCRIPTORS, MOST_DESCRIPTORS = 48, 96
GET = b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n"


class Starved(NamedTuple):
    """A real server that began with few descriptors and may have `MOST_DESCRIPTORS`; *lines* is its log."""

    process: subprocess.Popen[bytes]
    port: int
    lines: Path


@pytest.fixture(scope="module")
def starved(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Starved]:
    """One for all: each start takes seconds of processor time."""
    folder = tmp_path_factory.mktemp("starved")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    environment = {
        **os.environ,
        "BACKHAND_LESSONS": str(COURSE),
        "BACKHAND_DATA_DIR": str(folder / "data"),
        "BACKHAND_GRADERS": "1",
    }
    limits = f"--nofile={FEW_DESCRIPTORS}:{MOST_DESCRIPTORS}"
    lines = folder / "log"
    with lines.open("wb") as log:
        process = subprocess.Popen(
            ["prlimit", limits, sys.executable, "-m", "app", "serve", "--port", str(port)],
            env=environment, stdout=log, stderr=log,
        )  # fmt: skip
    with process:
        until(lambda: is_healthy(port))
        yield Starved(process, port, lines)
        process.kill()


def is_healthy(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=SECONDS) as response:
            return bool(response.status == 200)
    except OSError:
        return False


@contextlib.contextmanager
def idle(port: int, count: int) -> Iterator[None]:
    """*count* connections that send nothing."""
    with contextlib.ExitStack() as stack:
        for _ in range(count):
            with contextlib.suppress(OSError):
                stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=SECONDS))
        yield


def test_a_server_takes_as_many_descriptors_as_it_may(starved: Starved) -> None:
    limits = resource.prlimit(starved.process.pid, resource.RLIMIT_NOFILE)

    assert limits == (MOST_DESCRIPTORS, MOST_DESCRIPTORS)


def test_idle_connections_beyond_the_descriptors_keep_no_one_out(starved: Starved) -> None:
    before = starved.lines.stat().st_size
    for _ in range(5):
        with idle(starved.port, 2 * MOST_DESCRIPTORS):
            assert is_healthy(starved.port)

    assert is_healthy(starved.port)
    assert starved.process.poll() is None
    assert starved.lines.stat().st_size - before < 20_000
    assert "Traceback" not in starved.lines.read_text()


def test_a_server_without_descriptors_says_so_and_goes_on_with_one(starved: Starved) -> None:
    process, port, lines = starved
    only_streams = 3  # whatever connections it closes meanwhile, no number below this comes free
    resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (only_streams, MOST_DESCRIPTORS))

    with idle(port, 3):
        until(lambda: "out-of-descriptors" in lines.read_text())
        resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (MOST_DESCRIPTORS, MOST_DESCRIPTORS))
        until(lambda: is_healthy(port))

    assert "Traceback" not in lines.read_text()


def test_sockets_of_a_server_pause_where_no_descriptor_is_left() -> None:
    listeners = _bind_sockets("127.0.0.1", 0)

    assert all(isinstance(one, Listener) for one in listeners)
    for one in listeners:
        one.close()


class Refusing(socket.socket):
    """A socket for which there is never a descriptor."""

    asked = 0

    def accept(self) -> tuple[socket.socket, object]:
        Refusing.asked += 1
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))


def test_where_no_descriptor_is_left_a_listener_is_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """asyncio sets a timer for each accept that fails so, and each timer begins a whole row of them."""
    monkeypatch.setattr(socket.socket, "accept", Refusing.accept)
    with Listener() as listener:
        with pytest.raises(OSError, match="Too many open files"):
            listener.accept()
        for _ in range(100):
            with pytest.raises(BlockingIOError):
                listener.accept()

    assert Refusing.asked == 1


def test_a_full_table_of_descriptors_is_one_line_a_minute() -> None:
    now = 0.0
    tell = LoopErrors(lambda: now)
    full = {"message": "socket.accept() out of system resource", "exception": OSError(errno.EMFILE, "Too many")}
    with structlog.testing.capture_logs() as logged, contextlib.closing(asyncio.new_event_loop()) as loop:
        for moment in (0.0, 1.0, 59.0, 61.0, 62.0):
            now = moment
            tell(loop, full)

    assert [one["event"] for one in logged] == ["out-of-descriptors"] * 2
    assert "LimitNOFILE" in logged[0]["fix"]


def test_other_errors_of_the_loop_are_told_as_ever(caplog: pytest.LogCaptureFixture) -> None:
    with contextlib.closing(asyncio.new_event_loop()) as loop:
        LoopErrors()(loop, {"message": "something else", "exception": OSError(errno.ECONNRESET, "reset")})

    assert "something else" in caplog.text


def test_half_of_the_free_descriptors_are_for_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    used = len(list(Path("/proc/self/fd").iterdir()))
    for soft, most in (
        (0, FEWEST),
        (used + 100, 50),
        (10**9, MAX_CONNECTIONS),
        (resource.RLIM_INFINITY, MAX_CONNECTIONS),
    ):
        monkeypatch.setattr(resource, "getrlimit", lambda _, soft=soft: (soft, soft))
        assert abs(most_connections() - most) <= 2


@pytest.fixture
def serving(unstarted: FastAPI, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., int]]:
    """Serve the application with so many connections; the port."""
    with contextlib.ExitStack() as stack:

        def serve(most: int) -> int:
            monkeypatch.setattr("app.web.server.most_connections", lambda: most)
            return stack.enter_context(listening(unstarted, Listener()))

        yield serve


def connected(port: int, sent: bytes = b"") -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port), timeout=SECONDS)
    connection.sendall(sent)
    return connection


def ends(connection: socket.socket) -> bool:
    """Whether the server has closed it; waits until it has."""
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


@pytest.mark.parametrize("sent", [b"", b"G", GET[:-2], GET + b"G"], ids=["nothing", "a letter", "no end", "a second"])
def test_a_connection_without_a_whole_head_is_closed(
    serving: Callable[..., int], monkeypatch: pytest.MonkeyPatch, sent: bytes
) -> None:
    monkeypatch.setattr(request_heads, "HEAD_SECONDS", 0.2)
    with connected(serving(10), sent) as connection:
        got = b"".join(iter(lambda: connection.recv(65536), b""))  # a body may come after its head

        assert got[:13] == (b"HTTP/1.1 200 " if sent.startswith(GET) else b"")


SLOW_BODY = (
    b"POST /theme HTTP/1.1\r\nhost: localhost\r\nsec-fetch-site: same-origin\r\ncontent-length: 5\r\n"
    b"content-type: application/x-www-form-urlencoded\r\nexpect: 100-continue\r\n\r\n"
)


def test_the_connection_that_waits_longest_for_its_head_gives_way(serving: Callable[..., int]) -> None:
    port = serving(2)
    with connected(port, SLOW_BODY) as busy, connected(port) as first:
        assert busy.recv(65536).startswith(b"HTTP/1.1 100 ")
        with connected(port, SLOW_BODY) as other:
            assert ends(first)
            assert other.recv(65536).startswith(b"HTTP/1.1 100 ")
            with connected(port) as newest:
                assert ends(newest)
