"""Moments at which learners opened a lesson or a hint, and editions of the exercises that they met."""

from collections.abc import Mapping
from datetime import datetime
from typing import cast

from sqlalchemy import Table, bindparam, func, insert, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncSession

from app.store.database import now
from app.store.tables import ExerciseEdition, Moment

SEEN = "seen"
PAGE = ""
"""In place of an exercise, the page of a lesson."""
Place = tuple[str, str]
"""Lesson and exercise."""


def hint_moment(number: int) -> str:
    """Stored moment of the hint with this *number*, from 1."""
    return f"hint-{number}"


async def hints_opened(db: AsyncSession, learner: int, lesson: str) -> list[datetime]:
    """Moments at which *learner* opened each hint in *lesson*, in order."""
    conditions = (Moment.learner_id == learner, Moment.lesson == lesson, Moment.what.startswith("hint-"))
    return list(await db.scalars(select(Moment.happened_at).where(*conditions).order_by(Moment.happened_at)))


async def record_moment(db: AsyncSession, learner: int, lesson: str, exercise: str, what: str) -> None:
    """Keep that *what* happened now; the first time counts."""
    statement = _RECORD_SQLITE if db.get_bind().dialect.name == "sqlite" else _RECORD_POSTGRESQL
    values = {"learner_id": learner, "lesson": lesson, "exercise": exercise, "what": what, "happened_at": now()}
    await db.execute(statement, values)


async def record_editions(db: AsyncSession, editions: Mapping[Place, str]) -> None:
    """Keep of those exercises whose *editions* are not the newest ones known, since when they are served."""
    newest = select(func.max(ExerciseEdition.id)).group_by(ExerciseEdition.lesson, ExerciseEdition.exercise)
    rows = await db.scalars(select(ExerciseEdition).where(ExerciseEdition.id.in_(newest)))
    known = {(row.lesson, row.exercise): row.edition for row in rows}
    fresh = [
        {"lesson": lesson, "exercise": exercise, "edition": edition, "since": now()}
        for (lesson, exercise), edition in editions.items()
        if known.get((lesson, exercise)) != edition
    ]
    if fresh:
        await db.execute(insert(cast(Table, ExerciseEdition.__table__)), fresh)


async def list_editions(db: AsyncSession) -> dict[Place, list[tuple[str, datetime]]]:
    """By place, every edition and since when it was served, oldest first."""
    editions: dict[Place, list[tuple[str, datetime]]] = {}
    for row in await db.scalars(select(ExerciseEdition).order_by(ExerciseEdition.id)):
        editions.setdefault((row.lesson, row.exercise), []).append((row.edition, row.since))
    return editions


# Made once: to put a statement together takes longer than to run it.
_TABLE = cast(Table, Moment.__table__)
_VALUES = {column.name: bindparam(column.name, type_=column.type) for column in _TABLE.columns}
_RECORD_SQLITE = sqlite.insert(_TABLE).values(_VALUES).on_conflict_do_nothing()
_RECORD_POSTGRESQL = postgresql.insert(_TABLE).values(_VALUES).on_conflict_do_nothing()
