import ast
import asyncio
import gc
import re
import shutil
import sqlite3
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import aiosqlite
import anyio
import anyio.lowlevel
import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from app.store import database as store
from app.store import drafts
from app.store.database import Database, changing_nothing, now
from app.store.tables import Draft, ReplacedText
from tests.waiting import SECONDS, comes

pytestmark = pytest.mark.anyio

PRIVATE = ("_conn", "_connection", "_connector", "_cursor", "_running", "_thread", "_tx")
"""What the driver's own constructors set."""


@pytest.mark.parametrize(("pragma", "value"), [("journal_mode", "wal"), ("foreign_keys", 1), ("synchronous", 1)])
async def test_sqlite_is_set_up_on_every_connection(tmp_path: Path, pragma: str, value: object) -> None:
    database = Database(f"sqlite+aiosqlite:///{tmp_path / 'own.db'}")

    async with database.read() as db:
        assert await db.scalar(text(f"PRAGMA {pragma}")) == value
    await database.close()


async def test_a_file_that_others_hold_is_waited_for_and_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "own.db"
    monkeypatch.setattr(store, "BUSY_SECONDS", 0)
    with closing(sqlite3.connect(file)) as holder:
        holder.execute("CREATE TABLE held (id)")
        holder.execute("BEGIN EXCLUSIVE")

        with pytest.raises(sqlite3.OperationalError, match=re.escape(f"{file} is locked")):
            store.open_engine(f"sqlite+aiosqlite:///{file}")


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


@pytest.mark.parametrize("short", [False, True])
async def test_what_is_written_where_nothing_may_change_is_rolled_back(
    database: Database, me: int, short: bool
) -> None:
    async def write() -> None:
        async with database.write(short=short) as db:
            await drafts.save_draft(db, me, "lesson", "box", "x = 1", base=None)

    with changing_nothing():
        await write()
        await asyncio.create_task(write())
    async with database.read() as db:
        assert await drafts.draft_of(db, me, "lesson", "box") is None

    await write()

    async with database.read() as db:
        assert await drafts.draft_of(db, me, "lesson", "box") is not None


async def test_the_first_thing_that_a_transaction_writes_may_be_many_rows(database: Database, me: int) -> None:
    async with database.write() as db:
        place = {"learner_id": me, "lesson": "lesson", "exercise": "box", "reason": "reset", "replaced_at": now()}
        db.add_all(ReplacedText(text=text, **place) for text in "abc")

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


async def test_writers_of_a_process_come_in_the_order_in_which_they_asked(
    tmp_path: Path, template: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "own.db"
    shutil.copy(template, file)
    monkeypatch.setattr(store, "BUSY_SECONDS", 0.0)  # SQLite itself lets nobody wait
    database = Database(f"sqlite+aiosqlite:///{file}")
    done: list[int] = []

    async def write(number: int) -> None:
        async with database.write() as db:
            await db.execute(text("UPDATE learner SET id = id"))
            done.append(number)

    async with anyio.create_task_group() as group, database.write():
        for number in range(40):  # more than there are connections
            group.start_soon(write, number)
        for _ in range(20):  # the others could try meanwhile
            await database.ping()
        assert not done

    assert done == list(range(40))
    await database.close()


async def test_a_writer_who_goes_away_leaves_the_line(database: Database) -> None:
    async def write() -> None:
        async with database.write():
            pass

    async with database.write():
        gone = asyncio.create_task(write())
        next_one = asyncio.create_task(write())
        await anyio.lowlevel.checkpoint()
        gone.cancel()
        await asyncio.wait({gone})

    await next_one
    assert gone.cancelled()
    del gone
    gc.collect()  # a connection that was about to be made is closed with what held it


async def test_transactions_that_are_cancelled_leave_nothing_that_waits_for_ever(tmp_path: Path) -> None:
    database, before = Database(f"sqlite+aiosqlite:///{tmp_path / 'own.db'}"), asyncio.all_tasks()

    async def read() -> None:
        async with database.read() as db:
            while True:
                await db.execute(text("SELECT 1"))

    async with anyio.create_task_group() as group:
        for _ in range(12):
            group.start_soon(read)
        await database.ping()
        group.cancel_scope.cancel()  # again and again, while connections are closed as well

    left = asyncio.all_tasks() - before
    _, waiting = await asyncio.wait({*left, asyncio.create_task(database.ping())}, timeout=SECONDS)
    assert not waiting
    await database.close()


async def test_a_task_cancelled_while_a_file_opens_waits_until_it_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, connect = tmp_path / "own.db", sqlite3.connect
    database = Database(f"sqlite+aiosqlite:///{file}")
    opening, may_open = threading.Event(), threading.Event()
    opened: list[sqlite3.Connection] = []

    def slowly(place: Any, **options: Any) -> sqlite3.Connection:
        if place != str(file):
            return connect(place, **options)  # what measures the tests keeps a file of its own
        opening.set()
        assert may_open.wait(SECONDS)
        opened.append(connect(place, **options))
        return opened[0]

    monkeypatch.setattr(sqlite3, "connect", slowly)
    asking = asyncio.create_task(database.ping())
    await comes(opening.is_set)
    for _ in range(3):
        asking.cancel()
        await anyio.lowlevel.checkpoint()
    waits = not asking.done()
    may_open.set()
    await asyncio.wait({asking})

    assert waits
    assert asking.cancelled()
    with pytest.raises(sqlite3.ProgrammingError, match="closed database"):
        opened[0].execute("SELECT 1")


async def test_a_short_transaction_of_sqlite_visits_no_thread(
    database: Database, me: int, caplog: pytest.LogCaptureFixture
) -> None:
    await database.ping()
    caplog.set_level("DEBUG", "aiosqlite")

    async with database.write(short=True) as db:
        await drafts.save_draft(db, me, "lesson", "box", "text")

    assert not [one.args for one in caplog.records if one.msg.startswith("executing")]
    async with database.read() as db:
        assert (await db.get_one(Draft, (me, "lesson", "box"))).text == "text"


def test_nothing_private_of_the_driver_is_used() -> None:
    private = {name for kind in (aiosqlite.Connection, aiosqlite.Cursor) for name in (*vars(kind), *PRIVATE)}
    source = ast.parse(Path(store.__file__).read_text())

    taken = {node.attr for node in ast.walk(source) if isinstance(node, ast.Attribute)}
    imported = [node.module for node in ast.walk(source) if isinstance(node, ast.ImportFrom)]

    assert not {name for name in taken & private if name.startswith("_") and not name.startswith("__")}
    assert "aiosqlite.context" not in imported


async def test_a_sqlite_transaction_visits_its_thread_for_statements_alone(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    database = Database(f"sqlite+aiosqlite:///{tmp_path / 'own.db'}")
    await database.ping()
    caplog.set_level("DEBUG", "aiosqlite")

    async with database.read() as db:
        rows = (await db.execute(text("SELECT 1 UNION SELECT 2"))).all()

    visits = [one.args for one in caplog.records if one.msg.startswith("executing")]
    assert len(visits) == 2
    assert "SELECT 1 UNION SELECT 2" in str(visits[0])
    assert "rollback" in str(visits[1])
    assert [row[0] for row in rows] == [1, 2]
    await database.close()
