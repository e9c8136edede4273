"""Home page of a returning learner: where to continue, practice, and the lamps of the exam."""

from dataclasses import dataclass

from app.content.blocks import Course, Lesson, Train
from app.content.program.training_sources import boxes_of
from app.content.text.estimates import minutes_of
from app.web.site import LessonProgress, Site
from app.web.views.course_progress import Solved, progress_in
from app.web.views.exercise_view import exam_in
from app.web.views.lamps import Lamp, lamps_of
from app.web.views.next_step import settled
from app.web.views.practice_view import PracticeView, practice_view

SITTING = 6
"""Exercises of practice that are done at a time."""


@dataclass(frozen=True, slots=True)
class LampStrip:
    """The gradients of the exam from the loss on.

    Args:
        trains: Where they can train a model, empty for nowhere; *trained* is true once they have.
    """

    lamps: tuple[Lamp, ...]
    trains: str
    trained: bool

    @property
    def done(self) -> int:
        return sum(lamp.done for lamp in self.lamps)

    @property
    def complete(self) -> bool:
        return self.done == len(self.lamps)


def minutes_to(site: Site, lesson: Lesson, solved: Solved) -> int:
    """Minutes that what is left of *lesson* takes; what may be left out counts once nothing else is left."""
    return minutes_left(progress_in(site, lesson, settled(site, solved))) or minutes_left(
        progress_in(site, lesson, solved)
    )


def minutes_left(progress: LessonProgress) -> int:
    """Minutes that what is left of a lesson takes, as its estimate has it; 0 where it has none, or nothing is left."""
    minutes = minutes_of(progress.lesson.estimate)
    left = progress.total - progress.done
    return max(1, round(minutes * left / progress.total)) if minutes and progress.total and left else 0


async def lamp_strip(site: Site, learner: int | None, solved: Solved) -> LampStrip | None:
    """None for a course without an exam."""
    place = site.kept.of(site.course, {}, lambda: exam_in(site.course.lessons), "exam")
    if place is None:
        return None
    lesson, exam = place
    lamps = await lamps_of(site, learner, place, solved)
    training = training_with(site.course, lesson, exam.name)
    if training is None:
        return LampStrip(lamps, "", trained=False)
    home, train = training
    return LampStrip(lamps, f"{home.address}#{train.name}", trained=train.name in solved.get(home.name, ()))


def training_with(course: Course, home: Lesson, box: str) -> tuple[Lesson, Train] | None:
    """Find where a model is trained with the gradients of *box* in *home*: the lesson, and its training run."""
    for lesson in course.lessons:
        for train in lesson.all_of(Train):
            sources = boxes_of(course.lessons, lesson, train)
            if sources and sources[0].name == home.name and sources[1][-1].name == box:
                return lesson, train
    return None


async def practice_card(site: Site, learner: int | None) -> PracticeView | None:
    """Practice card for *learner*; None until something was taught that can be practised."""
    view = await practice_view(site.practice, site.database, learner)
    return view if view.taught else None


def due_text(view: PracticeView) -> str:
    """`20 due, 6 in a session`; where nothing has gone wrong yet, what there is instead."""
    due = len(view.due)
    if not due:
        return f"Nothing is due. The next comes back {view.later}." if view.later else "On what you have met so far."
    return f"{due} due, {SITTING} in a session" if due > SITTING else f"{due} due"
