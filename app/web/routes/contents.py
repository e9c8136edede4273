"""The pages about the course: its index, its units, its cards of torch, and the names that the model learns from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import structlog
from fastapi import APIRouter
from sqlalchemy.exc import OperationalError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from app.content.blocks import Callout, Course, Grad, Lesson
from app.store import progress
from app.store.progress import LessonState, ResumePoint
from app.web.middleware.visitor import Visitor
from app.web.pictures.course_map import MapLines, course_map
from app.web.render import wants_fragment
from app.web.site import Site, TheSite, TheVisitor
from app.web.views.course_progress import MapEntry, Solved, map_entries, progress_in, solved_by, sum_of, unit_view
from app.web.views.due_view import due_notes
from app.web.views.exercise_view import CodeView, code_view
from app.web.views.home_view import due_text, lamp_strip, minutes_left, practice_card
from app.web.views.names_view import FIRST, names_view
from app.web.views.occasion_view import measure_view, ready_view
from app.web.views.program_head import lines_of

router = APIRouter()
log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class ResumeLink:
    """Link to where a learner left off."""

    lesson: Lesson
    exercise: str | None


@router.get("/")
async def index(request: Request, site: TheSite, visitor: TheVisitor) -> Response:
    solved, place, saving = await _standing(site, visitor)
    units = tuple(unit_view(site, unit, solved) for unit in site.course.units)
    resume = _resume(site, place, solved)
    whole = sum_of(site, site.course.lessons, solved)
    due = await due_notes(site, visitor) if saving else ()
    back = bool(resume or whole.done)
    practice = await practice_card(site, await visitor.learner()) if back and saving and site.seen is None else None
    return site.pages.page(
        request,
        "index.html",
        units=units,
        whole=whole,
        resume=resume,
        invented=site.invented,
        ways=_ways(site, site.course.lessons, ""),
        tried=None if back else _box_to_try(site),
        left=minutes_left(progress_in(site, resume.lesson, solved)) if resume else 0,
        strip=await lamp_strip(site, await visitor.learner(), solved) if back and saving else None,
        practice=practice,
        practice_due=due_text(practice) if practice else "",
        ask="",
        emptied="",
        other=0,
        lesson=next(iter(site.course.lessons), None),
        standings=_standings(site, solved, resume),
        saving=saving,
        faults=site.faults,
        due=due,
    )


@router.get("/units/{slug}")
async def unit(request: Request, site: TheSite, visitor: TheVisitor, slug: str) -> Response:
    units = site.course.units
    at = next((number for number, item in enumerate(units) if item.slug == slug), None)
    if at is None:
        raise HTTPException(404)
    solved, place, saving = await _standing(site, visitor)
    view = unit_view(site, units[at], solved)
    own = {lesson.name for lesson in units[at].lessons}
    every = _standings(site, solved, _resume(site, place, solved))
    return site.pages.page(
        request,
        "unit.html",
        view=view,
        standings={name: map_entry for name, map_entry in every.items() if name in own},
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


def _standings(site: Site, solved: Solved, resume: ResumeLink | None) -> dict[str, MapEntry]:
    at = resume.lesson.name if resume else ""
    return {map_entry.progress.lesson.name: map_entry for map_entry in map_entries(site, solved, at)}


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


def first_box(course: Course) -> tuple[Lesson, Grad] | None:
    """First box of the first lesson that asks for a single gradient: a newcomer may try it on the title page."""
    for lesson in course.lessons[:1]:
        for exercise in lesson.all_of(Grad):
            if len(exercise.require) == 1:
                return lesson, exercise
    return None


def _box_to_try(site: Site) -> CodeView | None:
    first = first_box(site.course)
    if first is None:
        return None
    lesson, box = first
    shapes = site.shapes.known(lesson, box)
    view = code_view(site.kept, lesson, box, LessonState(), site.scope(lesson, box), shapes)
    return replace(view, program=lines_of(lesson.forwards[box.forward], shapes))


def _resume(site: Site, place: ResumePoint | None, solved: Solved) -> ResumeLink | None:
    """The next open exercise from *place* on: in its lesson, else in the lessons after it, else in those before.

    A lesson in which nothing was done begins at its top, and so does the first where that was the line to try at once.
    """
    lessons = site.course.lessons
    at = next((index for index, item in enumerate(lessons) if place and item.name == place.lesson), None)
    if at is None or place is None:
        return None
    for lesson in (*lessons[at:], *lessons[:at]):
        open_here = [exercise.name for exercise in lesson.exercises if exercise.name not in solved.get(lesson.name, ())]
        if lesson is lessons[at] and place.exercise and open_here and not _only_tried(site, place, solved):
            return ResumeLink(lesson, _next_open(lesson, place.exercise, open_here))
        if open_here:
            begun = solved.get(lesson.name) and not _only_tried(site, place, solved)
            return ResumeLink(lesson, open_here[0] if begun else None)
    return ResumeLink(lessons[at], None)


def _only_tried(site: Site, place: ResumePoint, solved: Solved) -> bool:
    """True if nothing was done but the line that the title page offers."""
    offered = first_box(site.course)
    if offered is None or (place.lesson, place.exercise) != (offered[0].name, offered[1].name):
        return False
    return {(lesson, name) for lesson, names in solved.items() for name in names} <= {(place.lesson, place.exercise)}


def _next_open(lesson: Lesson, current: str, open_here: Sequence[str]) -> str:
    """The first of *open_here* from the exercise *here* on, or the first of all."""
    names = [item.name for item in lesson.exercises]
    exercise = lesson.exercise(current)
    later = names[names.index(exercise.name) :] if exercise else names
    return next((name for name in later if name in open_here), open_here[0])
