"""The next exercise at hand: what was asked for is drawn and proved again while graders have nothing else to do."""

import asyncio
import json
import random
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass

import structlog

from app.check.bounded_grader import Patient
from app.engine.grader import Grader
from app.engine.task import AnyTask
from app.grading.judge.verdict import Verdict
from app.practice.draw import VERSION, NothingFitsError, draw
from app.practice.item import Item
from app.practice.operations import OPERATIONS, TABLE
from app.practice.proof import Checks, NotProvedError, curated, prove
from app.practice.taught import families_of
from app.store import practice
from app.store.database import Database

log = structlog.get_logger()

pause = asyncio.sleep
STOCK = 8
"""How many exercises of each kind wait for learners."""
KINDS = 64
TRIES = 12
"""How many exercises are drawn before a kind is given up, while somebody waits or the pool is filled."""
SEEDS = 2**31
LOOK_SECONDS = 0.05
REFILL_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class Demand:
    """A kind of exercise: see `draw`; one of its operations is of *family*, if that is not empty."""

    level: int
    wanted: str = ""
    within: tuple[str, ...] = ()
    family: str = ""

    def fits(self, operations: Iterable[str]) -> bool:
        return not self.family or self.family in families_of(operations)

    def serves(self, item: Item) -> bool:
        """Whether *item*, which was drawn without a wish, is of this kind but for the slip."""
        return set(item.operations) <= set(self.within) and self.fits(item.operations)


class Pool:
    """Exercises of the kinds that were asked for last."""

    def __init__(self, database: Database, grader: Grader) -> None:
        self._database = database
        self._at_once, self._polite = Patient(grader), Polite(grader)
        self._demands: OrderedDict[Demand, None] = OrderedDict()

    @property
    def demands(self) -> tuple[Demand, ...]:
        """What is kept at hand, what was asked for last at the end."""
        return tuple(self._demands)

    async def make(self, level: int, family: str, slip: str, operations: Iterable[str]) -> bool:
        """Keep a new exercise for somebody who waits, and more of its kind from now on; False where there can be none.

        Args:
            level: Or the nearest below from which something can be drawn.
            family: Of one of its operations, all of which are among *operations*.
            slip: The first word of a row of the diagnosis; empty for any.
        """
        within = tuple(sorted(set(operations) & set(OPERATIONS)))
        own = [OPERATIONS[name].level for name in within if OPERATIONS[name].family == family]
        if not own:
            return False
        wanted = next((row for one in TABLE for row in sorted(one.shows) if row.partition(":")[0] == slip), "")
        for each in range(max(level, min(own)), min(own) - 1, -1):
            demand = Demand(each, wanted, within, family)
            # Of those that were proved before nobody has seen that they show a slip.
            item = None if wanted else await self._curated(demand, fresh=True)
            item = item or await self._made(demand, self._at_once) or await self._curated(demand, fresh=False)
            if item is not None:
                self._ask(demand)
                await self._keep(item)
                return True
        log.warning("practice-not-drawn", level=level, family=family, wanted=wanted)
        return False

    def _ask(self, demand: Demand) -> None:
        self._demands[demand] = None
        self._demands.move_to_end(demand)
        while len(self._demands) > KINDS:
            self._demands.popitem(last=False)

    async def refill(self) -> None:
        """Draw until enough exercises of every kind are there, those that were asked for last first."""
        for demand in reversed(self.demands):
            while await self._stock(demand) < STOCK and (item := await self._made(demand, self._polite)):
                await self._keep(item)

    async def _curated(self, demand: Demand, *, fresh: bool) -> Item | None:
        """An exercise of the kind that was proved before; a *fresh* one has never been kept, so nobody has seen it."""
        items = [one for one in await asyncio.to_thread(curated, demand.level) if demand.serves(one)]
        if fresh and items:
            async with self._database.read() as db:
                seen = await practice.seeds(db, VERSION, demand.level)
            items = [one for one in items if one.seed not in seen]
        return random.choice(items) if items else None

    async def _stock(self, demand: Demand) -> int:
        async with self._database.read() as db:
            unused = await practice.unused(db, VERSION, demand.level, demand.wanted, json.dumps(demand.within))
        return sum(demand.fits(json.loads(one)) for one in unused)

    async def _made(self, demand: Demand, grader: Checks) -> Item | None:
        """A new exercise that was proved; None where none can be made."""
        for _ in range(TRIES):
            try:
                item = await asyncio.to_thread(
                    draw, demand.level, random.randrange(SEEDS), demand.wanted, demand.within
                )
                if demand.fits(item.operations) and (await prove(item, grader)).kept:
                    return item
            except (NothingFitsError, NotProvedError) as error:
                log.info("practice-not-made", level=demand.level, wanted=demand.wanted, why=str(error))
                return None
        return None

    async def _keep(self, item: Item) -> None:
        async with self._database.write() as db:
            await practice.keep(db, columns_of(item))


def columns_of(item: Item) -> dict[str, object]:
    """*item* as the database keeps it."""
    names = ("version", "level", "seed", "wanted", "fragment", "forward", "solution", "points")
    lists = ("within", "operations", "by")
    plain = {name: getattr(item, name) for name in names}
    return plain | {name: json.dumps(getattr(item, name)) for name in lists}


class Polite:
    """A grader that is asked only while one waits for a question: no learner waits for longer than for one run."""

    def __init__(self, grader: Grader) -> None:
        self._grader = grader
        self._turn = asyncio.Lock()

    async def check(self, task: AnyTask, code: str) -> Verdict:
        async with self._turn:
            while self._grader.readiness.state != "ready" or self._grader.load.waiting or not self._grader.load.idle:
                await pause(LOOK_SECONDS)
            asked = asyncio.create_task(self._grader.check(task, code))
            # The next one looks at the load with this one in it.
            await asyncio.sleep(0)
        return await asked
