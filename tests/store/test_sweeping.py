"""What one server does for all: once, however many of them there are."""

import asyncio
from datetime import timedelta

import pytest
from sqlalchemy import func, select
from sqlalchemy.exc import OperationalError

from app.store import learners, sweeping
from app.store.database import Database
from app.store.tables import Learner

pytestmark = pytest.mark.anyio


async def count(database):
    async with database.read() as db:
        return await db.scalar(select(func.count()).select_from(Learner))


@pytest.mark.usefixtures("me")
async def test_who_left_nothing_is_forgotten_after_a_week(database, monkeypatch):
    assert await sweeping.sweep(database)
    assert await count(database) == 1

    later = sweeping.now() + sweeping.EMPTY_LEARNERS_STAY + timedelta(seconds=1)
    monkeypatch.setattr(sweeping, "now", lambda: later)
    assert await sweeping.sweep(database)
    assert await count(database) == 0


@pytest.mark.usefixtures("me")
async def test_whom_no_browser_knows_any_more_is_forgotten(database, monkeypatch):
    later = sweeping.now() + sweeping.SESSIONS_STAY + timedelta(seconds=1)
    monkeypatch.setattr(sweeping, "now", lambda: later)
    monkeypatch.setattr(learners, "forget_empty", nothing)

    assert await sweeping.sweep(database)

    assert await count(database) == 0


async def nothing(*_):
    """Nobody is forgotten for this reason."""


@pytest.mark.parametrize("url", ["postgresql"], indirect=True)
async def test_of_two_processes_one_does_it(database, url):
    other = Database(url)
    async with other.write() as db:
        await db.execute(select(func.pg_advisory_xact_lock(sweeping._LOCK)))
        assert not await sweeping.sweep(database)
    assert await sweeping.sweep(database)
    await other.close()


async def test_a_job_is_done_again_after_a_database_that_did_not_answer():
    stopping, tries = asyncio.Event(), []

    async def work():
        tries.append(1)
        if len(tries) == 1:
            raise OperationalError("SELECT", {}, OSError("gone"))
        stopping.set()

    await asyncio.wait_for(sweeping.again_and_again("sweep", work, 0.01, stopping), 30)

    assert len(tries) == 2
