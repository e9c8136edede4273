"""`backhand grader`, as an operator calls it."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from app.cli.commands import app
from tests.waiting import SECONDS, until

COURSE = Path(__file__).resolve().parents[1] / "web" / "course"


def started(folder: Path, *words: str, **settings: str) -> subprocess.Popen[str]:
    environment = os.environ | {"BACKHAND_DATA_DIR": str(folder), "BACKHAND_GRADERS": "1"} | settings
    return subprocess.Popen(
        [sys.executable, "-m", "app", *words],
        env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_when_it_is_told_to_though_no_broker_was_reached(tmp_path: Path, number: int) -> None:
    process = started(tmp_path, "grader", "--checks", "1", "--trains", "0", "--nats", "nats://web:hidden@127.0.0.1:1")
    assert process.stdout is not None
    lines = iter(process.stdout.readline, "")
    said: list[str] = []
    until(lambda: said.append(next(lines)) or "broker-not-reached" in said[-1])

    process.send_signal(number)
    _, errors = process.communicate(timeout=SECONDS)

    assert process.returncode == 0, errors
    assert {"event", "timestamp", "broker"} <= json.loads(said[-1]).keys()
    assert "hidden" not in "".join(said) + errors


@pytest.mark.parametrize("secret", [b"", b"short", b"x" * 31])
def test_a_secret_that_is_too_short_grades_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, secret: bytes
) -> None:
    async def hosted(*_: object) -> None:
        raise AssertionError("It went on.")

    monkeypatch.setattr("app.cli.grader._serve", hosted)
    monkeypatch.setenv("BACKHAND_DATA_DIR", str(tmp_path))
    (tmp_path / "secret").write_bytes(secret)

    refused = CliRunner().invoke(app, ["grader", "--nats", "nats://b:4222"])

    assert refused.exit_code == 2
    assert f"{tmp_path / 'secret'}, has {len(secret)} bytes; it should have 32." in refused.output
    assert (tmp_path / "secret").read_bytes() == secret


@pytest.mark.parametrize("words", [["grader", "--nats", "nats://b:4222"], ["serve", "--port", "0"]], ids=" ".join)
def test_without_the_client_of_the_broker_it_says_what_to_install(tmp_path: Path, words: list[str]) -> None:
    (tmp_path / "nats.py").write_text("raise ModuleNotFoundError(\"No module named 'nats'\")")
    settings = {"BACKHAND_NATS_URL": "nats://b:4222", "BACKHAND_LESSONS": str(COURSE)}
    process = started(tmp_path, *words, PYTHONPATH=str(tmp_path), **settings)

    _, errors = process.communicate(timeout=SECONDS)

    assert process.returncode == 2 or process.returncode == 1
    assert "No module named 'nats'. Install Backhand with it: pip install '.[nats]'." in errors
    assert "Traceback" not in errors
