"""Reports on exercises, which are kept: made anew when they were asked for and are no longer fresh.

One is about all learners of the server, and one about those of each class that asks (*group*, None for all).
"""

from datetime import datetime, timedelta

from sqlalchemy import delete, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.store.database import insert_into, now
from app.store.tables import ItemReport

FRESH = timedelta(minutes=10)
EVERYBODY = 0
"""In place of the number of a class."""


async def stored_report(db: AsyncSession, group: int | None = None) -> ItemReport | None:
    """The report that is kept, whether it is fresh or not."""
    return await db.get(ItemReport, group or EVERYBODY)


def is_stale(row: ItemReport | None) -> bool:
    """True if a new report should be asked for, and none is on its way."""
    if row is None:
        return True
    return row.made_at is not None and row.made_at < now() - FRESH and row.asked_at <= row.made_at


async def ask_report(db: AsyncSession, group: int | None = None) -> None:
    """Ask for a new report."""
    request = insert_into(db, ItemReport).values(id=group or EVERYBODY, class_id=group, asked_at=now())
    await db.execute(request.on_conflict_do_update(index_elements=[ItemReport.id], set_={"asked_at": now()}))


async def due_reports(db: AsyncSession) -> list[int | None]:
    """Classes, and None for all learners, of which a report was asked for since the last one, the first first."""
    due = or_(ItemReport.made_at.is_(None), ItemReport.made_at < ItemReport.asked_at)
    return list(await db.scalars(select(ItemReport.class_id).where(due).order_by(ItemReport.asked_at)))


async def forget_report(db: AsyncSession, before: datetime) -> None:
    """Delete reports that were made before that moment."""
    await db.execute(delete(ItemReport).where(ItemReport.made_at < before))


async def store_report(db: AsyncSession, report: str, group: int | None = None) -> None:
    """Keep a *report* (JSON) that was made of what there is now."""
    row = update(ItemReport).where(ItemReport.id == (group or EVERYBODY))
    await db.execute(row.values(made_at=now(), report_json=report))
