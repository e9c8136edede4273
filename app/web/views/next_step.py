"""The next step of a learner: every page that names a next lesson asks here, so that all of them name the same."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from app.content.blocks import Course, Grad, Lesson
from app.store.progress import ResumePoint
from app.web.site import Site
from app.web.views.course_progress import Solved
from app.web.views.lesson_view import sections_of


@dataclass(frozen=True, slots=True)
class NextStep:
    """A lesson, and the exercise in it; *exercise* is None for its beginning.

    Args:
        begun: Whether something was done in it, or it was opened last.
    """

    lesson: Lesson
    exercise: str | None
    begun: bool

    @property
    def address(self) -> str:
        return f"{self.lesson.address}#{self.exercise}" if self.exercise else self.lesson.address


def next_step(
    site: Site, place: ResumePoint | None, solved: Solved, lessons: Sequence[Lesson] | None = None
) -> NextStep | None:
    """The next open exercise from *place* on: in its lesson, else in the lessons after it, else in those before.

    A lesson in which nothing was done begins at its top, and so does the first where that was the line to try at once.
    What may be left out comes last.

    Args:
        place: Where the learner was; None for nowhere.
        lessons: Those to choose from, all of the course by default.

    Returns:
        The beginning of the lesson of *place*, or of the first one, where nothing is open; None without a lesson.
    """
    lessons = site.course.lessons if lessons is None else lessons
    at = next((index for index, item in enumerate(lessons) if place and item.name == place.lesson), None)
    order = [*lessons[at:], *lessons[:at]] if at is not None else _ready_first(site, lessons, solved)
    opened = lessons[at] if at is not None else None
    done = settled(site, solved)
    for passed in (done, solved):
        for lesson in order:
            names = passed.get(lesson.name, ())
            open_here = [exercise.name for exercise in lesson.exercises if exercise.name not in names]
            if open_here:
                exercise = _open_exercise(site, lesson, place, solved, open_here)
                return NextStep(lesson, exercise, begun=lesson is opened or bool(solved.get(lesson.name)))
    return NextStep(order[0], None, begun=True) if order else None


def settled(site: Site, solved: Solved) -> Solved:
    """*solved*, and what may be left out since the box that it leads to was solved."""
    lessons = (lesson for lesson in site.course.lessons if lesson.name in solved)
    return {
        **solved,
        **{lesson.name: {*solved[lesson.name], *_left_out(site, lesson, solved[lesson.name])} for lesson in lessons},
    }


def _left_out(site: Site, lesson: Lesson, solved: Collection[str]) -> Iterator[str]:
    """Exercises above a solved box, from the section on in which the first of its steps stands."""
    for box in lesson.boxes:
        if isinstance(box, Grad) and box.past and box.name in solved:
            names = [[name for stop in section.stops for name in stop.names] for section in sections_of(site, lesson)]
            first = next(at for at, own in enumerate(names) if not set(box.past).isdisjoint(own))
            from_there = [name for own in names[first:] for name in own]
            yield from from_there[: from_there.index(box.name)]


def _ready_first(site: Site, lessons: Sequence[Lesson], solved: Solved) -> list[Lesson]:
    """*lessons* in order, but first those that build on nothing that is open."""
    done = settled(site, solved)
    open_ones = {
        lesson.name
        for lesson in site.course.lessons
        if not {exercise.name for exercise in lesson.exercises} <= {*done.get(lesson.name, ())}
    }
    return sorted(lessons, key=lambda lesson: not open_ones.isdisjoint(lesson.requires))


def _open_exercise(
    site: Site, lesson: Lesson, place: ResumePoint | None, solved: Solved, open_here: Sequence[str]
) -> str | None:
    tried_only = place is not None and _only_tried(site.course, place, solved)
    if place and place.lesson == lesson.name and place.exercise and not tried_only:
        return _open_from(lesson, place.exercise, open_here)
    return open_here[0] if solved.get(lesson.name) and not tried_only else None


def _open_from(lesson: Lesson, current: str, open_here: Sequence[str]) -> str:
    """The first of *open_here* from the exercise *current* on, or the first of all."""
    names = [item.name for item in lesson.exercises]
    exercise = lesson.exercise(current)
    later = names[names.index(exercise.name) :] if exercise else names
    return next((name for name in later if name in open_here), open_here[0])


def first_box(course: Course) -> tuple[Lesson, Grad] | None:
    """First box of the first lesson that asks for a single gradient: a newcomer may try it on the title page."""
    for lesson in course.lessons[:1]:
        for exercise in lesson.all_of(Grad):
            if len(exercise.require) == 1:
                return lesson, exercise
    return None


def _only_tried(course: Course, place: ResumePoint, solved: Solved) -> bool:
    """True if nothing was done but the line that the title page offers."""
    offered = first_box(course)
    if offered is None or (place.lesson, place.exercise) != (offered[0].name, offered[1].name):
        return False
    return {(lesson, name) for lesson, names in solved.items() for name in names} <= {(place.lesson, place.exercise)}
