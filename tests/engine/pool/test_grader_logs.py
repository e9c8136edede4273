"""A grader's log: one line for each thing, whatever a submission has put into it."""

import io
import json
import logging
import socket
import subprocess
import sys
from collections.abc import Iterator

import pytest

from app.engine.pool.grader_logs import OneLine, log_in_lines
from tests.waiting import SECONDS

EVIL = [
    "a\nb",
    "a\r\nb",
    "\x1b[2J\x1b[31mred",
    '", "event": "forged',
    '\n{"event": "forged"}',
    "\u2028",
    "\x85",
    "\ud800",
    "\x7f",
]
SCRIPT = """
import logging, sys
from app.engine.pool import worker
worker.serve = lambda *_: logging.getLogger("app").error("said: %s", sys.argv[3])
worker.main()
"""


@pytest.fixture
def stream() -> Iterator[io.StringIO]:
    handlers, level = logging.root.handlers[:], logging.root.level
    written = io.StringIO()
    yield written
    logging.root.handlers[:], logging.root.level = handlers, level


@pytest.mark.parametrize("evil", EVIL, ids=ascii)
def test_a_message_and_its_traceback_are_one_line(stream: io.StringIO, evil: str) -> None:
    log_in_lines(stream)
    error = RuntimeError(evil)
    logging.getLogger("app.engine.grade.engine").error("a check failed: %s", evil, exc_info=error)

    line, *others = stream.getvalue().split("\n")
    assert others == [""]
    assert line.isprintable()
    said = json.loads(line)
    assert said["event"] == f"a check failed: {evil}"
    assert evil in said["exception"]
    assert (said["level"], said["logger"]) == ("error", "app.engine.grade.engine")


def test_a_long_message_is_cut() -> None:
    record = logging.LogRecord("app", logging.ERROR, "", 1, "x" * 10**6, (), None)

    assert len(OneLine().format(record)) < 20_000


def test_a_grader_logs_in_such_lines() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        command = [sys.executable, "-c", SCRIPT, str(theirs.fileno()), "{}", 'x\n{"event": "forged"}']
        done = subprocess.run(
            command, capture_output=True, text=True, pass_fds=[theirs.fileno()], timeout=SECONDS, check=True
        )

    assert [json.loads(line)["event"] for line in done.stderr.splitlines()] == ['said: x\n{"event": "forged"}']
