"""Backups of a database in use, and their way back, on both kinds of databases."""

import asyncio
import gc
import stat
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from anyio import to_thread
from sqlalchemy import Column, Date, String, text
from sqlalchemy.ext.asyncio import AsyncConnection, create_async_engine

from app.store import learners
from app.store.database import Database, UtcDateTime, open_engine
from app.store.database_copies import BackupError, backup_database, in_use, restore_database
from app.store.event_bus import EventBus
from app.store.tables import Base
from tests.store import revision_0009
from tests.waiting import SECONDS

pytestmark = pytest.mark.anyio

Rows = Mapping[str, Sequence[Any]]


@pytest.fixture(scope="module", autouse=True)
def _nobody_is_connected() -> None:
    """A restoration waits for all to leave, and what other tests cancelled leaves with the garbage."""
    gc.collect()


@asynccontextmanager
async def connected(url: str) -> AsyncIterator[AsyncConnection]:
    """A connection that is closed whatever becomes of the test: a restoration waits for all others to leave."""
    engine = open_engine(url)
    try:
        async with engine.begin() as connection:
            yield connection
    finally:
        await engine.dispose()


async def rows_of(url: str) -> Rows:
    async with connected(url) as connection:
        return {
            table.name: sorted(map(repr, await connection.execute(table.select())))
            for table in Base.metadata.sorted_tables
        }


async def changed(url: str, statement: str) -> None:
    async with connected(url) as connection:
        await connection.execute(text(statement))


def value_for(column: Column[Any], number: int) -> object:
    """Something that fits *column*; a key of another table is a row of it."""
    if isinstance(column.type, UtcDateTime):
        return datetime(2026, 1, number, 12, 30, 15, 123456, tzinfo=UTC)
    if isinstance(column.type, Date):
        return date(2026, 1, number)
    if isinstance(column.type, String):
        return f"{number} μ ∂ 🎈 \n\t '\"\\ {column.name}"[: column.type.length]
    return column.type.python_type(number)


@pytest.fixture
async def filled(migrated: str) -> str:
    """The URL of a database with two rows in every table."""
    async with connected(migrated) as connection:
        for table in Base.metadata.sorted_tables:
            for number in (1, 2):
                row = {column.name: value_for(column, number) for column in table.columns}
                await connection.execute(table.insert().values(row))
    return migrated


async def made(url: str, target: Path) -> Path:
    await to_thread.run_sync(backup_database, url, target)
    return target


async def refused(url: str, source: Path, *, replace: bool = True) -> str:
    """Why *source* is not restored; nothing has changed then."""
    before = await rows_of(url)
    with pytest.raises(BackupError) as raised:
        await restore_database(url, source, replace=replace)
    assert await rows_of(url) == before
    return str(raised.value)


async def test_a_restored_backup_holds_every_row_of_every_table(filled: str, tmp_path: Path) -> None:
    before = await rows_of(filled)
    copy = await made(filled, tmp_path / "one.backup")
    for table in reversed(Base.metadata.sorted_tables):
        await changed(filled, f"DELETE FROM {table.name}")
    await changed(filled, "INSERT INTO learner (id, created_at, teaches) VALUES (7, '2026-01-01', false)")

    assert await restore_database(filled, copy, replace=True) == 2

    assert await rows_of(filled) == before
    assert all(len(rows) == 2 for rows in before.values())


async def test_new_rows_after_a_restoration_get_new_numbers(database: Database, url: str, tmp_path: Path) -> None:
    async with database.write() as db:
        first, _ = await learners.begin_session(db)
    await database.close()
    await restore_database(url, await made(url, tmp_path / "one.backup"), replace=True)

    async with database.write() as db:
        second, _ = await learners.begin_session(db)

    assert second > first


async def test_an_older_backup_is_brought_to_the_newest_schema(filled: str, tmp_path: Path) -> None:
    await revision_0009.make_database(filled)
    copy = await made(filled, tmp_path / "old.backup")

    await restore_database(filled, copy, replace=True)

    engine = open_engine(filled)
    async with engine.connect() as connection:
        differences = await connection.run_sync(
            lambda one: compare_metadata(MigrationContext.configure(one), Base.metadata)
        )
    await engine.dispose()
    assert differences == []


async def test_a_backup_of_a_newer_version_is_refused_with_both_versions(filled: str, tmp_path: Path) -> None:
    await changed(filled, "UPDATE alembic_version SET version_num = '0099'")
    copy = await made(filled, tmp_path / "new.backup")
    await changed(filled, "UPDATE alembic_version SET version_num = '0003'")

    said = await refused(filled, copy)

    assert "newer version of Backhand (revision 0099; this one knows 00" in said


async def test_learners_are_given_up_only_where_that_is_said(filled: str, tmp_path: Path) -> None:
    copy = await made(filled, tmp_path / "one.backup")

    said = await refused(filled, copy, replace=False)

    assert said.startswith("The database holds 2 learners, whose work would be lost.")


async def test_a_backup_goes_into_a_database_that_is_not_there_yet(tmp_path: Path, filled: str) -> None:
    url = filled
    copy = await made(url, tmp_path / "one.backup")
    if url.startswith("sqlite"):
        fresh = f"sqlite+aiosqlite:///{tmp_path / 'elsewhere' / 'new.db'}"
        assert await restore_database(fresh, copy) == 2
    else:
        for table in (*map(str, Base.metadata.tables), "alembic_version"):
            await changed(url, f"DROP TABLE {table} CASCADE")
        assert await restore_database(url, copy) == 2


async def test_half_a_backup_changes_nothing(filled: str, tmp_path: Path) -> None:
    copy = await made(filled, tmp_path / "one.backup")
    half = tmp_path / "half.backup"
    half.write_bytes(copy.read_bytes()[: copy.stat().st_size // 2])

    assert await refused(filled, half)


@pytest.mark.in_turn(turns=4, places=("app",))
@pytest.mark.parametrize("content", [b"", b"# names\nanna\n", b"SQLite format 3\0" + b"x" * 5000, b"PGDMPx"])
async def test_another_file_is_refused_by_its_name(filled: str, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "notes.txt").write_bytes(content)

    assert str(tmp_path / "notes.txt") in await refused(filled, tmp_path / "notes.txt")


async def test_a_backup_of_the_other_kind_is_refused(filled: str, tmp_path: Path) -> None:
    head = b"PGDMP" if filled.startswith("sqlite") else b"SQLite format 3\0"
    (tmp_path / "other").write_bytes(head)

    assert " is a backup of " in await refused(filled, tmp_path / "other")


async def test_a_backup_is_never_overwritten_and_nobody_else_may_read_it(filled: str, tmp_path: Path) -> None:
    copy = await made(filled, tmp_path / "one.backup")
    before = copy.read_bytes()

    with pytest.raises(BackupError, match="is there already"):
        await made(filled, copy)

    assert copy.read_bytes() == before
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert [one.name for one in tmp_path.iterdir() if one.is_file()] == ["one.backup"]


async def test_a_folder_that_is_not_there_is_told(filled: str, tmp_path: Path) -> None:
    with pytest.raises(BackupError, match="cannot be written"):
        await made(filled, tmp_path / "none" / "one.backup")


async def test_a_backup_taken_while_learners_write_is_whole(database: Database, url: str, tmp_path: Path) -> None:
    """Each transaction adds a learner and a session: at every moment there are as many of both."""
    ended = asyncio.Event()

    async def write() -> None:
        while not ended.is_set():
            async with database.write() as db:
                await learners.begin_session(db)

    writing = asyncio.ensure_future(write())
    copies = [await made(url, tmp_path / f"{number}.backup") for number in range(3)]
    ended.set()
    await writing
    await database.close()

    for copy in copies:
        await restore_database(url, copy, replace=True)
        rows = await rows_of(url)
        assert len(rows["learner"]) == len(rows["session"])


@pytest.mark.parametrize("planted", ["a file", "a link"])
async def test_what_was_planted_in_the_place_of_a_backup_is_not_written(
    filled: str, tmp_path: Path, planted: str
) -> None:
    part, elsewhere = tmp_path / "one.backup.part", tmp_path / "elsewhere"
    elsewhere.write_text("theirs")
    if planted == "a link":
        part.symlink_to(elsewhere)
    else:
        part.touch(0o666)

    with pytest.raises(BackupError, match=r"one\.backup\.part is there"):
        await to_thread.run_sync(backup_database, filled, tmp_path / "one.backup")

    assert elsewhere.read_text() == "theirs"
    assert part.is_symlink() is (planted == "a link")
    assert not (tmp_path / "one.backup").exists()


@asynccontextmanager
async def pages(url: str) -> AsyncIterator[None]:
    """A server that answered a request and keeps the connection."""
    database = Database(url)
    await database.ping()
    yield
    await database.close()


@asynccontextmanager
async def word(url: str) -> AsyncIterator[None]:
    """A process that listens to what others tell, and asks nothing else."""
    bus = EventBus(url)
    listening = asyncio.ensure_future(bus.relay_notifications())
    await bus.listens.wait()
    yield
    listening.cancel()
    await asyncio.gather(listening, return_exceptions=True)


@asynccontextmanager
async def another(url: str) -> AsyncIterator[None]:
    """A program that is none of ours, such as what watches the database."""
    engine = create_async_engine(url, connect_args={"application_name": "a monitor"})
    async with engine.connect() as connection:
        await connection.execute(text("SELECT 1"))
        await connection.rollback()
        yield
    await engine.dispose()


@pytest.mark.parametrize("url", ["postgresql"], indirect=True)
@pytest.mark.parametrize("kept", [pages, word])
async def test_nothing_is_restored_under_a_server_elsewhere(
    filled: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    kept: Callable[[str], AbstractAsyncContextManager[None]],
) -> None:
    monkeypatch.setattr("app.store.database_copies.LEAVING_SECONDS", 1.0)
    copy = await made(filled, tmp_path / "one.backup")
    await changed(filled, "DELETE FROM training_run")

    async with kept(filled):
        said = await refused(filled, copy)

    assert said.startswith("Backhand is connected to this database 1 time. Stop every server")


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
async def test_nothing_is_restored_into_a_file_that_another_server_has_open(
    filled: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.store.database_copies.LEAVING_SECONDS", 0.0)
    copy = await made(filled, tmp_path / "one.backup")
    await changed(filled, "DELETE FROM training_run")

    async with pages(filled):
        said = await refused(filled, copy)

    assert said.startswith(f"{filled.partition(':///')[2]} is open in another process. Stop every server")
    assert await restore_database(filled, copy, replace=True) == 2


@pytest.mark.parametrize("url", ["postgresql"], indirect=True)
async def test_a_server_that_has_just_ended_and_other_programs_are_no_hindrance(
    filled: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = await made(filled, tmp_path / "one.backup")
    seen = asyncio.Event()
    monkeypatch.setattr("app.store.database_copies.LEAVING_SECONDS", SECONDS)
    monkeypatch.setattr("app.store.database_copies.in_use", lambda found: seen.set() or in_use(found))

    async with another(filled):
        async with pages(filled):
            restoring = asyncio.ensure_future(restore_database(filled, copy, replace=True))
            restoring.add_done_callback(lambda _: seen.set())
            await seen.wait()

        assert await restoring == 2


@pytest.mark.parametrize(
    ("found", "said"),
    [
        ([], ""),
        ([None], "Backhand is connected to this database 1 time."),
        (["10.1.0.7", None, "10.1.0.7", "10.1.0.5"], "database 4 times, from 10.1.0.5 and 10.1.0.7."),
    ],
)
def test_who_uses_a_database_is_told_with_addresses(found: list[str | None], said: str) -> None:
    assert said in in_use(found)
    assert bool(in_use(found)) is bool(found)


SQLITE_TRIGGER = "CREATE TRIGGER promote AFTER INSERT ON session BEGIN UPDATE learner SET teaches = 1; END"
POSTGRES_FUNCTION = (
    "CREATE FUNCTION promote() RETURNS trigger LANGUAGE plpgsql AS "
    "'BEGIN UPDATE learner SET teaches = true; RETURN NULL; END'"
)


async def test_a_backup_with_a_trigger_of_its_own_is_refused(filled: str, tmp_path: Path) -> None:
    before = await rows_of(filled)
    await changed(filled, SQLITE_TRIGGER if filled.startswith("sqlite") else POSTGRES_FUNCTION)
    await to_thread.run_sync(backup_database, filled, tmp_path / "one.backup")

    with pytest.raises(BackupError, match=r"a database would run: .*promote"):
        await restore_database(filled, tmp_path / "one.backup", replace=True)

    await changed(filled, "DROP TRIGGER promote" if filled.startswith("sqlite") else "DROP FUNCTION promote")
    assert await rows_of(filled) == before
