"""`backhand jobs`: what is done once for several servers of one database, until it is told to stop."""

import asyncio
import signal
import sys
from functools import partial

import structlog

from app.cli import environment
from app.cli.refuse import refuse
from app.content.text.errors import LessonErrors
from app.course.course import load_course, published
from app.insight.renewal import RENEWAL_SECONDS, is_due, renew_reports
from app.settings import Settings
from app.store.cleanup import SWEEP_SECONDS, delete_expired, run_periodically
from app.store.database import Database
from app.store.migrate import migrate
from app.web.middleware.reports import configure_logs

log = structlog.get_logger()

ALONE = (
    "BACKHAND_DATABASE_URL names no PostgreSQL. On SQLite there is one server, and `backhand serve` does this itself."
)


def jobs() -> None:
    settings = environment.load_settings()
    url = settings.resolved_database_url
    if not url.startswith("postgresql"):
        refuse(ALONE)
    configure_logs(plain=sys.stderr.isatty())
    asyncio.run(_run_jobs(settings, url))


async def _run_jobs(settings: Settings, url: str) -> None:
    leave = asyncio.Event()
    for signals in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(signals, leave.set)
    await migrate(url)
    log.info("sweeping", hours=SWEEP_SECONDS / 3600)
    async with Database(url) as database:
        await asyncio.gather(
            run_periodically("sweep", partial(delete_expired, database), SWEEP_SECONDS, leave),
            run_periodically("items", partial(_renew_items, settings, database), RENEWAL_SECONDS, leave),
        )


async def _renew_items(settings: Settings, database: Database) -> None:
    """Count answers anew where that was asked for; the course is read each time, as authors may have changed it."""
    if not await is_due(database):
        return
    try:
        course = await asyncio.to_thread(load_course, settings.lessons)
    except LessonErrors as errors:
        log.warning("items-put-off", faults=len(errors.errors), fix="The course has faults: backhand check names them.")
        return
    await renew_reports(database, settings.resolved_database_url, published(course), settings.shared_by)
