"""Event bus between server processes: LISTEN/NOTIFY on PostgreSQL, in-process on SQLite.

It publishes the key of a changed row, never the row; subscribers read the row.

On SQLite there is one process, which wakes its own waiters. PostgreSQL carries the key to every process, over one
connection each. A waiter looks by itself now and then, so a word that is lost costs time and never truth.
"""

import asyncio
import contextlib
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager

import structlog
from sqlalchemy import event, func, make_url, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.store.database import APPLICATION

log = structlog.get_logger()

CHANNEL = "backhand"
RELOOK_SECONDS = 5.0
"""After this long without a word, a waiter looks by itself."""
AGAIN_SECONDS = 1.0


class EventBus:
    """The words about the rows of the database at *url*."""

    def __init__(self, url: str) -> None:
        parts = make_url(url)
        self._shared = parts.get_backend_name() == "postgresql"
        self._address = parts.set(drivername="postgresql").render_as_string(hide_password=False)
        self._waiting: defaultdict[str, set[asyncio.Event]] = defaultdict(set)
        self.listens = asyncio.Event()

    async def publish(self, db: AsyncSession, key: str) -> None:
        """Notify the subscribers of *key* in all processes when the transaction of *db* is committed."""
        if self._shared:
            await db.execute(select(func.pg_notify(CHANNEL, key)))
        else:
            event.listen(db.sync_session, "after_commit", lambda _: self._wake(key), once=True)

    @contextmanager
    def subscribe(self, key: str) -> Iterator["Subscription"]:
        """Hear of *key* from here on."""
        woken = asyncio.Event()
        self._waiting[key].add(woken)
        try:
            yield Subscription(woken)
        finally:
            self._waiting[key].discard(woken)
            if not self._waiting[key]:
                del self._waiting[key]

    async def relay_notifications(self) -> None:
        """Bring words from other processes, until it is cancelled."""
        if not self._shared:
            self.listens.set()
            return
        import psycopg  # an extra: there where PostgreSQL is used

        while True:
            try:
                connecting = psycopg.AsyncConnection.connect(
                    self._address, autocommit=True, application_name=APPLICATION
                )
                async with await connecting as connection:
                    await connection.execute(f"LISTEN {CHANNEL}")
                    self.listens.set()
                    self.wake_all()  # what was said meanwhile was not heard
                    async for word in connection.notifies():
                        self._wake(word.payload)
            except (psycopg.Error, OSError) as error:
                log.warning("bus-lost", error=type(error).__name__, effect=f"Pages look every {RELOOK_SECONDS:g} s.")
            self.listens.clear()
            await asyncio.sleep(AGAIN_SECONDS)

    def wake_all(self) -> None:
        """Wake every subscriber of this process once."""
        for key in tuple(self._waiting):
            self._wake(key)

    def _wake(self, key: str) -> None:
        for woken in self._waiting.get(key, ()):
            woken.set()


class Subscription:
    """Waits for words about one key."""

    def __init__(self, woken: asyncio.Event) -> None:
        self._woken = woken
        self.heard = False

    async def wait(self, seconds: float = RELOOK_SECONDS) -> None:
        """Until there is a word, which may have come since the last one, or for *seconds*; *heard* tells which."""
        # `wait_for` would lose a cancellation that comes together with a word, and whoever listens would go on.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._woken.wait()
        self.heard = self._woken.is_set()
        self._woken.clear()
