"""Training runs as they are kept: one at a time for each learner, and honest about servers that are gone."""

import asyncio
from datetime import timedelta

import pytest
from sqlalchemy import select, text

from app.store import learners, progress, trainings
from app.store.database import Database, lock_learner, now
from app.store.tables import TrainingRun
from app.store.trainings import FORGOTTEN, SILENCE, NewTrainingRun
from tests.waiting import SECONDS

pytestmark = pytest.mark.anyio

RUN = NewTrainingRun(
    lesson="l", exercise="run", preset="short", attempt_id=3, passing=True, run="{}", owner="here", checkpoint="start"
)


async def begin(database, learner, **changes):
    begun = NewTrainingRun(**{**{name: getattr(RUN, name) for name in NewTrainingRun.__slots__}, **changes})
    async with database.write() as db:
        return await trainings.begin_training(db, learner, begun)


async def record(database, learner, run, *, live, owner="here", **others):
    async with database.write() as db:
        return await trainings.record_training(db, learner, "l", "run", run, owner=owner, live=live, **others)


async def test_a_run_is_found_as_it_was_begun(database, me):
    assert await begin(database, me)

    async with database.read() as db:
        run = await trainings.training_of(db, me, "l", "run")
    assert (run.preset, run.attempt_id, run.passing, run.snapshot_json) == ("short", 3, True, "{}")
    assert (run.live, run.stopping) == (True, False)


async def test_a_second_run_waits_for_the_end_of_the_first_wherever_it_is(database, me):
    await begin(database, me)

    assert not await begin(database, me)
    assert not await begin(database, me, exercise="other")

    await record(database, me, "{}", live=False)
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
async def test_results_of_right_gradients_are_not_replaced_by_wrong_ones(database, me, runs, kept):
    for run, passing in runs:
        await begin(database, me, passing=passing)
        await record(database, me, run, live=False, finished=True)

    async with database.read() as db:
        row = await trainings.training_of(db, me, "l", "run")
    assert (row.snapshot_json, row.finished_json) == (runs[-1][0], kept)


@pytest.mark.parametrize("passing", [True, False])
@pytest.mark.parametrize("finished", [True, False])
async def test_the_end_of_a_run_with_right_gradients_solves_its_exercise(database, me, passing, finished):
    await begin(database, me, passing=passing)
    await record(database, me, "{}", live=False, finished=finished, edition="e1")

    async with database.read() as db:
        state = await progress.lesson_state(db, me, "l")
    assert state.solved == ({"run"} if passing and finished else set())
    assert [row.edition for row in state.progress.values()] == ["e1"] * (passing and finished)


@pytest.mark.parametrize("url", ["postgresql"], indirect=True)  # SQLite has one writer
async def test_the_end_of_a_run_waits_for_who_changes_what_its_learner_wrote(database, me):
    waits = text("SELECT count(*) FROM pg_locks WHERE NOT granted")
    await begin(database, me)
    async with database.write() as db:
        await lock_learner(db, me)
        ending = asyncio.create_task(record(database, me, "{}", live=False, finished=True))
        async with asyncio.timeout(SECONDS):
            while not await db.scalar(waits):
                pass
        await trainings.stop_training(db, me, "l", "run")

    assert await ending == "stop"


async def test_a_run_that_nobody_went_on_with_is_over(database, me, monkeypatch):
    await begin(database, me)
    later = now() + FORGOTTEN + timedelta(seconds=1)
    monkeypatch.setattr(trainings, "now", lambda: later)

    async with database.read() as db:
        run = await trainings.training_of(db, me, "l", "run")
        assert run.live
        assert not trainings.is_live(run)
        assert await trainings.live_training(db, me) is None
    assert await begin(database, me)


async def test_a_wish_to_stop_reaches_whoever_records_the_run(database, me):
    await begin(database, me)
    assert await record(database, me, '{"step":1}', live=True) == "go on"
    async with database.write() as db:
        await trainings.stop_training(db, me, "l", "run")
    assert await record(database, me, '{"step":2}', live=True) == "stop"

    assert not await begin(database, me), "it is still going on"


async def test_a_run_whose_learner_is_gone_is_left(database, me):
    assert await record(database, me, "{}", live=True) == "leave"


async def test_a_finished_run_stays_until_another_has_finished(database, me):
    for run, finished in (("first", True), ("stopped", False), ("second", True), ("failed", False)):
        await begin(database, me)
        await record(database, me, run, live=False, finished=finished)
        async with database.read() as db:
            row = await trainings.training_of(db, me, "l", "run")
        assert row.snapshot_json == run
        assert row.finished_json == {"stopped": "first", "failed": "second"}.get(run, run)


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
    await record(database, other, "theirs", live=False)
    async with database.read() as db:
        mine, theirs = [await trainings.training_of(db, one, "l", "run") for one in (me, other)]
        assert [run.learner_id for run in await trainings.trainings_by(db, me)] == [me]
        assert await trainings.live_training(db, other) is None
    assert (mine.snapshot_json, mine.live, mine.stopping) == ("{}", True, False)
    assert (theirs.snapshot_json, theirs.live, theirs.stopping) == ("theirs", False, True)


async def halted(database, learner):
    """Owner and halt as they are kept."""
    async with database.read() as db:
        return (
            await db.execute(
                select(TrainingRun.owner, TrainingRun.checkpoint_json).where(TrainingRun.learner_id == learner)
            )
        ).one()


async def taken(database, owner="there", most=9):
    async with database.write() as db:
        return [
            (one.learner_id, one.owner, one.checkpoint_json)
            for one in await trainings.claim_orphaned_runs(db, owner, most)
        ]


async def test_a_run_that_is_driven_is_nobody_elses(database, me):
    await begin(database, me)

    assert await taken(database) == []
    assert await record(database, me, "mine", live=True, owner="there") == "leave"
    assert await record(database, me, "{}", live=True) == "go on"


async def test_an_orphaned_run_continues_elsewhere_from_its_checkpoint(database, me, monkeypatch):
    await begin(database, me)
    await record(database, me, "{}", live=True, checkpoint="step 400")
    await record(database, me, "{}", live=True)
    later = now() + SILENCE + timedelta(seconds=1)
    monkeypatch.setattr(trainings, "now", lambda: later)

    assert await taken(database) == [(me, "there", "step 400")]
    assert await taken(database, "elsewhere") == []
    assert await record(database, me, "late", live=False) == "leave", "the first owner was only slow"
    async with database.read() as db:
        run = await trainings.training_of(db, me, "l", "run")
    assert (run.snapshot_json, run.live) == ("{}", True)


async def test_who_was_only_slow_to_write_takes_over_no_run_of_its_own(database, me, monkeypatch):
    await begin(database, me)
    later = now() + SILENCE + timedelta(seconds=1)
    monkeypatch.setattr(trainings, "now", lambda: later)

    assert await taken(database, "here") == []


async def test_a_run_that_is_left_goes_on_in_another_at_once(database, me):
    await begin(database, me)
    await record(database, me, "{}", live=True, checkpoint="step 9", leaving=True)

    assert await taken(database) == [(me, "there", "step 9")]


async def test_no_more_runs_are_taken_over_than_there_is_room_for(database, me):
    async with database.write() as db:
        other, _ = await learners.begin_session(db)
    for one in (me, other):
        await begin(database, one)
        await record(database, one, "{}", live=True, leaving=True)

    assert [len(await taken(database, most=1)) for _ in range(3)] == [1, 1, 0]


async def test_of_many_servers_that_take_over_at_once_one_has_the_run(database, url, me):
    other = Database(url)
    await begin(database, me)
    await record(database, me, "{}", live=True, leaving=True)

    found = await asyncio.gather(*(taken(one, str(n)) for n, one in enumerate((database, other) * 3)))

    await other.close()
    assert sum(map(len, found)) == 1


async def test_where_to_go_on_from_is_forgotten_when_a_run_has_ended(database, me):
    await begin(database, me)

    await record(database, me, "{}", live=False)

    assert (await halted(database, me)).checkpoint_json is None


async def test_a_run_that_was_left_long_ago_is_not_gone_on_with(database, me, monkeypatch):
    await begin(database, me)
    later = now() + FORGOTTEN + timedelta(seconds=1)
    monkeypatch.setattr(trainings, "now", lambda: later)

    assert await taken(database) == []
