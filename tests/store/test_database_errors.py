"""Databases that cannot be used, as they are told to whoever set them up."""

import errno
import os
import sqlite3
from pathlib import Path
from types import SimpleNamespace

import pytest
from alembic.util import CommandError
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from app.store import database_errors
from app.store.database import open_engine
from app.store.migrate import migrate

pytestmark = pytest.mark.anyio


async def told(url: str) -> str:
    with pytest.raises((SQLAlchemyError, CommandError, sqlite3.Error)) as raised:
        await migrate(url)
    return database_errors.unusable_reason(url, raised.value)


@pytest.mark.parametrize(("revision", "version"), [("0099", "a newer"), ("0007", "an unreleased")])
async def test_a_database_of_another_version_is_told_as_that(empty: str, revision: str, version: str) -> None:
    await migrate(empty)
    engine = open_engine(empty)
    async with engine.begin() as connection:
        await connection.execute(text("UPDATE alembic_version SET version_num = :revision"), {"revision": revision})
    await engine.dispose()

    assert await told(empty) == (
        f"{version} version of Backhand has written it (revision {revision}). "
        "Start that version again, or restore a copy from before it."
    )


@pytest.mark.parametrize(
    ("url", "name", "write"),
    [
        ("sqlite:////tmp/x.db", "sqlite", "sqlite+aiosqlite"),
        ("sqlite+pysqlite:////tmp/x.db", "sqlite+pysqlite", "sqlite+aiosqlite"),
        ("postgres://me@there/db", "postgres", "postgresql+psycopg"),
    ],
)
async def test_a_url_without_a_driver_is_told_with_the_one_to_write(url: str, name: str, write: str) -> None:
    assert await told(url) == f"its URL begins with {name}://, which has no driver here. Write {write}://…"


async def test_a_file_that_cannot_be_opened_is_told_with_user_and_cure(tmp_path: Path) -> None:
    said = await told(f"sqlite+aiosqlite:///{tmp_path}")

    me = os.geteuid()
    assert said.startswith(f"{tmp_path} cannot be opened by user {me} (unable to open database file); {tmp_path} ")
    assert f"belongs to user {me}. Give it to that user (chown -R {me} {tmp_path})" in said


def test_a_folder_that_cannot_be_made_is_told_by_the_one_that_forbids_it(tmp_path: Path) -> None:
    said = database_errors.unusable_reason(
        f"sqlite+aiosqlite:///{tmp_path}/a/b/x.db", PermissionError(13, "Permission denied", "a")
    )

    assert f"{tmp_path}/a/b/x.db cannot be opened by user" in said
    assert f"; {tmp_path} belongs to user" in said


def test_a_missing_driver_is_told_with_what_to_install() -> None:
    said = database_errors.unusable_reason("postgresql+psycopg://", ModuleNotFoundError("No module named 'psycopg'"))

    assert said == "No module named 'psycopg'. Install Backhand with it: pip install '.[postgres]'."


def test_any_other_reason_ends_with_one_stop() -> None:
    assert (
        database_errors.unusable_reason("sqlite+aiosqlite://", ValueError("It is not there..\nMore"))
        == "It is not there."
    )


@pytest.mark.parametrize("flags", [0, os.ST_RDONLY])
async def test_a_read_only_file_system_is_told_as_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, flags: int
) -> None:
    monkeypatch.setattr(os, "statvfs", lambda _: SimpleNamespace(f_flag=flags))
    url = f"sqlite+aiosqlite:///{tmp_path}/backhand.db"

    said = database_errors.unusable_reason(url, sqlite3.OperationalError("unable to open database file"))

    if flags:
        assert f"{tmp_path} is on a file system that is mounted read-only." in said
        assert "chown" not in said
    else:
        assert "chown" in said


async def test_what_the_kernel_says_of_a_read_only_file_system_is_told(tmp_path: Path) -> None:
    error = OSError(errno.EROFS, os.strerror(errno.EROFS))

    assert "mounted read-only" in database_errors.unusable_reason(f"sqlite+aiosqlite:///{tmp_path}/backhand.db", error)
