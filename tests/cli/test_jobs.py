"""`backhand jobs`, as an operator calls it."""

import json
import os
import signal
import subprocess
import sys

from typer.testing import CliRunner

from app.cli.commands import app
from tests.waiting import SECONDS, until


def test_on_sqlite_there_is_nothing_to_do_for_others(tmp_path, monkeypatch):
    monkeypatch.setenv("BACKHAND_DATA_DIR", str(tmp_path))

    refused = CliRunner().invoke(app, ["jobs"])

    assert refused.exit_code == 2
    assert "On SQLite there is one server" in refused.output


def test_it_goes_on_until_it_is_told_to_stop(postgres_url):
    process = subprocess.Popen(
        [sys.executable, "-m", "app", "jobs"],
        env=os.environ | {"BACKHAND_DATABASE_URL": postgres_url},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    lines = iter(process.stdout.readline, "")
    until(lambda: json.loads(next(lines)).get("event") == "sweeping")

    process.send_signal(signal.SIGTERM)

    assert process.wait(SECONDS) == 0
    process.stderr.close()
    process.stdout.close()
