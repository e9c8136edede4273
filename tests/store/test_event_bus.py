"""Words between processes: each is heard where somebody waits for it, once what it tells of can be read."""

import asyncio
import contextlib

import pytest
from sqlalchemy import text

from app.store.event_bus import EventBus, Subscription
from tests.waiting import SECONDS

pytestmark = pytest.mark.anyio

LONG = 2 * SECONDS  # nobody waits that long: there is a word before


@pytest.fixture
async def buses(url):
    """Of two processes; on SQLite there is one."""
    one, other = EventBus(url), EventBus(url)
    tasks = [asyncio.create_task(bus.relay_notifications()) for bus in (one, other)]
    for bus in (one, other):
        await asyncio.wait_for(bus.listens.wait(), SECONDS)
    yield (one, other) if url.startswith("postgresql") else (one, one)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def heard(bus, key):
    with bus.subscribe(key) as ear:
        await asyncio.wait_for(ear.wait(LONG), SECONDS)
    return True


async def test_a_word_is_heard_in_every_process(buses, database):
    waiting = [asyncio.create_task(heard(bus, "run 1/l/run")) for bus in buses]
    await asyncio.sleep(0)

    async with database.write() as db:
        await buses[0].publish(db, "run 1/l/run")

    assert all(await asyncio.gather(*waiting))


async def test_nothing_is_heard_of_what_was_not_written(buses, database):
    with buses[1].subscribe("k") as ear:
        with contextlib.suppress(ConnectionError):
            async with database.write() as db:
                await buses[0].publish(db, "k")
                raise ConnectionError
        async with database.write() as db:
            await buses[0].publish(db, "k later")
        await ear.wait(0.3)
        assert not ear.heard


async def test_a_word_that_came_before_the_wait_is_not_lost_and_is_heard_once(buses, database):
    with buses[1].subscribe("k") as ear:
        await asyncio.gather(heard(buses[1], "k"), told(buses[0], database, "k"))

        await asyncio.wait_for(ear.wait(LONG), SECONDS)
        assert ear.heard
        await ear.wait(0.01)
        assert not ear.heard


async def told(bus, database, key):
    await asyncio.sleep(0)
    async with database.write() as db:
        await bus.publish(db, key)


async def test_other_keys_wake_nobody(buses, database):
    with buses[1].subscribe("mine") as ear:
        await asyncio.gather(heard(buses[1], "yours"), told(buses[0], database, "yours"))

        await ear.wait(0.01)
        assert not ear.heard


async def test_who_is_sent_away_while_a_word_comes_goes():
    word = asyncio.Event()
    listening = asyncio.create_task(Subscription(word).wait())
    await asyncio.sleep(0)

    word.set()
    listening.cancel()

    with pytest.raises(asyncio.CancelledError):
        await listening


async def test_nobody_is_kept_who_hears_no_more(buses):
    with buses[0].subscribe("k"):
        pass

    assert not buses[0]._waiting


@pytest.mark.parametrize("url", ["postgresql"], indirect=True)
async def test_a_connection_that_was_cut_comes_back_and_whoever_waits_looks(buses, database):
    waiting = asyncio.create_task(heard(buses[1], "k"))
    await asyncio.sleep(0)

    async with database.write() as db:
        cut = text("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'")
        await db.execute(cut)

    assert await waiting
    await asyncio.wait_for(buses[0].listens.wait(), SECONDS)
    assert await asyncio.gather(heard(buses[1], "k"), told(buses[0], database, "k"))
