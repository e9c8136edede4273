"""`backhand jobs`, as an operator calls it."""

import json
import os
import signal
import subprocess
import sys

from tests.waiting import SECONDS, until


def started(**settings):
    return subprocess.Popen(
        [sys.executable, "-m", "app", "jobs"],
        env=os.environ | settings,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_on_sqlite_there_is_nothing_to_do_for_others(tmp_path):
    process = started(BACKHAND_DATA_DIR=str(tmp_path))

    _, said = process.communicate(timeout=SECONDS)

    assert process.returncode == 2
    assert "On SQLite there is one server" in said


def test_it_goes_on_until_it_is_told_to_stop(postgres_url):
    process = started(BACKHAND_DATABASE_URL=postgres_url)
    lines = iter(process.stdout.readline, "")
    until(lambda: json.loads(next(lines)).get("event") == "sweeping")

    process.send_signal(signal.SIGTERM)

    assert process.wait(300) == 0
    process.stderr.close()
    process.stdout.close()
