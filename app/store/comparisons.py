"""Comparisons of two wordings in a class: which one a learner sees is drawn once, and so is kept who saw which."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256

from sqlalchemy import exists, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.store.classes import HERE, RefusedError, record_event
from app.store.database import insert_into, now
from app.store.tables import Attempt, Comparison, ComparisonDraw, Membership
from app.store.written_sentences import Spoken

RUNNING = "Two wordings are compared there already. End that comparison first."


@dataclass(frozen=True, slots=True, kw_only=True)
class NewComparison:
    """A comparison to begin; the fields are those of `Comparison`."""

    lesson: str
    exercise: str
    about: str
    first: str
    second: str


@dataclass(frozen=True, slots=True)
class ArmCounts:
    """Counts of learners who saw a wording, who tried again after it, and who were right then."""

    shown: int = 0
    tries: int = 0
    right: int = 0


def arm_of(comparison: int, learner: int) -> int:
    """The wording that is drawn for *learner*: the same each time."""
    return sha256(f"comparison {comparison} learner {learner}".encode()).digest()[0] & 1


async def begin_comparison(db: AsyncSession, class_id: int, new: NewComparison, by: int) -> Comparison:
    """
    Raises:
        RefusedError: The class compares two wordings there already.
    """
    place = (Comparison.lesson == new.lesson, Comparison.exercise == new.exercise, Comparison.about == new.about)
    running = exists().where(Comparison.class_id == class_id, *place, Comparison.ended_at.is_(None))
    if await db.scalar(select(running)):
        raise RefusedError(RUNNING)
    row = Comparison(class_id=class_id, **asdict(new), learner_id=by, began_at=now())
    db.add(row)
    await db.flush()
    await record_event(db, class_id, by, "comparison-begun", f"{new.lesson}/{new.exercise}", comparison=row.id)
    return row


async def end_comparison(db: AsyncSession, row: Comparison, by: int) -> None:
    """Show neither wording any more; what was counted stays."""
    if row.ended_at is None:
        row.ended_at = now()
        await record_event(db, row.class_id, by, "comparison-ended", f"{row.lesson}/{row.exercise}", comparison=row.id)


async def list_comparisons(db: AsyncSession, class_id: int) -> Sequence[Comparison]:
    """Those of a class, the ones that go on first, the newest first."""
    going_on_first = Comparison.ended_at.is_not(None), Comparison.id.desc()
    return (await db.scalars(select(Comparison).where(Comparison.class_id == class_id).order_by(*going_on_first))).all()


async def is_comparing(db: AsyncSession, class_id: int) -> bool:
    """True while a comparison of the class goes on."""
    running = exists().where(Comparison.class_id == class_id, Comparison.ended_at.is_(None))
    return bool(await db.scalar(select(running)))


async def _running(db: AsyncSession, learner: int, lesson: str) -> Sequence[Comparison]:
    """Comparisons in a lesson that *learner* takes part in."""
    groups = select(Membership.class_id).where(Membership.learner_id == learner, Membership.role == "learner", *HERE)
    going_on = (Comparison.lesson == lesson, Comparison.ended_at.is_(None), Comparison.class_id.in_(groups))
    return (await db.scalars(select(Comparison).where(*going_on).order_by(Comparison.id))).all()


async def wordings_for(db: AsyncSession, learner: int, lesson: str) -> Spoken:
    """By exercise and what it is about, the wording that was drawn for *learner*."""
    return {
        (row.exercise, row.about): (row.first, row.second)[arm_of(row.id, learner)]
        for row in await _running(db, learner, lesson)
    }


async def record_shown(db: AsyncSession, learner: int, lesson: str, exercise: str, about: Collection[str]) -> None:
    """Keep that *learner* sees a wording now, of what is compared *about* that; the first time counts."""
    for row in await _running(db, learner, lesson) if about else ():
        if row.exercise == exercise and row.about in about:
            drawn = {"comparison_id": row.id, "learner_id": learner, "arm": arm_of(row.id, learner)}
            await db.execute(insert_into(db, ComparisonDraw).values(**drawn, shown_at=now()).on_conflict_do_nothing())


async def count_arms(db: AsyncSession, row: Comparison) -> tuple[ArmCounts, ArmCounts]:
    """Count the outcomes of each wording: the first try of each learner after they saw it."""
    tried = (
        Attempt.learner_id == ComparisonDraw.learner_id,
        Attempt.lesson == row.lesson,
        Attempt.exercise == row.exercise,
        Attempt.created_at > ComparisonDraw.shown_at,
        Attempt.correct.is_not(None),
    )
    following = select(func.min(Attempt.id)).where(*tried).correlate(ComparisonDraw).scalar_subquery()
    query = (
        select(ComparisonDraw.arm, Attempt.correct)
        .outerjoin(Attempt, Attempt.id == following)
        .where(ComparisonDraw.comparison_id == row.id)
    )
    counted = Counter((arm, correct) for arm, correct in await db.execute(query))
    first, second = (
        ArmCounts(
            shown=sum(counted[arm, correct] for correct in (True, False, None)),
            tries=counted[arm, True] + counted[arm, False],
            right=counted[arm, True],
        )
        for arm in (0, 1)
    )
    return first, second
