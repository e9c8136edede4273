"""A real database, migrated, with one learner in it."""

import asyncio
import shutil
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


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file that was migrated once: a copy takes a hundredth of the time."""
    file = tmp_path_factory.mktemp("template") / "template.db"
    asyncio.run(migrate(f"sqlite+aiosqlite:///{file}"))
    return file


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of a database of each kind: `empty` and `migrated` say what is there."""
    if request.param == "sqlite":
        return f"sqlite+aiosqlite:///{tmp_path / 'data' / 'test.db'}"
    found: str = request.getfixturevalue("postgres_url")
    return found


@pytest.fixture
async def empty(url: str) -> str:
    """No table is there."""
    if url.startswith("postgresql"):
        await postgres.emptied(url)
    return url


@pytest.fixture
async def migrated(url: str, template: Path) -> str:
    """Every table is there, and no row."""
    if url.startswith("postgresql"):
        await postgres.without_rows(url)
    else:
        file = Path(url.partition(":///")[2])
        file.parent.mkdir()
        shutil.copy(template, file)
    return url


@pytest.fixture
async def database(migrated: str) -> AsyncIterator[Database]:
    database = Database(migrated)
    yield database
    await database.close()


@pytest.fixture
async def me(database: Database) -> int:
    async with database.write() as db:
        learner, _ = await learners.begin_session(db)
    return learner
