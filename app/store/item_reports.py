"""The report on all exercises, which is kept: made anew when it was asked for and is no longer fresh."""

from datetime import datetime, timedelta

from sqlalchemy import delete, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncSession

from app.store.database import now
from app.store.tables import ItemReport

FRESH = timedelta(minutes=10)
ROW = 1


async def stored_report(db: AsyncSession) -> ItemReport | None:
    """The report that is kept, whether it is fresh or not."""
    return await db.get(ItemReport, ROW)


def is_stale(row: ItemReport | None) -> bool:
    """True if a new report should be asked for, and none is on its way."""
    if row is None:
        return True
    return row.made_at is not None and row.made_at < now() - FRESH and row.asked_at <= row.made_at


async def ask_report(db: AsyncSession) -> None:
    """Ask for a new report."""
    insert = sqlite.insert if db.get_bind().dialect.name == "sqlite" else postgresql.insert
    asked = insert(ItemReport).values(id=ROW, asked_at=now())
    await db.execute(asked.on_conflict_do_update(index_elements=[ItemReport.id], set_={"asked_at": now()}))


async def is_report_due(db: AsyncSession) -> bool:
    """True if a report was asked for since the last one."""
    row = await stored_report(db)
    return row is not None and (row.made_at is None or row.made_at < row.asked_at)


async def forget_report(db: AsyncSession, before: datetime) -> None:
    """Delete a report that was made before that moment."""
    await db.execute(delete(ItemReport).where(ItemReport.made_at < before))


async def store_report(db: AsyncSession, report: str) -> None:
    """Keep a *report* (JSON) that was made of what there is now."""
    await db.execute(update(ItemReport).where(ItemReport.id == ROW).values(made_at=now(), report_json=report))
