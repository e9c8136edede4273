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

from app.store.database import open_engine
from app.store.migrate import config_for, migrate
from app.store.tables import Base

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
