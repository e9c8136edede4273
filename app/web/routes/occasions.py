"""Beginnings of occasions: recall as a lesson begins, a try before a unit. Practice goes on from there."""

from typing import Annotated, Literal

from fastapi import APIRouter, Form
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from app.practice.occasions import AFTER, BEFORE, READY, form_plan, ready_plan, recall_plan
from app.store import cards, progress
from app.web.render import back_to, wants_fragment
from app.web.routes.practice_pages import go_to_next
from app.web.site import Site, TheSite, TheVisitor, or_404
from app.web.views.course_progress import earlier_lessons
from app.web.views.occasion_view import lessons_before, measure_view, measured_span

router = APIRouter(prefix="/practice")
ASKED = ":recall"
"""The row of progress that tells that a lesson asked, whether that was answered or skipped; no exercise has this id."""


@router.post("/recall/{slug}")
async def recall(
    request: Request, site: TheSite, visitor: TheVisitor, slug: str, skip: Annotated[str, Form(max_length=10)] = ""
) -> Response:
    """Begin two questions on earlier lessons, or go past them: the lesson asks once."""
    lesson = site.course.at.get(slug)
    if lesson is None or site.seen is not None:
        raise HTTPException(404)
    learner = await visitor.begin()
    earlier = await earlier_lessons(site, lesson, learner)
    async with site.database.write(short=True) as db:
        await progress.open_solution(db, learner, lesson.name, ASKED)
    if skip and wants_fragment(request):
        return HTMLResponse("")  # in the place of the questions
    if skip or not earlier:
        return back_to(lesson.address)
    return await go_to_next(site, learner, recall_plan(lesson, earlier))


@router.post("/ready/{slug}")
async def ready(site: TheSite, visitor: TheVisitor, slug: str) -> Response:
    """Begin three items of what the units before this one teach, or go on with them."""
    unit = next((unit for unit in site.course.units if unit.slug == slug), None)
    if unit is None or site.seen is not None:
        raise HTTPException(404)
    given = await _count_given(site, await visitor.learner(), f"{READY}{slug}")
    plan = or_404(ready_plan(unit, lessons_before(site, unit), given))
    return await go_to_next(site, await visitor.begin(), plan)


@router.post("/measure/{purpose}")
async def measure(site: TheSite, visitor: TheVisitor, purpose: Literal["before", "after"]) -> Response:
    """Begin one of the two forms, or go on with it; it is given once."""
    span = measured_span(site) if site.seen is None else None
    unit = {BEFORE: span.before, AFTER: span.after}[purpose] if span else None
    view = await measure_view(site, unit, await visitor.learner()) if unit else None
    if span is None or unit is None or view is None:
        raise HTTPException(404)
    address = f"/units/{unit.slug}"
    if view.open is not None:  # a new session would leave it
        return back_to(f"/practice/{view.open}")
    plan = form_plan(purpose, f"{address}#measure", span.lessons, view.given)
    return await go_to_next(site, await visitor.begin(), plan) if plan else back_to(address, "measure")


async def _count_given(site: Site, learner: int | None, purpose: str) -> int:
    if learner is None:
        return 0
    async with site.database.read() as db:
        return len(await cards.given_for(db, learner, purpose))
