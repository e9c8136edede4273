"""The pages about the course: its index, and one page for each unit."""

from dataclasses import dataclass

from fastapi import APIRouter
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from app.content.blocks import Lesson
from app.store import progress
from app.store.progress import Place
from app.web.site import Site, TheSite, TheVisitor
from app.web.views.lesson_view import lesson_progress
from app.web.views.standing import Solved, solved_by, sum_of, unit_view

router = APIRouter()


@dataclass(frozen=True, slots=True)
class Continue:
    """Where a learner left off."""

    lesson: Lesson
    exercise: str | None


@router.get("/")
async def index(request: Request, site: TheSite, visitor: TheVisitor) -> Response:
    learner = await visitor.learner()
    solved = await solved_by(site, learner)
    units = tuple(unit_view(site, unit, solved) for unit in site.course.units)
    resume = _resume(site, await _place(site, learner), solved)
    whole = sum_of(site, site.course.lessons, solved)
    return site.pages.page(request, "index.html", units=units, whole=whole, resume=resume)


@router.get("/units/{slug}")
async def unit(request: Request, site: TheSite, visitor: TheVisitor, slug: str) -> Response:
    units = site.course.units
    at = next((number for number, one in enumerate(units) if one.slug == slug), None)
    if at is None:
        raise HTTPException(404)
    view = unit_view(site, units[at], await solved_by(site, await visitor.learner()))
    return site.pages.page(
        request,
        "unit.html",
        view=view,
        position=at + 1,
        before=units[at - 1] if at else None,
        after=units[at + 1] if at + 1 < len(units) else None,
        has_math=f"units/{slug}" in site.with_math,
    )


async def _place(site: Site, learner: int | None) -> Place | None:
    if learner is None:
        return None
    async with site.database.read() as db:
        return await progress.last_place(db, learner)


def _resume(site: Site, place: Place | None, solved: Solved) -> Continue | None:
    """Where *place* is, or the start of the next lesson that is not finished where its own one is."""
    found = next((one for one in site.course.lessons if place and one.name == place.lesson), None)
    if found is None or place is None:
        return None
    exercise = found.exercise(place.exercise) if place.exercise else None
    here = lesson_progress(site, found, solved.get(found.name, ()))
    ahead = here
    while ahead.complete and ahead.after is not None:
        ahead = lesson_progress(site, ahead.after, solved.get(ahead.after.name, ()))
    if ahead is not here and not ahead.complete:
        return Continue(ahead.lesson, None)
    return Continue(found, exercise.name if exercise else None)
