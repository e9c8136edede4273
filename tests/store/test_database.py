import threading
from pathlib import Path

import aiosqlite
import anyio
import anyio.lowlevel
import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from app.store import drafts
from app.store.database import Database, now
from app.store.tables import Draft, Kept

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(("pragma", "value"), [("journal_mode", "wal"), ("foreign_keys", 1), ("synchronous", 1)])
async def test_sqlite_is_set_up_on_every_connection(tmp_path: Path, pragma: str, value: object) -> None:
    database = Database(f"sqlite+aiosqlite:///{tmp_path / 'own.db'}")

    async with database.read() as db:
        assert await db.scalar(text(f"PRAGMA {pragma}")) == value
    await database.close()


async def test_a_process_that_ends_does_not_wait_for_a_connection_that_is_open(tmp_path: Path) -> None:
    before = set(threading.enumerate())
    database = Database(f"sqlite+aiosqlite:///{tmp_path / 'own.db'}")

    async with database.read() as db:
        await db.scalar(text("SELECT 1"))
        own = set(threading.enumerate()) - before

    assert own
    assert all(one.daemon for one in own)
    await database.close()


async def test_a_draft_of_nobody_is_refused_without_showing_its_text(database: Database) -> None:
    async def save() -> None:
        async with database.write() as db:
            await drafts.save_draft(db, 99, "lesson", "box", "secret text")

    with pytest.raises(IntegrityError) as refused:
        await save()

    assert "secret text" not in str(refused.value)


async def test_a_failed_transaction_leaves_nothing(database: Database, me: int) -> None:
    async def fail() -> None:
        async with database.write() as db:
            await drafts.save_draft(db, me, "lesson", "box", "text")
            await db.flush()
            raise RuntimeError

    with pytest.raises(RuntimeError):
        await fail()

    async with database.read() as db:
        assert await drafts.draft_of(db, me, "lesson", "box") is None


async def test_the_first_thing_that_a_transaction_writes_may_be_many_rows(database: Database, me: int) -> None:
    async with database.write() as db:
        place = {"learner_id": me, "lesson": "lesson", "exercise": "box", "reason": "reset", "kept_at": now()}
        db.add_all(Kept(text=text, **place) for text in "abc")

    async with database.read() as db:
        assert [row.text for row in await drafts.kept_texts(db, me, "lesson", "box")] == list("abc")


async def test_writers_that_read_first_wait_for_each_other(database: Database, me: int) -> None:
    async def save(text: str) -> None:
        async with database.write() as db:
            await drafts.save_draft(db, me, "lesson", "box", text, base=0)
            for _ in range(20):  # the others come in between
                await anyio.lowlevel.checkpoint()

    async with anyio.create_task_group() as group:
        for text in "abcdefgh":
            group.start_soon(save, text)

    async with database.read() as db:
        draft = await db.get_one(Draft, (me, "lesson", "box"))
        kept = await drafts.kept_texts(db, me, "lesson", "box")
    assert sorted([draft.text, *(row.text for row in kept)]) == list("abcdefgh")
    assert draft.revision == 8


async def test_a_transaction_of_sqlite_visits_the_thread_of_its_connection_for_its_statements_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = Database(f"sqlite+aiosqlite:///{tmp_path / 'own.db'}")
    visits = []
    execute = aiosqlite.Connection._execute

    async def visited(connection, work, *arguments):
        visits.append(arguments[0] if arguments else work.__name__)
        return await execute(connection, work, *arguments)

    await database.ping()
    monkeypatch.setattr(aiosqlite.Connection, "_execute", visited)

    async with database.read() as db:
        rows = (await db.execute(text("SELECT 1 UNION SELECT 2"))).all()

    assert visits == ["SELECT 1 UNION SELECT 2", "rollback"]
    assert [row[0] for row in rows] == [1, 2]
    await database.close()
