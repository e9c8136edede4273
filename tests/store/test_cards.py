"""What is kept of practice, and for how long."""

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.store import cards, drafts, learners, progress
from app.store.database import Database
from app.store.progress import NewAttempt, ResumePoint
from app.store.tables import Attempt, Draft, PracticeItem, ServedItem

pytestmark = pytest.mark.anyio

NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
CHECK = NewAttempt(kind="code", text="x", verdict="{}", correct=False, code="dW:mean")


async def drawn(db: AsyncSession, seed: int, **columns: object) -> int:
    """An item; its number."""
    values = {
        "version": 1, "level": 1, "seed": seed, "wanted": "", "within_json": "[]", "form": "write", "fragment": "",
        "forward": "", "solution": "", "operations_json": '["bias"]', "line_operations_json": "[]", "points": 1,
        "proved_at": NOON, **columns,
    }  # fmt: skip
    row = PracticeItem(**values)
    db.add(row)
    await db.flush()
    return row.id


@pytest.fixture
async def other(database: Database) -> int:
    async with database.write() as db:
        learner, _ = await learners.begin_session(db)
    return learner


async def count(db: AsyncSession, table: type) -> int:
    return await db.scalar(select(func.count()).select_from(table)) or 0


async def test_texts_of_items_from_long_ago_go_and_that_they_were_done_stays(
    database: Database, me: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cards, "KEPT_TEXTS", 3)
    async with database.write() as db:
        for seed in range(5):
            item = await drawn(db, seed)
            await cards.serve_item(db, me, item, "broadcast", "", NOON + timedelta(minutes=seed))
            name = cards.lesson_of_item(item)
            await drafts.save_draft(db, me, name, "box", "text")
            await progress.record_attempt(db, me, name, "box", CHECK)
            await db.flush()

        # The newest was given before its texts were written.
        assert await count(db, Draft) == await count(db, Attempt) == 3
        assert await count(db, ServedItem) == 5


async def test_of_very_many_items_the_oldest_are_forgotten(
    database: Database, me: int, other: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cards, "KEPT_TEXTS", 2)
    monkeypatch.setattr(cards, "KEPT_ITEMS", 4)
    async with database.write() as db:
        items = [await drawn(db, seed) for seed in range(6)]
        await cards.serve_item(db, other, items[0], "broadcast", "", NOON)
        for minutes, item in enumerate(items):
            await cards.serve_item(db, me, item, "broadcast", "", NOON + timedelta(minutes=minutes))

        assert [row.item_id for row in await cards.given_to(db, me)] == items[2:]
        assert [row.item_id for row in await cards.given_to(db, other)] == items[:1]


async def test_a_program_is_given_once_in_whatever_form(database: Database, me: int, other: int) -> None:
    async with database.write() as db:
        first, second = await drawn(db, 1), await drawn(db, 2)
        base = await cards.find_item(db, first)
        assert base is not None
        faded = await cards.in_form(db, base, "fade", "text")
        await cards.serve_item(db, me, faded.id, "broadcast", "", NOON)

        assert [one.id for one in await cards.list_candidates(db, me, 1, (1,), {""})] == [second]
        assert {one.id for one in await cards.list_candidates(db, other, 1, (1,), {""})} == {first, second}
        assert (await cards.in_form(db, base, "fade", "another text")).id == faded.id


async def test_slips_of_lessons_are_looked_at_once(database: Database, me: int) -> None:
    async with database.write() as db:
        await progress.record_attempt(db, me, "lesson", "box", CHECK)
        await progress.record_attempt(db, me, cards.lesson_of_item(7), "box", CHECK)
        (found,) = await cards.slips_since(db, me, 0)

        assert found.lesson == "lesson"
        assert await cards.slips_since(db, me, found.id) == []


async def test_a_place_in_practice_is_none_to_continue_at(database: Database, me: int) -> None:
    async with database.write() as db:
        await progress.record_attempt(db, me, "lesson", "box", CHECK)
        await progress.record_attempt(db, me, cards.lesson_of_item(7), "box", CHECK)
        await drafts.save_draft(db, me, cards.lesson_of_item(7), "box", "text")
        await db.flush()

        assert await progress.last_place(db, me) == ResumePoint("lesson", "box")


async def test_of_drills_the_best_stays(database: Database, me: int) -> None:
    async with database.write() as db:
        for solved in (2, 5, 3):
            await cards.record_drill(db, me, "matmul", solved, NOON)
            await db.flush()

        assert {family: one.best for family, one in (await cards.drills_of(db, me)).items()} == {"matmul": 5}
