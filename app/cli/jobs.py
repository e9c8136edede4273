"""`backhand jobs`: what is done once for several servers of one database, until it is told to stop."""

import asyncio
import signal
from functools import partial

import typer

from app.cli import environment
from app.cli.refuse import refuse
from app.store.database import Database
from app.store.migrate import migrate
from app.store.sweeping import SWEEP_SECONDS, again_and_again, sweep

ALONE = (
    "BACKHAND_DATABASE_URL names no PostgreSQL. On SQLite there is one server, and `backhand serve` does this itself."
)


def jobs() -> None:
    url = environment.settings().resolved_database_url
    if not url.startswith("postgresql"):
        refuse(ALONE)
    asyncio.run(_run(url))


async def _run(url: str) -> None:
    leave = asyncio.Event()
    for one in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(one, leave.set)
    await migrate(url)
    database = Database(url)
    typer.echo(f"Learners whom no browser knows are forgotten every {SWEEP_SECONDS / 3600:g} hours.", err=True)
    try:
        await again_and_again("sweep", partial(sweep, database), SWEEP_SECONDS, leave)
    finally:
        await database.close()
