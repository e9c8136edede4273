"""The pages about the course: its index, its units, its cards of torch, and the names that the model learns from."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import structlog
from fastapi import APIRouter
from sqlalchemy.exc import OperationalError
from starlette.requests import Request
from starlette.responses import Response

from app.content.blocks import Callout, Course, Lesson
from app.store import progress
from app.store.progress import LessonState, ResumePoint
from app.web.middleware.visitor import Visitor
from app.web.pictures.course_map import MapLines, course_map
from app.web.render import wants_fragment
from app.web.site import Site, TheSite, TheVisitor, or_404
from app.web.views.course_progress import MapEntry, Solved, map_entries, solved_by, sum_of, unit_view
from app.web.views.due_view import due_notes
from app.web.views.exercise_view import CodeView, code_view
from app.web.views.home_view import due_text, lamp_strip, minutes_to, practice_card
from app.web.views.names_view import FIRST, names_view
from app.web.views.next_step import NextStep, first_box, next_step
from app.web.views.occasion_view import measure_view, ready_view
from app.web.views.program_head import lines_of

router = APIRouter()
log = structlog.get_logger()


@router.get("/")
async def index(request: Request, site: TheSite, visitor: TheVisitor) -> Response:
    solved, place, saving = await _standing(site, visitor)
    units = tuple(unit_view(site, unit, solved) for unit in site.course.units)
    step = next_step(site, place, solved)
    whole = sum_of(site, site.course.lessons, solved)
    due = await due_notes(site, visitor) if saving else ()
    back = bool(_was_in(site.course, place) or whole.done)
    practice = await practice_card(site, await visitor.learner()) if back and saving and site.seen is None else None
    return site.pages.page(
        request,
        "index.html",
        units=units,
        whole=whole,
        back=back,
        step=step,
        invented=site.invented,
        ways=_ways(site, site.course.lessons, ""),
        tried=None if back else _box_to_try(site),
        left=minutes_to(site, step.lesson, solved) if step else 0,
        strip=await lamp_strip(site, await visitor.learner(), solved) if back and saving else None,
        practice=practice,
        practice_due=due_text(practice) if practice else "",
        ask="",
        emptied="",
        other=0,
        lesson=next(iter(site.course.lessons), None),
        standings=_standings(site, solved, step),
        saving=saving,
        faults=site.faults,
        due=due,
    )


@router.get("/units/{slug}")
async def unit(request: Request, site: TheSite, visitor: TheVisitor, slug: str) -> Response:
    units = site.course.units
    at = or_404(next((number for number, item in enumerate(units) if item.slug == slug), None))
    solved, place, saving = await _standing(site, visitor)
    view = unit_view(site, units[at], solved)
    own = {lesson.name for lesson in units[at].lessons}
    step = next_step(site, place, solved)
    every = _standings(site, solved, step)
    return site.pages.page(
        request,
        "unit.html",
        view=view,
        standings={name: map_entry for name, map_entry in every.items() if name in own},
        step=next_step(site, place, solved, units[at].lessons),
        elsewhere=step if step and step.lesson.name not in own and _was_in(site.course, place) else None,
        measure=await measure_view(site, units[at], await visitor.learner()) if saving else None,
        ready=await ready_view(site, units[at], await visitor.learner()) if saving else None,
        ways=_ways(site, units[at].lessons, slug),
        saving=saving,
        position=at + 1,
        before=units[at - 1] if at else None,
        after=units[at + 1] if at + 1 < len(units) else None,
    )


@router.get("/names")
async def names(request: Request, site: TheSite, name: str = FIRST) -> Response:
    """Counts, symbols and parts, and the examples that *name* gives."""
    view = await names_view(site.runs.names, name)
    if wants_fragment(request):
        return site.pages.fragment("_name.html", names=view)
    return site.pages.page(request, "names.html", names=view)


@router.get("/torch")
async def torch(request: Request, site: TheSite) -> Response:
    """The cards of all lessons, in the order of the course."""
    cards = [
        (lesson, own)
        for lesson in site.course.lessons
        if (own := [callout for callout in lesson.all_of(Callout) if callout.kind == "card"])
    ]
    return site.pages.page(request, "torch.html", cards=cards)


def _ways(site: Site, lessons: Sequence[Lesson], name: str) -> Mapping[str, MapLines]:
    return site.kept.of(site.course, {}, lambda: course_map(lessons), "map", name)


def _standings(site: Site, solved: Solved, step: NextStep | None) -> dict[str, MapEntry]:
    at = step.lesson.name if step else ""
    return {map_entry.progress.lesson.name: map_entry for map_entry in map_entries(site, solved, at)}


def _was_in(course: Course, place: ResumePoint | None) -> bool:
    """True if *place* is in a lesson of *course*."""
    return place is not None and any(lesson.name == place.lesson for lesson in course.lessons)


async def _standing(site: Site, visitor: Visitor) -> tuple[Solved, ResumePoint | None, bool]:
    """Solved exercises, where the learner left off, and whether these could be read; a course works without."""
    try:
        learner = await visitor.learner()
        return await solved_by(site, learner), await _place(site, learner), True
    except OperationalError as error:
        log.warning("database-unavailable", error=str(error.orig))
        return {}, None, False


async def _place(site: Site, learner: int | None) -> ResumePoint | None:
    if learner is None:
        return None
    async with site.database.read() as db:
        return await progress.last_place(db, learner)


def _box_to_try(site: Site) -> CodeView | None:
    first = first_box(site.course)
    if first is None:
        return None
    lesson, box = first
    shapes = site.shapes.known(lesson, box)
    view = code_view(site.kept, lesson, box, LessonState(), site.scope(lesson, box), shapes)
    return replace(view, program=lines_of(lesson.forwards[box.forward], shapes))
