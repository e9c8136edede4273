import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import date, timedelta
from pathlib import Path
from threading import Barrier
from typing import TypeVar

import anyio
import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from anyio import to_thread
from sqlalchemy import Connection, inspect, select, text
from structlog.testing import capture_logs

from app.engine.json_columns import decoded_verdict, to_json_column
from app.engine.train.snapshot import Snapshot
from app.grading.diagnosis import diagnose
from app.grading.judge.verdict import NameVerdict, Verdict
from app.store.database import now, open_engine
from app.store.migrate import config_for, migrate
from app.store.migrations.versions.m0004_codes_of_mistakes import RENAMED
from app.store.tables import Base, Class

pytestmark = pytest.mark.anyio

T = TypeVar("T")


def differences(connection: Connection) -> list[object]:
    return list(compare_metadata(MigrationContext.configure(connection), Base.metadata))


async def asked(url: str, question: Callable[[Connection], T]) -> T:
    engine = open_engine(url)
    async with engine.begin() as connection:
        answer = await connection.run_sync(question)
    await engine.dispose()
    return answer


async def test_the_migrations_make_exactly_the_tables(empty: str) -> None:
    await migrate(empty)

    assert await asked(empty, differences) == []


async def test_several_processes_may_migrate_at_once(empty: str) -> None:
    together = Barrier(4)

    def alone() -> None:
        together.wait()
        asyncio.run(migrate(empty))

    async with anyio.create_task_group() as group:
        for _ in range(4):
            group.start_soon(to_thread.run_sync, alone)

    assert await asked(empty, differences) == []


async def test_the_way_back_leaves_nothing_and_leads_up_again(empty: str) -> None:
    await migrate(empty)

    await asked(empty, lambda connection: command.downgrade(config_for(connection), "base"))

    assert await asked(empty, lambda connection: inspect(connection).get_table_names()) == ["alembic_version"]
    await migrate(empty)
    assert await asked(empty, differences) == []


async def test_a_second_migration_changes_nothing(empty: str) -> None:
    await migrate(empty)
    await asked(
        empty, lambda connection: connection.execute(text("INSERT INTO learner (created_at) VALUES ('2026-01-01')"))
    )

    await migrate(empty)

    assert await asked(empty, lambda connection: connection.scalar(text("SELECT count(*) FROM learner"))) == 1


async def test_a_migration_is_told_and_of_a_file_a_copy_stays_as_it_was(empty: str) -> None:
    with capture_logs() as log:
        await migrate(empty)
        await migrate(empty)
    assert not log
    head = await asked(empty, lambda one: MigrationContext.configure(one).get_current_revision())
    await asked(empty, lambda one: command.downgrade(config_for(one), "0007"))

    with capture_logs() as log:
        await migrate(empty)

    (line,) = log
    assert (line["event"], line["before"], line["now"]) == ("migrated", "0007", head)
    if "sqlite" in empty:
        copy = Path(line["copy"])
        assert copy.name.endswith(".before-0007")
        assert copy.stat().st_mode & 0o077 == 0
        with closing(sqlite3.connect(copy)) as file:
            assert file.execute("SELECT version_num FROM alembic_version").fetchall() == [("0007",)]


async def test_runs_that_had_finished_before_they_were_kept_are_kept(empty: str) -> None:
    runs = {
        "done": to_json_column(Snapshot(phase="finished", steps=9)),
        "ended": to_json_column(Snapshot(phase="stopped", steps=9)),
    }

    def before(connection: Connection) -> None:
        command.downgrade(config_for(connection), "0002")
        connection.execute(text("INSERT INTO learner (id, created_at) VALUES (1, '2026-01-01')"))
        for exercise, run in runs.items():
            connection.execute(
                text(
                    "INSERT INTO training VALUES (1, 'l', :exercise, 'short', NULL, true, :run, false, false,"
                    " '2026-01-01', '2026-01-01')"
                ),
                {"exercise": exercise, "run": run},
            )

    await migrate(empty)
    await asked(empty, before)
    await migrate(empty)

    kept = await asked(
        empty, lambda connection: connection.execute(text("SELECT exercise, finished FROM training")).all()
    )
    assert dict(tuple(row) for row in kept) == {"done": runs["done"], "ended": None}


async def test_attempts_have_the_codes_that_mistakes_have_now(empty: str) -> None:
    def verdict(*codes: str | None) -> Verdict:
        names = tuple(NameVerdict(name=f"d{at}", verdict="wrong", code=code) for at, code in enumerate(codes))
        return Verdict(outcome="graded", names=names, printed='"dx:average-changed"')

    before = {"d0:average-changed": verdict("d0:average-changed", "d1:sign"), "d0:sign": verdict("d0:sign", None)}

    def old(connection: Connection) -> None:
        command.downgrade(config_for(connection), "0003")
        connection.execute(text("INSERT INTO learner (id, created_at) VALUES (1, '2026-01-01')"))
        for code, one in before.items():
            connection.execute(
                text(
                    "INSERT INTO attempt (learner_id, lesson, exercise, kind, text, verdict, code, created_at)"
                    " VALUES (1, 'l', 'e', 'code', 'average-changed', :verdict, :code, '2026-01-01')"
                ),
                {"verdict": to_json_column(one), "code": code},
            )

    await migrate(empty)
    await asked(empty, old)
    await migrate(empty)

    kept = await asked(
        empty, lambda connection: connection.execute(text("SELECT code, verdict FROM attempt ORDER BY id")).all()
    )
    assert [code for code, _ in kept] == ["d0:factor-missing", "d0:sign"]
    assert [decoded_verdict(one) for _, one in kept] == [verdict("d0:factor-missing", "d1:sign"), before["d0:sign"]]


async def test_no_class_is_forgotten_without_notice_by_an_upgrade(empty: str) -> None:
    def old(connection: Connection) -> None:
        command.downgrade(config_for(connection), "0007")
        for number, day in ((1, "2020-03-31"), (2, "2199-01-01"), (3, None)):
            connection.execute(
                text(
                    "INSERT INTO class (id, name, timezone, joining, created_at, keep_until)"
                    " VALUES (:number, 'Algebra', 'UTC', 'open', '2026-01-01', :day)"
                ),
                {"number": number, "day": day},
            )

    await migrate(empty)
    await asked(empty, old)
    await migrate(empty)

    days = await asked(empty, lambda connection: connection.execute(select(Class.keep_until).order_by(Class.id)).all())
    first, far, never = (row[0] for row in days)
    assert first >= (now() + timedelta(days=7)).date()
    assert (far, never) == (date(2199, 1, 1), None)


def test_no_renamed_code_is_given_any_more() -> None:
    diagnosis = Path(diagnose.__file__).parent
    texts = [file.read_text("utf-8") for file in diagnosis.rglob("*") if file.suffix in {".py", ".toml"}]

    assert [old for old in RENAMED if any(old in one for one in texts)] == []
