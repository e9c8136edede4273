"""Attempts of a learner with their verdicts, and the progress they made."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, cast

from sqlalchemy import ColumnElement, Select, Table, bindparam, case, delete, func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.store.comparisons import wordings_for
from app.store.database import at_exercise, lock_learner, now
from app.store.lti_scores import queue_lesson, queue_started
from app.store.moments import PAGE, SEEN, hint_moment, record_moment
from app.store.tables import Attempt, Draft, Learner, LtiMember, Progress, TrainingRun
from app.store.written_sentences import Spoken, sentences_for

Kind = Literal["quiz", "code"]
PRACTISED = "practice/%"
"""What the names of items of practice are like."""
_KEY = re.compile(r'"key":"[^"]')
"""In a verdict (JSON) with a gradient whose mistake is not named."""
SITTINGS = "practice/sitting-"
"""How the names of sittings begin; what is written there is kept as that of any lesson."""
AttemptKey = tuple[int, datetime]
"""Number and time of an attempt: the number alone is given again once the last one is deleted."""
KEPT_ATTEMPTS = 50
"""At one exercise: the newest of them, the newest that was right, and those that a training run refers to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewAttempt:
    """An attempt to be recorded; the fields are those of `Attempt`."""

    kind: Kind
    text: str
    verdict: str
    correct: bool | None
    code: str | None = None
    task_key: str | None = None
    revision: int | None = None


@dataclass(frozen=True, slots=True)
class AttemptSummary:
    """The attempts at one exercise: how many, how many failed, and the newest."""

    count: int
    failed: int
    newest: Attempt


async def is_older_than(db: AsyncSession, learner: int, moment: datetime) -> bool:
    """True if *learner* was here before *moment*."""
    return bool(await db.scalar(select(Learner.created_at < moment).where(Learner.id == learner)))


async def record_attempt(
    db: AsyncSession, learner: int, lesson: str, exercise: str, answered: NewAttempt, *, before: int | None = None
) -> Attempt:
    """Keep one attempt, whatever came before it; of those before it, no more than the store has room for.

    Args:
        before: How many there are, where that is known.
    """
    values = {
        "learner_id": learner,
        "lesson": lesson,
        "exercise": exercise,
        "kind": answered.kind,
        "text": answered.text,
        "verdict_json": answered.verdict,
        "correct": answered.correct,
        "code": answered.code,
        "task_key": answered.task_key,
        "created_at": now(),
        "revision": answered.revision,
    }
    # Straight into the table: nobody changes the row again, and the session's bookkeeping costs more than the insert.
    await db.execute(_INSERT, values)
    if not before and await db.scalar(_FROM_A_PLATFORM, {"learner": learner}):
        await queue_started(db, learner, lesson, exercise)
    if before is None or before >= KEPT_ATTEMPTS:
        parameters = {"learner": learner, "lesson": lesson, "exercise": exercise}
        await db.execute(_FORGET_OLDER, parameters, execution_options={"synchronize_session": False})
    return Attempt(**values)


async def record_check(
    db: AsyncSession, learner: int, lesson: str, exercise: str, answered: NewAttempt, *, from_cache: bool = False
) -> tuple[AttemptSummary, dict[str, Progress]]:
    """Keep one check; all tries with it, and the progress in its lesson, by exercise.

    Args:
        from_cache: The verdict was found and not made. Then the same text as in the last check is nothing new.
    """
    if from_cache:
        before = (await tries_of(db, learner, lesson, exercise)).get(exercise)
        if before and before.newest.task_key == answered.task_key:
            return before, await progress_in(db, learner, lesson)
    parameters = {"learner": learner, "lesson": lesson, "exercise": exercise}
    so_far = (await db.execute(_SO_FAR, parameters)).all()
    count, failed, _ = so_far[0]
    attempt = await record_attempt(db, learner, lesson, exercise, answered, before=count)
    tries = AttemptSummary(count + 1, (failed or 0) + (answered.correct is False), attempt)
    return tries, {row.exercise: row for _, _, row in so_far if row is not None}


async def stored_verdict(db: AsyncSession, task_key: str) -> str | None:
    """Find the verdict (JSON) on the same text for the same task, of any learner."""
    return await db.scalar(_STORED_VERDICT, {"task_key": task_key})


async def attempts_at(db: AsyncSession, learner: int, lesson: str, exercise: str) -> list[Attempt]:
    """Oldest first."""
    query = select(Attempt).where(*at_exercise(Attempt, learner, lesson, exercise)).order_by(Attempt.id)
    return list(await db.scalars(query))


async def tries_of(
    db: AsyncSession, learner: int, lesson: str, exercise: str | None = None
) -> dict[str, AttemptSummary]:
    """By exercise, for all exercises of a lesson that were tried, or for one."""
    parameters = {"learner": learner, "lesson": lesson}
    rows = await (
        db.execute(_TRIES, parameters)
        if exercise is None
        else db.execute(_TRIES_AT_ONE, {**parameters, "exercise": exercise})
    )
    return {attempt.exercise: AttemptSummary(count, failed, attempt) for attempt, count, failed in rows}


async def attempt_keys(db: AsyncSession, learner: int, lesson: str, exercise: str) -> Sequence[AttemptKey]:
    """Every attempt at one exercise that is kept."""
    rows = await db.execute(_ATTEMPT_KEYS, {"learner": learner, "lesson": lesson, "exercise": exercise})
    return [(row.id, row.created_at) for row in rows]


async def verdicts_of(db: AsyncSession, attempts: Collection[AttemptKey]) -> dict[AttemptKey, str]:
    """Stored verdicts of *attempts*."""
    columns = (Attempt.id, Attempt.created_at, Attempt.verdict_json)
    rows = await db.execute(select(*columns).where(Attempt.id.in_([number for number, _ in attempts])))
    return {(row.id, row.created_at): row.verdict_json for row in rows}


async def right_texts(db: AsyncSession, learner: int, lesson: str) -> dict[str, str]:
    """By exercise, the newest text or answer that was right."""
    conditions = (Attempt.learner_id == learner, Attempt.lesson == lesson, Attempt.correct.is_(True))
    newest = select(func.max(Attempt.id)).where(*conditions).group_by(Attempt.exercise)
    rows = await db.execute(select(Attempt.exercise, Attempt.text).where(Attempt.id.in_(newest)))
    return {row.exercise: row.text for row in rows}


_MINE = (Attempt.learner_id == bindparam("learner"), Attempt.lesson == bindparam("lesson"))
_AT_ONE = at_exercise(Attempt, bindparam("learner"), bindparam("lesson"), bindparam("exercise"))
_FAILED = func.sum(case((Attempt.correct.is_(False), 1), else_=0))


def _tries(*conditions: ColumnElement[bool]) -> Select[Any]:
    counted = select(func.max(Attempt.id).label("newest"), func.count().label("count"), _FAILED.label("failed"))
    counts = counted.where(*conditions).group_by(Attempt.exercise).subquery()
    return select(Attempt, counts.c.count, counts.c.failed).join(counts, Attempt.id == counts.c.newest)


# Made once: to put a statement together takes longer than to run it, and every check asks these.
_TRIES, _TRIES_AT_ONE = _tries(*_MINE), _tries(*_AT_ONE)
_ATTEMPT_KEYS = select(Attempt.id, Attempt.created_at).where(*_AT_ONE)
_OLDER = select(Attempt.id).where(*_AT_ONE).order_by(Attempt.id.desc()).offset(KEPT_ATTEMPTS).limit(1)
_NEWEST_RIGHT = select(func.coalesce(func.max(Attempt.id), 0)).where(*_AT_ONE, Attempt.correct.is_(True))
_TRAINED = select(TrainingRun.attempt_id).where(
    TrainingRun.learner_id == bindparam("learner"), TrainingRun.attempt_id.is_not(None)
)
_FORGET_OLDER = delete(Attempt).where(
    *_AT_ONE,
    Attempt.id <= _OLDER.scalar_subquery(),
    Attempt.id != _NEWEST_RIGHT.scalar_subquery(),
    Attempt.id.not_in(_TRAINED),
)
_COUNTS = select(func.count().label("count"), _FAILED.label("failed")).where(*_AT_ONE).subquery()
_SO_FAR = select(_COUNTS.c.count, _COUNTS.c.failed, Progress).outerjoin_from(
    _COUNTS, Progress, (Progress.learner_id == bindparam("learner")) & (Progress.lesson == bindparam("lesson"))
)
"""One row for each exercise with progress, the counts in all of them; a row of counts where there is none."""
_INSERT = insert(cast(Table, Attempt.__table__))
_FROM_A_PLATFORM = select(LtiMember.learner_id).where(LtiMember.learner_id == bindparam("learner")).limit(1)
_STORED_VERDICT = (
    select(Attempt.verdict_json).where(Attempt.task_key == bindparam("task_key")).order_by(Attempt.id.desc()).limit(1)
)


# Made once: to put a statement together takes longer than to run it, and every check asks these.
_PROGRESS_IN = select(Progress).where(
    Progress.learner_id == bindparam("learner"), Progress.lesson == bindparam("lesson")
)


@dataclass(frozen=True, slots=True)
class ResumePoint:
    """Exercise that a learner used last; *exercise* is None for a lesson that was only opened."""

    lesson: str
    exercise: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LessonState:
    """Everything that a learner has in one lesson, by exercise."""

    progress: Mapping[str, Progress] = field(default_factory=dict)
    tries: Mapping[str, AttemptSummary] = field(default_factory=dict)
    drafts: Mapping[str, Draft] = field(default_factory=dict)
    written: Spoken = field(default_factory=dict)
    again: Mapping[str, int] = field(default_factory=dict)
    """Draws of questions that were asked for in place of what was answered."""

    def answered(self, exercise: str) -> bool:
        """True if *exercise* has an answer that could be graded."""
        tries = self.tries.get(exercise)
        judged = tries is not None and (tries.failed > 0 or tries.newest.correct is not None)
        return judged or exercise in self.solved

    def changed(self, exercise: str, edition: str) -> bool:
        """True if *exercise* was solved in another edition than this one."""
        row = self.progress.get(exercise)
        return row is not None and row.solved_at is not None and row.edition not in (None, edition)

    @property
    def solved(self) -> frozenset[str]:
        return frozenset(name for name, row in self.progress.items() if row.solved_at)


async def lesson_state(db: AsyncSession, learner: int, lesson: str, exercise: str | None = None) -> LessonState:
    """The state of a whole lesson, or of one exercise in it."""
    progress = select(Progress).where(Progress.learner_id == learner, Progress.lesson == lesson)
    drafts = select(Draft).where(Draft.learner_id == learner, Draft.lesson == lesson)
    if exercise is not None:
        progress = progress.where(Progress.exercise == exercise)
        drafts = drafts.where(Draft.exercise == exercise)
    tries = await tries_of(db, learner, lesson, exercise)
    rows = {row.exercise: row for row in await db.scalars(progress)}
    compares = any(row.hints for row in rows.values()) or any(each.newest.correct is False for each in tries.values())
    return LessonState(
        progress=rows,
        drafts={row.exercise: row for row in await db.scalars(drafts)},
        tries=tries,
        written=await sentences_at(db, learner, lesson, tries, compares=compares),
    )


async def sentences_at(
    db: AsyncSession, learner: int, lesson: str, tries: Mapping[str, AttemptSummary], *, compares: bool
) -> Spoken:
    """Sentences of instructors for mistakes of *learner*, and for hints; queried only where there may be any.

    Args:
        compares: Whether two wordings of something may be compared.
    """
    unnamed = [exercise for exercise, each in tries.items() if _may_be_unnamed(each.newest)]
    written = await sentences_for(db, learner, lesson, unnamed) if unnamed else {}
    if compares:
        written |= await wordings_for(db, learner, lesson)
    return written


def _may_be_unnamed(attempt: Attempt) -> bool:
    """True for a wrong answer to a question, and for a text with a mistake that has a key of its own."""
    if attempt.kind == "quiz":
        return attempt.correct is False
    return _KEY.search(attempt.verdict_json) is not None


async def solved_by_lesson(db: AsyncSession, learner: int) -> dict[str, set[str]]:
    """Names of the solved exercises, by lesson."""
    solved = select(Progress.lesson, Progress.exercise).where(
        Progress.learner_id == learner, Progress.solved_at.is_not(None)
    )
    by_lesson: dict[str, set[str]] = {}
    for lesson, exercise in await db.execute(solved):
        by_lesson.setdefault(lesson, set()).add(exercise)
    return by_lesson


async def progress_in(db: AsyncSession, learner: int, lesson: str) -> dict[str, Progress]:
    """The progress in one lesson, by exercise."""
    return {row.exercise: row for row in await db.scalars(_PROGRESS_IN, {"learner": learner, "lesson": lesson})}


async def progress_of(db: AsyncSession, learner: int, lesson: str, exercise: str) -> Progress:
    """The row of one exercise, made when it is missing."""
    await lock_learner(db, learner)
    row = await db.get(Progress, (learner, lesson, exercise))
    if row is None:
        row = Progress(learner_id=learner, lesson=lesson, exercise=exercise, hints=0)
        db.add(row)
    return row


async def mark_solved(
    db: AsyncSession, learner: int, lesson: str, exercise: str, edition: str | None = None
) -> Progress:
    """The first time counts; later mistakes take nothing away. *edition* is the exercise's as it is solved now."""
    row = await progress_of(db, learner, lesson, exercise)
    if row.solved_at is None:
        row.solved_at = now()
        await db.flush()
        await queue_lesson(db, learner, lesson)
    row.edition = edition or row.edition
    return row


async def open_hint(db: AsyncSession, learner: int, lesson: str, exercise: str, available: int) -> int:
    """Open one more of the *available* hints; how many are open now."""
    row = await progress_of(db, learner, lesson, exercise)
    row.hints = min(row.hints + 1, available)
    await record_moment(db, learner, lesson, exercise, hint_moment(row.hints))
    return row.hints


async def open_solution(db: AsyncSession, learner: int, lesson: str, exercise: str) -> None:
    row = await progress_of(db, learner, lesson, exercise)
    row.solution_at = row.solution_at or now()


async def record_opened(db: AsyncSession, learner: int, lesson: str) -> None:
    await db.execute(update(Learner).where(Learner.id == learner).values(opened_lesson=lesson, opened_at=now()))
    await record_moment(db, learner, lesson, PAGE, SEEN)


async def last_opened(db: AsyncSession, learner: int) -> str | None:
    """The lesson that was opened last."""
    return await db.scalar(select(Learner.opened_lesson).where(Learner.id == learner))


async def opened_lessons(db: AsyncSession, learner: int) -> frozenset[str]:
    """Lessons that *learner* has done something in, or opened last."""
    last = select(Learner.opened_lesson).where(Learner.id == learner)
    names = {name for name in await db.scalars(last) if name}
    for table in (Progress, Draft, Attempt):
        names |= set(await db.scalars(select(table.lesson).where(table.learner_id == learner).distinct()))
    return frozenset(name for name in names if not name.startswith(PRACTISED.removesuffix("%")))


async def last_place(db: AsyncSession, learner: int) -> ResumePoint | None:
    """Find where to continue: at the exercise that was last answered or edited, or in a lesson opened since."""
    opened = (
        await db.execute(select(Learner.opened_at, Learner.opened_lesson).where(Learner.id == learner))
    ).one_or_none()
    # Practice is no place in the course.
    answered = select(Attempt.created_at, Attempt.lesson, Attempt.exercise).where(
        Attempt.learner_id == learner, Attempt.lesson.not_like(PRACTISED)
    )
    written = select(Draft.saved_at, Draft.lesson, Draft.exercise).where(
        Draft.learner_id == learner, Draft.lesson.not_like(PRACTISED)
    )
    places = []
    if opened and opened.opened_at:
        places.append((opened.opened_at, ResumePoint(opened.opened_lesson, None)))
    for newest in (answered.order_by(Attempt.id.desc()).limit(1), written.order_by(Draft.saved_at.desc()).limit(1)):
        row = (await db.execute(newest)).one_or_none()
        if row:
            places.append((row[0], ResumePoint(row.lesson, row.exercise)))
    if not places:
        return None
    latest = max(places, key=lambda place: place[0])[1]
    # To open the lesson again where one was writing changes nothing about the place.
    same = [place for _, place in sorted(places, key=lambda place: place[0]) if place.lesson == latest.lesson]
    return next((place for place in reversed(same) if place.exercise), latest)
