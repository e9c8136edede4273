"""The real server as a process of its own, with real graders; and what it says where it cannot start."""

import asyncio
import contextlib
import json
import os
import signal
import socket
import sqlite3
import stat
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
import structlog
import uvicorn
from starlette.testclient import TestClient
from structlog.typing import EventDict

from app.cli import main
from app.store import cleanup, database
from app.web import server as server_module
from app.web.application import create_app
from tests.waiting import SECONDS, until

COURSE = Path(__file__).parent / "course"


@pytest.fixture
def port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def running(tmp_path: Path, port: int) -> Iterator[subprocess.Popen[bytes]]:
    environment = {
        **os.environ,
        "BACKHAND_LESSONS": str(COURSE),
        "BACKHAND_DATA_DIR": str(tmp_path / "data"),
        "BACKHAND_GRADERS": "1",
    }
    command = [sys.executable, "-m", "app", "serve", "--port", str(port)]
    with subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as process:
        yield process
        process.kill()


def get(port: int, path: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=SECONDS) as response:
            return response.status, response.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()
    except urllib.error.URLError:
        return 0, ""


def first(port: int, path: str, status: int) -> str:
    """The first answer with *status*."""
    found: list[str] = []

    def asked() -> bool:
        answered, text = get(port, path)
        found.append(text)
        return answered == status

    until(asked)
    return found[-1]


def test_pages_come_first_then_graders_and_a_signal_ends_it_all(
    running: subprocess.Popen[bytes], port: int, tmp_path: Path
) -> None:
    first(port, "/healthz", 200)
    assert get(port, "/lessons/linear")[0] == 200
    assert (tmp_path / "data" / "backhand.db").exists()
    ready = json.loads(first(port, "/readyz", 200))
    assert ready["state"] in ("ready", "refused")
    assert stat.S_IMODE((tmp_path / "data" / "backhand.db").stat().st_mode) == 0o600

    running.send_signal(signal.SIGTERM)
    running.wait(SECONDS)
    assert running.returncode in (0, -signal.SIGTERM)
    assert get(port, "/healthz")[0] == 0


class Started(NamedTuple):
    returncode: int
    stderr: str


Start = Callable[..., Started]


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Start:
    """`backhand serve` in this process; it must end before it serves."""

    def call(folder: Path, port: int, settings: dict[str, str], *options: str) -> Started:
        given = {"BACKHAND_LESSONS": str(COURSE), "BACKHAND_DATA_DIR": str(folder), **settings}
        for name, value in given.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr(sys, "argv", ["backhand", "serve", "--port", str(port), *options])
        with pytest.raises(SystemExit) as ended:
            main()
        return Started(int(ended.value.code or 0), capfd.readouterr().err)

    def serve(*_: object) -> None:
        raise AssertionError("it serves")

    monkeypatch.setattr(server_module, "LocalGraders", serve)
    return call


def test_a_server_whose_secret_was_emptied_does_not_start(start: Start, tmp_path: Path, port: int) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "secret").touch()

    ended = start(folder, port, {})

    assert ended.returncode == 1
    assert f"The secret of this server, {folder}/secret, has 0 bytes; it should have 32." in ended.stderr


@pytest.mark.parametrize(
    ("name", "value", "code", "said"),
    [
        ("GRADERS", "many", 2, "BACKHAND_GRADERS is 'many'. Input should be a valid integer"),
        ("GRADERS", "0", 2, "BACKHAND_GRADERS is '0'. Input should be greater than or equal to 1"),
        ("DATABASE_URL", "nonsense", 2, "BACKHAND_DATABASE_URL cannot be used. It wants postgresql+psycopg://"),
        ("DATABASE_URL", "oracle://x/y", 2, "BACKHAND_DATABASE_URL cannot be used. It wants postgresql+psycopg://"),
        ("DATABASE_URL", "postgresql+none://x/y", 1, "The database of BACKHAND_DATABASE_URL cannot be used: "),
        ("NATS_URL", "broker:4222", 2, "BACKHAND_NATS_URL cannot be used. It wants the address of a NATS broker"),
        ("NATS_URL", "http://web:hidden@x", 2, "BACKHAND_NATS_URL cannot be used. It wants the address of a NATS"),
        ("NATS_NKEY", "/nowhere", 2, "BACKHAND_NATS_NKEY is '/nowhere'. It cannot be read: No such file"),
        ("NATS_NKEY", __file__, 2, "It holds no seed of a user's nkey"),
        ("CGROUP", "/nowhere", 2, "BACKHAND_CGROUP is '/nowhere'. There is no such control group."),
        ("REPLICAS", "2", 2, "BACKHAND_REPLICAS is '2'. Several servers need one PostgreSQL"),
        ("DATA_DIR", "/proc/none", 1, "The database of BACKHAND_DATA_DIR cannot be used: [Errno 2]"),
        ("SECURE_COOKIES", "perhaps", 2, "BACKHAND_SECURE_COOKIES is 'perhaps'."),
        ("CHECKS_PER_MINUTE", "-1", 2, "BACKHAND_CHECKS_PER_MINUTE is '-1'."),
        ("LESSONS", "/nowhere", 1, "1 fault in /nowhere; mend what is named, then serve again."),
    ],
)
def test_a_setting_that_cannot_be_used_is_named_and_nothing_starts(
    tmp_path: Path, port: int, start: Start, name: str, value: str, code: int, said: str
) -> None:
    result = start(tmp_path, port, {f"BACKHAND_{name}": value})

    assert result.returncode == code
    assert said in result.stderr
    assert "Traceback" not in result.stderr
    assert "hidden" not in result.stderr, "a password is not shown"


def test_a_port_in_use_is_said_before_anything_starts(tmp_path: Path, start: Start) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        result = start(tmp_path, other.getsockname()[1], {})

    assert result.returncode == 1
    assert "already. Choose a free one with --port, such as" in result.stderr
    assert "serving" not in result.stderr


def test_a_host_that_is_not_here_is_said(tmp_path: Path, port: int, start: Start) -> None:
    result = start(tmp_path, port, {}, "--host", "192.0.2.1")

    assert result.returncode == 1
    assert f"192.0.2.1 port {port} cannot be listened on" in result.stderr


def test_a_locked_database_is_said_and_nothing_starts(
    tmp_path: Path, port: int, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "BUSY_SECONDS", 0.05)
    with contextlib.closing(sqlite3.connect(tmp_path / "backhand.db", isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        result = start(tmp_path, port, {})

    assert result.returncode == 1
    assert "The database of BACKHAND_DATA_DIR cannot be used: " in result.stderr
    assert "locked" in result.stderr
    assert "Traceback" not in result.stderr


def test_a_database_that_can_only_be_read_is_said_and_nothing_starts(tmp_path: Path, port: int, start: Start) -> None:
    file = tmp_path / "backhand.db"
    sqlite3.connect(file).close()
    file.touch()
    result = start(tmp_path, port, {"BACKHAND_DATABASE_URL": f"sqlite+aiosqlite:///file:{file}?mode=ro&uri=true"})

    assert result.returncode == 1
    assert "cannot be used: attempt to write a readonly database." in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    ("host", "named", "asked", "served"),
    [
        ("127.0.0.1", "", "localhost:8000", True),
        ("127.0.0.1", "", "[::1]:8000", True),
        ("127.0.0.1", "", "evil.example", False),
        ("localhost", "", "127.0.0.1.evil.example", False),
        ("127.0.0.1", "learn.example", "learn.example", True),
        ("127.0.0.1", "learn.example", "LEARN.example:443", True),
        ("127.0.0.1", "learn.example", "localhost", False),
        ("0.0.0.0", "learn.example other.example", "evil.example", False),
        ("0.0.0.0", "", "learn.example", True),
    ],
)
def test_a_server_answers_to_its_own_names(settings, course, grader, host, named, asked, served) -> None:
    hosts = server_module._hosts(settings.model_copy(update={"hosts": named}), host)
    app = create_app(settings, course, grader, hosts=hosts)
    with TestClient(app) as client:
        answers = [client.get(path, headers={"host": asked}).status_code for path in ("/", "/healthz")]

    assert answers == [200 if served else 400, 200]


def test_an_application_that_runs_is_not_started_a_second_time(unstarted) -> None:
    with TestClient(unstarted), pytest.raises(RuntimeError, match="runs already"), TestClient(unstarted):
        pass
    with TestClient(unstarted) as client:
        assert client.get("/healthz").status_code == 200


def test_a_signal_that_interrupts_the_log_adds_no_line_to_it_at_once(unstarted) -> None:
    async def stop() -> list[EventDict]:
        server.handle_exit(signal.SIGTERM, None)
        before = list(told)
        await asyncio.sleep(0)
        return before

    server = server_module.Server(uvicorn.Config(unstarted), unstarted)
    with structlog.testing.capture_logs() as told:
        before = asyncio.run(stop())

    assert server.should_exit
    assert before == []
    assert [(line["event"], line["signal"]) for line in told] == [("stopping", "SIGTERM")]


@pytest.mark.parametrize(
    ("changed", "less"),
    [
        ({}, set()),
        ({"demo": True}, {"sittings", "sittings-drawn"}),
        ({"replicas": 2}, {"items", "sweep"}),
    ],
    ids=["alone", "a demonstration", "one of several"],
)
def test_a_server_begins_each_of_its_jobs(settings, course, grader, monkeypatch, changed, less) -> None:
    begun = []

    async def noted(name, *_) -> None:
        begun.append(name)

    monkeypatch.setattr(cleanup, "run_periodically", noted)
    with TestClient(create_app(settings.model_copy(update=changed), course, grader)):
        pass

    all_jobs = {"items", "lti-line-items", "lti-rosters", "lti-scores", "refill", "sittings", "sittings-drawn",
                "sweep", "take-over"}  # fmt: skip
    assert sorted(begun) == sorted(all_jobs - less)


HIDDEN = """
import ctypes
from pathlib import Path
from app.settings import Settings
from app.web import server

def stop(_folder):
    raise SystemExit(ctypes.CDLL(None).prctl(3, 0, 0, 0, 0))

server.load_course = stop
server.serve(Settings(data_dir=Path("nowhere")), "127.0.0.1", 0)
"""


def test_the_memory_of_the_web_process_is_hidden() -> None:
    done = subprocess.run([sys.executable, "-c", HIDDEN], timeout=SECONDS, check=False, capture_output=True)

    assert done.returncode == 0, done.stderr
