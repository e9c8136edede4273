"""Bring a database to the newest schema; safe to run from several processes at once."""

from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, text

from app.store.database import open_engine

MIGRATIONS = Path(__file__).parent / "migrations"

# Any number, the same in every process: PostgreSQL lets one holder through at a time. SQLite locks the whole file.
_LOCK = 7_319_402


async def migrate(url: str) -> None:
    """Apply every migration that *url* does not have yet, in one transaction."""
    engine = open_engine(url)
    try:
        async with engine.connect() as connection:
            await connection.execution_options(backhand_begin="BEGIN IMMEDIATE")
            async with connection.begin():
                await connection.run_sync(upgrade)
    finally:
        await engine.dispose()


def upgrade(connection: Connection) -> None:
    # Before Alembic comes in, whose context is one for all threads; SQLite takes its lock with the first statement.
    locked = "pg_advisory_xact_lock(:lock)" if connection.dialect.name == "postgresql" else ":lock"
    connection.execute(text(f"SELECT {locked}"), {"lock": _LOCK})
    command.upgrade(config_for(connection), "head")


def config_for(connection: Connection) -> Config:
    """Alembic's configuration for *connection*, without an ini file."""
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    return config
