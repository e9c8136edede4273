"""What is kept of exercises that were drawn."""

import pytest

from app.practice.draw import draw
from app.practice.pool import columns_of
from app.store import practice
from app.store.database import Database, now
from app.store.tables import PracticeAttempt

pytestmark = pytest.mark.anyio

KIND = (1, 1, "", "[]")


async def test_what_was_kept_is_counted_and_the_next_seed_is_a_new_one(database: Database) -> None:
    async with database.write() as db:
        before = await practice.stock(db, *KIND)
        for seed in (3, 5):
            await practice.keep(db, columns_of(draw(1, seed)))
        await practice.keep(db, columns_of(draw(2, 9)))

        assert before == practice.Stock(0, 0)
        assert await practice.stock(db, *KIND) == practice.Stock(2, 6)


async def test_the_same_exercise_is_kept_once_and_stays_as_it_was(database: Database) -> None:
    async with database.write() as db:
        await practice.keep(db, columns_of(draw(1, 3)))
        await practice.keep(db, columns_of(draw(1, 3)) | {"solution": "from another server"})

        assert (await practice.stock(db, *KIND)).unused == 1
        assert [one for _, one, _ in await practice.points(db)] == [columns_of(draw(1, 3))["operations"]]


async def test_an_exercise_that_somebody_was_given_waits_no_longer(database: Database, me: int) -> None:
    async with database.write() as db:
        await practice.keep(db, columns_of(draw(1, 3)))
        ((number, _, _),) = await practice.points(db)
        db.add(PracticeAttempt(learner_id=me, item_id=number, family="matmul", slip="", given_at=now(), hints=0))
        await db.flush()

        assert await practice.stock(db, *KIND) == practice.Stock(0, 4)


async def test_only_what_was_finished_says_how_hard_an_exercise_is(database: Database, me: int) -> None:
    async with database.write() as db:
        for seed in (1, 2, 3, 4):
            await practice.keep(db, columns_of(draw(1, seed)))
        numbers = [number for number, _, _ in await practice.points(db)]
        for number, more in zip(numbers, ({}, {"code": "mean"}, {"hints": 1}, {"done_at": None}), strict=True):
            given = {"family": "matmul", "slip": "", "given_at": now(), "done_at": now(), "hints": 0} | more
            db.add(PracticeAttempt(learner_id=me, item_id=number, **given))
        await db.flush()

        assert sorted(one.alone for one in await practice.tries(db)) == [False, False, True]
