"""The write-ahead log of a SQLite file, copied into the database by a thread whenever it has become long.

SQLite would do it inside of some commit, which then waits for the disk, and with it everybody whom the loop serves.
"""

import asyncio
import sqlite3
from functools import cache
from pathlib import Path

import structlog

log = structlog.get_logger()

LONG_BYTES = 4 * 2**20
LOCK_SECONDS = 1.0


class Checkpoints:
    """Those of one database file. `of` gives all connections to it the same."""

    def __init__(self, database: str) -> None:
        self._database = database
        self._file = Path(f"{database}-wal")
        self._running: asyncio.Task[None] | None = None
        self._due = 0

    @staticmethod
    @cache
    def of(database: str) -> "Checkpoints":
        return Checkpoints(database)

    @property
    def idle(self) -> bool:
        """Whether nothing is being copied."""
        return self._running is None or self._running.done()

    def after_commit(self) -> None:
        """Start copying, unless the log is short or is being copied already."""
        if self.idle:
            length = self._length()
            if length < LONG_BYTES:
                self._due = LONG_BYTES
            elif length >= self._due:
                self._running = asyncio.ensure_future(self._copy())

    async def finished(self) -> None:
        """Wait for a copy that is under way."""
        if self._running is not None:
            await asyncio.wait({self._running})

    async def _copy(self) -> None:
        try:
            await asyncio.to_thread(self._shorten)
        except sqlite3.Error as error:
            # Nothing is lost: the log holds it all. The next attempt comes when it has grown as much again.
            log.warning("log-not-shortened", error=str(error))
        self._due = self._length() + LONG_BYTES

    def _shorten(self) -> None:
        connection = sqlite3.connect(self._database, timeout=LOCK_SECONDS)
        try:
            # The first copies beside readers and writers; the second keeps writers out for the little that is left.
            for mode in ("PASSIVE", "TRUNCATE"):
                connection.execute(f"PRAGMA wal_checkpoint({mode})")
        finally:
            connection.close()

    def _length(self) -> int:
        try:
            return self._file.stat().st_size
        except OSError:  # in memory, or nothing was written yet
            return 0
