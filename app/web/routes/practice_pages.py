"""Pages of practice: overview, item, map, drill. Items are answered where lessons are."""

from collections.abc import Mapping
from typing import Annotated

from fastapi import APIRouter, Form
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from app.grading.operations.table import FAMILIES
from app.practice.session_plans import (
    ENOUGH,
    NOTHING_LEFT,
    ItemShortage,
    PracticeSet,
    SessionPlan,
    drill_of,
    set_called,
)
from app.store import cards, progress
from app.store.cards import MOST_A_DAY, About
from app.web.middleware.visitor import RetryLaterError
from app.web.render import back_to
from app.web.routes.pages import open_reveal, show_readiness, show_revealed
from app.web.site import Site, TheLesson, TheSite, TheVisitor, or_404
from app.web.views.lesson_view import items_of
from app.web.views.occasion_view import occasion_head
from app.web.views.practice_view import drill_view, map_view, practice_view, session_position

router = APIRouter(prefix="/practice")
LESSON_ITEMS = 5
TOO_MANY_ITEMS = "{most} exercises were given to you within a day. Go on tomorrow; nothing is lost."


@router.get("")
async def practice(request: Request, site: TheSite, visitor: TheVisitor, empty: str = "") -> Response:
    """Show what is due, what was done, and how to begin; *empty* is set if nothing could be generated."""
    view = await practice_view(site.practice, site.database, await visitor.learner())
    return site.pages.page(request, "practice.html", view=view, nothing=bool(empty))


@router.post("/next")
async def next_item(
    site: TheSite,
    visitor: TheVisitor,
    begin: Annotated[bool, Form()] = False,
    lesson: Annotated[str, Form(max_length=200)] = "",
    drill: Annotated[str, Form(max_length=40)] = "",
    bug: Annotated[bool, Form()] = False,
    given: Annotated[str, Form(max_length=40)] = "",
    skip: Annotated[int, Form(ge=0, lt=2**31)] = 0,
) -> Response:
    """Go to the item that is open, or to a new one; begin a sitting where one is asked for."""
    plan = _set(site, given).plan if given else _plan(site, begin=begin, lesson=lesson, drill=drill, bug=bug)
    return await go_to_next(site, await visitor.begin(), plan, skip)


async def go_to_next(site: Site, learner: int, plan: SessionPlan | None, skip: int = 0) -> Response:
    """Lead to the item that is open, or to a new one of *plan* or of the present session (None)."""
    tried: dict[About, bool] = {}
    while isinstance(found := await _next(site, learner, plan, skip, tried), ItemShortage):
        if found is ENOUGH:
            raise RetryLaterError(TOO_MANY_ITEMS.format(most=MOST_A_DAY), 3600.0)
        if found is NOTHING_LEFT:
            return back_to("/practice?empty=1")  # of an occasion, too: it is said there that nothing could be drawn
        site.checks.spend(learner)  # to draw one takes as long as several checks
        tried[found.wish.about] = await site.practice.make(found)
    return back_to(found)


@router.get("/next")
async def asked_again() -> Response:
    """A page that was left open, or a bookmark: nothing is given by looking."""
    return back_to("/practice")


@router.get("/map")
async def overview(request: Request, site: TheSite, visitor: TheVisitor) -> Response:
    """Every family of operations, and how well it is remembered."""
    view = await map_view(site.practice, site.database, await visitor.learner())
    return site.pages.page(request, "practice_map.html", view=view)


@router.get("/drill/{family}")
async def drill(request: Request, site: TheSite, visitor: TheVisitor, family: str) -> Response:
    """Show a drill, the learner's best, and the last result."""
    if family not in FAMILIES:
        raise HTTPException(404)
    view = await drill_view(site.practice, site.database, await visitor.learner(), family)
    return site.pages.page(request, "drill.html", view=view)


@router.get("/set/{key}")
async def assigned(request: Request, site: TheSite, visitor: TheVisitor, key: str) -> Response:
    """Items that a class was given together, and how many of them are done."""
    given, learner, solved = _set(site, key), await visitor.learner(), set()
    lesson = given.lesson
    if learner is not None:
        async with site.database.read() as db:
            solved = {
                name for name, row in (await progress.progress_in(db, learner, lesson.name)).items() if row.solved_at
            }
    return site.pages.page(
        request, "practice_set.html", given=given, lesson=lesson, progress=site.progress(lesson, solved)
    )


@router.get("/{item}")
async def item(
    request: Request,
    site: TheSite,
    visitor: TheVisitor,
    lesson: TheLesson,
    ask: str = "",
    other: int = 0,
    emptied: str = "",
) -> Response:
    """One item, as a lesson with one exercise."""
    learner = await visitor.learner()
    assert learner is not None, "an item is found for those who were given it"
    async with site.database.read() as db:
        state = await progress.lesson_state(db, learner, lesson.name)
        standing = await site.practice.standing(db, learner)
        served = await cards.find_served_item(db, learner, int(lesson.slug))
    return site.pages.page(
        request,
        "practice_item.html",
        lesson=lesson,
        items=await items_of(site, lesson, state, learner),
        progress=site.progress(lesson, state.solved),
        where=session_position(standing, int(lesson.slug), site.practice.clock()),
        occasion=occasion_head(site, served.purpose) if served else None,
        ask=ask,
        other=other,
        emptied=emptied,
        readiness=site.grader.readiness,
        has_code=bool(lesson.boxes),
    )


router.get("/{item}/readiness")(show_readiness)
router.get("/{item}/reveal/{name}")(show_revealed)
router.post("/{item}/reveal/{name}")(open_reveal)


def _set(site: Site, key: str) -> PracticeSet:
    return or_404(set_called(key, site.practice.curriculum.sets))


def _plan(site: Site, *, begin: bool, lesson: str, drill: str, bug: bool) -> SessionPlan | None:
    """Plan of a new practice session; None to continue the present one."""
    if drill:
        if drill not in FAMILIES:
            raise HTTPException(404)
        return drill_of(drill)
    if lesson:
        home = site.course.at.get(lesson)
        families = site.practice.curriculum.families_in(home.name) if home else ()
        if not families:
            raise HTTPException(404)
        return SessionPlan(items=LESSON_ITEMS, minutes=60, families=tuple(sorted(families)), lesson=lesson)
    if bug:
        return SessionPlan(items=1, form="bug")
    return SessionPlan() if begin else None


async def _next(
    site: Site, learner: int, plan: SessionPlan | None, skip: int, tried: Mapping[About, bool]
) -> str | ItemShortage:
    """The address to go to; or what should be drawn first."""
    practice = site.practice
    async with site.database.write() as db:
        known = await practice.catch_up(db, learner)
        if skip:
            await practice.leave(db, learner, skip)
        standing = await practice.standing(db, learner)
        if plan is not None and (standing is None or standing.over or not standing.plan.goes_on(plan)):
            standing = await practice.begin(db, learner, plan)
        if standing is None or standing.over:
            return await practice.end(db, learner, standing)
        found = await practice.next_item(db, learner, known, standing, tried)
    return found if isinstance(found, ItemShortage) else f"/practice/{found}"
