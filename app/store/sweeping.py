"""What one server does for all: it forgets learners who left nothing, and those whom no browser knows any more."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from datetime import timedelta

import structlog
from sqlalchemy import func, select
from sqlalchemy.exc import SQLAlchemyError

from app.store import classes, learners
from app.store.database import Database, now

log = structlog.get_logger()

EMPTY_LEARNERS_STAY = timedelta(days=7)
SESSIONS_STAY = timedelta(days=400)
"""The longest that browsers keep a cookie."""
SWEEP_SECONDS = 6 * 3600.0

# Any number, the same in every process: PostgreSQL lets one holder through at a time. SQLite has one process.
_LOCK = 7_319_403


async def sweep(database: Database) -> bool:
    """Forget them; False where another process is at it."""
    async with database.write() as db:
        shared = db.get_bind().dialect.name == "postgresql"
        if shared and not await db.scalar(select(func.pg_try_advisory_xact_lock(_LOCK))):
            return False
        await learners.forget_empty(db, now() - EMPTY_LEARNERS_STAY)
        await classes.forget_over(db, now().date())
        await learners.forget_lost(db, now() - SESSIONS_STAY)
        await learners.forget_sessions(db, now() - SESSIONS_STAY)
    return True


async def again_and_again(
    name: str, work: Callable[[], Awaitable[object]], seconds: float, stopping: asyncio.Event
) -> None:
    """Do *work* now and every so many *seconds*; a database that does not answer is asked again the next time."""
    while not stopping.is_set():
        try:
            await work()
        except (SQLAlchemyError, OSError) as error:
            log.warning("job-put-off", job=name, error=type(error).__name__)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(stopping.wait(), seconds)
