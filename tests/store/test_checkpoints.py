import sqlite3
from pathlib import Path

import pytest
from sqlalchemy import text

from app.store import checkpoints
from app.store.checkpoints import Checkpoints
from app.store.database import Database

pytestmark = pytest.mark.anyio


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "own.db"


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoints, "LONG_BYTES", 64 * 1024)
    monkeypatch.setattr(checkpoints, "LOCK_SECONDS", 0.05)


def _log_bytes(file: Path) -> int:
    return Path(f"{file}-wal").stat().st_size


async def _write(database: Database, rows: int) -> None:
    async with database.write() as db:
        await db.execute(text("CREATE TABLE IF NOT EXISTS texts (value)"))
    for _ in range(rows):
        async with database.write() as db:
            await db.execute(text("INSERT INTO texts VALUES (:value)"), {"value": "x" * 4000})


async def test_a_log_that_became_long_is_copied_and_cut(file: Path) -> None:
    database = Database(f"sqlite+aiosqlite:///{file}")

    longest = 0
    for _ in range(40):
        await _write(database, 1)
        await Checkpoints.of(str(file)).finished()
        longest = max(longest, _log_bytes(file))

    assert longest < 64 * 1024
    with sqlite3.connect(file) as other:
        assert other.execute("SELECT count(*) FROM texts").fetchone() == (40,)
    await database.close()


async def test_a_log_that_cannot_be_cut_keeps_everything_and_is_tried_again(file: Path) -> None:
    database = Database(f"sqlite+aiosqlite:///{file}")
    await _write(database, 1)
    reader = sqlite3.connect(file, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM texts").fetchone()

    await _write(database, 40)
    await Checkpoints.of(str(file)).finished()
    assert _log_bytes(file) >= 64 * 1024
    reader.execute("COMMIT")
    reader.close()
    for _ in range(60):
        await _write(database, 1)
        await Checkpoints.of(str(file)).finished()

    assert _log_bytes(file) < 64 * 1024
    with sqlite3.connect(file) as other:
        assert other.execute("SELECT count(*) FROM texts").fetchone() == (101,)
    await database.close()


async def test_a_database_in_memory_has_no_log_to_cut() -> None:
    database = Database("sqlite+aiosqlite:///:memory:")

    await _write(database, 3)

    assert Checkpoints.of(":memory:").idle
    await database.close()
