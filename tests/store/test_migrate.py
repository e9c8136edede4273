import asyncio
from collections.abc import Callable
from threading import Barrier
from typing import TypeVar

import anyio
import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from anyio import to_thread
from sqlalchemy import Connection, inspect, text

from app.engine.train.snapshot import Snapshot
from app.store.database import open_engine
from app.store.migrate import config_for, migrate
from app.store.tables import Base
from app.web.json_columns import encoded

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


async def test_the_migrations_make_exactly_the_tables(url: str) -> None:
    await migrate(url)

    assert await asked(url, differences) == []


async def test_several_processes_may_migrate_at_once(url: str) -> None:
    together = Barrier(4)

    def alone() -> None:
        together.wait()
        asyncio.run(migrate(url))

    async with anyio.create_task_group() as group:
        for _ in range(4):
            group.start_soon(to_thread.run_sync, alone)

    assert await asked(url, differences) == []


async def test_the_way_back_leaves_nothing_and_leads_up_again(url: str) -> None:
    await migrate(url)

    await asked(url, lambda connection: command.downgrade(config_for(connection), "base"))

    assert await asked(url, lambda connection: inspect(connection).get_table_names()) == ["alembic_version"]
    await migrate(url)
    assert await asked(url, differences) == []


async def test_a_second_migration_changes_nothing(url: str) -> None:
    await migrate(url)
    await asked(
        url, lambda connection: connection.execute(text("INSERT INTO learner (created_at) VALUES ('2026-01-01')"))
    )

    await migrate(url)

    assert await asked(url, lambda connection: connection.scalar(text("SELECT count(*) FROM learner"))) == 1


async def test_runs_that_had_finished_before_they_were_kept_are_kept(url: str) -> None:
    runs = {"done": encoded(Snapshot(phase="finished", steps=9)), "ended": encoded(Snapshot(phase="stopped", steps=9))}

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

    await migrate(url)
    await asked(url, before)
    await migrate(url)

    kept = await asked(
        url, lambda connection: connection.execute(text("SELECT exercise, finished FROM training")).all()
    )
    assert dict(tuple(row) for row in kept) == {"done": runs["done"], "ended": None}
