"""Seats for learners who joined under a new name although a seat was reserved for them."""

from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.merge import merge_learners
from app.store.classes import RefusedError, record_event
from app.store.tables import Class, Membership

BY_INSTRUCTOR = "instructor"


async def seat_person(db: AsyncSession, group: Class, learner: int, seat: int, actor: int | None) -> None:
    """Give *learner* the *seat*: its name, id and label, and the dates and grades that were set for it.

    Raises:
        RefusedError: *learner* is no learner who is there, or the seat is none, or was taken meanwhile.
    """
    person, seated = await db.get(Membership, (group.id, learner)), await db.get(Membership, (group.id, seat))
    if person is None or person.joined_at is None or person.left_at is not None or person.role != "learner":
        raise RefusedError("Only a learner who joined can be put into a seat.")
    if seated is None or seated.joined_at is not None or seated.role != "learner" or seated.blocked:
        raise RefusedError("This seat was taken meanwhile. Choose another one.")
    name, external_id, label = seated.name, seated.external_id, seated.label
    await merge_learners(db, seat, learner)
    await db.refresh(person)
    person.name, person.external_id, person.label = name, external_id or person.external_id, label or person.label
    person.seated_by = BY_INSTRUCTOR
    await record_event(db, group.id, actor, "seated", learner)
