"""Assignments of lessons that the course no longer has, read from an existing database."""

import asyncio
from pathlib import Path

from sqlalchemy.engine import make_url
from sqlalchemy.exc import SQLAlchemyError

from app.content.blocks import Course
from app.practice.item_lessons import Curriculum
from app.settings import Settings
from app.store.assignments import LostAssignment, lost_assignments
from app.store.database import Database


def lost_lessons(settings: Settings, course: Course) -> list[LostAssignment]:
    """Nothing where there is no database, or none that can be asked: it is never made, changed or waited for."""
    url = make_url(settings.resolved_database_url)
    if url.drivername.startswith("sqlite") and not (url.database and Path(url.database).is_file()):
        return []
    try:
        return asyncio.run(_query_database(settings.resolved_database_url, course))
    except (SQLAlchemyError, OSError):
        return []


async def _query_database(url: str, course: Course) -> list[LostAssignment]:
    async with Database(url) as database, database.read() as db:
        return await lost_assignments(db, Curriculum(course).assigned)
