"""Items that are drawn while somebody waits, where the pool has none that fits what they were taught."""

import asyncio
import json
import random

import structlog
from sqlalchemy.exc import IntegrityError

from app.engine.grader import Grader
from app.practice.draw import NothingFitsError, draw
from app.practice.item import Item
from app.practice.operations import TABLE
from app.practice.taught import families_of
from app.store.database import Database, now
from app.store.tables import PracticeItem

log = structlog.get_logger()

TRIES = 12
SEEDS = 2**31


class Drawing:
    """Draws, proves and keeps one item."""

    def __init__(self, database: Database, grader: Grader) -> None:
        self._database = database
        self._grader = grader

    async def make(self, level: int, family: str, slip: str, operations: frozenset[str]) -> bool:
        """Keep a new item with an operation of *family* that is among *operations*; False where none could be made.

        The level is the nearest to *level* from which something can be drawn.
        """
        own = {one.level for one in TABLE if one.family == family and one.name in operations}
        if not own:
            return False
        level = max(level, min(own))
        wanted = next((row for one in TABLE for row in sorted(one.shows) if row.partition(":")[0] == slip), "")
        for _ in range(TRIES):
            item = await asyncio.to_thread(_drawn, level, family, wanted, operations)
            if item is not None and await self._proved(item):
                await self._keep(item)
                return True
        log.warning("practice-not-drawn", level=level, family=family, wanted=wanted)
        return False

    async def _proved(self, item: Item) -> bool:
        return (await self._grader.check(item.task, item.solution)).passed

    async def _keep(self, item: Item) -> None:
        try:
            async with self._database.write() as db:
                db.add(row_of(item))
        except IntegrityError:
            log.info("practice-drawn-twice", item=item.name)


def _drawn(level: int, family: str, wanted: str, operations: frozenset[str]) -> Item | None:
    try:
        item = draw(level, random.randrange(SEEDS), wanted, tuple(operations))
    except NothingFitsError:
        return None
    used = set(item.operations)
    # What brings loose ends together may be an operation that was not asked for.
    return item if used <= operations and family in families_of(used) else None


def row_of(item: Item) -> PracticeItem:
    """*item* as it is kept, to be written."""
    return PracticeItem(
        version=item.version,
        level=item.level,
        seed=item.seed,
        wanted=item.wanted,
        within=json.dumps(item.within),
        form="write",
        fragment=item.fragment,
        forward=item.forward,
        solution=item.solution,
        operations=json.dumps(item.operations),
        by=json.dumps(item.by),
        points=item.points,
        proved_at=now(),
    )
