"""Copies of a database that is in use, and back: SQLite by its online backup, PostgreSQL by its own programs."""

import asyncio
import contextlib
import os
import re
import shutil
import sqlite3
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from alembic.script import ScriptDirectory
from sqlalchemy import func, inspect, make_url, select, text
from sqlalchemy.exc import SQLAlchemyError

from app.store.database import APPLICATION, BUSY_SECONDS, open_engine
from app.store.database_errors import unusable_reason, version_word
from app.store.migrate import MIGRATIONS, UNRELEASED, migrate
from app.store.tables import Learner

_KINDS = {b"SQLite format 3\0": "SQLite", b"PGDMP": "PostgreSQL"}
_PROGRAM = re.compile(
    r"^\d+; \d+ \d+ ((?:EVENT TRIGGER|TRIGGER|FUNCTION|PROCEDURE|AGGREGATE|RULE|VIEW|MATERIALIZED VIEW) .{0,80})",
    re.MULTILINE,
)
_VERSION = re.compile(r"^COPY \S*alembic_version .*\n(\w+)$", re.MULTILINE)
LEAVING_SECONDS = 3.0
"""How long a connection of a server that has ended may still be seen."""
STOP = "Stop every server and backhand jobs first: what learners write meanwhile would be lost."
_OTHERS = text(
    "SELECT host(client_addr) FROM pg_stat_activity "
    "WHERE datname = current_database() AND application_name = :name AND pid <> pg_backend_pid()"
)


class BackupError(Exception):
    """Nothing was changed; its text says what was seen and what to do."""


def backup_database(url: str, target: Path) -> None:
    """Write all that the database at *url* holds at one moment to *target*, which must not be there yet.

    Learners may go on meanwhile. Only this user may read the file.

    Raises:
        BackupError: The file is there, or cannot be written, or the database cannot be read.
    """
    if target.exists():
        raise BackupError(f"{target} is there already. Give another name; a backup is never overwritten.")
    if _kind_of(url) == "SQLite" and not _file_of(url).exists():
        raise BackupError(f"{_file_of(url)} is not there. Set BACKHAND_DATA_DIR or BACKHAND_DATABASE_URL.")
    part = target.with_name(f"{target.name}.part")
    try:
        _create_own(part)
    except FileExistsError:
        raise BackupError(f"{part} is there: another backup is under way, or was cut off. Delete it then.") from None
    except OSError as error:
        raise BackupError(f"{target} cannot be written: {error}.") from error
    try:
        if _kind_of(url) == "SQLite":
            with _open_read_only(_file_of(url)) as source, contextlib.closing(sqlite3.connect(part)) as copy:
                source.backup(copy)
        else:
            _call("pg_dump", "--format=custom", "--no-owner", "--no-privileges", f"--file={part}", url=url)
        part.replace(target)
    except (OSError, sqlite3.Error) as error:
        raise BackupError(f"{target} cannot be written: {error}.") from error
    finally:
        part.unlink(missing_ok=True)


def _create_own(file: Path) -> None:
    """Create an empty file that this user alone can read; an existing file or link is refused.

    Raises:
        OSError: Something is there, or nothing can be made.
    """
    # O_EXCL alone follows no link: https://pubs.opengroup.org/onlinepubs/9799919799/functions/open.html
    os.close(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))


async def restore_database(url: str, source: Path, *, replace: bool = False) -> int:
    """Put what *source* holds in the place of all that the database at *url* holds, in one transaction.

    Args:
        replace: Give up the learners that the database holds.

    Returns:
        How many learners there are now.

    Raises:
        BackupError: *source* is no whole backup, is of another kind of database or of a newer version, or the database
            holds learners, or is in use.
    """
    kind, source_kind = _kind_of(url), _kind_in(source)
    if kind != source_kind:
        raise BackupError(
            f"{source} is a backup of {source_kind}, and the database is {kind}. Set BACKHAND_DATABASE_URL."
        )
    revision = _sqlite_revision(source) if kind == "SQLite" else _postgres_revision(source)
    scripts = ScriptDirectory(MIGRATIONS)
    if revision not in UNRELEASED.union(script.revision for script in scripts.walk_revisions()):
        raise BackupError(
            f"{source} was written by {version_word(revision)} version of Backhand (revision {revision}; "
            f"this one knows {scripts.get_current_head()}). Restore it with that version."
        )
    if added := _programs_in(source, kind):
        raise BackupError(
            f"{source} holds what no version of Backhand writes and a database would run: {', '.join(added[:3])}. "
            "Nothing was restored: find out who changed it, and take another backup."
        )
    if (learners := await _learners(url)) and not replace:
        raise BackupError(
            f"The database holds {learners:,} learner{'s' * (learners > 1)}, whose work would be lost. Back it up "
            "first, then give --replace."
        )
    if kind == "PostgreSQL" and (users := await _users(url)):
        raise BackupError(users)
    if kind == "SQLite":
        with (
            _open_read_only(source) as copy,
            contextlib.closing(sqlite3.connect(_file_of(url), LEAVING_SECONDS)) as target,
        ):
            _refuse_others(target, _file_of(url))
            copy.backup(target)
    else:
        _call("pg_restore", "--clean", "--if-exists", "--no-owner", "--single-transaction", str(source), url=url)
    await migrate(url)
    return await _learners(url)


def _kind_of(url: str) -> str:
    return "SQLite" if make_url(url).get_backend_name() == "sqlite" else "PostgreSQL"


def _kind_in(source: Path) -> str:
    try:
        with source.open("rb") as file:
            head = file.read(16)
    except OSError as error:
        raise BackupError(f"{source} cannot be read: {error.strerror}.") from error
    for magic, kind in _KINDS.items():
        if head.startswith(magic):
            return kind
    raise BackupError(f"{source} is no backup: it was not written by backhand backup.")


def _file_of(url: str) -> Path:
    return Path(make_url(url).database or "")


def _open_read_only(file: Path) -> contextlib.closing[sqlite3.Connection]:
    """A SQLite file, for reading alone."""
    return contextlib.closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", BUSY_SECONDS, uri=True))


def _sqlite_revision(source: Path) -> str:
    try:
        with _open_read_only(source) as copy:
            (sound,) = copy.execute("PRAGMA quick_check(1)").fetchone()
            if sound != "ok":
                raise BackupError(f"{source} is damaged ({sound}). Take another backup.")
            (revision,) = copy.execute("SELECT version_num FROM alembic_version").fetchone()
    except (sqlite3.Error, TypeError) as error:
        raise BackupError(f"{source} is no whole backup of Backhand ({error}). Take another one.") from error
    return str(revision)


def _programs_in(source: Path, kind: str) -> list[str]:
    """Triggers, views and the like in a backup; the schema has none, in no version."""
    if kind == "SQLite":
        with _open_read_only(source) as copy:
            programs = copy.execute(
                "SELECT type || ' ' || name FROM sqlite_master WHERE type NOT IN ('table', 'index')"
            )
            return [name for (name,) in programs]
    return [match[1] for match in _PROGRAM.finditer(_call("pg_restore", "--list", str(source)))]


def _postgres_revision(source: Path) -> str:
    match = _VERSION.search(_call("pg_restore", "--data-only", "--table=alembic_version", "--file=-", str(source)))
    if match is None:
        raise BackupError(f"{source} is no backup of Backhand: it does not say which version wrote it.")
    return match[1]


def _call(program: str, *arguments: str, url: str = "") -> str:
    """Run a program of PostgreSQL and return its output; the password never appears in the list of processes."""
    if shutil.which(program) is None:
        raise BackupError(f"{program} is not installed. It comes with PostgreSQL (Debian: postgresql-client).")
    environment = dict(os.environ)
    if url:
        parts = make_url(url)
        environment |= {"PGPASSWORD": str(parts.password)} if parts.password else {}
        plain = parts.set(drivername="postgresql", password=None).render_as_string(hide_password=False)
        arguments = (f"--dbname={plain}", *arguments)
    done = subprocess.run([program, *arguments], env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        message = done.stderr.strip() or f"it ended with {done.returncode}"
        raise BackupError(f"{program} {arguments[-1]}: {message}")
    return done.stdout


def _refuse_others(target: sqlite3.Connection, file: Path) -> None:
    """SQLite gives up its write-ahead log for a connection that is alone."""
    try:
        target.execute("PRAGMA journal_mode=DELETE")
    except sqlite3.OperationalError as error:
        busy = error.sqlite_errorcode == sqlite3.SQLITE_BUSY
        raise BackupError(f"{file} is open in another process. {STOP}" if busy else f"{file}: {error}.") from error


async def _users(url: str) -> str:
    """Say who else uses the PostgreSQL at *url*, after waiting a while for them to leave; empty if no one does."""
    engine, until = open_engine(url), time.monotonic() + LEAVING_SECONDS
    try:
        async with engine.connect() as connection:
            await connection.execution_options(isolation_level="AUTOCOMMIT")  # in a transaction it stays what it was
            while True:
                others = (await connection.scalars(_OTHERS, {"name": APPLICATION})).all()
                message = in_use(others)
                if not message or time.monotonic() >= until:
                    return message
                await asyncio.sleep(0.1)
    finally:
        await engine.dispose()


def in_use(others: Sequence[str | None]) -> str:
    """Describe the connections of *others*, by their addresses if those are known; empty if there are none."""
    if not others:
        return ""
    times, known = len(others), sorted({name for name in others if name})
    return (
        f"Backhand is connected to this database {times} time{'s' * (times > 1)}"
        f"{', from ' * bool(known)}{' and '.join(known)}. {STOP}"
    )


async def _learners(url: str) -> int:
    engine = open_engine(url)
    try:
        async with engine.connect() as connection:
            if not await connection.run_sync(
                lambda this_connection: inspect(this_connection).has_table(Learner.__tablename__)
            ):
                return 0
            return int(await connection.scalar(select(func.count()).select_from(Learner)) or 0)
    except (SQLAlchemyError, OSError) as error:
        raise BackupError(f"The database cannot be read: {unusable_reason(url, error)}") from error
    finally:
        await engine.dispose()
