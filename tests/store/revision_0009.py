"""A database at revision 0009, as versions before 1.0.0 left it: the tables, and in SQLite the work that they held."""

import sqlite3
from contextlib import closing
from functools import partial
from pathlib import Path

from sqlalchemy import Connection, DateTime, MetaData, create_engine

from app.store.database import open_engine
from tests.store import postgres

SCRIPT = Path(__file__).with_suffix(".sql")


async def make_database(url: str) -> None:
    """Put the database into the place of all that *url* holds."""
    is_file = url.startswith("sqlite")
    path = Path(url.partition(":///")[2]) if is_file else Path(":memory:")
    if is_file:
        path.parent.mkdir(exist_ok=True)
        path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as file:
        file.executescript(SCRIPT.read_text("utf-8"))
        if not is_file:
            await postgres.emptied(url)
            engine = open_engine(url)
            async with engine.begin() as connection:
                await connection.run_sync(partial(_make_alike, file))
            await engine.dispose()


def _make_alike(file: sqlite3.Connection, connection: Connection) -> None:
    """Make the tables of the SQLite database *file* in PostgreSQL."""
    tables = MetaData()
    engine = create_engine("sqlite://", creator=lambda: file)
    tables.reflect(engine)
    for table in tables.sorted_tables:
        for column in table.columns:
            column.type = column.type.as_generic()
            column.server_default = None
            if isinstance(column.type, DateTime):
                column.type = DateTime(timezone=True)
    tables.create_all(connection)
    connection.execute(tables.tables["alembic_version"].insert().values(version_num="0009"))
