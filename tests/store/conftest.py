"""A real database, migrated, with one learner in it."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from sqlalchemy import text

from app.store import learners
from app.store.database import Database, open_engine
from app.store.migrate import migrate
from app.store.tables import Base
from tests.store import postgres


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """A PostgreSQL that the tests start."""
    folder = postgres.programs()
    if folder is None:
        pytest.skip("PostgreSQL is not installed (Debian: apt-get install postgresql)")
    with postgres.server(folder) as url:
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
async def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty database of each kind."""
    if request.param == "sqlite":
        return f"sqlite+aiosqlite:///{tmp_path / 'data' / 'test.db'}"
    found: str = request.getfixturevalue("postgres_url")
    await _emptied(found)
    return found


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
