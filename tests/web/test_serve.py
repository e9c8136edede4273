"""The real server as a process of its own, with real graders."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

COURSE = Path(__file__).parent / "course"
WAIT_SECONDS = 60


@pytest.fixture
def port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def server(tmp_path: Path, port: int) -> Iterator[subprocess.Popen[bytes]]:
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
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=10) as response:
            return response.status, response.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()
    except urllib.error.URLError:
        return 0, ""


def first(port: int, path: str, status: int) -> str:
    """The first answer with *status*."""
    end = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < end:
        found, text = get(port, path)
        if found == status:
            return text
        time.sleep(0.05)
    raise AssertionError(f"{path} never answered {status}")


def test_pages_come_first_then_graders_and_a_signal_ends_it_all(
    server: subprocess.Popen[bytes], port: int, tmp_path: Path
) -> None:
    first(port, "/healthz", 200)
    assert get(port, "/lessons/linear")[0] == 200
    assert (tmp_path / "data" / "backhand.db").exists()
    ready = json.loads(first(port, "/readyz", 200))
    assert ready["state"] in ("ready", "refused")
    assert ready["layers"]

    server.send_signal(signal.SIGTERM)
    server.wait(WAIT_SECONDS)
    assert server.returncode in (0, -signal.SIGTERM)
    assert get(port, "/healthz")[0] == 0
