"""Hints: free, one at a time, and the open ones stay."""

from typing import Annotated, Literal

from fastapi import APIRouter, Form
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from app.content.blocks import CodeBox
from app.kinds.registry import select_draw
from app.store import drafts, progress
from app.store.comparisons import record_shown
from app.store.moments import hint_moment
from app.web.render import back_to, wants_fragment
from app.web.routes.code_boxes import BoxRequest, received_text, with_revision
from app.web.routes.form_fields import Typed
from app.web.site import TheExercise, TheLesson, TheSite, TheVisitor
from app.web.views.exercise_view import hints_view

router = APIRouter()


@router.post("/{kind}/{name}/hint")
async def hint(
    request: Request,
    site: TheSite,
    visitor: TheVisitor,
    lesson: TheLesson,
    exercise: TheExercise,
    kind: Literal["quiz", "code", "train"],
    code: Typed = "",
    line: Annotated[int | None, Form(ge=1, lt=10**6)] = None,
    revision: Annotated[int | None, Form(ge=0, lt=2**31)] = None,
    draw: Annotated[int, Form(ge=0, lt=1000)] = 0,
) -> Response:
    """Open the next hint. A code box sends its text along, which is saved."""
    if isinstance(exercise, CodeBox) != (kind == "code") or not exercise.hints:
        raise HTTPException(404)
    learner = await visitor.begin()
    names = (lesson.name, exercise.name)
    saved = None
    async with site.database.write(short=True) as db:
        if isinstance(exercise, CodeBox) and revision is not None:
            saved = await drafts.save_draft(db, learner, *names, received_text(exercise, code, line), base=revision)
        opened = await progress.open_hint(db, learner, *names, len(exercise.hints))
        if visitor.in_class:
            await record_shown(db, learner, *names, [hint_moment(opened)])
        await db.flush()
        state = await progress.lesson_state(db, learner, *names)
    if not wants_fragment(request):
        return back_to(lesson.address, exercise.name)
    box = BoxRequest(site, lesson, exercise, "", None).view_of(state) if isinstance(exercise, CodeBox) else None
    url = f"{lesson.address}/{kind}/{exercise.name}"
    hints = hints_view(select_draw(exercise, draw), state, url)
    shown = site.pages.fragment(
        "_hinted.html",
        name=exercise.name,
        hints=hints,
        view=box,
        solution=box.solution if box else None,
        announcement=f"Hint {len(hints.open)} of {hints.total} is open.",
    )
    return shown if saved is None else with_revision(shown, saved)
