import anyio
import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from app.store import drafts
from app.store.database import Database
from app.store.tables import Draft

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(("pragma", "value"), [("journal_mode", "wal"), ("foreign_keys", 1), ("busy_timeout", 5000)])
async def test_sqlite_is_set_up_on_every_connection(database: Database, pragma: str, value: object) -> None:
    async with database.read() as db:
        assert await db.scalar(text(f"PRAGMA {pragma}")) == value


async def test_a_draft_of_nobody_is_refused_without_showing_its_text(database: Database) -> None:
    async def save() -> None:
        async with database.write() as db:
            await drafts.save_draft(db, 99, "lesson", "box", "secret text")

    with pytest.raises(IntegrityError) as refused:
        await save()

    assert "secret text" not in str(refused.value)


async def test_a_failed_transaction_leaves_nothing(database: Database, me: int) -> None:
    async def fail() -> None:
        async with database.write() as db:
            await drafts.save_draft(db, me, "lesson", "box", "text")
            await db.flush()
            raise RuntimeError

    with pytest.raises(RuntimeError):
        await fail()

    async with database.read() as db:
        assert await drafts.draft_of(db, me, "lesson", "box") is None


async def test_writers_that_read_first_wait_for_each_other(database: Database, me: int) -> None:
    async def append(word: str) -> None:
        async with database.write() as db:
            draft = await drafts.draft_of(db, me, "lesson", "box")
            await anyio.sleep(0.01)
            await drafts.save_draft(db, me, "lesson", "box", (draft.text if draft else "") + word)

    async with anyio.create_task_group() as group:
        for word in "abcdefgh":
            group.start_soon(append, word)

    async with database.read() as db:
        draft = await db.get_one(Draft, (me, "lesson", "box"))
    assert sorted(draft.text) == list("abcdefgh")
    assert draft.revision == 8
