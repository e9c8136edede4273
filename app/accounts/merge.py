"""Two learners become one: what belonged to the first belongs to the second, and no text is lost.

`MERGE_RULES` says for each table what becomes of a row that both have. A table without a rule is a failing test.
"""

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import Table, and_, delete, select, true, update
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from app.store.assignments import LATEST, last_of
from app.store.classes import RefusedError, record_event
from app.store.database import now
from app.store.drafts import store_replaced_text
from app.store.lti_scores import queue_learner
from app.store.tables import (
    Accommodation,
    Assignment,
    Attempt,
    Base,
    Card,
    Class,
    Comparison,
    ComparisonDraw,
    Credential,
    Draft,
    Drill,
    Extension,
    FormerMember,
    GradeOverride,
    Learner,
    LearnerView,
    LtiMember,
    LtiScore,
    Membership,
    Moment,
    Notice,
    PracticeSession,
    ProblemReport,
    Progress,
    ReplacedText,
    Review,
    RosterChange,
    ServedItem,
    Session,
    SittingAnswer,
    SittingRecord,
    TrainingRun,
    WrittenSentence,
)
from app.store.trainings import is_live

FRESH = {"populate_existing": True}
ROLES_BY_RANK = ("learner", "assistant", "instructor")


@dataclass(frozen=True, slots=True)
class MergedRow:
    """Merge of two rows with one key: one *stays* with *changes*, one *goes*, *aside* is its replaced text."""

    stays: Any
    goes: Any
    changes: Mapping[str, Any] = field(default_factory=dict)
    aside: Base | None = None


@dataclass(frozen=True, slots=True)
class MergeRule:
    """*table* changes hands. Where a learner has one row for each *key* (for () one at all), *join* takes two.

    Before the one of them that goes is gone, *part* sees to what hangs on it.
    """

    table: Any
    key: tuple[str, ...] = ()
    join: Callable[[Any, Any], MergedRow] | None = None
    part: Callable[[AsyncSession, MergedRow], Awaitable[None]] | None = None


def _keep(
    rank: Callable[[Any], Any] = lambda _: 0, **takes: Callable[[Any, Any], Any]
) -> Callable[[Any, Any], MergedRow]:
    """Rule by which the row of the higher *rank* stays; of two alike, the one that is there.

    Each of the columns that *takes* names becomes what its function takes of the two.
    """

    def join(into: Any, other: Any) -> MergedRow:
        stays, goes = (other, into) if rank(other) > rank(into) else (into, other)
        changes = {name: take(getattr(stays, name), getattr(goes, name)) for name, take in takes.items()}
        return MergedRow(stays, goes, changes)

    return join


def _first(first: datetime | None, other: datetime | None) -> datetime | None:
    return min((moment for moment in (first, other) if moment), default=None)


def _drafts(into: Draft, other: Draft) -> MergedRow:
    stays, goes = (into, other) if into.saved_at >= other.saved_at else (other, into)
    if stays.text == goes.text or not goes.text.strip():
        return MergedRow(stays, goes, {"revision": max(into.revision, other.revision)})
    # For open tabs the text has changed under them.
    changes = {"revision": max(into.revision, other.revision) + 1}
    replaced = ReplacedText(
        learner_id=into.learner_id, lesson=into.lesson, exercise=into.exercise, text=goes.text, reason="sign-in",
        replaced_at=now(),
    )  # fmt: skip
    return MergedRow(stays, goes, changes, replaced)


def _trainings(into: TrainingRun, other: TrainingRun) -> MergedRow:
    into_is_newer = (is_live(into), into.began_at) >= (is_live(other), other.began_at)
    stays, goes = (into, other) if into_is_newer else (other, into)
    return MergedRow(stays, goes, {"finished_json": stays.finished_json or goes.finished_json})


def _memberships(into: Membership, other: Membership) -> MergedRow:
    changes = {
        "role": max(into.role, other.role, key=ROLES_BY_RANK.index),
        "external_id": into.external_id or other.external_id,
        "label": into.label or other.label,
        "joined_at": _first(into.joined_at, other.joined_at),
        "left_at": _first(into.left_at, other.left_at) if into.left_at and other.left_at else None,
        "blocked": False,
    }
    if into.blocked or other.blocked:  # to sign in is no way around it
        out = into if into.blocked else other
        changes |= {"blocked": True, "left_at": out.left_at, "role": out.role}
    return MergedRow(into, other, changes)


def _served_items(into: ServedItem, other: ServedItem) -> MergedRow:
    done = _first(into.done_at, other.done_at)
    stays, goes = (other, into) if done is not None and other.done_at == done else (into, other)
    return MergedRow(stays, goes)


def _cards(into: Card, other: Card) -> MergedRow:
    # The one that was met more often knows more; of two that were met as often, the one that is due first.
    stays, goes = sorted((into, other), key=lambda card: (-card.met, card.due_at))
    return MergedRow(stays, goes, {"opened_at": min(into.opened_at, other.opened_at), "met": into.met + other.met})


async def _keep_reviews(db: AsyncSession, joined: MergedRow) -> None:
    reviews = update(Review).where(Review.card_id == joined.goes.id).values(card_id=joined.stays.id)
    await db.execute(reviews.execution_options(synchronize_session=False))


def _sitting_records(into: SittingRecord, other: SittingRecord) -> MergedRow:
    # What was begun goes on, with its programs; of two that were, the first. The time of the two that is longer holds.
    stays = min(into, other, key=lambda record: record.begun_at or LATEST)
    goes, moment = other if stays is into else into, now()
    longer = {name: max(getattr(into, name), getattr(other, name)) for name in LONGER}
    # A window of their own that has ended takes no time away.
    window = max(stays, goes, key=lambda record: max(record.until or moment, moment))
    return MergedRow(stays, goes, {**longer, "opens_at": window.opens_at, "until": window.until})


async def _drop_second_sitting(db: AsyncSession, joined: MergedRow) -> None:
    """Texts of the record that goes are set aside if it was begun: they are for other programs than those that stay."""
    record: SittingRecord = joined.goes
    if record.begun_at is None:
        return
    learner, assignment = record.learner_id, await db.get_one(Assignment, record.assignment_id)
    written = select(Draft).where(Draft.learner_id == learner, Draft.lesson == assignment.lesson)
    for draft in await db.scalars(written, execution_options=FRESH):
        await store_replaced_text(db, draft, "sign-in")
        await db.delete(draft)
    await db.execute(delete(Progress).where(Progress.learner_id == learner, Progress.lesson == assignment.lesson))
    answers = (SittingAnswer.learner_id == learner, SittingAnswer.assignment_id == assignment.id)
    await db.execute(delete(SittingAnswer).where(*answers))


LONGER = ("extra_percent", "extra_minutes", "switches_allowed")
PLACE = ("lesson", "exercise")
MERGE_RULES = (
    # Before the texts, of which it sets some aside.
    MergeRule(SittingRecord, ("assignment_id",), _sitting_records, _drop_second_sitting),
    MergeRule(Session),
    MergeRule(Credential),
    MergeRule(ReplacedText),
    MergeRule(Notice),
    MergeRule(ProblemReport),
    MergeRule(WrittenSentence),
    MergeRule(LearnerView),
    MergeRule(Comparison),
    MergeRule(ComparisonDraw, ("comparison_id",), _keep(lambda draw: -draw.shown_at.timestamp())),
    MergeRule(FormerMember),
    MergeRule(Attempt),
    MergeRule(Draft, PLACE, _drafts),
    MergeRule(Progress, PLACE, _keep(solved_at=_first, solution_at=_first, hints=max)),
    MergeRule(Moment, (*PLACE, "what"), _keep(happened_at=min)),
    MergeRule(TrainingRun, PLACE, _trainings),
    MergeRule(Membership, ("class_id",), _memberships),
    MergeRule(RosterChange, ("class_id",), _keep(is_new=min)),
    MergeRule(Extension, ("assignment_id",), _keep(lambda extension: extension.due_at, late_until=last_of)),
    MergeRule(Accommodation, ("class_id",), _keep(extra_days=max)),
    MergeRule(GradeOverride, ("assignment_id",), _keep()),
    MergeRule(ServedItem, ("item_id",), _served_items),
    MergeRule(Card, ("family", "slip"), _cards, _keep_reviews),
    MergeRule(PracticeSession, (), _keep(lambda session: session.began_at)),
    MergeRule(Drill, ("family",), _keep(lambda drill: drill.best)),
    MergeRule(SittingAnswer, ("assignment_id", "item"), _keep()),
    MergeRule(LtiMember, ("lti_context_id",), _keep(lambda member: member.launched_at)),
    MergeRule(LtiScore, ("line_item_id",), _keep(changed_at=max, refused_at=lambda *_: None)),
)


async def lock_learners(db: AsyncSession, *learners: int) -> None:
    """Lock all rows of *learners* until the transaction ends, and rows that only point at them.

    In the order of their ids, so that two that lock the same two wait for each other and never both.
    """
    await db.execute(select(Learner.id).where(Learner.id.in_(learners)).order_by(Learner.id).with_for_update())


async def merge_learners(db: AsyncSession, source: int, into: int) -> bool:
    """Give everything of the learner *source* to the learner *into*, and let *source* be gone.

    False where there was nothing to do: they are the same, or one is gone, as when another tab has done it already.
    """
    await lock_learners(db, source, into)
    both = {learner.id: learner for learner in await db.scalars(select(Learner).where(Learner.id.in_((source, into))))}
    if source == into or len(both) < 2:
        return False
    _join_learners(both[into], both[source])
    for rule in MERGE_RULES:
        await _apply(db, rule, source, into)
    # What one of them did before the other practised was never looked at.
    await db.execute(update(PracticeSession).where(PracticeSession.learner_id == into).values(seen_attempt_id=0))
    for column in _pointing():
        await db.execute(update(column.table).where(column == source).values({column.name: into}))
    await _leave_one_running(db, into)
    await queue_learner(db, None, into)
    await record_event(db, None, into, "merged", f"learner {source}")
    await db.flush()
    await db.execute(delete(Learner).where(Learner.id == source).execution_options(synchronize_session=False))
    return True


def _join_learners(into: Learner, other: Learner) -> None:
    into.name = into.name or other.name
    into.teaches = into.teaches or other.teaches
    into.created_at = min(into.created_at, other.created_at)
    if other.opened_at and (into.opened_at is None or other.opened_at > into.opened_at):
        into.opened_at, into.opened_lesson = other.opened_at, other.opened_lesson


async def _apply(db: AsyncSession, rule: MergeRule, source: int, into: int) -> None:
    if rule.join is not None:
        joined = [rule.join(existing, moved) for existing, moved in await _both(db, rule, source, into)]
        for merged_row in joined:
            if rule.part is not None:
                await rule.part(db, merged_row)
            await db.delete(merged_row.goes)
        await db.flush()  # before the changes: what is unique is free by then
        for merged_row in joined:
            for name, value in merged_row.changes.items():
                setattr(merged_row.stays, name, value)
        db.add_all([merged_row.aside for merged_row in joined if merged_row.aside is not None])
        await db.flush()
    moved = update(rule.table).where(rule.table.learner_id == source).values(learner_id=into)
    await db.execute(moved.execution_options(synchronize_session=False))


async def _both(db: AsyncSession, rule: MergeRule, source: int, into: int) -> list[tuple[Any, Any]]:
    """The rows that both have for one key: of *into*, and of *source*."""
    existing, moved = aliased(rule.table), aliased(rule.table)
    same = and_(true(), *(getattr(existing, name) == getattr(moved, name) for name in rule.key))
    pairs = select(existing, moved).join(moved, same).where(existing.learner_id == into, moved.learner_id == source)
    return [(item, other) for item, other in await db.execute(pairs, execution_options=FRESH)]


async def _leave_one_running(db: AsyncSession, learner: int) -> None:
    """Leave the newer of two live runs running, for any server to claim; the older is shown as stopped."""
    query = select(TrainingRun).where(TrainingRun.learner_id == learner, TrainingRun.live.is_(True))
    live = [
        run
        for run in await db.scalars(query.order_by(TrainingRun.began_at.desc()), execution_options=FRESH)
        if is_live(run)
    ]
    for run in live[:1]:
        run.owner = None
    for run in live[1:]:
        run.live, run.checkpoint_json = False, None
        run.snapshot_json = json.dumps({**json.loads(run.snapshot_json), "phase": "stopped", "seconds_left": None})


def _pointing() -> list[Any]:
    """The columns that name a learner without being theirs, such as who gave an extension."""
    tables: list[Table] = Base.metadata.sorted_tables
    columns = [column for table in tables for column in table.c if column.name != "learner_id"]
    return [column for column in columns if any(key.column is Learner.__table__.c.id for key in column.foreign_keys)]


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
    person.seated_by = "instructor"
    await record_event(db, group.id, actor, "seated", learner)
