"""The database as transactions: `read` and `write`, for SQLite and PostgreSQL alike.

A write transaction takes SQLite's lock when it begins. A transaction that reads first and writes later would fail at
once, without waiting, when another one wrote in between. SQLite lets writers try again and again, and the unlucky one
gives up; so those of one process stand in line, and only the first of them asks for the lock.
"""

import asyncio
import sqlite3
import time
from collections.abc import AsyncIterator, Callable, Generator, Iterable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, closing, contextmanager, nullcontext, suppress
from contextvars import ContextVar
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Self, cast
from weakref import WeakKeyDictionary

import aiosqlite
from prometheus_client import Histogram
from sqlalchemy import ColumnElement, Connection, DateTime, Dialect, TypeDecorator, event, make_url, text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.dialects.sqlite.aiosqlite import AsyncAdapt_aiosqlite_dbapi
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession, async_sessionmaker, create_async_engine
from sqlalchemy.pool import QueuePool

_BEGIN = "backhand_begin"
_SHORT = "backhand_short"

APPLICATION = "backhand"
"""What a connection to PostgreSQL calls itself, so that others can tell that the database is in use."""
BUSY_SECONDS = 5.0
"""How long a transaction of SQLite waits for the lock of another process."""
_CHANGES_NOTHING = ContextVar("changes_nothing", default=False)
_HELD = text("SELECT id FROM learner WHERE id = :learner FOR NO KEY UPDATE")


class Database:
    """Opens lazily: nothing is connected before the first transaction."""

    def __init__(self, url: str) -> None:
        self.engine = open_engine(url)
        self._sessions = async_sessionmaker(self.engine, expire_on_commit=False)
        self.seconds: Histogram | None = None
        """Told how long each transaction took, and how long a writer stood in line, by `part`."""
        self._lines = WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock]()

    def _line(self) -> AbstractAsyncContextManager[None]:
        """In front of SQLite's lock; a loop has one of its own."""
        if self.engine.dialect.name != "sqlite":
            return nullcontext()
        return self._lines.setdefault(asyncio.get_running_loop(), asyncio.Lock())

    @asynccontextmanager
    async def read(self) -> AsyncIterator[AsyncSession]:
        """A consistent view; nothing is written."""
        with self._measure("read"):
            async with self._sessions() as session:
                yield session

    @asynccontextmanager
    async def write(self, *, short: bool = False) -> AsyncIterator[AsyncSession]:
        """All or nothing; committed at the end of the block.

        On SQLite writers of this process come one after the other, in the order in which they asked, however long
        that takes: inside the block wait for nothing but the database, and open no other one.

        Args:
            short: Every statement finds its few rows by their keys. SQLite runs them at once, in this thread: to
                visit another thread takes longer, most of all where many wait, and the others in line wait as well.
        """
        began = time.perf_counter()
        async with self._line():
            self._observe("line", time.perf_counter() - began)
            with self._measure("write"):
                async with self._sessions.begin() as session:
                    await session.connection(execution_options={_BEGIN: "BEGIN IMMEDIATE", _SHORT: short})
                    yield session
                    if _CHANGES_NOTHING.get():
                        await session.rollback()

    @contextmanager
    def _measure(self, part: str) -> Iterator[None]:
        began = time.perf_counter()
        try:
            yield
        finally:
            self._observe(part, time.perf_counter() - began)

    def _observe(self, part: str, seconds: float) -> None:
        if self.seconds is not None:
            self.seconds.labels(part).observe(seconds)

    @property
    def connections(self) -> int:
        """Number of connections in use."""
        pool = self.engine.pool
        return pool.checkedout() if isinstance(pool, QueuePool) else 0

    async def ping(self) -> None:
        """Raises whatever the database raises when it does not answer."""
        async with self.engine.connect() as connection:
            await connection.execute(text("SELECT 1"))

    async def close(self) -> None:
        await self.engine.dispose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


@asynccontextmanager
async def claim_row(database: Database, due: Any, table: type[Any]) -> AsyncIterator[Any]:
    """The first row that is *due*, with its part of *table* for this server alone until it is marked; None for none.

    It is looked for without a lock before: most often there is none.
    """
    first = due.limit(1)
    async with database.read() as db:
        waiting = (await db.execute(first)).one_or_none()
    if waiting is None:
        yield None
        return
    async with database.write() as db:
        yield (await db.execute(first.with_for_update(of=table, skip_locked=True))).one_or_none()


@contextmanager
def changing_nothing() -> Iterator[None]:
    """Context in which every write, of this task and those that it starts, is rolled back at the end of its block."""
    token = _CHANGES_NOTHING.set(True)
    try:
        yield
    finally:
        _CHANGES_NOTHING.reset(token)


async def lock_learner(db: AsyncSession, learner: int) -> None:
    """Let only this transaction change what *learner* wrote, until it ends; comes before the first of such rows.

    SQLite has one writer anyway. No key is held: rows that only point at the learner may still be added.
    """
    if db.get_bind().dialect.name != "sqlite":
        await db.execute(_HELD, {"learner": learner})


def insert_into(db: AsyncSession, table: type[Any]) -> sqlite.Insert | postgresql.Insert:
    """An insert that may say what becomes of a row that is there: both dialects can, each with a class of its own."""
    return (sqlite.insert if db.get_bind().dialect.name == "sqlite" else postgresql.insert)(table)


class UtcDateTime(TypeDecorator[datetime]):
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
        named = {"application_name": APPLICATION}
        return create_async_engine(url, pool_pre_ping=True, hide_parameters=True, connect_args=named)
    if parts.database and parts.database != ":memory:" and "uri" not in parts.query:
        Path(parts.database).parent.mkdir(parents=True, exist_ok=True)
        # Said here: the driver's thread may find that nobody waits for its answer any more.
        _write_ahead(parts.database)
    # Without an isolation level, transactions begin where they are said to and nowhere else.
    options = {"isolation_level": None, "timeout": BUSY_SECONDS}
    engine = create_async_engine(url, module=_DRIVER, connect_args=options, hide_parameters=True)
    event.listen(engine.sync_engine, "connect", _prepare_sqlite)
    event.listen(engine.sync_engine, "begin", _begin_sqlite)
    return engine


def _write_ahead(file: str) -> None:
    """Let *file* have readers beside its writer from now on.

    Of several processes that turn a new file at once, SQLite refuses all but one without waiting.
    """
    until = time.monotonic() + BUSY_SECONDS
    with closing(sqlite3.connect(file, timeout=BUSY_SECONDS)) as connection:
        while not _is_rolled_over(connection):
            if time.monotonic() > until:
                raise sqlite3.OperationalError(f"{file} is locked")
            time.sleep(0.01)


def _is_rolled_over(connection: sqlite3.Connection) -> bool:
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
    """Cursor over rows that were all fetched already; nothing stays open."""

    def __init__(self, connection: "_Connection", fetching: _Fetching) -> None:
        super().__init__(connection, fetching)
        self._own = connection
        self._fetching = fetching

    async def execute(self, sql: str, parameters: Iterable[Any] | None = None) -> aiosqlite.Cursor:
        if not self._own.short or (self._fetching.begin and not self._own.begun_at_once(self._fetching)):
            return await super().execute(sql, parameters)
        self._fetching.execute(sql, parameters or ())
        return self

    async def fetchall(self) -> Sequence[Any]:
        return self._fetching.rows

    async def close(self) -> None:
        """Nothing to do."""


class _Connection(aiosqlite.Connection):
    begin = ""
    """How the next statement begins a transaction, if it does."""
    short = False
    """Whether statements run in the thread that asks for them."""

    def __init__(self, connect: Callable[[], sqlite3.Connection]) -> None:
        super().__init__(self._open_sqlite, iter_chunk_size=1)
        self._open = connect
        self._stopping: asyncio.Future[Any] | None = None

    def __await__(self) -> Generator[Any, None, aiosqlite.Connection]:
        try:
            return (yield from super().__await__())
        except asyncio.CancelledError:
            yield from self._opened_for_nobody().__await__()
            raise

    async def _opened_for_nobody(self) -> None:
        """Wait until the thread has opened and ended: from a loop that ends before, it would take an error instead."""
        stopping = self.stop()
        while stopping is not None and not stopping.done():
            with suppress(asyncio.CancelledError):
                await asyncio.wait({stopping})
        self._file.close()

    def _open_sqlite(self) -> sqlite3.Connection:
        self._file = self._open()
        return self._file

    def cursor(self) -> Any:
        fetching = self._file.cursor(_Fetching)
        fetching.begin, self.begin = self.begin, ""
        return _Cursor(self, fetching)

    def begun_at_once(self, cursor: _Fetching) -> bool:
        """True if *cursor* could begin without waiting; False while another process writes."""
        self._file.execute("PRAGMA busy_timeout=0")
        try:
            self._file.execute(cursor.begin)
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
                raise
            return False
        finally:
            self._file.execute(f"PRAGMA busy_timeout={round(1000 * BUSY_SECONDS)}")
        cursor.begin = ""
        return True

    async def commit(self) -> None:
        if self.short:
            self._file.commit()
        else:
            await super().commit()

    async def rollback(self) -> None:
        # Asked for whenever a connection goes back to the pool.
        self.begin, self.short = "", False
        if self.in_transaction:
            await super().rollback()

    def stop(self) -> asyncio.Future[Any] | None:
        # Asked for twice where a transaction is cancelled; the thread that ended would never answer the second time.
        if self._stopping is None:
            self._stopping = super().stop()
        return self._stopping


def _connect(database: str, **options: Any) -> _Connection:
    return _Connection(partial(sqlite3.connect, database, **options))


# With what SQLAlchemy wants of the package, and connections of ours.
_DRIVER = AsyncAdapt_aiosqlite_dbapi(cast(Any, SimpleNamespace(**{**vars(aiosqlite), "connect": _connect})), sqlite3)


def _prepare_sqlite(connection: Any, _record: object) -> None:
    cursor = connection.cursor()
    for pragma in ("synchronous=NORMAL", "foreign_keys=ON"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _begin_sqlite(connection: Connection) -> None:
    driver = connection.connection.driver_connection
    assert isinstance(driver, _Connection)
    options = connection.get_execution_options()
    driver.begin, driver.short = options.get(_BEGIN, "BEGIN"), options.get(_SHORT, False)


def at_exercise(table: type[Any], learner: Any, lesson: Any, exercise: Any) -> tuple[ColumnElement[bool], ...]:
    """The conditions on rows of a learner at an exercise; each a value, or a parameter that is bound later."""
    return table.learner_id == learner, table.lesson == lesson, table.exercise == exercise
