"""The next exercise is at hand, and to have it there costs no learner anything."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.engine.grade.engine import Engine
from app.engine.grader import Load, Readiness
from app.practice import pool as pools
from app.practice.draw import VERSION, draw
from app.practice.pool import Demand, Polite, Pool
from app.store import practice
from app.store.database import Database
from app.store.migrate import migrate
from tests.grading.boxes.load import OpenJail

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Graders:
    """Graders whose load a test decides on; they count what they were asked."""

    def __init__(self) -> None:
        self.readiness = Readiness(state="ready")
        self.load = Load(up=1, idle=1)
        self.asked = 0
        self._engine = Engine(OpenJail(), None)

    async def check(self, task, code):
        self.asked += 1
        return self._engine.check(task, code)


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    url = f"sqlite+aiosqlite:///{tmp_path / 'test.db'}"
    await migrate(url)
    database = Database(url)
    yield database
    await database.close()


async def unused(database: Database, demand: Demand) -> int:
    async with database.read() as db:
        return (await practice.stock(db, VERSION, demand.level, demand.wanted, json.dumps(demand.within))).unused


async def test_a_kind_that_was_asked_for_is_kept_at_hand(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pools, "STOCK", 2)
    monkeypatch.setattr(pools, "BANDS", {1: (1, 6)})
    demand = Demand.of(1, "mean", ["matmul", "bias"])
    pool = Pool(database, Graders())
    pool.ask(demand)

    await pool.refill()

    assert await unused(database, demand) == 2
    assert await unused(database, Demand(1)) == 2


async def test_a_full_pool_asks_nobody(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pools, "STOCK", 0)
    graders = Graders()

    await Pool(database, graders).refill()

    assert graders.asked == 0


async def test_a_kind_that_cannot_be_drawn_holds_up_no_other(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pools, "STOCK", 1)
    monkeypatch.setattr(pools, "BANDS", {1: (1, 6)})
    pool = Pool(database, Graders())
    pool.ask(Demand.of(3, "", ["tanh"]))

    await pool.refill()

    assert await unused(database, Demand(1)) == 1


async def test_of_many_kinds_those_asked_for_last_stay(database: Database) -> None:
    pool = Pool(database, Graders())
    for number in range(2 * pools.KINDS):
        pool.ask(Demand(1, str(number)))

    assert [one.wanted for one in pool.demands] == [str(number) for number in range(pools.KINDS, 2 * pools.KINDS)]


@pytest.mark.parametrize(
    "busy",
    [{"load": Load(up=1, idle=0)}, {"load": Load(up=2, idle=1, waiting=1)}, {"readiness": Readiness(state="away")}],
)
async def test_graders_with_something_else_to_do_are_left_alone(busy, monkeypatch: pytest.MonkeyPatch) -> None:
    graders, looked = Graders(), []
    free = {key: getattr(graders, key) for key in busy}
    vars(graders).update(busy)

    async def look(_: float) -> None:
        assert graders.asked == 0
        looked.append(True)
        if len(looked) == 3:
            vars(graders).update(free)

    monkeypatch.setattr(pools, "pause", look)
    item = draw(1, 1)

    assert (await asyncio.wait_for(Polite(graders).check(item.task, item.solution), 60)).passed
    assert len(looked) == 3
