from dataclasses import replace

import pytest

from app.store import learners, progress
from app.store.database import Database
from app.store.progress import NewAttempt

pytestmark = pytest.mark.anyio

BOX = ("lesson", "box")
WRONG = NewAttempt(kind="code", text="dW = 1", verdict='{"n": 1}', correct=False, code="dW:sign", task_key="k1")
FAULT = NewAttempt(kind="code", text="dW = 2", verdict='{"n": 2}', correct=None)
RIGHT = NewAttempt(kind="code", text="dW = 3", verdict='{"n": 3}', correct=True, task_key="k3")


async def test_tries_count_what_failed_and_hold_the_newest(database: Database, me: int) -> None:
    async with database.write() as db:
        for answered in (WRONG, FAULT, RIGHT):
            tries, _ = await progress.record_check(db, me, *BOX, answered)

    assert (tries.count, tries.failed, tries.newest.text) == (3, 1, "dW = 3")
    async with database.read() as db:
        read = (await progress.tries_of(db, me, "lesson"))["box"]
    assert (read.count, read.failed, read.newest.text) == (3, 1, "dW = 3")


async def test_every_failed_try_counts_as_one_more_and_no_other_does(database: Database, me: int) -> None:
    counts = []
    async with database.write() as db:
        for answered in (WRONG, WRONG, RIGHT, FAULT, WRONG):
            tries, _ = await progress.record_check(db, me, *BOX, answered)
            counts.append((tries.count, tries.failed))

    assert counts == [(1, 1), (2, 2), (3, 2), (4, 2), (5, 3)]


@pytest.mark.parametrize("found", [False, True], ids=["graded", "found"])
async def test_a_check_comes_with_the_progress_of_its_lesson_and_of_no_other(
    database: Database, me: int, found: bool
) -> None:
    async with database.write() as db:
        other, _ = await learners.begin_session(db)
        _, none = await progress.record_check(db, me, *BOX, WRONG)
        for learner, lesson, exercise in ((me, "lesson", "a"), (me, "lesson", "b"), (me, "m", "c"), (other, *BOX)):
            await progress.mark_solved(db, learner, lesson, exercise)
        tries, rows = await progress.record_check(db, me, *BOX, WRONG, from_cache=found)

    assert none == {}
    assert set(rows) == {"a", "b"}
    assert tries.count == (1 if found else 2)


async def test_the_same_text_found_again_is_no_new_attempt(database: Database, me: int) -> None:
    async with database.write() as db:
        await progress.record_check(db, me, *BOX, WRONG)
        tries, _ = await progress.record_check(db, me, *BOX, WRONG, from_cache=True)

    assert tries.count == 1


async def test_the_same_text_graded_again_is_an_attempt_each_time(database: Database, me: int) -> None:
    async with database.write() as db:
        await progress.record_check(db, me, *BOX, FAULT)
        tries, _ = await progress.record_check(db, me, *BOX, FAULT)

    assert tries.count == 2


async def test_a_verdict_is_found_for_everybody(database: Database, me: int) -> None:
    async with database.write() as db:
        other, _ = await learners.begin_session(db)
        await progress.record_check(db, other, *BOX, WRONG)
        await progress.record_check(db, me, *BOX, replace(WRONG, verdict='{"n": 9}'))

        assert await progress.stored_verdict(db, "k1") == '{"n": 9}'
        assert await progress.stored_verdict(db, "k2") is None


async def test_learners_and_lessons_do_not_mix(database: Database, me: int) -> None:
    async with database.write() as db:
        other, _ = await learners.begin_session(db)
        await progress.record_check(db, other, *BOX, WRONG)
        await progress.record_check(db, me, "another lesson", "box", WRONG)

        assert await progress.tries_of(db, me, "lesson") == {}
