"""Sentences that instructors and authors write for all who make one mistake, which nothing else names."""

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass

from sqlalchemy import ColumnElement, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.store.classes import HERE, record_event
from app.store.database import now
from app.store.tables import Attempt, Membership, WrittenSentence

LONGEST_SENTENCE = 500
NEWEST_TEXTS = 60
"""Texts with one mistake that are looked through for one that shows it."""
RIGHT_TEXTS = 20
"""Other right texts that a sentence is tried on."""
Spoken = dict[tuple[str, str], str]
"""By exercise and mistake, what was written for it."""


def sentence_topic(lesson: str) -> str:
    """Key of the event bus for sentences that are written or withdrawn at exercises of a lesson."""
    return f"sentence {lesson}"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSentence:
    """A sentence to be kept; the fields are those of `WrittenSentence`."""

    class_id: int | None
    lesson: str
    exercise: str
    edition: str
    mistake: str
    said: str
    example: str


@dataclass(frozen=True, slots=True)
class MistakenText:
    """A text of *learner* that makes a mistake, and the verdict on it (JSON)."""

    learner: int
    text: str
    verdict: str


def _scope(group: int | None) -> ColumnElement[bool]:
    return WrittenSentence.class_id.is_(None) if group is None else WrittenSentence.class_id == group


async def write_sentence(db: AsyncSession, new: NewSentence, by: int) -> WrittenSentence:
    """Keep a sentence; an earlier one for the same mistake, of the same class or the course, is withdrawn."""
    place = (WrittenSentence.lesson == new.lesson, WrittenSentence.exercise == new.exercise)
    same = (
        _scope(new.class_id),
        *place,
        WrittenSentence.mistake == new.mistake,
        WrittenSentence.withdrawn_at.is_(None),
    )
    await db.execute(update(WrittenSentence).where(*same).values(withdrawn_by=by, withdrawn_at=now()))
    row = WrittenSentence(**asdict(new), learner_id=by, written_at=now())
    db.add(row)
    await db.flush()
    await record_event(db, new.class_id, by, "sentence-written", f"{new.lesson}/{new.exercise}", sentence=row.id)
    return row


async def withdraw_sentence(db: AsyncSession, row: WrittenSentence, by: int) -> None:
    """Stop showing it; it is stored with who wrote it and who withdrew it."""
    if row.withdrawn_at is None:
        row.withdrawn_by, row.withdrawn_at = by, now()
        await record_event(db, row.class_id, by, "sentence-withdrawn", f"{row.lesson}/{row.exercise}", sentence=row.id)


async def list_sentences(db: AsyncSession, group: int | None) -> Sequence[WrittenSentence]:
    """Sentences of a class, or of the course, those that are shown first, the newest first."""
    query = select(WrittenSentence).where(_scope(group))
    shown_first = WrittenSentence.withdrawn_at.is_not(None), WrittenSentence.id.desc()
    return (await db.scalars(query.order_by(*shown_first))).all()


async def find_sentence(db: AsyncSession, number: int, group: int | None) -> WrittenSentence | None:
    """The sentence with this number, if it belongs to that class, or to the course."""
    return await db.scalar(select(WrittenSentence).where(WrittenSentence.id == number, _scope(group)))


async def sentences_for(db: AsyncSession, learner: int, lesson: str, exercises: Collection[str]) -> Spoken:
    """Sentences that *learner* is shown at *exercises*: those of a class before those of the course, newest first."""
    groups = select(Membership.class_id).where(Membership.learner_id == learner, *HERE)
    shown = (
        WrittenSentence.lesson == lesson,
        WrittenSentence.exercise.in_(exercises),
        WrittenSentence.withdrawn_at.is_(None),
        or_(WrittenSentence.class_id.is_(None), WrittenSentence.class_id.in_(groups)),
    )
    query = select(WrittenSentence).where(*shown).order_by(WrittenSentence.class_id.is_not(None), WrittenSentence.id)
    return {(row.exercise, row.mistake): row.said for row in await db.scalars(query)}


async def sentences_shown(db: AsyncSession, group: int | None) -> dict[tuple[str, str, str], str]:
    """By lesson, exercise and mistake, what learners of a class, or of the server, are shown now."""
    of_all = WrittenSentence.class_id.is_(None)
    shown = (of_all if group is None else or_(of_all, _scope(group)), WrittenSentence.withdrawn_at.is_(None))
    query = select(WrittenSentence).where(*shown).order_by(WrittenSentence.class_id.is_not(None), WrittenSentence.id)
    return {(row.lesson, row.exercise, row.mistake): row.said for row in await db.scalars(query)}


async def take_over_sentences(db: AsyncSession, earlier: int, into: int) -> None:
    """Give the class *into* the sentences that are shown in an *earlier* one."""
    for row in await list_sentences(db, earlier):
        if row.withdrawn_at is None:
            columns = ("lesson", "exercise", "edition", "mistake", "said", "example", "learner_id", "written_at")
            db.add(WrittenSentence(class_id=into, **{name: getattr(row, name) for name in columns}))


async def mistaken_texts(
    db: AsyncSession, lesson: str, exercise: str, mistake: str, learners: Collection[int] | None
) -> list[MistakenText]:
    """The newest texts with that mistake, of these *learners* or of all."""
    query = select(Attempt.learner_id, Attempt.text, Attempt.verdict_json).where(
        Attempt.lesson == lesson, Attempt.exercise == exercise, Attempt.code == mistake
    )
    if learners is not None:
        query = query.where(Attempt.learner_id.in_(learners))
    return [MistakenText(*row) for row in await db.execute(query.order_by(Attempt.id.desc()).limit(NEWEST_TEXTS))]


async def right_texts_of_all(db: AsyncSession, lesson: str, exercise: str) -> list[tuple[str, str]]:
    """The newest right texts at an exercise, each once, with the verdict on it (JSON)."""
    place = Attempt.lesson == lesson, Attempt.exercise == exercise, Attempt.correct.is_(True)
    rows = await db.execute(
        select(Attempt.text, Attempt.verdict_json).where(*place).order_by(Attempt.id.desc()).limit(NEWEST_TEXTS)
    )
    return list({text: (text, verdict) for text, verdict in rows}.values())[:RIGHT_TEXTS]
