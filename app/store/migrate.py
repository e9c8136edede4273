"""Bring a database to the newest schema; safe to run from several processes at once."""

import asyncio
import os
import sqlite3
from contextlib import closing
from functools import cache
from pathlib import Path

import structlog
from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, inspect, make_url, text
from sqlalchemy.schema import CreateColumn

from app.store.database import open_engine
from app.store.tables import Base

log = structlog.get_logger()

MIGRATIONS = Path(__file__).parent / "migrations"
RELEASED, UNRELEASED = "0011", frozenset(f"00{number}" for number in range(12, 25))
"""The revision of the first release; and those of no release, whose tables and columns are added like others."""

# Any number, the same in every process: PostgreSQL lets one holder through at a time. SQLite locks the whole file.
_LOCK = 7_319_402


async def migrate(url: str) -> None:
    """Apply every migration that *url* does not have yet, in one transaction; of a SQLite file a copy stays before."""
    engine, head = open_engine(url), newest_revision()
    try:
        async with engine.connect() as connection:
            await connection.execution_options(backhand_begin="BEGIN IMMEDIATE")
            async with connection.begin():
                before = await connection.run_sync(_revision)
                # While nobody else writes: another process may have been about to do the same.
                copy = await asyncio.to_thread(_copy_at_revision, url, before) if before not in (None, head) else None
                if before != head:
                    await connection.run_sync(upgrade)
        if before not in (None, head):
            log.info("migrated", before=before, now=head, **({"copy": str(copy)} if copy else {}))
    finally:
        await engine.dispose()


@cache
def newest_revision() -> str | None:
    """The revision of this release; to read all migrations for it is half of what a start asks of the database."""
    return ScriptDirectory(MIGRATIONS).get_current_head()


def _revision(connection: Connection) -> str | None:
    """Read the revision that was applied last, once no other process is migrating."""
    _lock(connection)
    return MigrationContext.configure(connection).get_current_revision()


def _copy_at_revision(url: str, revision: str | None) -> Path | None:
    """A copy of the file as it was at *revision*; None where the database is no file."""
    parts = make_url(url)
    if parts.get_backend_name() != "sqlite" or not parts.database or "uri" in parts.query:
        return None
    file = Path(parts.database)
    copy = file.with_name(f"{file.name}.before-{revision}")
    part = file.with_name(f"{copy.name}.{os.getpid()}.part")
    part.touch(mode=0o600)
    with closing(sqlite3.connect(file)) as source, closing(sqlite3.connect(part)) as target:
        source.backup(target)
    part.replace(copy)
    return copy


def upgrade(connection: Connection) -> None:
    """Create all tables of a database that has none; apply to any other the migrations that it does not have yet."""
    if _revision(connection) is None:  # it takes the lock, before Alembic, whose context is one for all threads
        Base.metadata.create_all(connection, checkfirst=False)
        command.stamp(config_for(connection), "head")
        return
    if _revision(connection) in UNRELEASED:
        command.stamp(config_for(connection), RELEASED, purge=True)
    command.upgrade(config_for(connection), "head")
    add_missing(connection)


def add_missing(connection: Connection) -> None:
    """Create the tables, columns and indexes that `tables` has and the database has not.

    A column of a table that is there needs a default, or may be empty, and points at no other table: SQLite can add no
    other. So a migration only has to say what is called otherwise now, or holds something else. Other tables have a
    revision of their own all the same, with nothing to do: a database at the newest one is not looked at.
    """
    Base.metadata.create_all(connection)
    inspector, write = inspect(connection), connection.dialect.identifier_preparer
    for table in Base.metadata.sorted_tables:
        columns = {column["name"] for column in inspector.get_columns(table.name)}
        indexes = {index["name"] for index in inspector.get_indexes(table.name)}
        for column in table.columns:
            if column.name not in columns:
                added = CreateColumn(column).compile(dialect=connection.dialect)
                connection.execute(text(f"ALTER TABLE {write.format_table(table)} ADD COLUMN {added}"))
        for index in table.indexes:
            if index.name not in indexes:
                index.create(connection)


def _lock(connection: Connection) -> None:
    """Let one process through at a time; SQLite takes its lock with the first statement."""
    locked = "pg_advisory_xact_lock(:lock)" if connection.dialect.name == "postgresql" else ":lock"
    connection.execute(text(f"SELECT {locked}"), {"lock": _LOCK})


def config_for(connection: Connection) -> Config:
    """Alembic's configuration for *connection*, without an ini file."""
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    return config
