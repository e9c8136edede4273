"""The page of a lesson."""

import contextlib
import re
from collections.abc import Awaitable, Callable
from dataclasses import replace

import structlog
from fastapi import APIRouter
from sqlalchemy.exc import OperationalError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, RedirectResponse, Response
from starlette.routing import Route

from app.content.blocks import Course, Lesson
from app.store import progress
from app.store.progress import LessonState
from app.web.middleware.visitor import RetryLaterError, Visitor
from app.web.render import back_to, wants_fragment
from app.web.site import Site, TheLesson, TheSite, TheVisitor, or_404
from app.web.views.course_progress import builds_on, is_recall_offered, solved_by
from app.web.views.due_view import due_notes
from app.web.views.exercise_view import exam_of
from app.web.views.lamps import lamps_of
from app.web.views.lesson_view import items_of, programs_of, reveal_view, sections_of, shortcut_in
from app.web.views.training_view import TrainView

log = structlog.get_logger()
router = APIRouter()
DRAW = re.compile(r"[0-9]{1,4}", re.ASCII)


def former_addresses(course: Course) -> list[Route]:
    """Redirects from the former addresses of lessons to their first heir."""
    current = {lesson.slug for lesson in course.lessons}
    moved: dict[str, str] = {}
    for lesson in course.lessons:
        for name in (
            *lesson.was,
            *(word.partition("#")[0] for exercise in lesson.exercises for word in exercise.was if "#" in word),
        ):
            if name not in current:
                moved.setdefault(name, lesson.slug)
    return [Route(f"/lessons/{old}", _redirect_to(new)) for old, new in moved.items()]


def _redirect_to(slug: str) -> Callable[[Request], Awaitable[Response]]:
    async def moved(_: Request) -> Response:
        return RedirectResponse(f"/lessons/{slug}", 308)

    return moved


@router.get("/lessons/{slug}")
async def lesson(
    request: Request,
    site: TheSite,
    visitor: TheVisitor,
    lesson: TheLesson,
    ask: str = "",
    other: int = 0,
    emptied: str = "",
    joined: str = "",
    again: str = "",
) -> Response:
    """A whole lesson; *ask* names the code box whose reset is to be confirmed, *emptied* one that was reset. With the
    number of an *other* stored text, what is asked is which of the two is wanted.

    With *again*, such as `spread.7`, a question is asked once more, with other numbers.

    Who has just *joined* a class is told how to keep what they do.
    """
    saving = True
    try:
        state = await _state(request, site, visitor, lesson)
    except OperationalError as error:
        # A lesson can be read without a database.
        log.warning("database-unavailable", error=str(error.orig))
        state, saving = LessonState(), False
    asked, _, draw = again.rpartition(".")
    if DRAW.fullmatch(draw):
        state = replace(state, again={asked: int(draw)})
    before, _ = site.neighbours(lesson)
    learner = await visitor.learner() if saving else None
    unit = site.unit_of(lesson)
    exam = exam_of(site.kept, unit)
    solved = await solved_by(site, learner if lesson.requires or exam else None)
    items = await items_of(site, lesson, state, learner)
    # A run of training can have come to its end since *state* was read, and shows that it has.
    done = state.solved | {item.view.name for item in items if isinstance(item.view, TrainView) and item.view.solved}
    return site.pages.page(
        request,
        "lesson.html",
        lesson=lesson,
        faults=site.faults,
        unit=unit,
        lamps=await lamps_of(site, learner, exam, solved) if exam else (),
        items=items,
        sections=sections_of(site, lesson),
        shortcut=shortcut_in(lesson, state),
        programs=programs_of(site, lesson, done),
        solved=done,
        requires=builds_on(site, lesson, solved),
        progress=site.progress(lesson, done),
        before=before,
        ask=ask,
        other=other,
        joined=bool(joined) and visitor.known is not None and not visitor.known.account,
        recall=saving and await is_recall_offered(site, lesson, state, learner),
        due=await due_notes(site, visitor, lesson) if visitor.in_class and saving else (),
        emptied=emptied,
        saving=saving,
        readiness=site.grader.readiness,
        practised=site.practice.curriculum.taught,
        has_code=bool(lesson.boxes),
    )


@router.get("/pictures/{path:path}")
async def picture(site: TheSite, path: str) -> Response:
    """An image file that a lesson shows."""
    folder = site.settings.lessons
    if path not in site.pictures or not (folder / path).resolve().is_relative_to(folder.resolve()):
        raise HTTPException(404)
    if not (folder / path).is_file():
        raise HTTPException(404)
    return FileResponse(folder / path, headers={"cache-control": "private, max-age=300"})


@router.get("/lessons/{slug}/readiness")
async def show_readiness(request: Request, site: TheSite, lesson: TheLesson) -> Response:
    """The line above the code boxes while graders start; a page that was opened early asks for it again."""
    if request.headers.get("hx-request") != "true":
        return back_to(lesson.address)
    return site.pages.fragment("_readiness.html", readiness=site.grader.readiness, lesson=lesson)


@router.get("/lessons/{slug}/reveal/{name}")
async def show_revealed(request: Request, site: TheSite, visitor: TheVisitor, lesson: TheLesson, name: str) -> Response:
    """Show a reveal in its present state: closed, or its contents."""
    return await _reveal_page(request, site, lesson, name, await visitor.learner())


@router.post("/lessons/{slug}/reveal/{name}")
async def open_reveal(request: Request, site: TheSite, visitor: TheVisitor, lesson: TheLesson, name: str) -> Response:
    """Open it without an answer; it stays open."""
    learner = await visitor.begin() if name in lesson.reveals else None
    if learner is not None:
        async with site.database.write(short=True) as db:
            await progress.open_solution(db, learner, lesson.name, name)
    return await _reveal_page(request, site, lesson, name, learner)


async def _reveal_page(request: Request, site: Site, lesson: Lesson, name: str, learner: int | None) -> Response:
    block = or_404(lesson.reveals.get(name))
    if not wants_fragment(request):
        return back_to(lesson.address, name)
    state = await site.state_of(learner, lesson)
    return site.pages.fragment("_reveal.html", view=await reveal_view(site, lesson, block, state, learner))


async def _state(request: Request, site: Site, visitor: Visitor, lesson: Lesson) -> LessonState:
    learner = await visitor.learner()
    if learner is None and not visitor.framed and _by_a_person(request):
        with contextlib.suppress(RetryLaterError):  # a lesson can be read by anybody, however many come
            learner = await visitor.begin()
    if learner is None:
        return LessonState()
    if site.seen is not None:
        return await site.state_of(learner, lesson)
    async with site.database.read() as db:
        opened = await progress.last_opened(db, learner)
        state = await progress.lesson_state(db, learner, lesson.name)
    if opened != lesson.name:
        async with site.database.write(short=True) as db:
            await progress.record_opened(db, learner, lesson.name)
    return state


def _by_a_person(request: Request) -> bool:
    # A robot or a prefetch that reads a lesson leaves no rows behind, nor does a frame of another site: it stays empty.
    headers = request.headers
    elsewhere = (
        headers.get("sec-fetch-site") == "cross-site" and headers.get("sec-fetch-dest", "document") != "document"
    )
    fetched = headers.get("sec-fetch-mode") != "navigate" or "prefetch" in headers.get("sec-purpose", "")
    return not fetched and not elsewhere
