"""A real database, migrated, with one learner in it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.store import learners
from app.store.database import Database
from app.store.migrate import migrate
from tests.store import postgres


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(params=["sqlite", "postgresql"])
async def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty database of each kind."""
    if request.param == "sqlite":
        return f"sqlite+aiosqlite:///{tmp_path / 'data' / 'test.db'}"
    found: str = request.getfixturevalue("postgres_url")
    await postgres.emptied(found)
    return found


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
