"""`backhand jobs`: what is done once for several servers of one database, until it is told to stop."""

import asyncio
import signal
import sys
from functools import partial

import structlog

from app.cli import environment
from app.cli.refuse import refuse
from app.store.cleanup import SWEEP_SECONDS, delete_expired, run_periodically
from app.store.database import Database
from app.store.migrate import migrate
from app.web.middleware.reports import configure_logs

log = structlog.get_logger()

ALONE = (
    "BACKHAND_DATABASE_URL names no PostgreSQL. On SQLite there is one server, and `backhand serve` does this itself."
)


def jobs() -> None:
    url = environment.load_settings().resolved_database_url
    if not url.startswith("postgresql"):
        refuse(ALONE)
    configure_logs(plain=sys.stderr.isatty())
    asyncio.run(_run_jobs(url))


async def _run_jobs(url: str) -> None:
    leave = asyncio.Event()
    for signals in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(signals, leave.set)
    await migrate(url)
    database = Database(url)
    log.info("sweeping", hours=SWEEP_SECONDS / 3600)
    try:
        await run_periodically("sweep", partial(delete_expired, database), SWEEP_SECONDS, leave)
    finally:
        await database.close()
