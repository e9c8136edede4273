"""Training runs as they are kept: one at a time for each learner, and honest about servers that are gone."""

import asyncio
from datetime import timedelta

import pytest

from app.store import learners, progress, trainings
from app.store.database import Database, now
from app.store.trainings import SILENCE, Begun

pytestmark = pytest.mark.anyio

RUN = Begun(lesson="l", exercise="run", preset="short", attempt_id=3, passing=True, run="{}")


async def begin(database, learner, **changes):
    begun = Begun(**{**{name: getattr(RUN, name) for name in Begun.__slots__}, **changes})
    async with database.write() as db:
        return await trainings.begin_training(db, learner, begun)


async def test_a_run_is_found_as_it_was_begun(database, me):
    assert await begin(database, me)

    async with database.read() as db:
        run = await trainings.training_of(db, me, "l", "run")
    assert (run.preset, run.attempt_id, run.passing, run.run) == ("short", 3, True, "{}")
    assert (run.live, run.stopping) == (True, False)


async def test_a_second_run_waits_for_the_end_of_the_first_wherever_it_is(database, me):
    await begin(database, me)

    assert not await begin(database, me)
    assert not await begin(database, me, exercise="other")

    async with database.write() as db:
        await trainings.record_training(db, me, "l", "run", "{}", live=False)
    assert await begin(database, me, preset="long")


async def test_other_learners_are_not_in_the_way(database, me):
    async with database.write() as db:
        other, _ = await learners.begin_session(db)
    await begin(database, me)

    assert await begin(database, other)


@pytest.mark.parametrize(
    ("runs", "kept"),
    [
        ([("wrong", False)], "wrong"),
        ([("wrong", False), ("wrong again", False)], "wrong again"),
        ([("wrong", False), ("right", True)], "right"),
        ([("right", True), ("wrong", False)], "right"),
        ([("right", True), ("wrong", False), ("right again", True), ("wrong", False)], "right again"),
    ],
)
async def test_what_came_of_right_gradients_is_not_replaced_by_what_came_of_wrong_ones(database, me, runs, kept):
    for run, passing in runs:
        await begin(database, me, passing=passing)
        async with database.write() as db:
            await trainings.record_training(db, me, "l", "run", run, live=False, finished=True)
            if passing:
                await progress.mark_solved(db, me, "l", "run")

    async with database.read() as db:
        row = await trainings.training_of(db, me, "l", "run")
    assert (row.run, row.finished) == (runs[-1][0], kept)


async def test_a_run_that_nobody_hears_of_is_over(database, me, monkeypatch):
    await begin(database, me)
    later = now() + SILENCE + timedelta(seconds=1)
    monkeypatch.setattr(trainings, "now", lambda: later)

    async with database.read() as db:
        run = await trainings.training_of(db, me, "l", "run")
        assert run.live
        assert not trainings.alive(run)
        assert await trainings.live_training(db, me) is None
    assert await begin(database, me)


async def test_a_wish_to_stop_reaches_whoever_records_the_run(database, me):
    await begin(database, me)
    async with database.write() as db:
        assert not await trainings.record_training(db, me, "l", "run", '{"step":1}', live=True)
        await trainings.stop_training(db, me, "l", "run")
    async with database.write() as db:
        assert await trainings.record_training(db, me, "l", "run", '{"step":2}', live=True)

    assert not await begin(database, me), "it is still going on"


async def test_a_run_whose_learner_is_gone_is_told_to_stop(database, me):
    async with database.write() as db:
        assert await trainings.record_training(db, me, "l", "nothing", "{}", live=True)


async def test_a_finished_run_stays_until_another_has_finished(database, me):
    for run, finished in (("first", True), ("stopped", False), ("second", True), ("failed", False)):
        await begin(database, me)
        async with database.write() as db:
            await trainings.record_training(db, me, "l", "run", run, live=False, finished=finished)
            row = await trainings.training_of(db, me, "l", "run")
        assert row.run == run
        assert row.finished == {"stopped": "first", "failed": "second"}.get(run, run)


async def test_of_many_runs_begun_at_once_by_several_servers_one_is_live(database, url, me):
    other = Database(url)
    servers = (database, other) * 3

    begun = await asyncio.gather(*(begin(one, me, exercise=f"run {n % 4}") for n, one in enumerate(servers)))

    await other.close()
    assert sorted(begun) == [False] * 5 + [True]


async def test_a_recorded_run_changes_only_that_of_its_learner(database, me):
    async with database.write() as db:
        other, _ = await learners.begin_session(db)
    await begin(database, me)
    await begin(database, other)

    async with database.write() as db:
        await trainings.stop_training(db, other, "l", "run")
        await trainings.record_training(db, other, "l", "run", "theirs", live=False)
    async with database.read() as db:
        mine, theirs = [await trainings.training_of(db, one, "l", "run") for one in (me, other)]
        assert [run.learner_id for run in await trainings.trainings_by(db, me)] == [me]
        assert await trainings.live_training(db, other) is None
    assert (mine.run, mine.live, mine.stopping) == ("{}", True, False)
    assert (theirs.run, theirs.live, theirs.stopping) == ("theirs", False, True)
