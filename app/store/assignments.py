"""What a class has to do, and until when each of its learners has time."""

import json
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from app.store.tables import Accommodation, Assignment, Class, Extension
from app.teaching.dates import days_later

LATEST = datetime.max.replace(tzinfo=UTC)


class Deadline(NamedTuple):
    """Until when it counts in full, and until when in part; None without an end."""

    due: datetime | None
    late_until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Times:
    """What moves the dates of those who are *moved*: extensions by assignment and learner, extra days by learner."""

    timezone: str
    extensions: Mapping[tuple[int, int], Extension]
    extra_days: Mapping[int, int]
    moved: Set[int]

    def deadline(self, assignment: Assignment, learner: int) -> Deadline:
        """An extension, where there is one; else the date of all, so many days later by the clocks of the class."""
        if assignment.due_at is None:
            return Deadline(None)
        extension = self.extensions.get((assignment.id, learner))
        if extension is not None:
            return Deadline(extension.due_at, extension.late_until or assignment.late_until)
        days = self.extra_days.get(learner, 0)
        if not days:
            return Deadline(assignment.due_at, assignment.late_until)
        late = assignment.late_until
        return Deadline(
            days_later(assignment.due_at, days, self.timezone), late and days_later(late, days, self.timezone)
        )


async def times(db: AsyncSession, group: Class, learner: int | None = None) -> Times:
    """The times of a class, or those of one learner alone."""
    extensions = select(Extension).join(Assignment).where(Assignment.class_id == group.id)
    extra = select(Accommodation).where(Accommodation.class_id == group.id)
    if learner is not None:
        extensions = extensions.where(Extension.learner_id == learner)
        extra = extra.where(Accommodation.learner_id == learner)
    by_both = {(one.assignment_id, one.learner_id): one for one in await db.scalars(extensions)}
    days = {one.learner_id: one.extra_days for one in await db.scalars(extra) if one.extra_days}
    return Times(group.timezone, by_both, days, days.keys() | {learner for _, learner in by_both})


async def assignments_of(db: AsyncSession, group: int) -> Sequence[Assignment]:
    """What a class has to do, by date; what is never due comes last."""
    asked = select(Assignment).where(Assignment.class_id == group)
    rows = (await db.scalars(asked)).all()
    return sorted(rows, key=lambda one: (one.due_at is None, one.due_at or one.opens_at or LATEST, one.id))


def exercises_of(assignment: Assignment, known: Mapping[str, Sequence[str]]) -> Sequence[str]:
    """Which exercises of its lesson count, of those that the course has."""
    of_lesson = known.get(assignment.lesson, ())
    if assignment.exercises is None:
        return of_lesson
    chosen = set(json.loads(assignment.exercises))
    return [one for one in of_lesson if one in chosen]
