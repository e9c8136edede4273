"""Who is signed out is so on every server, at once: what servers remember of tokens ends by a word between them."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from sqlalchemy.ext.asyncio import AsyncSession

from app.store import learners
from app.store.database import Database
from app.store.event_bus import EventBus
from app.web.middleware import visitor
from app.web.middleware.visitor import SessionCache
from tests.store.conftest import anyio_backend, database, migrated, template, url
from tests.store.test_event_bus import buses
from tests.waiting import SECONDS

__all__ = ["anyio_backend", "buses", "database", "migrated", "template", "url"]

pytestmark = pytest.mark.anyio


@pytest.fixture
async def servers(buses: tuple[EventBus, EventBus], database: Database) -> AsyncIterator[list[SessionCache]]:
    found = [SessionCache(database, bus, changes_a_minute=0, new_a_minute=0) for bus in buses]
    listening = [asyncio.create_task(one.listen()) for one in found]
    await asyncio.sleep(0)  # they listen from then on
    yield found
    for task in listening:
        task.cancel()
    await asyncio.gather(*listening, return_exceptions=True)


async def test_a_session_that_is_ended_at_one_server_has_ended_at_the_other(
    servers: list[SessionCache], database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(visitor, "REMEMBERED_SECONDS", 2 * SECONDS)  # what is forgotten by itself proves nothing
    async with database.write() as db:
        _, token = await learners.begin_session(db)
    assert all([await one.known(token) for one in servers])

    async with database.write() as db:
        await learners.end_session(db, token)
        await servers[0].tell(db)

    async def ended() -> None:
        while await servers[1].known(token) is not None:
            await asyncio.sleep(0.01)

    await asyncio.wait_for(ended(), SECONDS)


async def test_what_was_read_before_the_word_is_not_remembered_after_it(
    servers: list[SessionCache], database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with database.write() as db:
        _, token = await learners.begin_session(db)
    read = learners.find_session_learner

    async def slowly(db: AsyncSession, asked: str) -> learners.SessionLearner | None:
        found = await read(db, asked)
        async with database.write() as writing:
            await learners.end_session(writing, token)
        servers[0].forget()
        return found

    with monkeypatch.context() as while_it_reads:
        while_it_reads.setattr(learners, "find_session_learner", slowly)
        await servers[0].known(token)

    assert await servers[0].known(token) is None
