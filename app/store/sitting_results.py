"""Jobs of servers for quiet sittings: keep programs, hand in by the clock, release, and store grades."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta

from sqlalchemy import or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.store.classes import record_event
from app.store.database import insert_into, lock_learner
from app.store.former_members import add_graded
from app.store.lti_scores import queue_assignment
from app.store.sittings import GRACE, OwnSitting, list_records, time_of
from app.store.tables import Assignment, Progress, Sitting, SittingAnswer, SittingProgram, SittingRecord

LEASE = timedelta(minutes=5)


async def programs_of(db: AsyncSession, assignment: int) -> Mapping[int, Sequence[SittingProgram]]:
    """The programs of each item, by its number."""
    rows: dict[int, list[SittingProgram]] = {}
    query = select(SittingProgram).where(SittingProgram.assignment_id == assignment).order_by(SittingProgram.id)
    for row in await db.scalars(query):
        rows.setdefault(row.item, []).append(row)
    return rows


async def list_programs(db: AsyncSession, ids: Collection[int]) -> Sequence[SittingProgram]:
    return (await db.scalars(select(SittingProgram).where(SittingProgram.id.in_(ids)))).all()


async def store_program(db: AsyncSession, assignment: int, item: int, seed: int, program: str) -> None:
    """Store a program that was proved; another server may have done so."""
    row = insert_into(db, SittingProgram).values(assignment_id=assignment, item=item, seed=seed, program_json=program)
    await db.execute(row.on_conflict_do_nothing())


async def list_undrawn(db: AsyncSession) -> Sequence[Sitting]:
    """Sittings of which programs are missing, that which opens first before."""
    query = (
        select(Sitting)
        .join(Assignment, Assignment.id == Sitting.assignment_id)
        .where(Sitting.drawn_at.is_(None), Sitting.drawing_fault == "")
    )
    return (await db.scalars(query.order_by(Assignment.opens_at, Assignment.id))).all()


async def is_anything_due(db: AsyncSession, moment: datetime) -> bool:
    """True if something may be to hand in, to release or to grade; asked often, so it takes no lock."""
    writing = SittingRecord.begun_at.is_not(None) & SittingRecord.handed_in_at.is_(None)
    ungraded = SittingRecord.handed_in_at.is_not(None) & SittingRecord.graded_at.is_(None)
    if await db.scalar(select(SittingRecord.assignment_id).where(writing | ungraded).limit(1)) is not None:
        return True
    ended = select(Sitting.assignment_id).join(Assignment, Assignment.id == Sitting.assignment_id)
    ended = ended.where(Sitting.released_at.is_(None), Assignment.due_at <= moment)
    return await db.scalar(ended.limit(1)) is not None


async def close_over(db: AsyncSession, moment: datetime) -> int:
    """Hand in what the clock has ended, and release sittings that are over for all; how many were handed in."""
    query = (
        select(Assignment, Sitting, SittingRecord)
        .join(Sitting, Sitting.assignment_id == Assignment.id)
        .join(SittingRecord, SittingRecord.assignment_id == Assignment.id)
        .where(SittingRecord.begun_at.is_not(None), SittingRecord.handed_in_at.is_(None))
    )
    closed = 0
    for assignment, sitting, record in (await db.execute(query)).all():
        own = OwnSitting(assignment, sitting, record)
        if own.is_over(moment, GRACE):
            record.handed_in_at, record.handed_in_by = own.ends_at, "clock"
            closed += 1
    await db.flush()
    await _release(db, moment)
    return closed


async def _release(db: AsyncSession, moment: datetime) -> None:
    query = select(Assignment, Sitting).join(Sitting, Sitting.assignment_id == Assignment.id)
    ended = query.where(Sitting.released_at.is_(None), Assignment.due_at <= moment)
    for assignment, sitting in (await db.execute(ended)).all():
        records = await list_records(db, assignment.id)
        if moment >= release_moment(assignment, sitting, records) + GRACE:
            sitting.released_at = moment
            await db.flush()
            await queue_assignment(db, assignment.id)  # for who did not begin it is a zero now
            await record_event(db, assignment.class_id, None, "sitting-over", assignment.id)


def release_moment(assignment: Assignment, sitting: Sitting, records: Sequence[SittingRecord]) -> datetime:
    """Moment at which the window has ended for all."""
    ends = [time_of(assignment, sitting, record).until for record in records if record.handed_in_at is None]
    assert assignment.due_at is not None, "a sitting has a window"
    return max([assignment.due_at, *ends])


async def claim_ungraded(db: AsyncSession, moment: datetime) -> OwnSitting | None:
    """A learner whose answers are to be graded, for this server alone and for the time of a lease."""
    free = or_(SittingRecord.leased_until.is_(None), SittingRecord.leased_until < moment)
    query = (
        select(Assignment, Sitting, SittingRecord)
        .join(Sitting, Sitting.assignment_id == Assignment.id)
        .join(SittingRecord, SittingRecord.assignment_id == Assignment.id)
        .where(Sitting.released_at.is_not(None), SittingRecord.handed_in_at.is_not(None))
        .where(SittingRecord.graded_at.is_(None), free)
        .order_by(SittingRecord.handed_in_at, SittingRecord.learner_id)
        .limit(1)
        .with_for_update(of=SittingRecord, skip_locked=True)
    )
    row = (await db.execute(query)).one_or_none()
    if row is None:
        return None
    row[2].leased_until = moment + LEASE
    await db.flush()
    return OwnSitting(row[0], row[1], row[2])


async def store_answers(db: AsyncSession, own: OwnSitting, answers: Sequence[SittingAnswer], moment: datetime) -> None:
    """Store what was handed in with its verdicts; what is right counts at the moment at which it was handed in."""
    assert own.record is not None, "it was handed in"
    assignment, learner = own.assignment, own.record.learner_id
    await lock_learner(db, learner)
    record = await db.get(SittingRecord, (assignment.id, learner))
    if record is None or record.graded_at is not None or record.handed_in_at is None:
        return
    last = record.until or assignment.due_at or record.handed_in_at
    solved_at = min(record.handed_in_at, last)  # extra minutes may end after the date of the assignment
    for answer in answers:
        await db.merge(answer)
    right = [f"item-{answer.item}" for answer in answers if answer.correct]
    solved = [item for item in right if await db.get(Progress, (learner, assignment.lesson, item)) is None]
    db.add_all(
        Progress(learner_id=learner, lesson=assignment.lesson, exercise=item, solved_at=solved_at, hints=0)
        for item in solved
    )
    await add_graded(db, assignment, learner, solved)
    record.graded_at, record.leased_until = moment, None
    await db.flush()
    await queue_assignment(db, assignment.id, learner)


async def give_back(db: AsyncSession, own: OwnSitting) -> None:
    """Let it be graded later: no grader could be asked."""
    assert own.record is not None, "it was handed in"
    same = (SittingRecord.assignment_id == own.assignment.id, SittingRecord.learner_id == own.record.learner_id)
    await db.execute(update(SittingRecord).where(*same).values(leased_until=None))


async def answers_of(db: AsyncSession, assignment: int, learner: int | None = None) -> Sequence[SittingAnswer]:
    """All answers in a sitting, or those of one learner, by item."""
    query = select(SittingAnswer).where(SittingAnswer.assignment_id == assignment)
    if learner is not None:
        query = query.where(SittingAnswer.learner_id == learner)
    return (await db.scalars(query.order_by(SittingAnswer.learner_id, SittingAnswer.item))).all()


async def list_ungraded(db: AsyncSession, group: int) -> frozenset[tuple[int, int]]:
    """Assignment and learner of what was begun in a class and has no grade yet: it is no zero."""
    query = (
        select(SittingRecord.assignment_id, SittingRecord.learner_id)
        .join(Assignment, Assignment.id == SittingRecord.assignment_id)
        .where(Assignment.class_id == group, SittingRecord.begun_at.is_not(None), SittingRecord.graded_at.is_(None))
    )
    return frozenset((assignment, learner) for assignment, learner in await db.execute(query))
