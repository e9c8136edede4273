"""A PostgreSQL server for the tests: its own data, its own socket, no port."""

import getpass
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from alembic.script import ScriptDirectory
from sqlalchemy import inspect, text

from app.store.database import open_engine
from app.store.migrate import MIGRATIONS, migrate
from app.store.tables import Base

PLACES = ("/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/opt/homebrew/opt/postgresql*/bin")
OTHER_USER = "postgres"  # PostgreSQL refuses to run as root; its packages make this user

NEWEST = ScriptDirectory(str(MIGRATIONS)).get_current_head()


def programs() -> Path | None:
    """The folder of `initdb` and `pg_ctl`; None where PostgreSQL is not installed."""
    found = shutil.which("initdb")
    folders = [Path(found).parent] if found else [one for place in PLACES for one in Path("/").glob(place[1:])]
    return folders[-1] if folders else None


@contextmanager
def server(folder: Path) -> Iterator[str]:
    """The URL of an empty database on a server that runs until the block ends."""
    user = OTHER_USER if os.geteuid() == 0 else getpass.getuser()

    def call(program: str, *arguments: str) -> None:
        done = subprocess.run(
            [folder / program, *arguments], user=user if os.geteuid() == 0 else None, cwd="/",
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout

    # Not below pytest's own folder: another user may not enter it, and a socket's path must be short.
    with tempfile.TemporaryDirectory(prefix="pg") as top:
        if os.geteuid() == 0:
            shutil.chown(top, user)
        data = f"{top}/data"
        call("initdb", "--no-sync", "--auth=trust", "--encoding=UTF8", "--locale=C", "--username=tests", "-D", data)
        settings = f"-c listen_addresses= -c unix_socket_directories={top} -c fsync=off -c max_connections=40"
        call("pg_ctl", "--wait", "-D", data, "-l", f"{top}/log", "-o", settings, "start")
        try:
            yield f"postgresql+psycopg://tests@/postgres?host={quote(top, safe='')}"
        finally:
            call("pg_ctl", "--wait", "-D", data, "-m", "immediate", "stop")


async def emptied(url: str) -> None:
    """Leave no table behind, of whatever version."""
    engine = open_engine(url)
    async with engine.begin() as connection:
        await connection.execute(text("DROP SCHEMA public CASCADE"))
        await connection.execute(text("CREATE SCHEMA public"))
    await engine.dispose()


async def without_rows(url: str) -> None:
    """Leave every table of ours and nothing in it: what a migration takes seconds for, once."""
    engine = open_engine(url)
    async with engine.begin() as connection:
        there = set(await connection.run_sync(lambda known: inspect(known).get_table_names()))
        version = None
        if there == {*Base.metadata.tables, "alembic_version"}:
            version = await connection.scalar(text("SELECT version_num FROM alembic_version"))
        if version == NEWEST:
            # To truncate all tables makes each anew, which takes more than most tests: few have rows.
            filled = " UNION ALL ".join(
                f"SELECT '{name}' WHERE EXISTS (SELECT FROM \"{name}\")" for name in Base.metadata.tables
            )
            counted = "SELECT sequencename FROM pg_sequences WHERE last_value IS NOT NULL"
            statements = ["SET LOCAL session_replication_role = replica"]  # no order of tables, nothing cascades
            statements += [f'DELETE FROM "{name}"' for name in await connection.scalars(text(filled))]
            statements += [f'ALTER SEQUENCE "{name}" RESTART' for name in await connection.scalars(text(counted))]
            await connection.execute(text("; ".join(statements)))
    await engine.dispose()
    if version != NEWEST:
        await emptied(url)
        await migrate(url)
