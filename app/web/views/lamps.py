"""The gradients of an exam, one lamp for each: lit when it was right, and a link to where it is practised."""

from dataclasses import dataclass

from sqlalchemy.ext.asyncio import AsyncSession

from app.content.blocks import Grad, Lesson
from app.engine.json_columns import decoded_verdict
from app.grading.judge.verdict import RIGHT
from app.store import progress
from app.web.site import Site
from app.web.views.course_progress import Solved


@dataclass(frozen=True, slots=True)
class Lamp:
    """One gradient of the exam; *url* leads to the box where it is first asked for."""

    name: str
    done: bool
    url: str


async def lamps_of(
    site: Site, learner: int | None, exam_place: tuple[Lesson, Grad], solved: Solved
) -> tuple[Lamp, ...]:
    """The gradients of an exam; one is done that a check of it found right, or that a solved box of its unit asks for.

    Args:
        exam_place: The lesson of the exam, and the exam.
    """
    home, exam = exam_place
    first: dict[str, str] = {}
    done: set[str] = set()
    for lesson in site.unit_of(home).lessons:
        for box in (grad for grad in lesson.boxes if isinstance(grad, Grad)):
            done |= set(box.require) if box.name in solved.get(lesson.name, ()) else set()
            first = dict.fromkeys(box.require, f"{lesson.address}#{box.name}") | first
    if learner is not None and not done.issuperset(exam.require):
        async with site.database.read() as db:
            done |= await _right_in(site, db, learner, home, exam)
    return tuple(Lamp(name, name in done, first[name]) for name in exam.require)


async def _right_in(site: Site, db: AsyncSession, learner: int, lesson: Lesson, exam: Grad) -> frozenset[str]:
    """Gradients that were right in some check of *exam*: a slip in a later one puts out no lamp."""
    known = site.right_names
    attempts = await progress.attempt_keys(db, learner, lesson.name, exam.name)
    names = {attempt: right for attempt in attempts if (right := known.get(attempt)) is not None}
    unknown = [attempt for attempt in attempts if attempt not in names]
    for attempt, text in (await progress.verdicts_of(db, unknown)).items() if unknown else ():
        names[attempt] = known.put(attempt, _right_names(text))
    return frozenset().union(*names.values())


def _right_names(text: str) -> frozenset[str]:
    verdict = decoded_verdict(text)
    return frozenset(name.name for name in verdict.names if name.verdict in RIGHT) if verdict else frozenset()
