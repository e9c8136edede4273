"""What 1.0.0 and later versions wrote is read by this one: their databases, backups and courses are kept."""

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from app.course.course import load_course
from app.settings import Settings
from app.store.database_copies import restore_database
from app.web.application import create_app
from tests.compatibility.record import TEXT, exercises_in
from tests.web.conftest import BROWSER, FakeGrader
from tests.web.routes.accounts import sign_in, text_in_box

KEPT = sorted((Path(__file__).parent / "compatibility").glob("*.*.*"))
every_version = pytest.mark.parametrize("kept", KEPT, ids=lambda folder: folder.name)


def database_of(kept: Path, folder: Path) -> Path:
    file = folder / "backhand.db"
    with closing(sqlite3.connect(file)) as database:
        database.executescript((kept / "work.sql").read_text("utf-8"))
    return file


def served(kept: Path, folder: Path) -> Iterator[TestClient]:
    settings = Settings(data_dir=folder, lessons=kept / "course")
    with TestClient(create_app(settings, load_course(kept / "course"), FakeGrader()), headers=BROWSER) as client:
        yield client


@every_version
def test_accounts_texts_and_classes_of_an_earlier_version_are_there(kept: Path, tmp_path: Path) -> None:
    database_of(kept, tmp_path)
    for client in served(kept, tmp_path):
        sign_in(client, "Grace")
        assert text_in_box(client) == TEXT
        assert "Algebra" in client.get("/me").text
        client.post("/sign-out")
        sign_in(client, "Ada")
        assert "Grace" in client.get("/classes/1/roster").text


@every_version
def test_a_backup_of_an_earlier_version_is_restored(kept: Path, tmp_path: Path) -> None:
    backup = database_of(kept, tmp_path).rename(tmp_path / "old.backup")
    url = f"sqlite+aiosqlite:///{tmp_path / 'backhand.db'}"

    assert asyncio.run(restore_database(url, backup, replace=False)) == 2
    for client in served(kept, tmp_path):
        sign_in(client, "Grace")
        assert text_in_box(client) == TEXT


@every_version
def test_a_course_of_an_earlier_version_has_the_same_exercises(kept: Path) -> None:
    assert exercises_in(kept / "course") == (kept / "exercises.txt").read_text("utf-8").splitlines()


def test_there_is_something_of_the_first_version() -> None:
    assert "1.0.0" in [folder.name for folder in KEPT]
