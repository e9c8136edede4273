"""The outbox of grades for learning platforms: which grades a platform has yet to be told.

A row says *that* a grade has changed. It is written by the transaction that changes it, so none is lost however the
server ends; what the grade is, is computed when it is sent, so that none is older than another.
"""

import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, cast

from sqlalchemy import ColumnElement, Select, bindparam, case, delete, func, literal, or_, select, tuple_, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.store.classes import HERE
from app.store.database import insert_into, now
from app.store.tables import Assignment, Attempt, LtiContext, LtiLineItem, LtiMember, LtiPlatform, LtiScore, Membership

QUIET = timedelta(seconds=30)
"""After the last change, before a grade is sent."""
LONGEST_WAIT = timedelta(seconds=45)
"""After the first one, however many follow."""
LEASE = timedelta(minutes=3)
"""Longer than a platform can take that answers every question for one grade as late as it may."""
FIRST_RETRY = timedelta(minutes=1)
LONGEST_RETRY = timedelta(hours=6)
GIVEN_UP_AFTER = timedelta(days=7)
MAX_ANSWER_CHARS = 300


async def queue_lesson(db: AsyncSession, learner: int, lesson: str) -> None:
    """*learner* has solved something in *lesson*."""
    await _queue(db, _pairs().where(Assignment.lesson == lesson, LtiMember.learner_id == learner))


async def queue_started(db: AsyncSession, learner: int, lesson: str, exercise: str) -> None:
    """*learner* has tried *exercise* of *lesson* once more: assignments of which that was the first try are begun."""
    parameters = {"learner": learner, "lesson": lesson}
    items = (await db.execute(_GRADED, parameters)).all()
    if not items:
        return
    tried = {row.exercise: row.tries for row in await db.execute(_TRIED, parameters)}
    begun = []
    for item, exercises_json in items:
        counts = tried if exercises_json is None else json.loads(exercises_json)
        if {name: count for name, count in tried.items() if name in counts} == {exercise: 1}:
            begun.append(item)
    if begun:
        await _queue(db, _pairs().where(LtiLineItem.id.in_(begun), LtiMember.learner_id == learner))


async def queue_assignment(db: AsyncSession, assignment: int, learner: int | None = None) -> None:
    """Queue the grades of an assignment whose worth has changed, for one *learner* or for all."""
    pairs = _pairs().where(Assignment.id == assignment)
    await _queue(db, pairs if learner is None else pairs.where(LtiMember.learner_id == learner))


async def queue_learner(db: AsyncSession, group: int | None, learner: int) -> None:
    """Everything of *learner* may count otherwise: in a class, or in all of theirs."""
    pairs = _pairs().where(LtiMember.learner_id == learner)
    await _queue(db, pairs if group is None else pairs.where(Assignment.class_id == group))


def _pairs() -> Select[Any]:
    """Line items with the learners who have a grade there: platforms refuse those of teachers."""
    moment = now()
    values = (literal(moment, type_=LtiScore.began_at.type), literal(moment, type_=LtiScore.changed_at.type))
    return cast(
        Select[Any],
        select(LtiLineItem.id, LtiMember.learner_id, *values, literal(moment + QUIET, type_=LtiScore.due_at.type))
        .join(Assignment, Assignment.id == LtiLineItem.assignment_id)
        .join(LtiContext, LtiContext.id == LtiLineItem.lti_context_id)
        .join(LtiMember, LtiMember.lti_context_id == LtiContext.id)
        .join(
            Membership, (Membership.learner_id == LtiMember.learner_id) & (Membership.class_id == LtiContext.class_id)
        )
        .where(LtiMember.role == "learner", Membership.role == "learner", *HERE, LtiLineItem.url != ""),
    )


_GRADED = (
    select(LtiLineItem.id, Assignment.exercises_json)
    .join(Assignment, Assignment.id == LtiLineItem.assignment_id)
    .join(LtiMember, LtiMember.lti_context_id == LtiLineItem.lti_context_id)
    .where(LtiMember.learner_id == bindparam("learner"), LtiMember.role == "learner")
    .where(Assignment.lesson == bindparam("lesson"), LtiLineItem.url != "")
)
_TRIED = (
    select(Attempt.exercise, func.count().label("tries"))
    .where(Attempt.learner_id == bindparam("learner"), Attempt.lesson == bindparam("lesson"))
    .group_by(Attempt.exercise)
)


async def _queue(db: AsyncSession, pairs: Select[Any]) -> None:
    columns = ("line_item_id", "learner_id", "began_at", "changed_at", "due_at")
    rows = insert_into(db, LtiScore).from_select(columns, pairs)
    # One that waits is put off; one that a platform did not take is tried anew.
    waits = LtiScore.refused_at.is_(None) & (LtiScore.tries == 0)
    began = case((waits, LtiScore.began_at), else_=rows.excluded.began_at)
    due = case(
        (waits & (LtiScore.began_at <= now() - (LONGEST_WAIT - QUIET)), LtiScore.due_at), else_=rows.excluded.due_at
    )
    changes = {"began_at": began, "changed_at": rows.excluded.changed_at, "due_at": due, "tries": 0}
    await db.execute(
        rows.on_conflict_do_update(
            index_elements=["line_item_id", "learner_id"],
            set_={**changes, "failing_since": None, "refused_at": None, "answer": None},
        )
    )


def _due(moment: datetime) -> tuple[ColumnElement[bool], ...]:
    free = or_(LtiScore.leased_until.is_(None), LtiScore.leased_until < moment)
    return LtiScore.due_at <= moment, LtiScore.refused_at.is_(None), free


async def is_any_due(db: AsyncSession) -> bool:
    """True if a grade is to be sent now; asked often, so it takes no lock."""
    return await db.scalar(select(LtiScore.line_item_id).where(*_due(now())).limit(1)) is not None


async def claim_due(db: AsyncSession) -> LtiScore | None:
    """Claim the grade that is due first, for this server alone and for the time of a lease; None if nothing is due."""
    moment = now()
    due = select(LtiScore).where(*_due(moment)).order_by(LtiScore.due_at).limit(1)
    row = await db.scalar(due.with_for_update(skip_locked=True))
    if row is not None:
        row.leased_until = moment + LEASE
        await db.flush()
    return row


async def settle(db: AsyncSession, row: LtiScore) -> None:
    """The platform was told, or need not be: a change since then waits for its own time."""
    same = (LtiScore.line_item_id == row.line_item_id, LtiScore.learner_id == row.learner_id)
    await db.execute(delete(LtiScore).where(*same, LtiScore.changed_at == row.changed_at))
    await db.execute(update(LtiScore).where(*same).values(leased_until=None))


def retry_wait(tries: int) -> timedelta:
    """Time to wait after one more try, when *tries* have failed before it."""
    wait: timedelta = FIRST_RETRY * 2 ** min(tries, 20)
    return min(wait, LONGEST_RETRY)


async def put_off(db: AsyncSession, row: LtiScore, answer: str, *, final: bool) -> None:
    """The platform was not told: try again later, or, if that is *final* or has lasted a week, never."""
    moment = now()
    since = row.failing_since or moment
    over = final or moment - since > GIVEN_UP_AFTER
    same = (LtiScore.line_item_id == row.line_item_id, LtiScore.learner_id == row.learner_id)
    values = {
        "due_at": moment + retry_wait(row.tries),
        "tries": row.tries + 1,
        "failing_since": since,
        "answer": answer[:MAX_ANSWER_CHARS],
    }
    values["refused_at"] = moment if over else None
    await db.execute(update(LtiScore).where(*same, LtiScore.changed_at == row.changed_at).values(**values))
    await db.execute(update(LtiScore).where(*same).values(leased_until=None))


async def spare_platform(db: AsyncSession, platform: int) -> None:
    """A platform does not answer: nothing else of it is tried for a while, since grades for others would wait."""
    moment = now()
    items = select(LtiLineItem.id).join(LtiContext).where(LtiContext.platform_id == platform)
    due = select(LtiScore.line_item_id, LtiScore.learner_id).where(LtiScore.line_item_id.in_(items), *_due(moment))
    keys = tuple_(LtiScore.line_item_id, LtiScore.learner_id)
    # Of rows that another server is at, it says so itself.
    held = due.with_for_update(skip_locked=True)
    await db.execute(update(LtiScore).where(keys.in_(held)).values(due_at=moment + FIRST_RETRY))


async def waiting(db: AsyncSession, group: int) -> int:
    """Number of grades of a class that a platform has yet to be told, without those that it refused."""
    return (
        await db.scalar(
            select(func.count()).select_from(_of_class(group).where(LtiScore.refused_at.is_(None)).subquery())
        )
        or 0
    )


async def failing(db: AsyncSession, group: int) -> Sequence[tuple[LtiScore, Membership, Assignment, LtiPlatform]]:
    """Grades of a class that a platform did not take, with what it said, by name."""
    query = (
        select(LtiScore, Membership, Assignment, LtiPlatform)
        .join(LtiLineItem, LtiLineItem.id == LtiScore.line_item_id)
        .join(LtiContext, LtiContext.id == LtiLineItem.lti_context_id)
        .join(LtiPlatform, LtiPlatform.id == LtiContext.platform_id)
        .join(Assignment, Assignment.id == LtiLineItem.assignment_id)
        .join(Membership, (Membership.class_id == Assignment.class_id) & (Membership.learner_id == LtiScore.learner_id))
        .where(Assignment.class_id == group, LtiScore.answer.is_not(None))
        .order_by(Membership.name, Membership.learner_id, Assignment.id)
    )
    rows = await db.execute(query)
    return [(score, person, assignment, platform) for score, person, assignment, platform in rows]


async def noted_line_items(db: AsyncSession, group: int) -> Sequence[tuple[LtiLineItem, Assignment]]:
    """Columns of a class of which an instructor should know something: that there is none, or more than one."""
    query = (
        select(LtiLineItem, Assignment)
        .join(Assignment, Assignment.id == LtiLineItem.assignment_id)
        .where(Assignment.class_id == group, LtiLineItem.answer.is_not(None))
        .order_by(LtiLineItem.id)
    )
    return [(item, assignment) for item, assignment in await db.execute(query)]


async def is_gone(db: AsyncSession, item: int) -> bool:
    """True if the platform said, of a grade, that it has no such column any more."""
    refused = (LtiScore.line_item_id == item, LtiScore.refused_at.is_not(None))
    is_no_column = or_(*(LtiScore.answer.startswith(status) for status in ("404", "410")))
    return await db.scalar(select(LtiScore.learner_id).where(*refused, is_no_column).limit(1)) is not None


async def try_refused_again(db: AsyncSession, group: int) -> None:
    """Send at once what a platform of this class did not take."""
    ids = select(LtiLineItem.id).join(Assignment).where(Assignment.class_id == group)
    changes = {"due_at": now(), "tries": 0, "failing_since": None, "refused_at": None}
    await db.execute(
        update(LtiScore).where(LtiScore.line_item_id.in_(ids), LtiScore.answer.is_not(None)).values(**changes)
    )


def _of_class(group: int) -> Select[Any]:
    return select(LtiScore.learner_id).join(LtiLineItem).join(Assignment).where(Assignment.class_id == group)
