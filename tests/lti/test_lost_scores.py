"""Servers that share an outbox, a platform that fails in every way, and servers that are killed: no grade is lost."""

import asyncio
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

from app.store import lti_scores
from app.store.database import now
from app.store.tables import LtiLineItem, LtiScore
from tests.lti.platform import Platform, with_keys_made_before
from tests.lti.world import World
from tests.store import postgres
from tests.waiting import until

LEARNERS, KILLS = 300, 4


@pytest.fixture
def platform(monkeypatch: pytest.MonkeyPatch) -> Iterator[Platform]:
    monkeypatch.setattr(lti_scores, "QUIET", lti_scores.QUIET * 0)
    platform = Platform()
    yield platform
    platform.close()


def test_servers_of_one_outbox_send_each_grade_once(
    tmp_path: Path, platform: Platform, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_keys_made_before(monkeypatch)
    platform.latency = 0.005
    asyncio.run(postgres.without_rows(postgres_url))
    world = World(tmp_path, platform, postgres_url, 24)
    # One has claimed its part, and was killed before it asked anybody.
    claimed = [world.write(lti_scores.claim_due) for _ in range(3)]

    assert sum(world.send(2)) == 21
    assert world.told().keys() == world.solved.keys() - {row.learner_id for row in claimed if row}
    assert platform.asked.count("token") == 2  # one for each server, however many need it at once

    world.write(lambda db: db.execute(update(LtiScore).values(leased_until=now())))
    world.send(2)
    assert world.told() == {learner: [1.0] for learner in world.solved}
    assert platform.doubled == []


def test_servers_of_one_database_have_one_column_made(
    tmp_path: Path, platform: Platform, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_keys_made_before(monkeypatch)
    asyncio.run(postgres.without_rows(postgres_url))
    world = World(tmp_path, platform, postgres_url, 0)
    platform.latency = 0.05
    sought = {"url": "", "creates": True, "seek_at": now()}
    world.write(lambda db: db.execute(update(LtiLineItem).values(**sought)))

    assert sorted(world.find(3)) == [0, 0, 1]
    assert platform.asked.count("POST lineitems") == 1


@pytest.mark.prove
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_hundreds_of_grades_survive_what_fails(
    request: pytest.FixtureRequest, tmp_path: Path, platform: Platform, kind: str
) -> None:
    """Platform errors, hangs, tokens that are over, and servers that are killed while grades change."""
    url, drawn = "", random.Random(7)
    if kind == "postgresql":
        url = request.getfixturevalue("postgres_url")
        asyncio.run(postgres.emptied(url))
    world = World(tmp_path, platform, url, LEARNERS)
    faults: list[int | str] = [503, 500, 409, 401, 429, "hang"]
    platform.broken = [drawn.choice(faults) if drawn.random() < 0.25 else 200 for _ in range(3 * LEARNERS)]
    platform.latency = 0.01
    servers = [world.server() for _ in range(2 if url else 1)]

    def has_ended() -> bool:
        return any(server.poll() is not None for server in servers)

    def comes(claim: Callable[[], bool]) -> None:
        """On a busy machine hundreds of grades take long: it waits as long as anything is asked of the platform."""
        while not claim():
            assert not has_ended(), "a server has ended by itself"
            requests = len(platform.asked)
            until(lambda requests=requests: claim() or has_ended() or len(platform.asked) > requests)

    try:
        for kill in range(1, KILLS + 1):
            arrived = kill * LEARNERS // (KILLS + 2)
            comes(lambda arrived=arrived: len(world.column.scores) >= arrived)
            killed = servers.pop(0)
            killed.kill()
            killed.wait()

            async def more(db: Any) -> None:
                for learner in drawn.sample(sorted(world.solved), 50):
                    await world.solve(db, learner)

            world.write(more)
            servers.append(world.server())
        comes(lambda: world.newest() == world.solved and world.count(LtiScore) == 0)
    finally:
        for server in servers:
            server.kill()
            server.wait()

    assert world.newest() == world.solved
    assert [learner for learner, points in world.told().items() if points != sorted(points)] == []
    assert platform.doubled == []
