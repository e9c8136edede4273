"""What is kept of exercises that were drawn."""

import pytest
from sqlalchemy import select

from app.practice.draw import VERSION, generate_item
from app.practice.pool import columns_of
from app.store import practice_items
from app.store.database import Database, now
from app.store.tables import PracticeItem, ServedItem

pytestmark = pytest.mark.anyio

KIND = (VERSION, 1, "")


async def test_what_was_kept_of_a_kind_waits(database: Database) -> None:
    async with database.write() as db:
        before = await practice_items.unused_operations(db, *KIND)
        for level, seed in ((1, 3), (1, 5), (2, 9)):
            await practice_items.store_item(db, columns_of(generate_item(level, seed)))

        assert before == []
        assert len(await practice_items.unused_operations(db, *KIND)) == 2


async def test_the_same_exercise_is_kept_once_and_stays_as_it_was(database: Database) -> None:
    async with database.write() as db:
        await practice_items.store_item(db, columns_of(generate_item(1, 3)))
        await practice_items.store_item(db, columns_of(generate_item(1, 3)) | {"solution": "from another server"})

        assert await practice_items.unused_operations(db, *KIND) == [columns_of(generate_item(1, 3))["operations_json"]]
        assert [one.solution for one in await db.scalars(select(PracticeItem))] == [generate_item(1, 3).solution]


async def test_an_exercise_that_somebody_was_given_waits_no_longer(database: Database, me: int) -> None:
    async with database.write() as db:
        await practice_items.store_item(db, columns_of(generate_item(1, 3)))
        (item,) = await practice_items.list_items(db, VERSION)
        db.add(ServedItem(learner_id=me, item_id=item.id, family="matmul", slip="", given_at=now(), hints=0))
        await db.flush()

        assert await practice_items.unused_operations(db, *KIND) == []


async def test_only_what_was_finished_says_how_hard_an_exercise_is(database: Database, me: int) -> None:
    async with database.write() as db:
        for seed in (1, 2, 3, 4):
            await practice_items.store_item(db, columns_of(generate_item(1, seed)))
        numbers = [one.id for one in await practice_items.list_items(db, VERSION)]
        for number, more in zip(numbers, ({}, {"code": "mean"}, {"hints": 1}, {"done_at": None}), strict=True):
            given = {"family": "matmul", "slip": "", "given_at": now(), "done_at": now(), "hints": 0} | more
            db.add(ServedItem(learner_id=me, item_id=number, **given))
        await db.flush()

        assert sorted(one.alone for one in await practice_items.list_outcomes(db)) == [False, False, True]
