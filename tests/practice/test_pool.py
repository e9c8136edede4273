"""The next exercise is at hand, and to have it there costs no learner anything."""

import asyncio
import json
import random
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from sqlalchemy import select

from app.engine.grade.engine import Engine
from app.engine.grader import Load, Readiness
from app.practice import pool as pools
from app.practice.draw import VERSION, generate_item
from app.practice.operations import OPERATIONS
from app.practice.pool import ItemPool, ItemSpec, YieldingGrader
from app.practice.proof import Proof
from app.practice.sessions import _choose
from app.store import cards
from app.store.database import Database
from app.store.migrate import migrate
from app.store.tables import PracticeItem
from tests.grading.boxes.load import OpenJail
from tests.waiting import SECONDS

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


async def kept(database: Database) -> list[PracticeItem]:
    async with database.read() as db:
        return list(await db.scalars(select(PracticeItem)))


KNOWN = frozenset({"matmul", "bias", "tanh"})


async def test_a_learner_who_waits_gets_a_taught_item_while_another_is_drawn(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pools, "STOCK", 3)
    pool = ItemPool(database, Graders())

    assert await pool.make(1, "broadcast", "mean", KNOWN)
    (first,) = await kept(database)
    await pool.refill()

    items = await kept(database)
    for one in items:
        assert "bias" in json.loads(one.operations_json)
        assert set(json.loads(one.operations_json)) <= KNOWN
    assert [one.wanted for one in items if one.id != first.id] == ["mean"] * 3
    assert pool.demands == ()


@pytest.mark.parametrize("wanted", ["mean", "overwritten", "input-for-output"])
async def test_no_one_waits_while_an_item_that_can_show_the_slip_is_at_hand(
    database: Database, monkeypatch: pytest.MonkeyPatch, wanted: str
) -> None:
    async def drawn(*_):
        raise AssertionError("somebody waits")

    monkeypatch.setattr(pools, "prove_item", drawn)
    pool = ItemPool(database, Graders())

    for _ in range(3):
        assert await pool.make(3, "fork", wanted, OPERATIONS)

    for one in await kept(database):
        shown = {row for name in json.loads(one.operations_json) for row in OPERATIONS[name].shows}
        assert one.level == 3
        assert wanted in shown or "+=" in one.solution
    assert [(one.level, one.wanted) for one in pool.demands] == [(3, wanted)]


async def test_from_an_empty_pool_the_simplest_item_is_drawn_first(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pools, "curated_items", lambda _: ())
    monkeypatch.setattr(pools, "STOCK", 1)
    pool = ItemPool(database, Graders())
    known = KNOWN | {"add", "mul", "sub", "div", "sigmoid"}

    assert await pool.make(3, "activation", "input-for-output", known)
    assert [(one.level, one.wanted) for one in await kept(database)] == [(1, "")]
    await pool.refill()

    assert [(one.level, one.wanted) for one in await kept(database)] == [(1, ""), (3, "input-for-output")]


async def test_expected_items_are_drawn_ahead_one_of_each_kind_first(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    async def proved(item, _):
        asked.append(item.wanted)
        return Proof()

    monkeypatch.setattr(pools, "STOCK", 2)
    monkeypatch.setattr(pools, "prove_item", proved)
    pool = ItemPool(database, Graders())
    for slip in ("mean", "wrong-axis"):
        assert pool.expect(1, "broadcast", slip, KNOWN)
    assert not pool.expect(1, "gate", "", KNOWN)

    await pool.refill()

    assert asked == ["wrong-axis", "mean", "wrong-axis", "mean"]


async def test_the_first_item_of_a_kind_is_at_hand_and_differs_for_the_next(
    database: Database,
) -> None:
    graders = Graders()
    pool = ItemPool(database, graders)

    for _ in range(4):
        assert await pool.make(1, "activation", "", OPERATIONS)
        assert await pool.make(2, "index", "", OPERATIONS)

    items = await kept(database)
    assert len({(one.level, one.seed) for one in items}) == 8
    assert all(
        {"gather", "embedding", "scatter"} & set(json.loads(one.operations_json)) for one in items if one.level == 2
    )
    assert graders.asked == 0


async def test_a_slip_that_a_level_cannot_show_is_asked_of_a_sibling(database: Database) -> None:
    pool = ItemPool(database, Graders())

    assert await pool.make(1, "matmul", "overwritten", KNOWN)
    await pool.refill()

    assert ["matmul" in json.loads(one.operations_json) for one in await kept(database)] == [True]
    assert pool.demands == ()


async def test_a_full_pool_asks_nobody(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pools, "STOCK", 1)
    graders = Graders()
    pool = ItemPool(database, graders)
    pool.expect(1, "broadcast", "mean", KNOWN)
    await pool.refill()
    before = graders.asked

    pool.expect(1, "broadcast", "mean", KNOWN)
    await pool.refill()

    assert graders.asked == before > 0


async def test_where_a_level_asks_for_more_than_was_taught_a_lower_one_is_made(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool = ItemPool(database, Graders())

    assert await pool.make(3, "matmul", "matmul-order", {"matmul", "matmul-left", "reshape"})

    (item,) = await kept(database)
    assert item.level == 1
    monkeypatch.setattr(pools, "STOCK", 1)
    await pool.refill()
    assert [one.level for one in await kept(database)] == [1, 1]


async def test_nothing_is_made_of_what_was_not_taught(database: Database) -> None:
    assert not await ItemPool(database, Graders()).make(1, "gate", "", KNOWN)
    assert await kept(database) == []


async def test_where_no_drawn_item_is_proved_an_earlier_one_is_taken(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refused(*_):
        return Proof(reason="a test says so")

    monkeypatch.setattr(pools, "prove_item", refused)
    monkeypatch.setattr(pools, "curated_items", lambda _: (generate_item(1, 3),))
    pool = ItemPool(database, Graders())

    for _ in range(2):
        assert await pool.make(1, "matmul", "", OPERATIONS)
        assert [one.seed for one in await kept(database)] == [3]


async def test_of_many_kinds_those_asked_for_last_stay(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pools, "MAX_KINDS", 2)
    monkeypatch.setattr(pools, "MAX_PROOF_TRIES", 0)
    pool = ItemPool(database, Graders())
    for family in ("matmul", "broadcast", "activation"):
        await pool.make(1, family, "", KNOWN)

    assert [one.family for one in pool.demands] == ["broadcast", "activation"]


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
    item = generate_item(1, 1)

    assert (await asyncio.wait_for(YieldingGrader(graders).check(item.task, item.solution), SECONDS)).passed
    assert len(looked) == 3


def test_no_seed_follows_from_those_before_it() -> None:
    seeds = []
    for _ in range(2):
        random.seed(1)
        item = pools._draw_item(ItemSpec(1, within=("tanh", "square")))
        assert item is not None
        seeds.append(item.seed)

    assert seeds[0] != seeds[1]


async def test_a_named_program_is_kept_beside_drawn_ones_and_chosen_first(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pools, "STOCK", 1)
    pool = ItemPool(database, Graders())
    for level in (1, 2):
        assert pool.expect(level, "matmul", "", {"matmul", "relu", "add", "tanh"})

    await pool.refill()

    items = await kept(database)
    assert [one.forward.splitlines()[3:] for one in items if one.seed < 0] == [
        ["a = X @ W", "h = torch.relu(a)", "y = X + h"]
    ]
    assert any(one.seed >= 0 for one in items)
    async with database.read() as db:
        found = await cards.list_candidates(db, 1, VERSION, (2,), {""})
    assert {one.points for one in found if one.named} == {one.points for one in items if one.seed < 0}
    assert {_choose(found, "write").named for _ in range(9)} == {True}
