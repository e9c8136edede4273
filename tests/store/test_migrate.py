import anyio
import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection

from app.store.database import open_engine
from app.store.migrate import migrate
from app.store.tables import Base

pytestmark = pytest.mark.anyio


def differences(connection: Connection) -> list[object]:
    return list(compare_metadata(MigrationContext.configure(connection), Base.metadata))


async def test_the_migrations_make_exactly_the_tables(url: str) -> None:
    await migrate(url)

    engine = open_engine(url)
    async with engine.connect() as connection:
        found = await connection.run_sync(differences)
    await engine.dispose()
    assert found == []


async def test_several_processes_may_migrate_at_once(url: str) -> None:
    async with anyio.create_task_group() as group:
        for _ in range(4):
            group.start_soon(migrate, url)
