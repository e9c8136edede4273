"""Practice items in stock: generated and proved before a learner needs them."""

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import exists, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.store.database import insert_into, now
from app.store.tables import PracticeItem, ServedItem

WRITE = "write"


async def store_item(db: AsyncSession, item: Mapping[str, object]) -> None:
    """Store an *item* that was proved, by column; one that is there already stays as it is."""
    row = insert_into(db, PracticeItem).values(form=WRITE, proved_at=now(), **item)
    await db.execute(row.on_conflict_do_nothing())


async def unused_operations(db: AsyncSession, version: int, level: int, wanted: str) -> list[str]:
    """List the operations of each stored item of this kind that was never given to a learner."""
    query = select(PracticeItem.operations_json).where(
        PracticeItem.version == version,
        PracticeItem.level == level,
        PracticeItem.wanted == wanted,
        PracticeItem.form == WRITE,
        ~exists().where(ServedItem.item_id == PracticeItem.id),
    )
    return list(await db.scalars(query))


async def list_seeds(db: AsyncSession, version: int, level: int) -> set[int]:
    """Those that were kept of a *level*, drawn without a wish from all operations."""
    conditions = (PracticeItem.version == version, PracticeItem.level == level)
    plain = (PracticeItem.wanted == "", PracticeItem.within_json == "[]")
    return set(await db.scalars(select(PracticeItem.seed).where(*conditions, *plain)))


@dataclass(frozen=True, slots=True)
class ItemOutcome:
    """Outcome of an item for one learner; *alone* is True without a slip and without a hint."""

    learner: int
    operations: str
    alone: bool


async def list_outcomes(db: AsyncSession) -> list[ItemOutcome]:
    """All items that learners finished, in the order of time."""
    rows = select(ServedItem, PracticeItem.operations_json).join(PracticeItem)
    outcomes = await db.execute(rows.where(ServedItem.done_at.is_not(None)).order_by(ServedItem.done_at))
    return [
        ItemOutcome(served_item.learner_id, operations, not served_item.code and not served_item.hints)
        for served_item, operations in outcomes
    ]


async def list_items(db: AsyncSession, version: int) -> list[PracticeItem]:
    """All items that this *version* of the generator drew, in whatever form they are asked."""
    return list(await db.scalars(select(PracticeItem).where(PracticeItem.version == version)))
