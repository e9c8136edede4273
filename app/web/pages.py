"""The pages that are read: the course, a unit, a lesson."""

from dataclasses import dataclass

import structlog
from fastapi import APIRouter
from sqlalchemy.exc import OperationalError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from app.content.blocks import Grad, Lesson, Unit
from app.store import progress
from app.store.progress import LessonState, Place
from app.web.lessons import LessonProgress, items_of, lesson_progress
from app.web.pictures import draw
from app.web.render import back_to
from app.web.site import Site, TheLesson, TheSite, TheVisitor
from app.web.visitor import Visitor

log = structlog.get_logger()
router = APIRouter()


@dataclass(frozen=True, slots=True)
class Continue:
    """Where a learner left off."""

    lesson: Lesson
    exercise: str | None


@dataclass(frozen=True, slots=True)
class UnitView:
    """A unit with the learner's progress in each of its lessons."""

    unit: Unit
    lessons: tuple[LessonProgress, ...]


@router.get("/")
async def index(request: Request, site: TheSite, visitor: TheVisitor) -> Response:
    solved, place = await _standing(site, visitor)
    units = tuple(_unit_view(site, unit, solved) for unit in site.course.units)
    return site.pages.page(request, "index.html", units=units, resume=_resume(site, place))


@router.get("/units/{slug}")
async def unit(request: Request, site: TheSite, visitor: TheVisitor, slug: str) -> Response:
    found = next((one for one in site.course.units if one.slug == slug), None)
    if found is None:
        raise HTTPException(404)
    solved, _ = await _standing(site, visitor)
    return site.pages.page(
        request, "unit.html", view=_unit_view(site, found, solved), has_math=f"units/{slug}" in site.with_math
    )


@router.get("/lessons/{slug}")
async def lesson(
    request: Request, site: TheSite, visitor: TheVisitor, lesson: TheLesson, ask: str = "", emptied: str = ""
) -> Response:
    """A whole lesson; *ask* names the code box whose reset is to be confirmed, *emptied* one that was reset."""
    saving = True
    try:
        state = await _state(request, site, visitor, lesson)
    except OperationalError as error:
        # A lesson can be read without a database.
        log.warning("database-unavailable", error=str(error.orig))
        state, saving = LessonState(), False
    before, after = site.neighbours(lesson)
    return site.pages.page(
        request,
        "lesson.html",
        lesson=lesson,
        unit=site.unit_of(lesson),
        items=await items_of(site, lesson, state, await visitor.learner() if saving else None),
        requires=tuple(one for one in site.course.lessons if one.name in lesson.requires),
        progress=lesson_progress(site, lesson, state.solved),
        before=before,
        after=after,
        ask=ask,
        emptied=emptied,
        saving=saving,
        readiness=site.grader.readiness,
        has_math=lesson.name in site.with_math,
        has_code=any(isinstance(one, Grad) for one in lesson.exercises),
        draw=draw,
    )


@router.get("/lessons/{slug}/readiness")
async def readiness(request: Request, site: TheSite, lesson: TheLesson) -> Response:
    """The line above the code boxes while graders start; a page that was opened early asks for it again."""
    if request.headers.get("hx-request") != "true":
        return back_to(f"/lessons/{lesson.slug}")
    return site.pages.fragment("_readiness.html", readiness=site.grader.readiness, lesson=lesson)


async def _state(request: Request, site: Site, visitor: Visitor, lesson: Lesson) -> LessonState:
    learner = await (visitor.begin() if _by_a_person(request) else visitor.learner())
    if learner is None:
        return LessonState()
    renames = site.renames[lesson.name]
    async with site.database.read() as db:
        opened = await progress.last_opened(db, learner)
        outdated = bool(renames) and await progress.has_state_under(db, learner, lesson.name, renames)
        state = await progress.lesson_state(db, learner, lesson.name)
    if not outdated and opened == lesson.name:
        return state
    async with site.database.write() as db:
        if outdated:
            await progress.adopt_renames(db, learner, lesson.name, renames)
            state = await progress.lesson_state(db, learner, lesson.name)
        if opened != lesson.name:
            await progress.record_opened(db, learner, lesson.name)
    return state


def _by_a_person(request: Request) -> bool:
    # A robot or a prefetch that reads a lesson leaves no rows behind.
    headers = request.headers
    return headers.get("sec-fetch-mode") == "navigate" and "prefetch" not in headers.get("sec-purpose", "")


async def _standing(site: Site, visitor: Visitor) -> tuple[dict[str, set[str]], Place | None]:
    learner = await visitor.learner()
    if learner is None:
        return {}, None
    async with site.database.read() as db:
        return await progress.solved_by_lesson(db, learner), await progress.last_place(db, learner)


def _unit_view(site: Site, unit: Unit, solved: dict[str, set[str]]) -> UnitView:
    return UnitView(unit, tuple(lesson_progress(site, one, solved.get(one.name, ())) for one in unit.lessons))


def _resume(site: Site, place: Place | None) -> Continue | None:
    found = next((one for one in site.course.lessons if place and one.name == place.lesson), None)
    if found is None or place is None:
        return None
    exercise = found.exercise(place.exercise) if place.exercise else None
    return Continue(found, exercise.name if exercise else None)
