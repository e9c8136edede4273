"""Renewal of reports on exercises: off every request, where they were asked for."""

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
        return bool(await item_reports.due_reports(db))


async def renew_reports(database: Database, url: str, course: Course, least: int) -> int:
    """Make those reports anew that were asked for; how many.

    Args:
        url: Of the same database: reports are made in a thread with a loop of its own, and no request waits for them.
    """
    async with database.read() as db:
        due = await item_reports.due_reports(db)
    for group in due:
        began = time.perf_counter()
        report = await asyncio.to_thread(_make, url, course, least, group)
        async with database.write() as db:
            await item_reports.store_report(db, report, group)
        log.info("items-counted", group=group, seconds=round(time.perf_counter() - began, 1))
    return len(due)


def _make(url: str, course: Course, least: int, group: int | None) -> str:
    return asyncio.run(_count_report(url, course, least, group))


async def _count_report(url: str, course: Course, least: int, group: int | None) -> str:
    async with Database(url) as database:
        return REPORT.dump_json(await make_report(database, course, least, group)).decode()
