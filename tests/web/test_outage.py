"""The real server with real graders, from outside: a stopped run, a full disk, the end of the server during a check."""

import contextlib
import http.client
import os
import re
import resource
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.waiting import SECONDS, until

COURSE = Path(__file__).parent / "course"
BOX = "/lessons/linear/code/linear-backward"
BOX_BEGINS = "::::{grad} linear-backward\n"
RIGHT = "dX = dY @ W.T\ndW = X.T @ dY\ndb = dY.sum(0)\n"
ENDLESS = "while True:\n    pass\n"


def hasty_course(folder: Path) -> Path:
    """The course, with so little time for its box that a busy machine ends a run within the server's last seconds."""
    shutil.copytree(COURSE, folder)
    (lesson,) = folder.glob("*/01-linear.md")
    text = lesson.read_text("utf-8")
    lesson.write_text(text.replace(BOX_BEGINS, f"{BOX_BEGINS}:time: 1s\n"), "utf-8")
    assert BOX_BEGINS in text
    return folder


class Server:
    """A server process on a free port, which can be ended and started again with what it had stored."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = int(probe.getsockname()[1])
        self.database = folder / "data" / "backhand.db"
        self._environment = {
            **os.environ,
            "BACKHAND_LESSONS": str(hasty_course(folder / "course")),
            "BACKHAND_DATA_DIR": str(folder / "data"),
            "BACKHAND_GRADERS": "1",
            "BACKHAND_OPERATOR_TOKEN": "operator",
        }
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "app", "serve", "--port", str(self.port)],
            env=self._environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        until(lambda: self.ask("GET", "/readyz")[0] == 200)

    def ask(self, method: str, path: str, fields: dict[str, str] | None = None, cookie: str = "") -> tuple[int, str]:
        """Status and text; 0 where there was no answer."""
        connection = self.connection()
        try:
            self.send(connection, method, path, fields, cookie)
            with connection.getresponse() as response:
                return response.status, response.read().decode()
        except (OSError, http.client.HTTPException):
            return 0, ""
        finally:
            connection.close()

    def connection(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=SECONDS)

    @staticmethod
    def send(
        connection: http.client.HTTPConnection, method: str, path: str, fields: dict[str, str] | None, cookie: str = ""
    ) -> None:
        headers = {"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "navigate", "HX-Request": "true"}
        headers["Authorization"] = "Bearer operator"
        headers |= {"Cookie": cookie} if cookie else {}
        headers |= {"Content-Type": "application/x-www-form-urlencoded"} if fields else {}
        connection.request(method, path, urlencode(fields or {}), headers)

    def cookie(self) -> str:
        """The session of a new learner."""
        with contextlib.closing(self.connection()) as connection:
            self.send(connection, "POST", f"{BOX}/draft", {"code": "dX = 0", "revision": "0"})
            with connection.getresponse() as response:
                return response.headers["set-cookie"].partition(";")[0]

    def metric(self, name: str, **labels: str) -> float:
        families = text_string_to_metric_families(self.ask("GET", "/metrics")[1])
        samples = [one for family in families for one in family.samples if one.name == name]
        return next((one.value for one in samples if labels.items() <= one.labels.items()), 0.0)

    def texts(self, table: str) -> list[str]:
        with sqlite3.connect(self.database) as db:
            found = [text for (text,) in db.execute(f"SELECT text FROM {table}")]
        db.close()
        return found

    def end(self, number: signal.Signals) -> None:
        """Send *number* to the server alone, or, as what stops services does, SIGTERM to all its processes."""
        if number == signal.SIGTERM:
            os.killpg(self.process.pid, number)
        else:
            self.process.send_signal(number)
        self.process.wait(SECONDS)
        until(lambda: not self.processes())

    def processes(self) -> list[str]:
        """What still runs of the server: its graders, zygotes and children belong to its session."""
        found = []
        for file in Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):
                name, _, rest = file.read_text().rpartition(") ")
                state, _, _, session = rest.split()[:4]
                if state != "Z" and int(session) == self.process.pid:
                    found.append(name)
        return found


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One for all: each test asks as a learner of its own, with texts of its own."""
    found = Server(tmp_path_factory.mktemp("outage"))
    yield found
    if found.process.poll() is None:
        found.end(signal.SIGKILL)


def check(server: Server, cookie: str, code: str) -> tuple[int, str]:
    return server.ask("POST", f"{BOX}/check", {"code": code, "revision": "1"}, cookie)


def test_a_closed_connection_stops_its_run_and_frees_the_grader(server: Server) -> None:
    cookie, endless = server.cookie(), f"{ENDLESS}# stopped"
    assert 'data-passed="true"' in check(server, cookie, RIGHT)[1]
    ended = {one: server.metric("backhand_checks_total", kind="check", outcome=one) for one in ("stopped", "timeout")}

    with contextlib.closing(server.connection()) as connection:
        server.send(connection, "POST", f"{BOX}/check", {"code": endless, "revision": "2"}, cookie)
        until(lambda: server.metric("backhand_graders_idle") == 0)
    until(lambda: server.metric("backhand_graders_idle") == 1)

    assert server.metric("backhand_checks_total", kind="check", outcome="stopped") == ended["stopped"] + 1
    assert server.metric("backhand_checks_total", kind="check", outcome="timeout") == ended["timeout"]
    assert server.metric("backhand_graders_replaced") == 0
    assert endless in server.texts("draft")
    assert 'data-passed="true"' in check(server, cookie, RIGHT + "# again")[1]


def test_a_full_disk_is_told_and_the_server_goes_on_once_it_has_room(server: Server) -> None:
    cookie, right = server.cookie(), f"{RIGHT}# on a full disk"
    limits = resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))

    status, text = check(server, cookie, right)
    assert status == 503
    assert "The server cannot save right now" in text
    assert server.ask("GET", "/lessons/linear", cookie=cookie)[0] == 200
    until(lambda: server.ask("GET", "/readyz")[0] == 503)  # it is looked at once a second

    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, limits)
    assert 'data-passed="true"' in check(server, cookie, right)[1]
    assert right in server.texts("draft")
    until(lambda: server.ask("GET", "/readyz")[0] == 200)


def ended_during_a_check(server: Server, number: signal.Signals) -> tuple[str, int, str]:
    """The session of a learner who had checked a right text, and the answer to the check that was under way."""
    cookie, endless = server.cookie(), f"{ENDLESS}# until {number}"
    assert 'data-passed="true"' in check(server, cookie, f"{RIGHT}# before {number}")[1]
    answers: list[tuple[int, str]] = []
    asking = threading.Thread(target=lambda: answers.append(check(server, cookie, endless)))
    asking.start()
    until(lambda: endless in server.texts("draft") and server.metric("backhand_graders_idle") == 0)

    server.end(number)
    asking.join(SECONDS)

    ((status, text),) = answers
    return cookie, status, text


def test_a_server_killed_during_a_check_loses_nothing_written(server: Server) -> None:
    cookie, status, _ = ended_during_a_check(server, signal.SIGKILL)
    right = f"{RIGHT}# before {signal.SIGKILL}"

    assert status == 0
    server.start()
    page = server.ask("GET", "/lessons/linear", cookie=cookie)[1]
    assert re.search(r'<textarea id="linear-backward-code"[^>]*>\n?while True:', page)
    assert 'data-solved="true"' in page
    assert right in server.texts("attempt")
    assert 'data-passed="true"' in check(server, cookie, right)[1]


def test_a_server_that_is_told_to_end_answers_what_it_was_asked(server: Server) -> None:
    """The last that is asked of it."""
    _, status, text = ended_during_a_check(server, signal.SIGTERM)

    assert status == 200, text
    assert "took too long" in text
    assert f"{RIGHT}# before {signal.SIGTERM}" in server.texts("attempt")
    assert f"{ENDLESS}# until {signal.SIGTERM}" in server.texts("attempt")
