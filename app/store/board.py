"""Queries of the live board: attempts, statuses and slips of a class, as its instructors see them.

Every question names the class. Nothing is answered about a person who is no learner of it now, nor about an exercise
that is not assigned in it; both stand in the questions themselves, so that no page can forget them.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from sqlalchemy import FromClause, Select, Table, and_, bindparam, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.store.classes import record_event
from app.store.progress import PRACTISED
from app.store.tables import Assignment, Attempt, AuditEvent, Draft, Membership, Progress
from app.teaching.text_input import plain_letters

EXPLAINED = "explained"
Asked = Mapping[str, frozenset[str] | None]
"""What is assigned: by lesson the exercises, None for all of them."""


def exercise_topic(lesson: str, exercise: str) -> str:
    """Key of the event bus for answers that learners of a class give to one exercise."""
    return f"answered {lesson}/{exercise}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExerciseStatus:
    """Status of a learner at one exercise.

    Args:
        tries: How many attempts are stored; *same* of them ended as the newest did, with the same code.
        newest: The newest attempt; the next three fields tell of it. None where there is none.
        tried_at: When the newest attempt was made.
        hints: How many are open.
    """

    learner: int
    exercise: str
    tries: int = 0
    same: int = 0
    newest: int | None = None
    correct: bool | None = None
    code: str | None = None
    kind: str = ""
    tried_at: datetime | None = None
    solved_at: datetime | None = None
    solution_at: datetime | None = None
    hints: int = 0

    @property
    def wrong(self) -> bool:
        """True if the last answer was wrong and none was right before it."""
        return self.correct is False and self.solved_at is None


@dataclass(frozen=True, slots=True)
class SlipCounts:
    """Number of *learners* who met a *code* at an exercise, and how often it occurred."""

    lesson: str
    exercise: str
    code: str
    learners: int
    attempts: int


@dataclass(frozen=True, slots=True)
class AttemptText:
    """Text of one attempt, and the verdict on it (JSON)."""

    text: str
    verdict: str


async def assigned_exercises(db: AsyncSession, class_id: int) -> Asked:
    """Exercises that are assigned in a class, by lesson in the order of assignment; None stands for all of a lesson."""
    by_lesson: dict[str, frozenset[str] | None] = {}
    for lesson, exercises in await db.execute(_ASSIGNED, {"class_id": class_id}):
        some = None if exercises is None else frozenset(json.loads(exercises))
        known = by_lesson.get(lesson, frozenset())
        by_lesson[lesson] = None if some is None or known is None else known | some
    return by_lesson


def has_exercise(assigned: Asked, lesson: str, exercise: str) -> bool:
    """True if *exercise* is among the *assigned* ones."""
    some = assigned.get(lesson, frozenset())
    return some is None or exercise in some


async def list_learners(db: AsyncSession, class_id: int) -> list[Membership]:
    """The learners of a class, by name."""
    rows = await db.scalars(select(Membership).where(_LEARNS), {"class_id": class_id})
    return sorted(rows, key=lambda row: (plain_letters(row.name), row.learner_id))


async def exercise_statuses(
    db: AsyncSession, class_id: int, lesson: str, exercise: str | None = None, *, before: datetime | None = None
) -> list[ExerciseStatus]:
    """Statuses of every learner who has touched *exercise*, or any exercise of a *lesson*.

    Args:
        before: As the attempts stood then; what else is told is of now.
    """
    assigned = await assigned_exercises(db, class_id)
    if lesson not in assigned:
        return []
    values = {"class_id": class_id, "lesson": lesson}
    rows_by_exercise: dict[tuple[int, str], dict[str, Any]] = {}
    for learner, name, code, correct, kind, newest, tried_at, same in await db.execute(
        _narrow(_ENDINGS, _ATTEMPT, exercise, before), values
    ):
        row = rows_by_exercise.setdefault((learner, name), {"tries": 0, "newest": 0})
        row["tries"] += same
        if newest > row["newest"]:
            row.update(newest=newest, same=same, correct=correct, code=code, kind=kind, tried_at=tried_at)
    for learner, name, solved_at, solution_at, hints in await db.execute(_narrow(_STEPS, _PROGRESS, exercise), values):
        steps = {"solved_at": solved_at, "solution_at": solution_at, "hints": hints}
        rows_by_exercise.setdefault((learner, name), {}).update(steps)
    return [
        ExerciseStatus(learner=learner, exercise=name, **row)
        for (learner, name), row in rows_by_exercise.items()
        if has_exercise(assigned, lesson, name)
    ]


async def text_changes(db: AsyncSession, class_id: int, lesson: str, exercise: str) -> dict[int, datetime]:
    """By learner, when the text of an assigned exercise was last changed."""
    if not has_exercise(await assigned_exercises(db, class_id), lesson, exercise):
        return {}
    rows = await db.execute(_CHANGES, {"class_id": class_id, "lesson": lesson, "exercise": exercise})
    return {row.learner_id: row.saved_at for row in rows}


async def said_in(db: AsyncSession, attempts: Iterable[int]) -> dict[int, AttemptText]:
    """Texts and verdicts of these *attempts*, by attempt."""
    rows = await db.execute(
        select(Attempt.id, Attempt.text, Attempt.verdict_json).where(Attempt.id.in_(list(attempts)))
    )
    return {row.id: AttemptText(row.text, row.verdict_json) for row in rows}


async def slip_counts(
    db: AsyncSession, class_id: int, *, since: datetime | None = None, learner: int | None = None
) -> list[SlipCounts]:
    """The mistakes that were made at all, *since* some moment, or by one *learner*; the most frequent first."""
    question = _CODES if since is None else _CODES_SINCE
    if learner is not None:
        question = question.where(_MEMBER.c.learner_id == learner)
    return [SlipCounts(*row) for row in await _at_assigned(db, question, class_id, since=since)]


async def recent_exercises(db: AsyncSession, class_id: int, since: datetime) -> list[tuple[str, str]]:
    """List lessons and exercises that were answered *since* then, the newest first."""
    return [(row.lesson, row.exercise) for row in await _at_assigned(db, _RECENT, class_id, since=since)]


async def list_attempts(db: AsyncSession, class_id: int, learner: int, lesson: str) -> list[Attempt]:
    """Every stored attempt of a learner in *lesson*, oldest first."""
    assigned = await assigned_exercises(db, class_id)
    rows = await db.scalars(_TRACE, {"class_id": class_id, "learner": learner, "lesson": lesson})
    return [row for row in rows if has_exercise(assigned, lesson, row.exercise)]


async def latest_lesson(db: AsyncSession, class_id: int, learner: int) -> str | None:
    """The assigned lesson in which *learner* last answered."""
    return next((row.lesson for row in await _at_assigned(db, _PLACES, class_id, learner=learner)), None)


async def solved_counts(db: AsyncSession, class_id: int) -> dict[tuple[str, str], int]:
    """By lesson and exercise, how many have solved it, of what is assigned."""
    return {(lesson, name): count for lesson, name, count in await _at_assigned(db, _SOLVED, class_id)}


async def _at_assigned(db: AsyncSession, question: Select[Any], class_id: int, **values: object) -> list[Any]:
    """Those of its rows that are about exercises which are assigned."""
    assigned = await assigned_exercises(db, class_id)
    rows = await db.execute(question, {"class_id": class_id, **values})
    return [row for row in rows if has_exercise(assigned, row.lesson, row.exercise)]


async def record_explanation(db: AsyncSession, class_id: int, actor: int, lesson: str, exercise: str) -> None:
    """Keep that an exercise was explained to the class now."""
    await record_event(db, class_id, actor, EXPLAINED, f"{lesson}/{exercise}")


async def explained_at(db: AsyncSession, class_id: int, lesson: str, exercise: str) -> datetime | None:
    """Moment at which the exercise was last explained; None if it never was."""
    values = {"class_id": class_id, "subject": f"{lesson}/{exercise}"}
    return await db.scalar(_EXPLAINED, values)


def _narrow(
    question: Select[Any], table: FromClause, exercise: str | None, before: datetime | None = None
) -> Select[Any]:
    if exercise is not None:
        question = question.where(table.c.exercise == exercise)
    return question if before is None else question.where(table.c.created_at <= before)


def _of_learners(table: FromClause, *columns: Any) -> Select[Any]:
    """*columns* of *table*, of those who are learners of a class now."""
    return select(*columns).join_from(_MEMBER, table, table.c.learner_id == _MEMBER.c.learner_id).where(_LEARNS)


def _count_slips(table: FromClause) -> Select[Any]:
    """The codes in *table*, some attempts."""
    learners, place = func.count(table.c.learner_id.distinct()), (table.c.lesson, table.c.exercise, table.c.code)
    return (
        _of_learners(table, *place, learners, func.count())
        .where(table.c.code.is_not(None))
        .group_by(*place)
        .order_by(learners.desc(), func.count().desc(), table.c.code)
    )


# Of the bare tables: rows that became objects would cost more than the questions.
_MEMBER, _ATTEMPT, _DRAFT, _PROGRESS = (cast(Table, item.__table__) for item in (Membership, Attempt, Draft, Progress))
_LEARNS = and_(
    _MEMBER.c.class_id == bindparam("class_id"),
    _MEMBER.c.role == "learner",
    _MEMBER.c.joined_at.is_not(None),
    _MEMBER.c.left_at.is_(None),
    _MEMBER.c.blocked.is_(False),
)
_ASSIGNED = (
    select(Assignment.lesson, Assignment.exercises_json)
    .where(Assignment.class_id == bindparam("class_id"))
    .order_by(Assignment.id)
)
_ENDING = tuple(_ATTEMPT.c[name] for name in ("learner_id", "exercise", "code", "correct", "kind"))
_ENDINGS = (
    _of_learners(_ATTEMPT, *_ENDING, func.max(_ATTEMPT.c.id), func.max(_ATTEMPT.c.created_at), func.count())
    .where(_ATTEMPT.c.lesson == bindparam("lesson"))
    .group_by(*_ENDING)
)
_STEPS = _of_learners(
    _PROGRESS, *(_PROGRESS.c[name] for name in ("learner_id", "exercise", "solved_at", "solution_at", "hints"))
).where(_PROGRESS.c.lesson == bindparam("lesson"))
_CHANGES = _of_learners(_DRAFT, _DRAFT.c.learner_id, _DRAFT.c.saved_at).where(
    _DRAFT.c.lesson == bindparam("lesson"), _DRAFT.c.exercise == bindparam("exercise")
)
# First what is of these minutes, by its index, and then whose it is: SQLite alone would ask the other way round, and
# read all that the class ever answered.
_SINCE = (
    select(*(_ATTEMPT.c[name] for name in ("id", "learner_id", "lesson", "exercise", "code")))
    .where(_ATTEMPT.c.code.is_not(None), _ATTEMPT.c.created_at >= bindparam("since"))
    .cte("since")
    .prefix_with("MATERIALIZED")
)
_CODES, _CODES_SINCE = _count_slips(_ATTEMPT), _count_slips(_SINCE)
_RECENT = (
    _of_learners(_SINCE, _SINCE.c.lesson, _SINCE.c.exercise)
    .group_by(_SINCE.c.lesson, _SINCE.c.exercise)
    .order_by(func.max(_SINCE.c.id).desc())
)
_TRACE = (
    select(Attempt)
    .join(Membership, Membership.learner_id == Attempt.learner_id)
    .where(_LEARNS, Attempt.learner_id == bindparam("learner"), Attempt.lesson == bindparam("lesson"))
    .order_by(Attempt.id)
)
_PLACES = (
    _of_learners(_ATTEMPT, _ATTEMPT.c.lesson, _ATTEMPT.c.exercise)
    .where(_ATTEMPT.c.learner_id == bindparam("learner"), _ATTEMPT.c.lesson.not_like(PRACTISED))
    .group_by(_ATTEMPT.c.lesson, _ATTEMPT.c.exercise)
    .order_by(func.max(_ATTEMPT.c.id).desc())
)
_SOLVED = (
    _of_learners(_PROGRESS, _PROGRESS.c.lesson, _PROGRESS.c.exercise, func.count())
    .where(_PROGRESS.c.solved_at.is_not(None))
    .group_by(_PROGRESS.c.lesson, _PROGRESS.c.exercise)
)
_EXPLAINED = select(func.max(AuditEvent.recorded_at)).where(
    AuditEvent.class_id == bindparam("class_id"),
    AuditEvent.verb == EXPLAINED,
    AuditEvent.subject == bindparam("subject"),
)
