"""Those who were learners of a class that is graded: their name, id and points stay until the class is forgotten.

Grades are records: a learner who leaves, is removed or deletes themselves takes their texts along, and not what they
had reached. Kept is which of the exercises that count they had solved, and whether in time; points follow from that by
the same rule as for all others.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import delete, exists, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.store.assignments import Deadline, assignment_times, assignments_of, exercises_chosen
from app.store.classes import HERE, ClassMember, classes_of, record_event
from app.store.database import lock_learner, now
from app.store.tables import Assignment, Class, FormerMember, GradeOverride, Membership, Progress

Reason = Literal["left", "removed", "deleted", "forgotten"]
GRADED = ""
"""In place of an exercise: all of a sitting was graded, whatever was solved in it."""
_HAS_POINTS = exists().where(Assignment.class_id == Class.id, Assignment.points > 0)


async def is_graded(db: AsyncSession, group: int) -> bool:
    """True if a class gives points."""
    return bool(await db.scalar(select(_HAS_POINTS).where(Class.id == group)))


async def graded_classes(db: AsyncSession, learner: int) -> list[ClassMember]:
    """The classes in which *learner* has grades."""
    classes = await classes_of(db, learner)
    return [
        class_member
        for class_member in classes
        if class_member.person.role == "learner" and await is_graded(db, class_member.group.id)
    ]


async def keep_grades(db: AsyncSession, group: Class, person: Membership, reason: Reason) -> None:
    """Store the grades of *person*, who is about to leave; nothing is if the class has no points or they taught it."""
    if person.role != "learner" or person.joined_at is None or not await is_graded(db, group.id):
        return
    await lock_learner(db, person.learner_id)  # what is graded meanwhile is in it, or added afterwards
    await drop_grades(db, group.id, person.learner_id)
    set_by_hand = select(GradeOverride).join(Assignment).where(Assignment.class_id == group.id)
    grade_overrides = await db.scalars(set_by_hand.where(GradeOverride.learner_id == person.learner_id))
    row = FormerMember(
        class_id=group.id, learner_id=person.learner_id, name=person.name, external_id=person.external_id,
        label=person.label, left_at=now(), reason=reason,
        solved_json=json.dumps(await _solved_exercises(db, group, person.learner_id)),
        overrides_json=json.dumps({override.assignment_id: override.points for override in grade_overrides}),
    )  # fmt: skip
    db.add(row)
    await db.flush()


async def _solved_exercises(db: AsyncSession, group: Class, learner: int) -> list[dict[str, Any]]:
    """Each exercise that counts and was solved while it did, by assignment, and whether in time.

    Where it is due for *learner* at another moment than for all, an entry without an exercise says when.
    """
    time = await assignment_times(db, group, learner)
    query = (
        select(Assignment, Progress.exercise, Progress.solved_at)
        .join(Progress, Progress.lesson == Assignment.lesson)
        .where(Assignment.class_id == group.id, Progress.learner_id == learner)
    )
    entries = []
    for assignment in await assignments_of(db, group.id):
        due, _ = time.deadline(assignment, learner)
        if due and due != assignment.due_at:
            entries.append(_entry(assignment, None, due=due.isoformat()))
    for assignment, exercise, solved_at in await db.execute(query):
        chosen = exercises_chosen(assignment)
        due, late_until = time.deadline(assignment, learner)
        if solved_at is None or (chosen is not None and exercise not in chosen):
            continue
        in_time = due is None or solved_at <= due
        if in_time or (late_until is not None and solved_at <= late_until):
            entries.append(_entry(assignment, exercise, in_time=in_time))
    return entries


def _entry(assignment: Assignment, exercise: str | None, **values: object) -> dict[str, Any]:
    return {"assignment": assignment.id, "lesson": assignment.lesson, "exercise": exercise, **values}


async def add_graded(db: AsyncSession, sitting: Assignment, learner: int, solved: Sequence[str]) -> None:
    """Add a *sitting* that was graded after *learner* had left, with the items that they *solved*."""
    conditions = (FormerMember.class_id == sitting.class_id, FormerMember.learner_id == learner)
    for former in await db.scalars(select(FormerMember).where(*conditions)):
        items = [_entry(sitting, item, in_time=True) for item in (GRADED, *solved)]
        former.solved_json = json.dumps(json.loads(former.solved_json) + items)


async def keep_all_grades(db: AsyncSession, learner: int, reason: Reason) -> None:
    """The same for every class of *learner*, who is about to be deleted."""
    query = select(Class, Membership).join(Membership, Membership.class_id == Class.id)
    for group, person in (await db.execute(query.where(Membership.learner_id == learner, *HERE))).all():
        await keep_grades(db, group, person, reason)


async def drop_grades(db: AsyncSession, group: int, learner: int) -> None:
    """Delete the stored grades of *learner*, who is in the class again."""
    conditions = (FormerMember.class_id == group, FormerMember.learner_id == learner)
    await db.execute(delete(FormerMember).where(*conditions))


async def former_members(db: AsyncSession, group: int) -> Sequence[FormerMember]:
    """List the learners who left a class and are not in it again, the last to leave first."""
    again = exists().where(Membership.class_id == group, Membership.learner_id == FormerMember.learner_id, *HERE)
    query = select(FormerMember).where(FormerMember.class_id == group, ~again)
    return (await db.scalars(query.order_by(FormerMember.left_at.desc(), FormerMember.id))).all()


async def forget_former(db: AsyncSession, group: int, former: int, actor: int | None) -> None:
    """Let the grades of one who left go."""
    conditions = (FormerMember.class_id == group, FormerMember.id == former)
    if await db.scalar(delete(FormerMember).where(*conditions).returning(FormerMember.id)) is not None:
        await record_event(db, group, actor, "grades-forgotten", former)


def counts_of(former: FormerMember, exercises: Mapping[int, frozenset[str]]) -> Mapping[int, Sequence[int]]:
    """Count the exercises solved in time and late, by assignment, among the *exercises* that count in each.

    Assignments of which none is solved are left out, but for a sitting that was graded.
    """
    rows = json.loads(former.solved_json)
    counts = {solved["assignment"]: [0, 0] for solved in rows if solved["exercise"] == GRADED}
    for solved in rows:
        if solved["exercise"] in exercises.get(solved["assignment"], ()):
            counts.setdefault(solved["assignment"], [0, 0])[0 if solved["in_time"] else 1] += 1
    return counts


def deadlines_of(former: FormerMember) -> Mapping[int, Deadline]:
    """Their own due dates, by assignment, where those were others than for all."""
    return {
        solved["assignment"]: Deadline(datetime.fromisoformat(solved["due"]))
        for solved in json.loads(former.solved_json)
        if "due" in solved
    }


def overrides_of(former: FormerMember) -> Mapping[int, GradeOverride]:
    """The grades that were set by hand, by assignment."""
    return {
        int(assignment): GradeOverride(assignment_id=int(assignment), points=points)
        for assignment, points in json.loads(former.overrides_json).items()
    }
