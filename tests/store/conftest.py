"""A real database, migrated, with one learner in it."""

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from sqlalchemy import text

from app.store import learners
from app.store.database import Database, open_engine
from app.store.migrate import migrate
from app.store.tables import Base


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def url(tmp_path: Path) -> str:
    """SQLite, or an empty PostgreSQL database that BACKHAND_TEST_DATABASE_URL names (its tables are dropped)."""
    other = os.environ.get("BACKHAND_TEST_DATABASE_URL")
    if other:
        await _emptied(other)
    return other or f"sqlite+aiosqlite:///{tmp_path / 'data' / 'test.db'}"


async def _emptied(url: str) -> None:
    engine = open_engine(url)
    async with engine.begin() as connection:
        await connection.run_sync(Base.metadata.drop_all)
        await connection.execute(text("DROP TABLE IF EXISTS alembic_version"))
    await engine.dispose()


@pytest.fixture
async def database(url: str) -> AsyncIterator[Database]:
    await migrate(url)
    database = Database(url)
    yield database
    await database.close()


@pytest.fixture
async def me(database: Database) -> int:
    async with database.write() as db:
        learner, _ = await learners.begin_session(db)
    return learner
