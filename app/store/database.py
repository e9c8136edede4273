"""The database as transactions: `read` and `write`, for SQLite and PostgreSQL alike.

A write transaction takes SQLite's lock when it begins. A transaction that reads first and writes later would fail at
once, without waiting, when another one wrote in between.
"""

import sqlite3
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, closing
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Self

import aiosqlite
from aiosqlite.context import contextmanager
from sqlalchemy import Connection, DateTime, Dialect, TypeDecorator, event, make_url, text
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession, async_sessionmaker, create_async_engine

_BEGIN = "backhand_begin"

BUSY_SECONDS = 5.0
"""How long a transaction of SQLite waits for another one's lock."""
_HELD = text("SELECT id FROM learner WHERE id = :learner FOR NO KEY UPDATE")


class Database:
    """Opens lazily: nothing is connected before the first transaction."""

    def __init__(self, url: str) -> None:
        self.engine = open_engine(url)
        self._sessions = async_sessionmaker(self.engine, expire_on_commit=False)

    @asynccontextmanager
    async def read(self) -> AsyncIterator[AsyncSession]:
        """A consistent view; nothing is written."""
        async with self._sessions() as session:
            yield session

    @asynccontextmanager
    async def write(self) -> AsyncIterator[AsyncSession]:
        """All or nothing; committed at the end of the block."""
        async with self._sessions.begin() as session:
            await session.connection(execution_options={_BEGIN: "BEGIN IMMEDIATE"})
            yield session

    async def ping(self) -> None:
        """Raises whatever the database raises when it does not answer."""
        async with self.engine.connect() as connection:
            await connection.execute(text("SELECT 1"))

    async def close(self) -> None:
        await self.engine.dispose()


async def hold(db: AsyncSession, learner: int) -> None:
    """Let only this transaction change what *learner* wrote, until it ends; comes before the first of such rows.

    SQLite has one writer anyway. No key is held: rows that only point at the learner may still be added.
    """
    if db.get_bind().dialect.name != "sqlite":
        await db.execute(_HELD, {"learner": learner})


class Moment(TypeDecorator[datetime]):
    """A moment in UTC. SQLite forgets time zones, so the zone is put back on reading."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_result_value(self, value: datetime | None, _dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


def now() -> datetime:
    return datetime.now(UTC)


def open_engine(url: str) -> AsyncEngine:
    """An engine for *url*; a SQLite file and its folder are made when they are missing.

    Its errors never show parameters: they hold what learners wrote.

    Raises:
        OSError, sqlite3.Error: The file cannot be opened.
    """
    parts = make_url(url)
    if parts.get_backend_name() != "sqlite":
        return create_async_engine(url, pool_pre_ping=True, hide_parameters=True)
    if parts.database and parts.database != ":memory:" and "uri" not in parts.query:
        Path(parts.database).parent.mkdir(parents=True, exist_ok=True)
        # Said here: the driver's thread may find that nobody waits for its answer any more.
        _write_ahead(parts.database)
    # Without an isolation level, transactions begin where they are said to and nowhere else.
    options = {"isolation_level": None, "timeout": BUSY_SECONDS, "async_creator_fn": _connected}
    engine = create_async_engine(url, connect_args=options, hide_parameters=True)
    event.listen(engine.sync_engine, "connect", _prepare_sqlite)
    event.listen(engine.sync_engine, "begin", _begin_sqlite)
    return engine


def _write_ahead(file: str) -> None:
    """Let *file* have readers beside its writer from now on.

    Of several processes that turn a new file at once, SQLite refuses all but one without waiting.
    """
    until = time.monotonic() + BUSY_SECONDS
    with closing(sqlite3.connect(file, timeout=BUSY_SECONDS)) as connection:
        while not _turned(connection):
            if time.monotonic() > until:
                raise sqlite3.OperationalError(f"{file} is locked")
            time.sleep(0.01)


def _turned(connection: sqlite3.Connection) -> bool:
    try:
        connection.execute("PRAGMA journal_mode=WAL")
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
            raise
        return False
    return True


class _Fetching(sqlite3.Cursor):
    """Begins and fetches where it executes: a visit to the connection's thread costs more than most statements do."""

    begin = ""
    rows: Sequence[Any] = ()

    def execute(self, sql: str, parameters: Any = (), /) -> Self:
        if self.begin:
            begin, self.begin = self.begin, ""  # many rows are inserted by one cursor, in several statements
            super().execute(begin)
        super().execute(sql, parameters)
        self.rows = self.fetchall()
        return self


class _Cursor(aiosqlite.Cursor):
    """What was fetched already; nothing stays open."""

    _cursor: _Fetching

    async def fetchall(self) -> Sequence[Any]:
        return self._cursor.rows

    async def close(self) -> None:
        """Nothing to do."""


class _Connection(aiosqlite.Connection):
    begin = ""
    """How the next statement begins a transaction, if it does."""

    @contextmanager
    async def cursor(self) -> aiosqlite.Cursor:
        cursor = self._conn.cursor(_Fetching)
        cursor.begin, self.begin = self.begin, ""
        return _Cursor(self, cursor)

    async def rollback(self) -> None:
        # Asked for whenever a connection goes back to the pool.
        self.begin = ""
        if self.in_transaction:
            await super().rollback()


def _connected(database: str, **options: Any) -> _Connection:
    connection = _Connection(partial(sqlite3.connect, database, **options), iter_chunk_size=1)
    connection._thread.daemon = True  # as SQLAlchemy has it where it connects by itself
    return connection


def _prepare_sqlite(connection: Any, _record: object) -> None:
    cursor = connection.cursor()
    for pragma in ("synchronous=NORMAL", "foreign_keys=ON"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _begin_sqlite(connection: Connection) -> None:
    driver = connection.connection.driver_connection
    assert isinstance(driver, _Connection)
    driver.begin = connection.get_execution_options().get(_BEGIN, "BEGIN")
