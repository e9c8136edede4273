"""The next exercise at hand: what may be asked for soon is drawn and proved while graders have nothing else to do."""

import asyncio
import json
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass

import structlog

from app.engine.grader import Grader
from app.engine.task import AnyTask
from app.grading.judge.verdict import Verdict
from app.practice.draw import BANDS, VERSION, NothingFitsError
from app.practice.item import Item
from app.practice.proof import NotProvedError, drawn_and_proved
from app.store import practice
from app.store.database import Database

log = structlog.get_logger()

pause = asyncio.sleep
STOCK = 8
"""How many exercises of each kind wait for learners."""
KINDS = 64
LOOK_SECONDS = 0.05
REFILL_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class Demand:
    """A kind of exercise: see `draw`."""

    level: int
    wanted: str = ""
    within: tuple[str, ...] = ()

    @classmethod
    def of(cls, level: int, wanted: str = "", within: Iterable[str] = ()) -> "Demand":
        return cls(level, wanted, tuple(sorted(set(within))))


class Pool:
    """Exercises of the kinds that were asked for last, and of every level."""

    def __init__(self, database: Database, grader: Grader) -> None:
        self._database = database
        self._grader = Polite(grader)
        self._demands: OrderedDict[Demand, int] = OrderedDict((Demand(level), 0) for level in BANDS)

    @property
    def demands(self) -> tuple[Demand, ...]:
        """What is kept at hand, what was asked for last at the end."""
        return tuple(self._demands)

    def ask(self, demand: Demand) -> None:
        """Keep exercises of the kind *demand* at hand from now on."""
        self._demands.setdefault(demand, 0)
        self._demands.move_to_end(demand)
        while len(self._demands) > KINDS:
            self._demands.popitem(last=False)

    async def refill(self) -> None:
        """Draw until enough exercises of every kind are there, those that were asked for last first."""
        for demand in reversed(self.demands):
            while await self._add(demand):
                pass

    async def _add(self, demand: Demand) -> bool:
        """One more of a kind; False where there are enough, or none can be made."""
        async with self._database.read() as db:
            stock = await practice.stock(db, VERSION, demand.level, demand.wanted, json.dumps(demand.within))
        if stock.unused >= STOCK:
            return False
        seed = max(stock.seed, self._demands.get(demand, 0))
        try:
            item, after = await drawn_and_proved(demand.level, demand.wanted, self._grader, seed, demand.within)
        except (NothingFitsError, NotProvedError) as error:
            log.info("practice-not-drawn", level=demand.level, wanted=demand.wanted, why=str(error))
            return False
        if demand in self._demands:
            self._demands[demand] = after
        if item is None:
            return False
        async with self._database.write() as db:
            await practice.keep(db, columns_of(item))
        return True


def columns_of(item: Item) -> dict[str, object]:
    """*item* as the database keeps it."""
    return {
        "version": item.version,
        "level": item.level,
        "seed": item.seed,
        "wanted": item.wanted,
        "within": json.dumps(item.within),
        "fragment": item.fragment,
        "forward": item.forward,
        "solution": item.solution,
        "operations": json.dumps(item.operations),
        "by": json.dumps(item.by),
        "points": item.points,
    }


class Polite:
    """A grader that is asked only while another one waits for a question: no learner waits for longer than one run."""

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
