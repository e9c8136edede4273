"""Training runs: begin, stop, watch. The page works without a script; with one, the run is seen as it goes on."""

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Form
from fastapi.sse import EventSourceResponse, ServerSentEvent
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from app.content.blocks import Lesson, Train
from app.engine.train.snapshot import Snapshot
from app.web.driven_run import TrainingRequest
from app.web.middleware.visitor import RetryLaterError
from app.web.render import back_to, wants_fragment
from app.web.routes.form_fields import Typed
from app.web.site import Site, TheExercise, TheLesson, TheSite, TheVisitor
from app.web.views.names_view import known_names
from app.web.views.run_view import TrainingRunView
from app.web.views.training_view import TrainView, order_of, train_view

router = APIRouter(prefix="/lessons/{slug}/train/{name}")

TOO_MANY = "This run is watched in too many places at once."


async def train_of(exercise: TheExercise) -> Train:
    if not isinstance(exercise, Train):
        raise HTTPException(404)
    return exercise


TheTrain = Annotated[Train, Depends(train_of)]


@router.post("/start")
async def start(
    request: Request,
    site: TheSite,
    visitor: TheVisitor,
    lesson: TheLesson,
    train: TheTrain,
    preset: Typed,
    attempt: Annotated[int | None, Form(ge=0, lt=2**63)] = None,
    wrong: Annotated[int | None, Form(ge=0, lt=2**63)] = None,
) -> Response:
    """Begin a run with the code of one attempt; the newest passing one where none is named.

    *wrong* is an attempt as well: that of the button for a wrong version, which overrules the list beside it.
    """
    learner = await visitor.begin()
    order = await order_of(site, learner, lesson, train, preset, attempt if wrong is None else wrong)
    if not isinstance(order, TrainingRequest):
        return await _show_run(request, site, learner, lesson, train, order)
    try:
        site.checks.ensure_open()
        site.checks.spend(learner)
        refused = await site.runs.begin(learner, order)
    except RetryLaterError as later:
        if not wants_fragment(request):
            raise
        return later.apply_to(await _show_run(request, site, learner, lesson, train, later.detail))
    return await _show_run(request, site, learner, lesson, train, refused)


@router.post("/stop")
async def stop(request: Request, site: TheSite, visitor: TheVisitor, lesson: TheLesson, train: TheTrain) -> Response:
    """End the run."""
    learner = await visitor.begin()
    await site.runs.stop(learner, lesson.name, train.name)
    return await _show_run(request, site, learner, lesson, train)


@router.get("")
async def look(request: Request, site: TheSite, visitor: TheVisitor, lesson: TheLesson, train: TheTrain) -> Response:
    """Show the exercise with the present state of its run."""
    return await _show_run(request, site, await visitor.learner(), lesson, train)


async def watched(
    site: TheSite, visitor: TheVisitor, lesson: TheLesson, train: TheTrain
) -> AsyncIterator[AsyncIterator[Snapshot]]:
    """The moments of the visitor's run; at most a few pages of one learner may watch at a time."""
    learner = await visitor.learner()
    if learner is None or await site.runs.look(learner, lesson.name, train.name) is None:
        raise HTTPException(404)
    with site.runs.watching(learner, TOO_MANY):
        yield site.runs.watch(learner, lesson.name, train.name)


@router.get("/events", response_class=EventSourceResponse)
async def events(
    site: TheSite,
    visitor: TheVisitor,
    lesson: TheLesson,
    train: TheTrain,
    moments: Annotated[AsyncIterator[Snapshot], Depends(watched)],
) -> AsyncIterator[ServerSentEvent]:
    """`run` events with the run as HTML, and one `end` with all that an answer shows when it has ended."""
    learner, known = await visitor.learner(), await known_names(site.runs.names)
    view = await _view(site, learner, lesson, train)
    async for snapshot in moments:
        # The run alone, several times a second: the whole is all texts that the learner ever checked.
        if snapshot.live:
            now = replace(view, run=TrainingRunView(snapshot, view.preset, view.train.rates, known))
            yield ServerSentEvent(raw_data=site.pages.text("_train_run.html", view=now), event="run")
        else:
            ended = await _whole(site, learner, lesson, await _view(site, learner, lesson, train))
            yield ServerSentEvent(raw_data=site.pages.text("_trained.html", **ended), event="end")


async def _view(site: Site, learner: int | None, lesson: Lesson, train: Train, refused: str = "") -> TrainView:
    state = await site.state_of(learner, lesson, train.name)
    return await train_view(site, lesson, train, state, learner, refused)


async def _show_run(
    request: Request, site: Site, learner: int | None, lesson: Lesson, train: Train, refused: str = ""
) -> Response:
    view = await _view(site, learner, lesson, train, refused)
    if not wants_fragment(request) and refused:
        raise HTTPException(409, refused)
    if not wants_fragment(request):
        return back_to(lesson.address, train.name)
    return site.pages.fragment("_trained.html", **await _whole(site, learner, lesson, view))


async def _whole(site: Site, learner: int | None, lesson: Lesson, view: TrainView) -> dict[str, Any]:
    """Render a whole answer: the exercise, and what it changes elsewhere on the page."""
    state = await site.state_of(learner, lesson)
    return {"view": view, "announcement": view.said, "progress": site.progress(lesson, state.solved)}
