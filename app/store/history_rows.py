"""Histories of learners as rows for counting: in pages, so that no database and no memory holds all at once.

Moments are whole milliseconds since 1970, as the database counts them: to make a `datetime` of each takes longer.

Left out is who teaches, or assists in a class: their tries are no learner's.
"""

from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any, cast

from sqlalchemy import Integer, Select, Table, case, or_, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

from app.store.database import Database
from app.store.moments import SEEN
from app.store.progress import PRACTISED
from app.store.tables import Attempt, Learner, Membership, Moment, Progress, ServedItem

PAGE_ROWS = 20_000
PAGE_LEARNERS = 500
# Of the bare tables: rows that went through objects would cost twice as much.
_ATTEMPT, _SERVED, _MOMENT, _PROGRESS = (
    cast(Table, table.__table__).c for table in (Attempt, ServedItem, Moment, Progress)
)


class _Milliseconds(FunctionElement[int]):
    """A moment in milliseconds since 1970."""

    type = Integer()
    inherit_cache = True


@compiles(_Milliseconds, "sqlite")
def _of_julian_day(element: _Milliseconds, compiler: SQLCompiler, **options: Any) -> str:
    moment = compiler.process(element.clauses, **options)
    return f"CAST(round((julianday({moment}) - 2440587.5) * 86400000) AS INTEGER)"


@compiles(_Milliseconds, "postgresql")
def _of_epoch(element: _Milliseconds, compiler: SQLCompiler, **options: Any) -> str:
    return f"CAST(extract(epoch FROM {compiler.process(element.clauses, **options)}) * 1000 AS BIGINT)"


async def list_staff(db: AsyncSession) -> list[int]:
    """Learners who teach, or have another role than learner in any class."""
    roles = select(Membership.learner_id).where(Membership.role != "learner")
    return list(await db.scalars(select(Learner.id).where(or_(Learner.teaches, Learner.id.in_(roles)))))


async def judged_tries(database: Database) -> AsyncIterator[Sequence[Any]]:
    """Tries in lessons that were right or wrong, oldest first; of questions with answer and verdict, both JSON."""
    quiz = _ATTEMPT.kind == "quiz"
    columns = (
        _ATTEMPT.id, _ATTEMPT.learner_id, _ATTEMPT.lesson, _ATTEMPT.exercise, _ATTEMPT.correct, _ATTEMPT.code,
        _Milliseconds(_ATTEMPT.created_at), case((quiz, _ATTEMPT.text), else_=""),
        case((quiz, _ATTEMPT.verdict_json), else_=""),
    )  # fmt: skip
    judged = (_ATTEMPT.correct.is_not(None), _ATTEMPT.lesson.not_like(PRACTISED))
    query = select(*columns).where(*judged).order_by(_ATTEMPT.id).limit(PAGE_ROWS)
    async for page in _pages(database, lambda last: query.where(_ATTEMPT.id > last), PAGE_ROWS):
        yield page


async def practised_items(database: Database) -> AsyncIterator[Sequence[Any]]:
    """Items of practice that were solved or failed: learner, family, first code and when it was given."""
    columns = (_SERVED.learner_id, _SERVED.family, _SERVED.code, _Milliseconds(_SERVED.given_at))
    done = or_(_SERVED.done_at.is_not(None), _SERVED.code.is_not(None))
    async for page in _by_learners(database, select(*columns).where(done), _SERVED.learner_id):
        yield page


async def first_moments(database: Database) -> AsyncIterator[Sequence[Any]]:
    """Moments at which learners first opened lessons and hints."""
    columns = (_MOMENT.learner_id, _MOMENT.lesson, _MOMENT.exercise, _MOMENT.what, _Milliseconds(_MOMENT.happened_at))
    query = select(*columns).where(or_(_MOMENT.what == SEEN, _MOMENT.what.like("hint-%")))
    async for page in _by_learners(database, query, _MOMENT.learner_id):
        yield page


async def solved_moments(database: Database) -> AsyncIterator[Sequence[Any]]:
    """Moments at which learners solved exercises and opened solutions."""
    columns = (
        _PROGRESS.learner_id, _PROGRESS.lesson, _PROGRESS.exercise,
        _Milliseconds(_PROGRESS.solved_at), _Milliseconds(_PROGRESS.solution_at),
    )  # fmt: skip
    happened = or_(_PROGRESS.solved_at.is_not(None), _PROGRESS.solution_at.is_not(None))
    query = select(*columns).where(happened, _PROGRESS.lesson.not_like(PRACTISED))
    async for page in _by_learners(database, query, _PROGRESS.learner_id):
        yield page


async def texts_of(db: AsyncSession, numbers: Sequence[int]) -> list[Any]:
    """Learner, text and verdict (JSON) of these attempts; few enough for one statement."""
    columns = (_ATTEMPT.id, _ATTEMPT.learner_id, _ATTEMPT.text, _ATTEMPT.verdict_json)
    return list(await db.execute(select(*columns).where(_ATTEMPT.id.in_(numbers))))


async def _pages(
    database: Database, page_after: Callable[[int], Select[Any]], rows: int
) -> AsyncIterator[Sequence[Any]]:
    last = 0
    while True:
        async with database.read() as db:
            page = (await db.execute(page_after(last))).all()
        if page:
            yield page
        if len(page) < rows:
            return
        last = page[-1][0]


async def _by_learners(database: Database, query: Any, column: Any) -> AsyncIterator[Sequence[Any]]:
    """Rows of *query* of some learners after the others, whose ids are in *column*."""
    learners = select(Learner.id).order_by(Learner.id).limit(PAGE_LEARNERS)
    async for some in _pages(database, lambda last: learners.where(Learner.id > last), PAGE_LEARNERS):
        async with database.read() as db:
            rows = (await db.execute(query.where(column.between(some[0][0], some[-1][0])))).all()
        if rows:
            yield rows
