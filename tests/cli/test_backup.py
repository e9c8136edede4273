import asyncio
import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from app.cli import app
from app.engine.grade.seeds import seeds_in
from app.lti.keys import encryption_in
from app.store.migrate import migrate
from app.web.course_reload import process_file

runner = CliRunner()


@pytest.fixture(autouse=True)
def data_dir(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("BACKHAND_DATA_DIR", str(tmp_path / "var"))
    monkeypatch.delenv("BACKHAND_DATABASE_URL", raising=False)
    return tmp_path / "var"


def migrated(folder: Path) -> Path:
    """A database without learners, elsewhere."""
    file = folder.with_name("fresh.db")
    asyncio.run(migrate(f"sqlite+aiosqlite:///{file}"))
    return file


def test_a_database_that_is_not_there_is_told_and_none_is_made(data_dir: Path, tmp_path: Path) -> None:
    result = runner.invoke(app, ["backup", str(tmp_path / "one.backup")])

    assert result.exit_code == 1
    assert f"{data_dir / 'backhand.db'} is not there" in result.output
    assert not data_dir.exists()


def test_a_missing_backup_is_told(tmp_path: Path) -> None:
    result = runner.invoke(app, ["restore", str(tmp_path / "one.backup")])

    assert result.exit_code == 1
    assert "one.backup cannot be read: No such file or directory." in result.output


def test_a_backup_and_its_restoration_say_what_they_did(data_dir: Path, tmp_path: Path) -> None:
    copy = tmp_path / "one.backup"
    assert runner.invoke(app, ["restore", str(migrated(data_dir))]).exit_code == 0

    saved = runner.invoke(app, ["backup", str(copy)])
    seeds_in(data_dir)
    again = runner.invoke(app, ["backup", f"{copy}-2"])
    restored = runner.invoke(app, ["restore", str(copy)])

    assert saved.output == f"{copy}: {copy.stat().st_size:,} bytes.\n"
    assert f"Not in it: {data_dir / 'secret'}" in again.output
    assert restored.output == f"{copy} is restored: 0 learners.\n"


@pytest.mark.parametrize("place", ["", "elsewhere.key"])
def test_a_backup_names_the_secret_of_platforms_keys(
    monkeypatch: pytest.MonkeyPatch, data_dir: Path, tmp_path: Path, place: str
) -> None:
    file = tmp_path / place if place else data_dir / "lti-secret"
    monkeypatch.setenv("BACKHAND_SECRET_KEY_FILE", str(file) if place else "")
    assert runner.invoke(app, ["restore", str(migrated(data_dir))]).exit_code == 0
    encryption_in(file, make=True)

    saved = runner.invoke(app, ["backup", str(tmp_path / "one.backup")])

    assert f"Not in it: {file}, which keys for learning platforms are encrypted under." in saved.output


def test_nothing_is_restored_under_a_server_that_runs(data_dir: Path) -> None:
    source = migrated(data_dir)
    data_dir.mkdir()
    with process_file(data_dir):
        beside = runner.invoke(app, ["restore", str(source)])
    after = runner.invoke(app, ["restore", str(source)])

    assert beside.exit_code == 1
    assert f"A server is running with {data_dir} (process {os.getpid()}). Stop it first" in beside.output
    assert after.exit_code == 0
