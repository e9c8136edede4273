"""Quiet sittings: their settings, the time of each learner, and what became of it.

A sitting is an assignment from `opens_at` to `due_at`. What is written in it are drafts of the lesson that it is
assigned as; answers and verdicts are there once its window has ended for all.
"""

import math
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import delete, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.store.assignments import AssignmentSettings
from app.store.classes import RefusedError, record_event
from app.store.database import lock_learner
from app.store.lti_scores import queue_assignment
from app.store.progress import SITTINGS
from app.store.tables import Assignment, Class, Extension, Sitting, SittingRecord

GRACE = timedelta(seconds=5)
"""What was on its way when the time was over still counts."""
MINUTES, EXTRA_MINUTES, EXTRA_PERCENT = range(5, 601), range(601), range(301)
MAX_SWITCHES = 20
SHOWS = ("nothing", "right")
RELEASED = "It is over for all, so its window and time stay as they are. Its points may change."
GRADED = "What they handed in is graded already; their time changes nothing any more."
OVER_AT_ONCE = "Somebody writes whose time would be over at once. Give more minutes, or a later end of the window."
BEGUN_BY = "Somebody has begun. The window may end later or earlier, but not before now."


@dataclass(frozen=True, slots=True)
class SittingSettings:
    """Settings of a sitting, as an instructor gives them."""

    title: str
    opens_at: datetime
    until: datetime
    minutes: int
    points: float
    shows: str

    @property
    def assignment(self) -> AssignmentSettings:
        return AssignmentSettings(
            exercises=None, opens_at=self.opens_at, due_at=self.until, late_until=None, late_share=0.0,
            points=self.points, solutions_at=None, heading=self.title,
        )  # fmt: skip

    def fault(self) -> str:
        """Say which settings contradict each other; "" if none do."""
        if not self.title:
            return "Write what the sitting is called."
        if self.minutes not in MINUTES:
            return f"A sitting takes from {MINUTES.start} to {MINUTES.stop - 1} minutes."
        if self.shows not in SHOWS:
            return "Choose what is shown while somebody writes."
        if self.until <= self.opens_at:
            return "The window ends before it opens."
        if self.until - self.opens_at < timedelta(minutes=self.minutes):
            return f"The window is shorter than {self.minutes} minutes. Nobody could use all of their time."
        return self.assignment.fault()


@dataclass(frozen=True, slots=True)
class SittingTime:
    """The time of one learner: the window in which they may begin, and for how long they write."""

    opens: datetime
    until: datetime
    minutes: int

    def end(self, begun: datetime) -> datetime:
        return min(begun + timedelta(minutes=self.minutes), self.until)


@dataclass(frozen=True, slots=True)
class OwnSitting:
    """A sitting as one learner has it; they have no *record* before they begin or are given more time."""

    assignment: Assignment
    sitting: Sitting
    record: SittingRecord | None

    @property
    def time(self) -> SittingTime:
        return time_of(self.assignment, self.sitting, self.record)

    @property
    def ends_at(self) -> datetime | None:
        """Moment at which the time is over; None before the learner begins."""
        begun = self.record and self.record.begun_at
        return self.time.end(begun) if begun else None

    def is_over(self, moment: datetime, grace: timedelta = timedelta()) -> bool:
        """True if it was handed in, or the time is over."""
        if self.record is None or self.ends_at is None:
            return False
        return self.record.handed_in_at is not None or moment >= self.ends_at + grace


def time_of(assignment: Assignment, sitting: Sitting, record: SittingRecord | None) -> SittingTime:
    """The time of a learner: extra minutes end the window later, and a window of one's own is used as it is."""
    assert assignment.opens_at is not None, "a sitting has a window"
    assert assignment.due_at is not None, "a sitting has a window"
    if record is None:
        return SittingTime(assignment.opens_at, assignment.due_at, sitting.minutes)
    extra = math.ceil(sitting.minutes * record.extra_percent / 100) + record.extra_minutes
    until = record.until or assignment.due_at + timedelta(minutes=extra)
    return SittingTime(record.opens_at or assignment.opens_at, until, sitting.minutes + extra)


async def create_sitting(
    db: AsyncSession, group: int, settings: SittingSettings, slots: str, items: int, actor: int | None
) -> Assignment:
    """
    Args:
        slots: What is drawn, as JSON; *items* is how many that are in all.

    Raises:
        RefusedError: The settings do not fit together.
    """
    if fault := settings.fault():
        raise RefusedError(fault)
    row = Assignment(class_id=group, lesson="", exercises_json=None, known_exercises_json=None)
    _apply(row, settings)
    db.add(row)
    await db.flush()
    row.lesson = row.resource_id = f"{SITTINGS}{group}-{row.id}-{items}"
    db.add(_new_sitting(row.id, settings.minutes, slots, settings.shows))
    await record_event(db, group, actor, "sitting-made", row.id, opens=settings.opens_at, until=settings.until)
    await db.flush()
    return row


def _new_sitting(assignment: int, minutes: int, slots: str, shows: str) -> Sitting:
    secret = secrets.token_hex(32)
    return Sitting(assignment_id=assignment, minutes=minutes, slots_json=slots, secret=secret, shows=shows)


def _apply(row: Assignment, settings: SittingSettings) -> None:
    row.heading, row.points, row.late_share = settings.title, settings.points, 0.0
    row.opens_at, row.due_at = settings.opens_at, settings.until


async def copy_sitting(db: AsyncSession, earlier: Assignment, copy: Assignment) -> None:
    """Make *copy*, of another class, a sitting like the *earlier* one, without its people and programs."""
    before = await db.get_one(Sitting, earlier.id)
    copy.lesson = f"{SITTINGS}{copy.class_id}-{copy.id}-{earlier.lesson.rpartition('-')[2]}"
    db.add(_new_sitting(copy.id, before.minutes, before.slots_json, before.shows))


async def change_sitting(
    db: AsyncSession, own: OwnSitting, settings: SittingSettings, actor: int | None, moment: datetime
) -> None:
    """Set all settings anew; they hold at once. What the clock took is open again where the time is not over any more.

    Raises:
        RefusedError: The settings do not fit together, or it is too late for them.
    """
    if fault := settings.fault():
        raise RefusedError(fault)
    row, sitting = own.assignment, own.sitting
    records = await list_records(db, row.id)
    window = (settings.opens_at, settings.until, settings.minutes)
    if window != (row.opens_at, row.due_at, sitting.minutes):
        if sitting.released_at is not None:
            raise RefusedError(RELEASED)
        if settings.until <= moment and any(record.begun_at for record in records):
            raise RefusedError(BEGUN_BY)
    with _going_on(row, sitting, records, moment):
        _apply(row, settings)
        sitting.minutes, sitting.shows = settings.minutes, settings.shows
    opens, until = settings.opens_at, settings.until
    await record_event(db, row.class_id, actor, "sitting-changed", row.id, opens=opens, until=until)
    await queue_assignment(db, row.id)


@contextmanager
def _going_on(row: Assignment, sitting: Sitting, records: Sequence[SittingRecord], moment: datetime) -> Iterator[None]:
    """Change of times in which who writes goes on; what the clock took is open again if it is not over any more.

    Raises:
        RefusedError: The time of one who writes would be over at once.
    """
    everybody = [OwnSitting(row, sitting, record) for record in records]
    writing = [own for own in everybody if not own.is_over(moment)]
    yield
    if any(own.is_over(moment) for own in writing):
        raise RefusedError(OVER_AT_ONCE)
    for own, record in zip(everybody, records, strict=True):
        if record.handed_in_by == "clock" and record.graded_at is None and (own.ends_at or moment) > moment:
            record.handed_in_at = record.handed_in_by = None


async def find_sitting(db: AsyncSession, group: int, assignment: int, learner: int | None = None) -> OwnSitting | None:
    """The sitting of a class, as *learner* has it; None where there is none."""
    query = select(Assignment, Sitting).join(Sitting, Sitting.assignment_id == Assignment.id)
    row = (await db.execute(query.where(Assignment.id == assignment, Assignment.class_id == group))).one_or_none()
    if row is None:
        return None
    record = await db.get(SittingRecord, (assignment, learner)) if learner is not None else None
    return OwnSitting(row[0], row[1], record)


async def list_records(db: AsyncSession, assignment: int) -> Sequence[SittingRecord]:
    query = select(SittingRecord).where(SittingRecord.assignment_id == assignment)
    return (await db.scalars(query.order_by(SittingRecord.learner_id))).all()


async def record_for(db: AsyncSession, assignment: int, learner: int) -> SittingRecord:
    """The record of *learner*, made where it is missing."""
    await lock_learner(db, learner)
    record = await db.get(SittingRecord, (assignment, learner))
    if record is None:
        record = SittingRecord(
            assignment_id=assignment, learner_id=learner, extra_percent=0, extra_minutes=0, switches=0,
            switches_allowed=1,
        )  # fmt: skip
        db.add(record)
    return record


@dataclass(frozen=True, slots=True)
class ExtraTime:
    """More time for one learner: in per cent and minutes, or a window of their own."""

    percent: int = 0
    minutes: int = 0
    opens_at: datetime | None = None
    until: datetime | None = None

    def fault(self) -> str:
        if self.percent not in EXTRA_PERCENT or self.minutes not in EXTRA_MINUTES:
            return "Extra time is up to 300 per cent and 600 minutes."
        if (self.opens_at is None) != (self.until is None):
            return "A window of their own has two times: when it opens, and when it ends."
        if self.opens_at and self.until and self.until <= self.opens_at:
            return "Their window ends before it opens."
        return ""


async def give_time(
    db: AsyncSession, own: OwnSitting, learner: int, extra: ExtraTime, actor: int | None, moment: datetime
) -> None:
    """Set the time of one learner, in place of what was set before; while they write, it holds at once.

    What the clock took is open again where the time is not over any more.

    Raises:
        RefusedError: The times do not fit together, or it is too late for them.
    """
    if fault := extra.fault():
        raise RefusedError(fault)
    row = own.assignment
    record = await record_for(db, row.id, learner)
    if record.graded_at is not None:
        raise RefusedError(GRADED)
    with _going_on(row, own.sitting, [record], moment):
        record.extra_percent, record.extra_minutes = extra.percent, extra.minutes
        record.opens_at, record.until = extra.opens_at, extra.until
    # The gradebook counts until then.
    await db.execute(delete(Extension).where(Extension.assignment_id == row.id, Extension.learner_id == learner))
    if extra.until is not None:
        db.add(Extension(assignment_id=row.id, learner_id=learner, due_at=extra.until, late_until=None,
                         reason="a window of their own", set_by=actor, set_at=moment))  # fmt: skip
    words = f"{extra.percent} % and {extra.minutes} minutes"
    await record_event(
        db, row.class_id, actor, "sitting-time", learner, assignment=row.id, extra=words, until=extra.until
    )
    await queue_assignment(db, row.id, learner)


async def allow_switch(db: AsyncSession, row: Assignment, learner: int, actor: int | None) -> None:
    """Let *learner* go on on one more device."""
    record = await record_for(db, row.id, learner)
    record.switches_allowed = min(record.switches + 1, MAX_SWITCHES)
    await record_event(db, row.class_id, actor, "sitting-device", learner, assignment=row.id)


async def begin_sitting(
    db: AsyncSession, group: Class, own: OwnSitting, learner: int, draw: str, place: tuple[str, str], moment: datetime
) -> None:
    """Begin, at a *place*: a session, by the hash of its token, on a device. A second time it goes on.

    Raises:
        RefusedError: It cannot be begun now; the message says when.
    """
    record = await record_for(db, own.assignment.id, learner)
    if record.begun_at is not None:
        return
    time = OwnSitting(own.assignment, own.sitting, record).time
    if group.archived_at is not None or not time.opens <= moment < time.until:
        raise RefusedError("The window of this sitting is not open.")
    record.begun_at, record.draw_json = moment, draw
    record.token_hash, record.device = place
