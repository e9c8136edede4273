"""The closing page: what a learner has made in this course, and what is still open. It claims nothing else."""

from collections.abc import Container
from dataclasses import dataclass
from datetime import datetime

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from app.content.blocks import Train
from app.engine.json_columns import decoded_snapshot
from app.store import progress, trainings
from app.store.tables import TrainingRun
from app.web.site import Site, TheSite, TheVisitor
from app.web.views.course_progress import Solved, solved_by, sum_of, unit_view
from app.web.views.exercise_view import exam_in
from app.web.views.lamps import Lamp, lamps_of
from app.web.views.names_view import known_names
from app.web.views.run_view import FinishedRun

router = APIRouter()


@dataclass(frozen=True, slots=True)
class Exam:
    """The largest box of the course, name by name; *passed_at* is None until all of it was right at once."""

    url: str
    gradients: tuple[Lamp, ...]
    passed_at: datetime | None

    @property
    def done(self) -> int:
        return sum(lamp.done for lamp in self.gradients)


@router.get("/finish")
async def finish(request: Request, site: TheSite, visitor: TheVisitor) -> Response:
    learner = await visitor.learner()
    solved = await solved_by(site, learner)
    units = tuple(unit_view(site, unit, solved) for unit in site.course.units)
    lessons = site.course.lessons
    trains = [(lesson.name, train.name) for lesson in lessons for train in lesson.all_of(Train)]
    return site.pages.page(
        request,
        "finish.html",
        whole=sum_of(site, site.course.lessons, solved),
        units=tuple(view for view in units if view.made),
        exam=await _exam(site, learner, solved),
        runs=await _runs(site, learner),
        can_train=bool(trains),
        trained=any(name in solved.get(lesson, ()) for lesson, name in trains),
    )


async def _exam(site: Site, learner: int | None, solved: Solved) -> Exam | None:
    exam_place = exam_in(site.course.lessons)
    if exam_place is None:
        return None
    lesson, exam = exam_place
    async with site.database.read() as db:
        rows = await progress.progress_in(db, learner, lesson.name) if learner is not None else {}
    return Exam(
        url=f"{lesson.address}#{exam.name}",
        gradients=await lamps_of(site, learner, exam_place, solved),
        passed_at=rows[exam.name].solved_at if exam.name in rows else None,
    )


async def _runs(site: Site, learner: int | None) -> tuple[FinishedRun, ...]:
    if learner is None:
        return ()
    async with site.database.read() as db:
        rows = await trainings.trainings_by(db, learner)
    known = await known_names(site.runs.names) if rows else frozenset()
    runs = (run for row in rows if (run := _finished_run(site, row, known)) is not None)
    # The same gradients in another lesson make the same run.
    return tuple({run.snapshot.sampled or run.url: run for run in runs}.values())


def _finished_run(site: Site, row: TrainingRun, known: Container[str]) -> FinishedRun | None:
    lesson = site.course.named.get(row.lesson)
    exercise = lesson.exercise(row.exercise) if lesson else None
    snapshot = decoded_snapshot(row.finished_json)
    if lesson is None or not isinstance(exercise, Train) or snapshot is None:
        return None
    return FinishedRun(snapshot, exercise.rates, f"{lesson.address}#{exercise.name}", lesson.title, known)
