"""Renewal of the report on all exercises: off every request, where it was asked for."""

import asyncio
import time

import structlog

from app.content.blocks import Course
from app.insight.report import REPORT, make_report
from app.store import item_reports
from app.store.database import Database

log = structlog.get_logger()

RENEWAL_SECONDS = 5.0
"""Between two looks whether a report was asked for."""


async def is_due(database: Database) -> bool:
    """True if a report was asked for since the last one."""
    async with database.read() as db:
        return await item_reports.is_report_due(db)


async def renew_report(database: Database, url: str, course: Course, least: int) -> bool:
    """Make the report anew if it was asked for; False where it was not.

    Args:
        url: Of the same database: the report is made in a thread with a loop of its own, and no request waits for it.
    """
    if not await is_due(database):
        return False
    began = time.perf_counter()
    report = await asyncio.to_thread(lambda: asyncio.run(_made(url, course, least)))
    async with database.write() as db:
        await item_reports.store_report(db, report)
    log.info("items-counted", seconds=round(time.perf_counter() - began, 1))
    return True


async def _made(url: str, course: Course, least: int) -> str:
    database = Database(url)
    try:
        return REPORT.dump_json(await make_report(database, course, least)).decode()
    finally:
        await database.close()
