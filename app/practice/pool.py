"""Pool of exercises: a learner who waits is given one that was proved before; what will be asked for next is proved
while graders have nothing else to do.
"""

import asyncio
import json
import random
import secrets
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import lru_cache

import structlog

from app.check.bounded_grader import RetryingGrader
from app.engine.grader import Grader
from app.engine.task import AnyTask
from app.grading.judge.verdict import Verdict
from app.grading.operations.table import EXERCISES
from app.practice.draw import VERSION, NothingFitsError, generate_item, named_items
from app.practice.item import GeneratedItem
from app.practice.operations import FORKS, HEAP, OPERATIONS
from app.practice.proof import NotProvedError, SupportsCheck, curated_items, prove_item
from app.practice.session_plans import ANY_POINTS
from app.practice.taught import families_of
from app.store import practice_items
from app.store.database import Database

log = structlog.get_logger()

pause = asyncio.sleep
STOCK = 4
"""How many exercises of each kind that was asked for wait for learners."""
MAX_KINDS = 64
MAX_PROOF_TRIES = 12
"""How many exercises are proved before a kind is given up, while somebody waits or the pool is filled."""
DRAWS = 200
"""How many are drawn for these: the rarest family of operations stands in one of twenty."""
SEEDS = 2**31
BUSY_POLL_SECONDS = 0.05
REFILL_SECONDS = 1.0
ProvedItems = Callable[[int], tuple[GeneratedItem, ...]]


@dataclass(frozen=True, slots=True)
class ItemSpec:
    """A kind of exercise: see `generate_item`; one of its operations is of *family*, if that is not empty.

    Its *points* are from the first number to the second.
    """

    level: int
    wanted: str = ""
    within: tuple[str, ...] = ()
    family: str = ""
    points: tuple[int, int] = ANY_POINTS

    @property
    def lowest(self) -> int:
        """The lowest level with operations of the family, and of these with one that shows what is wanted."""
        own = [OPERATIONS[name] for name in self.drawn_from if self.family in {"", OPERATIONS[name].family}]
        showing = [operation for operation in own if self.wanted in operation.shows]
        return min((operation.level for operation in showing or own), default=0)

    @property
    def plain(self) -> "ItemSpec":
        """The simplest of its family; where its points are settled, any."""
        simple = replace(self, wanted="")
        return simple if self.points != ANY_POINTS else replace(simple, level=simple.lowest)

    @property
    def drawn_from(self) -> tuple[str, ...]:
        return tuple(name for name in self.within if name in OPERATIONS)

    def fits(self, needs: Iterable[str]) -> bool:
        """True if a program that *needs* so much uses nothing else than this kind, and something of its family."""
        used = set(needs)
        return used <= set(self.within) and (not self.family or self.family in families_of(used))

    def in_band(self, item: GeneratedItem) -> bool:
        """True if *item* is as hard as is asked for."""
        return self.points[0] <= item.points <= self.points[1]

    def shown_by(self, item: GeneratedItem) -> bool:
        """True if *item*, which was drawn without a wish, may show what is wanted."""
        forked = self.wanted in FORKS and "+=" in item.solution
        return not self.wanted or forked or any(self.wanted in OPERATIONS[name].shows for name in item.operations)


@lru_cache(maxsize=1024)
def _can_be_drawn(level: int, wanted: str, within: tuple[str, ...]) -> bool:
    try:
        return generate_item(level, 0, wanted, within) is not None
    except NothingFitsError:
        return False


class ItemPool:
    """Exercises of the kinds that were asked for last."""

    def __init__(self, database: Database, grader: Grader) -> None:
        self._database = database
        self._at_once, self._polite = RetryingGrader(grader), YieldingGrader(grader)
        self._demands: OrderedDict[ItemSpec, None] = OrderedDict()

    @property
    def demands(self) -> tuple[ItemSpec, ...]:
        """Requests that may not be met yet, the latest at the end."""
        return tuple(self._demands)

    def expect(self, level: int, family: str, slip: str, operations: Iterable[str]) -> bool:
        """Have exercises drawn that will be asked for; False where there can be none.

        Args:
            level: Or the nearest below from which something can be drawn.
            family: Of one of its operations, all of which are among *operations*.
            slip: The first word of a row of the diagnosis; empty for any.
        """
        demand = _demand(level, family, slip, operations)
        if demand.lowest:
            self._demands[demand] = None
            self._demands.move_to_end(demand)
        while len(self._demands) > MAX_KINDS:
            self._demands.popitem(last=False)
        return demand.lowest > 0

    async def make(
        self,
        level: int,
        family: str,
        slip: str,
        operations: Iterable[str],
        points: tuple[int, int] = ANY_POINTS,
    ) -> bool:
        """Keep an exercise for a learner who waits, and expect more; see `expect`.

        It is the nearest of those that were proved before, and what is asked for comes later. Only where no process has
        left any of these, the simplest of the family is drawn.
        """
        demand = replace(_demand(level, family, slip, operations), points=points)
        if not demand.lowest or (points == ANY_POINTS and not self.expect(level, family, slip, operations)):
            return False
        item = (
            await self._curated(demand)
            or await self._curated(replace(demand, wanted=""))
            or await self._made(demand.plain, self._at_once)
            or await self._curated(demand.plain, seen=True)
        )
        if item is None:
            log.warning("practice-not-drawn", level=level, family=family, slip=slip)
            return False
        await self._keep(item)
        return True

    async def refill(self) -> None:
        """Have at hand what was asked for: the programs with a name; then one of each kind is drawn before a second of
        any, what was asked for last first.
        """
        for demand in [demand for demand in self.demands if not demand.wanted]:
            while named := await self._curated(demand, proved=named_items):
                await self._keep(named)
        while found := await self._scarcest():
            request, kind = found
            item = await self._made(kind, self._polite)
            if item is None:
                self._demands.pop(request, None)
            else:
                await self._keep(item)

    async def _scarcest(self) -> tuple[ItemSpec, ItemSpec] | None:
        """Request with the fewest exercises, and the kind that can be drawn for it; None where all is there."""
        short = []
        for request in reversed(self.demands):
            kind = await self._drawable(request)
            have = await self._stock(kind) if kind else STOCK
            if kind and have < STOCK:
                short.append((have, request, kind))
            else:
                self._demands.pop(request, None)
        return min(short, key=lambda one: one[0])[1:] if short else None

    async def _drawable(self, demand: ItemSpec) -> ItemSpec | None:
        """*demand* at its level, or the nearest below, from which something can be drawn."""
        for level in range(max(demand.level, demand.lowest), demand.lowest - 1, -1):
            if await asyncio.to_thread(_can_be_drawn, level, demand.wanted, demand.drawn_from):
                return replace(demand, level=level)
        return None

    async def _curated(
        self, demand: ItemSpec, *, seen: bool = False, proved: ProvedItems | None = None
    ) -> GeneratedItem | None:
        """An exercise of the kind that was proved before, at its level or, where points are not asked for, the nearest
        below.

        Args:
            seen: It may have been kept before, so that a learner may know it.
            proved: Those that were, by level; None for all.
        """
        highest = max(demand.level, demand.lowest)
        for level in range(highest, 0 if demand.points == ANY_POINTS else highest - 1, -1):
            items = [
                generated_item
                for generated_item in await asyncio.to_thread(proved or curated_items, level)
                if demand.fits(generated_item.needs)
                and demand.shown_by(generated_item)
                and demand.in_band(generated_item)
            ]
            if items and not seen:
                async with self._database.read() as db:
                    known = await practice_items.list_seeds(db, VERSION, level)
                items = [generated_item for generated_item in items if generated_item.seed not in known]
            if items:
                # What has a name, and so a meaning, comes first.
                return random.choice([item for item in items if item.has_name] or items)
        return None

    async def _stock(self, kind: ItemSpec) -> int:
        async with self._database.read() as db:
            unused = await practice_items.unused_operations(db, VERSION, kind.level, kind.wanted)
        return sum(kind.fits(json.loads(name)) for name in unused)

    async def _made(self, kind: ItemSpec, grader: SupportsCheck) -> GeneratedItem | None:
        """A new exercise that was proved; None where none can be made."""
        try:
            for _ in range(MAX_PROOF_TRIES):
                item = await asyncio.to_thread(_draw_item, kind)
                if item is None or (await prove_item(item, grader)).kept:
                    return item
        except (NothingFitsError, NotProvedError) as error:
            log.info("practice-not-made", level=kind.level, wanted=kind.wanted, why=str(error))
        return None

    async def _keep(self, item: GeneratedItem) -> None:
        async with self._database.write() as db:
            await practice_items.store_item(db, columns_of(item))


def _demand(level: int, family: str, slip: str, operations: Iterable[str]) -> ItemSpec:
    rows = (row for operation in EXERCISES for row in sorted(operation.shows) if row.partition(":")[0] == slip)
    wanted = slip if slip in FORKS else next(rows, "")
    return ItemSpec(level, wanted, tuple(sorted(set(operations) & {*OPERATIONS, HEAP})), family)


def _draw_item(kind: ItemSpec) -> GeneratedItem | None:
    """A new exercise of the kind; None where luck gives none."""
    drawn = (generate_item(kind.level, secrets.randbelow(SEEDS), kind.wanted, kind.drawn_from) for _ in range(DRAWS))
    fitting = (item for item in drawn if item is not None and kind.fits(item.needs) and kind.in_band(item))
    return next(fitting, None)


def columns_of(item: GeneratedItem) -> dict[str, object]:
    """*item* as the database keeps it."""
    names = ("version", "level", "seed", "wanted", "fragment", "forward", "solution", "points")
    lists = {"within_json": item.within, "operations_json": item.needs, "line_operations_json": item.by}
    plain = {name: getattr(item, name) for name in names}
    return plain | {name: json.dumps(entry) for name, entry in lists.items()}


class YieldingGrader:
    """A grader that is asked only while one waits for a question: no learner waits for longer than for one run."""

    def __init__(self, grader: Grader) -> None:
        self._grader = grader
        self._turn = asyncio.Lock()

    async def check(self, task: AnyTask, code: str) -> Verdict:
        async with self._turn:
            while self._grader.readiness.state != "ready" or self._grader.load.waiting or not self._grader.load.idle:
                await pause(BUSY_POLL_SECONDS)
            request = asyncio.create_task(self._grader.check(task, code))
            # The next one looks at the load with this one in it.
            await asyncio.sleep(0)
        return await request
