"""Progress of a learner: along the prerequisites, in a unit, in the whole course."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta

from markupsafe import Markup

from app.content.blocks import Deliverable, Exercise, Grad, Lesson, Unit
from app.content.text.estimates import total_time
from app.store import progress
from app.store.board import has_exercise
from app.store.database import now
from app.store.progress import LessonState
from app.web.site import LessonProgress, Site
from app.web.views.exercise_view import exam_of

Solved = Mapping[str, Collection[str]]
"""Names of the solved exercises, by lesson."""
FIRST_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class DeliverableStatus:
    """One deliverable, and whether it is there."""

    html: Markup
    done: bool


@dataclass(frozen=True, slots=True)
class ProgressSummary:
    """Lessons taken together: how long they take, how much of them is done, and where to go on."""

    lessons: tuple[LessonProgress, ...]

    @property
    def estimate(self) -> str:
        return total_time(lesson_progress.lesson.estimate for lesson_progress in self.lessons)

    @property
    def done(self) -> int:
        return sum(lesson_progress.done for lesson_progress in self.lessons)

    @property
    def total(self) -> int:
        return sum(lesson_progress.total for lesson_progress in self.lessons)

    @property
    def complete(self) -> bool:
        return self.done == self.total

    @property
    def open(self) -> tuple[LessonProgress, ...]:
        """The lessons in which something is left to do."""
        return tuple(lesson_progress for lesson_progress in self.lessons if not lesson_progress.complete)


@dataclass(frozen=True, slots=True)
class UnitView:
    """A unit with the learner's progress. *builds_on* are the lessons of other units that its own build on."""

    unit: Unit
    sum: ProgressSummary
    builds_on: tuple[LessonProgress, ...]
    made: tuple[DeliverableStatus, ...]

    @property
    def lessons(self) -> tuple[LessonProgress, ...]:
        return self.sum.lessons


async def solved_by(site: Site, learner: int | None) -> dict[str, set[str]]:
    """Exercises that *learner* has solved, by lesson; none without a learner."""
    if learner is None:
        return {}
    async with site.database.read() as db:
        solved = await progress.solved_by_lesson(db, learner)
    if site.seen is None:
        return solved
    assigned = site.seen
    return {lesson: {name for name in some if has_exercise(assigned, lesson, name)} for lesson, some in solved.items()}


def unit_view(site: Site, unit: Unit, solved: Solved) -> UnitView:
    own = {lesson.name for lesson in unit.lessons}
    needed = {name for lesson in unit.lessons for name in lesson.requires} - own
    return UnitView(
        unit=unit,
        sum=sum_of(site, unit.lessons, solved),
        builds_on=tuple(progress_in(site, lesson, solved) for lesson in site.course.lessons if lesson.name in needed),
        made=tuple(
            deliverable_status
            for deliverable in unit.deliverables
            if (deliverable_status := _deliverable_status(site, deliverable, solved)) is not None
        ),
    )


def sum_of(site: Site, lessons: Iterable[Lesson], solved: Solved) -> ProgressSummary:
    return ProgressSummary(tuple(progress_in(site, lesson, solved) for lesson in lessons))


@dataclass(frozen=True, slots=True)
class MapEntry:
    """One lesson in the map of the course: what it needs, and whether it is `done`, `next` or `open`."""

    progress: LessonProgress
    needs: tuple[Lesson, ...]
    state: str


def map_entries(site: Site, solved: Solved, following: str) -> tuple[MapEntry, ...]:
    """All lessons in course order; next is the one named *following*, unless nothing in it is open."""
    every = [progress_in(site, lesson, solved) for lesson in site.course.lessons]
    return tuple(
        MapEntry(
            lesson_progress,
            tuple(other for other in site.course.lessons if other.name in lesson_progress.lesson.requires),
            "next"
            if lesson_progress.lesson.name == following and not lesson_progress.complete
            else "done"
            if lesson_progress.total and lesson_progress.complete
            else "open",
        )
        for lesson_progress in every
    )


async def earlier_lessons(site: Site, lesson: Lesson, learner: int) -> tuple[str, ...]:
    """Lessons before *lesson* that *learner* opened and that taught something to be practised."""
    at = site.course.lessons.index(lesson)
    taught = site.practice.curriculum.taught
    before = [earlier.name for earlier in site.course.lessons[:at] if earlier.name in taught]
    if not before:
        return ()
    async with site.database.read() as db:
        opened = await progress.opened_lessons(db, learner)
    return tuple(name for name in before if name in opened)


async def is_recall_offered(site: Site, lesson: Lesson, state: LessonState, learner: int | None) -> bool:
    """True if two questions are offered: at a lesson that has not begun, to those who opened an earlier one.

    On their first day nothing is far enough back to be recalled.
    """
    begun = bool(state.progress or state.tries or state.drafts)
    if begun or learner is None or site.seen is not None:
        return False
    async with site.database.read() as db:
        if not await progress.is_older_than(db, learner, now() - FIRST_DAY):
            return False
    return bool(await earlier_lessons(site, lesson, learner))


def builds_on(site: Site, lesson: Lesson, solved: Solved) -> tuple[LessonProgress, ...]:
    """The lessons that *lesson* builds on, in course order."""
    return tuple(progress_in(site, item, solved) for item in site.course.lessons if item.name in lesson.requires)


def progress_in(site: Site, lesson: Lesson, solved: Solved) -> LessonProgress:
    return site.progress(lesson, solved.get(lesson.name, ()))


def _deliverable_status(site: Site, deliverable: Deliverable, solved: Solved) -> DeliverableStatus | None:
    """None where a link leads to a lesson that is not served."""
    lessons = {lesson.path: lesson for lesson in site.course.lessons}
    places = [(lessons.get(path), anchor) for path, anchor in deliverable.made_in]
    if any(lesson is None for lesson, _ in places):
        return None
    done = bool(places) and all(_is_done(site, lesson, anchor, solved) for lesson, anchor in places if lesson)
    return DeliverableStatus(deliverable.html, done)


def _is_done(site: Site, lesson: Lesson, anchor: str, solved: Solved) -> bool:
    exercise = lesson.named.get(anchor) if anchor else None
    if exercise is None:
        return progress_in(site, lesson, solved).complete
    return exercise.name in solved.get(lesson.name, ()) or _sat(site, lesson, exercise, solved)


def _sat(site: Site, lesson: Lesson, exercise: Exercise, solved: Solved) -> bool:
    """True if the exam of the unit was passed, and asks for the gradients of *exercise*."""
    exam = exam_of(site.kept, site.unit_of(lesson))
    if exam is None or not isinstance(exercise, Grad) or exam[1].name not in solved.get(exam[0].name, ()):
        return False
    return set(exercise.require) <= set(exam[1].require)
