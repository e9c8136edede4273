"""`backhand jobs`, as an operator calls it."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

from typer.testing import CliRunner

from app.cli.commands import app
from app.store import item_reports
from app.store.database import Database
from app.store.migrate import migrate
from tests.waiting import SECONDS, until

COURSE = Path(__file__).resolve().parents[1] / "web" / "course"


async def ask(url: str) -> None:
    await migrate(url)
    database = Database(url)
    async with database.write() as db:
        await item_reports.ask_report(db)
    await database.close()


def test_on_sqlite_there_is_nothing_to_do_for_others(tmp_path, monkeypatch):
    monkeypatch.setenv("BACKHAND_DATA_DIR", str(tmp_path))

    refused = CliRunner().invoke(app, ["jobs"])

    assert refused.exit_code == 2
    assert "On SQLite there is one server" in refused.output


def test_it_counts_what_was_asked_for_until_it_is_told_to_stop(postgres_url):
    asyncio.run(ask(postgres_url))
    process = subprocess.Popen(
        [sys.executable, "-m", "app", "jobs"],
        env=os.environ | {"BACKHAND_DATABASE_URL": postgres_url, "BACKHAND_LESSONS": str(COURSE)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    lines = iter(process.stdout.readline, "")
    until(lambda: json.loads(next(lines)).get("event") == "items-counted")

    process.send_signal(signal.SIGTERM)

    assert process.wait(SECONDS) == 0
    process.stderr.close()
    process.stdout.close()
