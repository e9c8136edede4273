"""How far a learner is: what is solved, which hints are open, where to continue."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from sqlalchemy import bindparam, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.store.attempts import Tries, tries_of
from app.store.drafts import keep
from app.store.learners import hold, now
from app.store.tables import Attempt, Draft, Kept, Learner, Progress, TrainingRun

# Made once: to put a statement together takes longer than to run it, and every check asks these.
_PROGRESS_IN = select(Progress).where(
    Progress.learner_id == bindparam("learner"), Progress.lesson == bindparam("lesson")
)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a learner was last; *exercise* is None for a lesson that was only opened."""

    lesson: str
    exercise: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LessonState:
    """Everything that a learner has in one lesson, by exercise."""

    progress: Mapping[str, Progress] = field(default_factory=dict)
    tries: Mapping[str, Tries] = field(default_factory=dict)
    drafts: Mapping[str, Draft] = field(default_factory=dict)

    @property
    def solved(self) -> frozenset[str]:
        return frozenset(name for name, row in self.progress.items() if row.solved_at is not None)


async def lesson_state(db: AsyncSession, learner: int, lesson: str, exercise: str | None = None) -> LessonState:
    """The state of a whole lesson, or of one exercise in it."""
    progress = select(Progress).where(Progress.learner_id == learner, Progress.lesson == lesson)
    drafts = select(Draft).where(Draft.learner_id == learner, Draft.lesson == lesson)
    if exercise is not None:
        progress = progress.where(Progress.exercise == exercise)
        drafts = drafts.where(Draft.exercise == exercise)
    return LessonState(
        progress={row.exercise: row for row in await db.scalars(progress)},
        drafts={row.exercise: row for row in await db.scalars(drafts)},
        tries=await tries_of(db, learner, lesson, exercise),
    )


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
    await hold(db, learner)
    row = await db.get(Progress, (learner, lesson, exercise))
    if row is None:
        row = Progress(learner_id=learner, lesson=lesson, exercise=exercise, hints=0)
        db.add(row)
    return row


async def mark_solved(db: AsyncSession, learner: int, lesson: str, exercise: str) -> Progress:
    """The first time counts; later mistakes take nothing away."""
    row = await progress_of(db, learner, lesson, exercise)
    row.solved_at = row.solved_at or now()
    return row


async def open_hint(db: AsyncSession, learner: int, lesson: str, exercise: str, available: int) -> int:
    """Open one more of the *available* hints; how many are open now."""
    row = await progress_of(db, learner, lesson, exercise)
    row.hints = min(row.hints + 1, available)
    return row.hints


async def open_solution(db: AsyncSession, learner: int, lesson: str, exercise: str) -> None:
    row = await progress_of(db, learner, lesson, exercise)
    row.solution_at = row.solution_at or now()


async def record_opened(db: AsyncSession, learner: int, lesson: str) -> None:
    await db.execute(update(Learner).where(Learner.id == learner).values(opened_lesson=lesson, opened_at=now()))


async def last_opened(db: AsyncSession, learner: int) -> str | None:
    """The lesson that was opened last."""
    return await db.scalar(select(Learner.opened_lesson).where(Learner.id == learner))


async def last_place(db: AsyncSession, learner: int) -> Place | None:
    """Where to continue: at the exercise that was last answered or written in, or in a lesson opened since."""
    opened = (
        await db.execute(select(Learner.opened_at, Learner.opened_lesson).where(Learner.id == learner))
    ).one_or_none()
    answered = select(Attempt.created_at, Attempt.lesson, Attempt.exercise).where(Attempt.learner_id == learner)
    written = select(Draft.saved_at, Draft.lesson, Draft.exercise).where(Draft.learner_id == learner)
    places = []
    if opened and opened.opened_at:
        places.append((opened.opened_at, Place(opened.opened_lesson, None)))
    for newest in (answered.order_by(Attempt.id.desc()).limit(1), written.order_by(Draft.saved_at.desc()).limit(1)):
        row = (await db.execute(newest)).one_or_none()
        if row:
            places.append((row[0], Place(row.lesson, row.exercise)))
    if not places:
        return None
    latest = max(places, key=lambda place: place[0])[1]
    # To open the lesson again where one was writing changes nothing about the place.
    same = [place for _, place in sorted(places, key=lambda place: place[0]) if place.lesson == latest.lesson]
    return next((place for place in reversed(same) if place.exercise), latest)


async def has_state_under(db: AsyncSession, learner: int, lesson: str, names: Iterable[str]) -> bool:
    wanted = tuple(names)
    for table in (Progress, Draft, Attempt, TrainingRun):
        mine = (table.learner_id == learner, table.lesson == lesson, table.exercise.in_(wanted))
        if await db.scalar(select(table.exercise).where(*mine).limit(1)) is not None:
            return True
    return False


async def adopt_renames(db: AsyncSession, learner: int, lesson: str, renames: Mapping[str, str]) -> None:
    """Carry over what was stored under an exercise's old name (`:was:`): *renames* maps old names to the current one.

    Where both names have a draft, the newer one's text stays in the box and the other one is kept; of two training
    runs the current name's stays, and one that went to its end is not lost.
    """
    for old, new in renames.items():
        for table in (Attempt, Kept):
            await db.execute(
                update(table)
                .where(table.learner_id == learner, table.lesson == lesson, table.exercise == old)
                .values(exercise=new)
            )
        await _adopt_progress(db, learner, lesson, old, new)
        await _adopt_draft(db, learner, lesson, old, new)
        await _adopt_training(db, learner, lesson, old, new)


async def _adopt_progress(db: AsyncSession, learner: int, lesson: str, old: str, new: str) -> None:
    former = await db.get(Progress, (learner, lesson, old))
    if former is None:
        return
    row = await progress_of(db, learner, lesson, new)
    row.solved_at = row.solved_at or former.solved_at
    row.solution_at = row.solution_at or former.solution_at
    row.hints = max(row.hints, former.hints)
    await db.delete(former)


async def _adopt_draft(db: AsyncSession, learner: int, lesson: str, old: str, new: str) -> None:
    former = await db.get(Draft, (learner, lesson, old))
    if former is None:
        return
    if await db.get(Draft, (learner, lesson, new)) is None:
        former.exercise = new
        return
    former_text = Draft(learner_id=learner, lesson=lesson, exercise=new, text=former.text)
    await keep(db, former_text, "other-tab")
    await db.delete(former)


async def _adopt_training(db: AsyncSession, learner: int, lesson: str, old: str, new: str) -> None:
    former = await db.get(TrainingRun, (learner, lesson, old))
    if former is None:
        return
    run = await db.get(TrainingRun, (learner, lesson, new))
    if run is None:
        former.exercise = new
        return
    run.finished = run.finished or former.finished
    await db.delete(former)
