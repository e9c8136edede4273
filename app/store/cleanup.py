"""Cleanup that one server does for all: it deletes learners without traces or sessions, and classes whose time is over.

What is forgotten is gone for good, so a clock that has jumped is not believed: it is asked again a day later.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta

import structlog
from sqlalchemy import func, select
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncSession

from app.store import classes, learners
from app.store.database import Database, now
from app.store.former_members import keep_all_grades
from app.store.item_reports import forget_report
from app.store.notices import STAY as NOTICES_STAY
from app.store.notices import forget_notices
from app.store.problem_reports import forget_reports
from app.store.tables import Clock

log = structlog.get_logger()

EMPTY_LEARNERS_STAY = timedelta(days=7)
SESSIONS_STAY = timedelta(days=400)
"""The longest that browsers keep a cookie."""
REPORT_STAYS = timedelta(days=30)
"""A report on all exercises may quote lines of learners who were deleted since."""
DEMO_WORK_STAYS = timedelta(days=1)
DEMO_SWEEP_SECONDS = 600.0
SWEEP_SECONDS = 6 * 3600.0
JOB = "sweep"
LONGEST_STEP = timedelta(days=2)
"""Between two looks at the clock. A longer one is a jump, or a server that was off."""
DOUBT = timedelta(days=1)

# Any number, the same in every process: PostgreSQL lets one holder through at a time. SQLite has one process.
_LOCK = 7_319_403


async def delete_expired(database: Database) -> bool:
    """Forget them; False where another process is at it, or the clock cannot be believed."""
    async with database.write() as db:
        shared = db.get_bind().dialect.name == "postgresql"
        if shared and not await db.scalar(select(func.pg_try_advisory_xact_lock(_LOCK))):
            return False
        if not await _believes_clock(db):
            return False
        await learners.forget_empty(db, now() - EMPTY_LEARNERS_STAY)
        await classes.forget_over(db, now())
        for learner in await learners.lost_members(db, now() - SESSIONS_STAY):
            await keep_all_grades(db, learner, "forgotten")
        await learners.forget_lost(db, now() - SESSIONS_STAY)
        await forget_notices(db, now() - NOTICES_STAY)
        await forget_reports(db, now() - NOTICES_STAY)
        await forget_report(db, now() - REPORT_STAYS)
        await learners.forget_sessions(db, now() - SESSIONS_STAY)
    return True


async def delete_demo_work(database: Database) -> None:
    """Delete each learner of a demonstration a day after their first answer, with all that they wrote."""
    async with database.write() as db:
        await learners.delete_begun(db, now() - DEMO_WORK_STAYS)


async def _believes_clock(db: AsyncSession) -> bool:
    """True if the clock advanced evenly since the last look, or a day has passed since it jumped; stores this look."""
    shown = now()
    clock = await db.get(Clock, JOB)
    if clock is None:
        clock = Clock(job=JOB, seen_at=shown, doubted_until=shown + DOUBT)
        db.add(clock)
    elif abs(shown - clock.seen_at) > LONGEST_STEP:
        clock.doubted_until = shown + DOUBT
        log.warning("clock-jumped", last=_text(clock.seen_at), now=_text(shown), again=_text(clock.doubted_until),
                    fix="Nobody is forgotten until then. Look at the clock of this machine.")  # fmt: skip
    elif clock.doubted_until is not None and shown >= clock.doubted_until:
        clock.doubted_until = None
    clock.seen_at = shown
    return clock.doubted_until is None


def _text(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds")


async def run_periodically(
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
