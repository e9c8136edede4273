"""What an instructor is told of the work of a class.

Every question names the class. Nothing is answered about anybody who is no learner of it now, nor about an exercise
that is not assigned in it; both stand in the questions themselves, so that no page can forget them.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Select, and_, bindparam, exists, func, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from app.store.database import now
from app.store.tables import Assignment, Attempt, Draft, Event, Membership, Progress

EXPLAINED = "explained"
Asked = Mapping[str, frozenset[str] | None]
"""What is assigned: by lesson the exercises, None for all of them."""


def heard(lesson: str, exercise: str) -> str:
    """The key under which the bus tells that somebody of a class answered an exercise."""
    return f"answered {lesson}/{exercise}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Where a learner stands with one exercise.

    Args:
        tries: How many attempts are stored; *same* of them ended as the newest did, with the same code.
        newest: The newest attempt; the next three fields tell of it. None where there is none.
        changed_at: When the text was last changed, or answered.
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
    changed_at: datetime | None = None
    solved_at: datetime | None = None
    solution_at: datetime | None = None
    hints: int = 0

    @property
    def wrong(self) -> bool:
        """What was answered last was wrong, and nothing was right before it."""
        return self.correct is False and self.solved_at is None


@dataclass(frozen=True, slots=True)
class Counted:
    """How many *learners* met a *code* at an exercise, and how often."""

    lesson: str
    exercise: str
    code: str
    learners: int
    attempts: int


@dataclass(frozen=True, slots=True)
class Said:
    """What was answered in one attempt, and what was said to it (JSON)."""

    text: str
    verdict: str


async def in_a_class(db: AsyncSession, learner: int) -> bool:
    """Whether anybody may be watching how *learner* gets on."""
    return bool(await db.scalar(_IN_A_CLASS, {"learner": learner}))


async def assigned(db: AsyncSession, class_id: int) -> Asked:
    """What is assigned in a class, in the order in which it was."""
    found: dict[str, frozenset[str] | None] = {}
    for lesson, exercises in await db.execute(_ASSIGNED, {"class_id": class_id}):
        some = None if exercises is None else frozenset(json.loads(exercises))
        known = found.get(lesson, frozenset())
        found[lesson] = None if some is None or known is None else known | some
    return found


async def learners(db: AsyncSession, class_id: int) -> list[Membership]:
    """The learners of a class, by name."""
    rows = await db.scalars(_LEARNERS, {"class_id": class_id})
    return sorted(rows, key=lambda row: (row.name.casefold(), row.learner_id))


async def standings(
    db: AsyncSession, class_id: int, lesson: str, exercise: str | None = None, *, before: datetime | None = None
) -> list[Standing]:
    """Where every learner stands who has touched *exercise*, or any of a *lesson*.

    Args:
        before: As the attempts stood then; what else is told is of now.
    """
    asked = await assigned(db, class_id)
    if lesson not in asked:
        return []
    values = {"class_id": class_id, "lesson": lesson}
    found: dict[tuple[int, str], dict[str, Any]] = {}

    def at(row: Any) -> dict[str, Any]:
        place = row.learner_id, row.exercise
        return found.setdefault(place, {"learner": row.learner_id, "exercise": row.exercise})

    for row in await db.execute(_narrowed(_ENDINGS, Attempt, exercise, before), values):
        _add_ending(at(row), row)
    for row in await db.execute(_narrowed(_CHANGES, Draft, exercise), values):
        one = at(row)
        one["changed_at"] = max(row.saved_at, one.get("changed_at", row.saved_at))
    for row in await db.execute(_narrowed(_STEPS, Progress, exercise), values):
        at(row).update(solved_at=row.solved_at, solution_at=row.solution_at, hints=row.hints)
    some = asked[lesson]
    return [Standing(**one) for (_, name), one in found.items() if some is None or name in some]


async def said_in(db: AsyncSession, attempts: Iterable[int]) -> dict[int, Said]:
    """What was said in each of *attempts*, which a standing told of."""
    rows = await db.execute(select(Attempt.id, Attempt.text, Attempt.verdict).where(Attempt.id.in_(list(attempts))))
    return {row.id: Said(row.text, row.verdict) for row in rows}


async def codes(
    db: AsyncSession, class_id: int, *, since: datetime | None = None, learner: int | None = None
) -> list[Counted]:
    """The mistakes that were made at all, *since* some moment, or by one *learner*; the most frequent first."""
    asked = await assigned(db, class_id)
    question = _CODES if since is None else _CODES_SINCE
    if learner is not None:
        question = question.where(Membership.learner_id == learner)
    rows = await db.execute(question, {"class_id": class_id, "since": since})
    counted = [Counted(*row) for row in rows if row.lesson in asked]
    return [one for one in counted if (some := asked[one.lesson]) is None or one.exercise in some]


async def recent(db: AsyncSession, class_id: int, since: datetime) -> list[tuple[str, str]]:
    """Where somebody answered *since* then: lesson and exercise, the newest first."""
    asked = await assigned(db, class_id)
    rows = await db.execute(_RECENT, {"class_id": class_id, "since": since})
    places = [(row.lesson, row.exercise) for row in rows if row.lesson in asked]
    return [(lesson, name) for lesson, name in places if (some := asked[lesson]) is None or name in some]


async def trace(db: AsyncSession, class_id: int, learner: int, lesson: str) -> list[Attempt]:
    """Every stored attempt of a learner in *lesson*, oldest first."""
    asked = await assigned(db, class_id)
    if lesson not in asked:
        return []
    rows = await db.scalars(_TRACE, {"class_id": class_id, "learner": learner, "lesson": lesson})
    return [row for row in rows if (some := asked[lesson]) is None or row.exercise in some]


async def explain(db: AsyncSession, class_id: int, actor: int, lesson: str, exercise: str) -> None:
    """Keep that an exercise was explained to the class now."""
    place = f"{lesson}/{exercise}"
    db.add(Event(at=now(), class_id=class_id, actor=actor, verb=EXPLAINED, subject=place, data="{}"))


async def explained(db: AsyncSession, class_id: int, lesson: str, exercise: str) -> datetime | None:
    """When it was last explained."""
    values = {"class_id": class_id, "subject": f"{lesson}/{exercise}"}
    return await db.scalar(_EXPLAINED, values)


def _narrowed(question: Select[Any], table: Any, exercise: str | None, before: datetime | None = None) -> Select[Any]:
    if exercise is not None:
        question = question.where(table.exercise == exercise)
    return question if before is None else question.where(table.created_at <= before)


def _add_ending(one: dict[str, Any], row: Any) -> None:
    """Count *row*, the attempts of one learner that ended alike, into where they stand."""
    one["tries"] = one.get("tries", 0) + row.same
    if row.newest > one.get("newest", 0):
        told = {"newest": row.newest, "same": row.same, "correct": row.correct, "code": row.code, "kind": row.kind}
        one.update(told, changed_at=row.changed_at)


def _of_learners(*columns: Any, table: Any) -> Select[Any]:
    """*columns* of *table*, of those who are learners of a class now."""
    mine = and_(
        Membership.class_id == bindparam("class_id"),
        Membership.role == "learner",
        Membership.joined_at.is_not(None),
        Membership.left_at.is_(None),
        Membership.blocked.is_(False),
    )
    if table is Membership:
        return select(*columns).where(mine)
    return select(*columns).join_from(Membership, table, table.learner_id == Membership.learner_id).where(mine)


_IN_A_CLASS = select(exists().where(Membership.learner_id == bindparam("learner"), Membership.left_at.is_(None)))
_ASSIGNED = (
    select(Assignment.lesson, Assignment.exercises)
    .where(Assignment.class_id == bindparam("class_id"))
    .order_by(Assignment.id)
)
_LEARNERS = _of_learners(Membership, table=Membership)
_ENDINGS = (
    _of_learners(
        Attempt.learner_id,
        Attempt.exercise,
        Attempt.code,
        Attempt.correct,
        Attempt.kind,
        func.max(Attempt.id).label("newest"),
        func.max(Attempt.created_at).label("changed_at"),
        func.count().label("same"),
        table=Attempt,
    )
    .where(Attempt.lesson == bindparam("lesson"))
    .group_by(Attempt.learner_id, Attempt.exercise, Attempt.code, Attempt.correct, Attempt.kind)
)
_CHANGES = _of_learners(Draft.learner_id, Draft.exercise, Draft.saved_at, table=Draft).where(
    Draft.lesson == bindparam("lesson")
)
_STEPS = _of_learners(
    Progress.learner_id, Progress.exercise, Progress.solved_at, Progress.solution_at, Progress.hints, table=Progress
).where(Progress.lesson == bindparam("lesson"))


def _counted(table: Any) -> Select[Any]:
    count = func.count(table.learner_id.distinct())
    return (
        _of_learners(table.lesson, table.exercise, table.code, count, func.count(), table=table)
        .where(table.code.is_not(None))
        .group_by(table.lesson, table.exercise, table.code)
        .order_by(count.desc(), func.count().desc(), table.code)
    )


# First what is of these minutes, by its index, and then whose it is: SQLite alone would ask the other way round, and
# read all that the class ever answered.
_SINCE = aliased(
    Attempt,
    select(Attempt)
    .where(Attempt.code.is_not(None), Attempt.created_at >= bindparam("since"))
    .cte("since")
    .prefix_with("MATERIALIZED"),
)
_CODES, _CODES_SINCE = _counted(Attempt), _counted(_SINCE)
_RECENT = (
    _of_learners(_SINCE.lesson, _SINCE.exercise, table=_SINCE)
    .group_by(_SINCE.lesson, _SINCE.exercise)
    .order_by(func.max(_SINCE.id).desc())
)
_TRACE = (
    _of_learners(Attempt, table=Attempt)
    .where(Attempt.learner_id == bindparam("learner"), Attempt.lesson == bindparam("lesson"))
    .order_by(Attempt.id)
)
_EXPLAINED = select(func.max(Event.at)).where(
    Event.class_id == bindparam("class_id"), Event.verb == EXPLAINED, Event.subject == bindparam("subject")
)
