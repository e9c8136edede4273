"""What one server does for all: once, however many of them there are."""

import asyncio
from datetime import timedelta

import pytest
from sqlalchemy import func, select
from sqlalchemy.exc import OperationalError
from structlog.testing import capture_logs

from app.store import classes, cleanup, learners
from app.store.database import Database
from app.store.tables import Class, Clock, Learner, Session
from tests.waiting import SECONDS

pytestmark = pytest.mark.anyio


async def count(database):
    async with database.read() as db:
        return await db.scalar(select(func.count()).select_from(Learner))


@pytest.fixture
def clock(monkeypatch):
    """The clock of the sweep, which can be set, and goes on evenly."""
    return SetClock(monkeypatch)


class SetClock:
    def __init__(self, monkeypatch):
        self.shown = cleanup.now()
        monkeypatch.setattr(cleanup, "now", lambda: self.shown)

    def jump(self, **step):
        self.shown += timedelta(**step)

    async def pass_days(self, database, days):
        """A server that is on for so many days: it sweeps on each. True where it did so on the last."""
        for _ in range(days):
            swept = await cleanup.delete_expired(database)
            self.jump(days=1)
        return swept


@pytest.mark.usefixtures("me")
async def test_who_left_nothing_is_forgotten_after_a_week(database, clock):
    assert await clock.pass_days(database, 7)
    assert await count(database) == 1

    assert await clock.pass_days(database, 2)
    assert await count(database) == 0


@pytest.mark.usefixtures("me")
async def test_whom_no_browser_knows_any_more_is_forgotten(database, clock, monkeypatch):
    monkeypatch.setattr(learners, "forget_empty", nothing)
    await clock.pass_days(database, 1)
    clock.jump(days=400)

    assert await clock.pass_days(database, 2)

    assert await count(database) == 0


@pytest.mark.in_turn(turns=4, places=("app",))
@pytest.mark.usefixtures("me")
@pytest.mark.parametrize("days", [401, 3, -4, -401])
async def test_a_clock_that_jumps_forgets_nobody_and_ends_nothing(database, clock, days):
    async with database.write() as db:
        (await classes.create_class(db, "Algebra", "UTC", None)).keep_until = (clock.shown + timedelta(days=30)).date()
    await clock.pass_days(database, 2)
    clock.jump(days=days)

    with capture_logs() as logged:
        swept = await cleanup.delete_expired(database)

    assert (swept, [one["event"] for one in logged]) == (False, ["clock-jumped"])
    async with database.read() as db:
        assert [await db.scalar(select(func.count()).select_from(one)) for one in (Learner, Session, Class)] == [
            1,
            1,
            1,
        ]


@pytest.mark.usefixtures("me")
async def test_a_server_that_is_started_again_after_a_jump_waits_on(database, clock):
    await clock.pass_days(database, 2)
    clock.jump(days=401)

    swept = []
    for _ in range(4):
        swept.append(await cleanup.delete_expired(database))
        clock.jump(hours=7)

    assert swept == [False] * 4
    assert await count(database) == 1
    assert await cleanup.delete_expired(database)


@pytest.mark.usefixtures("me")
async def test_a_clock_that_was_set_right_again_costs_nobody_anything(database, clock):
    await clock.pass_days(database, 2)
    clock.jump(days=401)
    await cleanup.delete_expired(database)
    clock.jump(days=-401)

    assert not await cleanup.delete_expired(database)
    clock.jump(days=1)
    assert await cleanup.delete_expired(database)

    assert await count(database) == 1


async def nothing(*_):
    """Nobody is forgotten for this reason."""


@pytest.mark.parametrize("url", ["postgresql"], indirect=True)
async def test_of_two_processes_one_does_it(database, url):
    other = Database(url)
    async with other.write() as db:
        await db.execute(select(func.pg_advisory_xact_lock(cleanup._LOCK)))
        assert not await cleanup.delete_expired(database)
        async with database.read() as read:
            assert await read.scalar(select(func.count()).select_from(Clock)) == 0
    await cleanup.delete_expired(database)
    async with database.read() as read:
        assert await read.scalar(select(func.count()).select_from(Clock)) == 1
    await other.close()


async def test_a_job_is_done_again_after_a_database_that_did_not_answer():
    stopping, tries = asyncio.Event(), []

    async def work():
        tries.append(1)
        if len(tries) == 1:
            raise OperationalError("SELECT", {}, OSError("gone"))
        stopping.set()

    await asyncio.wait_for(cleanup.run_periodically("sweep", work, 0.01, stopping), SECONDS)

    assert len(tries) == 2
