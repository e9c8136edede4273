"""SQLite for an event loop: statements and commits run where they are called, only what waits for the disk does not.

SQLite answers from memory within microseconds; handing every statement to a thread, as drivers for asyncio do, costs
ten times as much and several turns of the loop. A commit appends to the write-ahead log, in memory too. The disk is
waited for when the log is copied into the database, so that is `checkpoints`' work and not a commit's. Where another
connection holds a lock, SQLite is asked again and again: the loop never waits inside of it.
"""

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Self

from app.store.checkpoints import Checkpoints

BUSY_SECONDS = 5.0
_SHORTEST_PAUSE = 0.001
_LONGEST_PAUSE = 0.05
_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_BUSY_RECOVERY}  # not BUSY_SNAPSHOT: waiting would not help


async def connect(database: str, **options: Any) -> "Connection":
    """A connection as SQLAlchemy expects it of the driver `aiosqlite`; transactions begin and end by statements."""
    options |= {"isolation_level": None, "timeout": 0}
    return Connection(sqlite3.connect(database, **options), Checkpoints.of(database))


class Connection:
    def __init__(self, connection: sqlite3.Connection, checkpoints: Checkpoints) -> None:
        self._connection: sqlite3.Connection | None = connection
        self._checkpoints = checkpoints

    @property
    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            raise ValueError("connection closed")
        return self._connection

    def cursor(self) -> "Cursor":
        return Cursor(self._open.cursor())

    async def create_function(self, *args: Any, **options: Any) -> None:
        self._open.create_function(*args, **options)

    async def commit(self) -> None:
        connection = self._open

        async def run() -> None:
            connection.commit()

        if connection.in_transaction:
            await patiently(run)
            self._checkpoints.after_commit()

    async def rollback(self) -> None:
        self._open.rollback()

    async def close(self) -> None:
        self.stop()

    def stop(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


class Cursor:
    def __init__(self, cursor: sqlite3.Cursor) -> None:
        self._cursor = cursor
        self.arraysize = cursor.arraysize

    async def __aenter__(self) -> Self:
        return self

    @property
    def description(self) -> Any:
        return self._cursor.description

    @property
    def rowcount(self) -> int:
        return self._cursor.rowcount

    @property
    def lastrowid(self) -> int | None:
        return self._cursor.lastrowid

    async def execute(self, statement: str, parameters: Sequence[Any] = ()) -> None:
        async def run() -> None:
            self._cursor.execute(statement, parameters)

        await patiently(run)

    async def executemany(self, statement: str, parameters: Sequence[Sequence[Any]]) -> None:
        async def run() -> None:
            self._cursor.executemany(statement, parameters)

        await patiently(run)

    async def fetchall(self) -> list[Any]:
        return self._cursor.fetchall()

    async def close(self) -> None:
        self._cursor.close()


async def patiently(work: Callable[[], Awaitable[None]]) -> None:
    """Do *work*, again as long as another connection is in its way, for at most `BUSY_SECONDS`.

    Raises:
        sqlite3.OperationalError: The lock was held all that time, or anything else went wrong.
    """
    loop, pause = asyncio.get_running_loop(), _SHORTEST_PAUSE
    deadline = loop.time() + BUSY_SECONDS
    while True:
        try:
            return await work()
        except sqlite3.OperationalError as error:
            if getattr(error, "sqlite_errorcode", None) not in _BUSY or loop.time() >= deadline:
                raise
        await asyncio.sleep(pause)
        pause = min(_LONGEST_PAUSE, pause * 1.5)
