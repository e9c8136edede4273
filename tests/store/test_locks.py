import asyncio
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.exc import OperationalError

from app.store import database as store
from app.store.database import Database

pytestmark = pytest.mark.anyio


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "own.db"


@pytest.fixture
def other(file: Path) -> Iterator[sqlite3.Connection]:
    """Another process's connection."""
    connection = sqlite3.connect(file, isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("CREATE TABLE numbers (value)")
    yield connection
    connection.close()


async def _write(database: Database, value: int, *, short: bool = False) -> None:
    async with database.write(short=short) as db:
        await db.execute(text("INSERT INTO numbers VALUES (:value)"), {"value": value})


@pytest.mark.parametrize("short", [True, False])
async def test_the_loop_goes_on_while_a_writer_waits_for_another_process(
    file: Path, other: sqlite3.Connection, short: bool
) -> None:
    database = Database(f"sqlite+aiosqlite:///{file}")
    other.execute("BEGIN IMMEDIATE")

    writer = asyncio.create_task(_write(database, 1, short=short))
    for _ in range(50):
        await asyncio.sleep(0)
    waiting = not writer.done()  # waiting in the loop's own thread, it would have kept the loop until it failed
    other.execute("COMMIT")
    await writer

    assert waiting
    assert other.execute("SELECT value FROM numbers").fetchall() == [(1,)]
    await database.close()


async def test_a_lock_that_stays_is_an_error(
    file: Path, other: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "BUSY_SECONDS", 0.05)
    database = Database(f"sqlite+aiosqlite:///{file}")
    other.execute("BEGIN IMMEDIATE")

    with pytest.raises(OperationalError, match="locked"):
        await _write(database, 1)
    await database.close()


async def test_many_writers_of_one_process_all_get_their_turn(file: Path, other: sqlite3.Connection) -> None:
    database = Database(f"sqlite+aiosqlite:///{file}")

    await asyncio.gather(*(_write(database, value) for value in range(100)))

    assert other.execute("SELECT count(*), sum(value) FROM numbers").fetchone() == (100, 4950)
    await database.close()


async def test_a_commit_whose_caller_is_cancelled_is_whole(file: Path, other: sqlite3.Connection) -> None:
    before = set(threading.enumerate())
    database = Database(f"sqlite+aiosqlite:///{file}")
    await _write(database, 1)

    for value in range(2, 20):
        writer = asyncio.create_task(_write(database, value))
        for _ in range(value):
            await asyncio.sleep(0)
        writer.cancel()
        await asyncio.gather(writer, return_exceptions=True)
    await _write(database, 100)

    values = [value for (value,) in other.execute("SELECT value FROM numbers ORDER BY rowid")]
    assert values[0] == 1
    assert values[-1] == 100
    assert values == sorted(set(values))
    await database.close()
    # The thread of a connection answers into this loop, also when nobody waits for that any more.
    for thread in set(threading.enumerate()) - before:
        if "_connection_worker_thread" in thread.name:
            await asyncio.to_thread(thread.join, 5)
