import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, date, datetime
from functools import partial
from hashlib import sha256
from pathlib import Path
from threading import Barrier
from typing import TypeVar

import anyio
import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from anyio import to_thread
from sqlalchemy import Connection, DateTime, MetaData, Table, select, text
from structlog.testing import capture_logs

from app.store.database import open_engine
from app.store.migrate import migrate, newest_revision
from app.store.migrations.versions.m0010_names import COLUMNS, TABLES
from app.store.tables import Base
from tests.store import revision_0009

MOMENT = datetime(2026, 11, 25, 12, tzinfo=UTC)

SINCE = {"problem_report", "moment", "exercise_edition", "lti_platform", "lti_deployment", "lti_key", "lti_context",
         "lti_member", "lti_line_item", "lti_score", "item_report", "written_sentence", "learner_view", "comparison",
         "comparison_draw", "sitting", "sitting_program", "sitting_record", "sitting_answer"}  # fmt: skip
"""Tables that 1.0.0 and later versions brought."""
COLUMNS_SINCE = {
    "session.embedded",
    "class.attempts_out",
    "assignment.resource_id",
    "served_item.purpose",
    "served_item.right_at_once",
}

pytestmark = pytest.mark.anyio

T = TypeVar("T")


def differences(connection: Connection) -> list[object]:
    return list(compare_metadata(MigrationContext.configure(connection), Base.metadata))


async def asked(url: str, question: Callable[[Connection], T]) -> T:
    engine = open_engine(url)
    try:
        async with engine.begin() as connection:
            return await connection.run_sync(question)
    finally:
        await engine.dispose()


async def test_the_migrations_make_exactly_the_tables(empty: str) -> None:
    await migrate(empty)

    assert await asked(empty, differences) == []


SCHEMA = ("0025", "a072cf7179ad")
"""The newest revision, and a digest of the tables that it stands for."""


def test_other_tables_than_those_of_the_newest_revision_have_a_new_one() -> None:
    facts = [
        (
            table.name,
            column.name,
            str(column.type),
            column.nullable,
            sorted(str(key.column) for key in column.foreign_keys),
        )
        for table in Base.metadata.sorted_tables
        for column in table.columns
    ]
    facts += [(str(index.name),) for table in Base.metadata.sorted_tables for index in table.indexes]

    assert (newest_revision(), sha256(repr(sorted(facts, key=repr)).encode()).hexdigest()[:12]) == SCHEMA


async def test_several_processes_may_migrate_at_once(empty: str) -> None:
    together = Barrier(4)

    def alone() -> None:
        together.wait()
        asyncio.run(migrate(empty))

    async with anyio.create_task_group() as group:
        for _ in range(4):
            group.start_soon(to_thread.run_sync, alone)

    assert await asked(empty, differences) == []


async def test_a_second_migration_changes_nothing(empty: str) -> None:
    await migrate(empty)
    await asked(
        empty, lambda connection: connection.execute(text("INSERT INTO learner (created_at) VALUES ('2026-01-01')"))
    )

    await migrate(empty)

    assert await asked(empty, lambda connection: connection.scalar(text("SELECT count(*) FROM learner"))) == 1


VALUES: dict[type, object] = {str: "7", int: 7, float: 0.5, bool: True, date: date(2026, 11, 25)}


def fill(connection: Connection) -> dict[str, dict[str, object]]:
    """One row more in each table, whose every column has a value: by table."""
    tables = MetaData()
    tables.reflect(connection)
    rows = {}
    for table in tables.sorted_tables:
        if table.name != "alembic_version":
            row = {
                column.name: MOMENT if isinstance(column.type, DateTime) else VALUES[column.type.python_type]
                for column in table.columns
            }
            connection.execute(table.insert().values(**row))
            rows[table.name] = row
    return rows


def row_of(connection: Connection, name: str) -> dict[str, object]:
    """The row that `fill` made."""
    table = Table(name, MetaData(), autoload_with=connection)
    key = next(iter(table.primary_key))
    (row,) = connection.execute(select(table).where(key == VALUES[key.type.python_type]))
    # SQLite keeps no time zone: each moment is in UTC.
    return {
        name: value.replace(tzinfo=UTC) if type(value) is datetime else value for name, value in row._mapping.items()
    }


async def test_a_database_before_1_0_0_keeps_every_row_under_the_new_names(empty: str) -> None:
    await revision_0009.make_database(empty)
    before = await asked(empty, fill)

    await migrate(empty)

    assert {TABLES.get(name, name) for name in before} == set(Base.metadata.tables) - SINCE
    for old, row in before.items():
        new = TABLES.get(old, old)
        renamed = COLUMNS.get(new, {})
        after = await asked(empty, partial(row_of, name=new))
        after = {column: value for column, value in after.items() if f"{new}.{column}" not in COLUMNS_SINCE}
        assert after == {renamed.get(column, column): value for column, value in row.items()}, old


async def test_a_database_before_1_0_0_has_the_tables_of_a_new_one(empty: str) -> None:
    await revision_0009.make_database(empty)

    await migrate(empty)

    assert await asked(empty, differences) == []


def as_unreleased(connection: Connection) -> None:
    """Leave of a new database what one at revision 0019 had, with one row in every table that stays."""
    fill(connection)
    for statement in (
        "DROP TABLE comparison_draw",
        "DROP TABLE comparison",
        "DROP TABLE item_report",
        "CREATE TABLE item_report (id INTEGER NOT NULL PRIMARY KEY)",
        "ALTER TABLE lti_line_item DROP COLUMN seek_tries",
        "ALTER TABLE served_item DROP COLUMN purpose",
        "ALTER TABLE assignment DROP COLUMN resource_id",
        """UPDATE assignment SET exercises_json = '["loss"]'""",
        "DROP INDEX ix_lti_score_due_at",
        "UPDATE alembic_version SET version_num = '0019'",
    ):
        connection.execute(text(statement))


async def test_an_unreleased_database_is_given_what_it_lacks_and_keeps_its_rows(empty: str) -> None:
    await migrate(empty)
    await asked(empty, as_unreleased)

    await migrate(empty)

    assert await asked(empty, differences) == []
    rows = await asked(empty, lambda connection: connection.execute(text(
        "SELECT a.resource_id, i.seek_tries, s.purpose FROM assignment a, lti_line_item i, served_item s"
    )).all())  # fmt: skip
    assert rows == [("7/loss", 0, "")]


async def test_a_migration_is_told_and_of_a_file_a_copy_stays_as_it_was(empty: str) -> None:
    with capture_logs() as log:
        await migrate(empty)
        await migrate(empty)
    assert not log
    await revision_0009.make_database(empty)

    with capture_logs() as log:
        await migrate(empty)

    (line,) = log
    assert (line["event"], line["before"], line["now"]) == ("migrated", "0009", "0025")
    if "sqlite" in empty:
        copy = Path(line["copy"])
        assert copy.name.endswith(".before-0009")
        assert copy.stat().st_mode & 0o077 == 0
        with closing(sqlite3.connect(copy)) as file:
            assert file.execute("SELECT version_num FROM alembic_version").fetchall() == [("0009",)]
