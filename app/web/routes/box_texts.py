"""Texts of a code box: saved while they are typed, put back, looked at again. No grader is asked."""

from typing import Annotated

from fastapi import APIRouter, Form
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from app.store import drafts
from app.web.render import back_to, wants_fragment
from app.web.routes.code_boxes import TheBox, TheCodeBox, box_fragment, save_answer, with_revision
from app.web.routes.form_fields import Typed
from app.web.site import TheLesson, TheSite, TheVisitor
from app.web.views.text_history import Against, HistoryView, history_view

router = APIRouter(prefix="/code/{name}")


@router.post("/draft")
async def draft(visitor: TheVisitor, box: TheBox) -> JSONResponse:
    """Save what is being typed; a draft is no attempt."""
    learner = await visitor.begin()
    async with box.site.database.write(short=True) as db:
        saved = await box.save(db, learner)
    return save_answer(saved)


@router.post("/reset")
async def reset(request: Request, visitor: TheVisitor, box: TheBox, confirm: Typed = "") -> Response:
    """Put the starter back, once that is confirmed; the replaced text is stored."""
    learner = await visitor.begin()
    async with box.site.database.write(short=True) as db:
        saved = await box.save(db, learner)
        if confirm == "yes":
            await drafts.replace_draft(db, saved.draft, await box.starter(db, learner), "reset")
        view = await box.view(db, learner)
    if confirm != "yes":
        return box.back(f"?ask={box.exercise.name}")
    if not wants_fragment(request):
        return box.back(f"?emptied={box.exercise.name}")
    said = "The starter is back. Your text is kept under History."
    return box_fragment(box, "_editor.html", view, said, emptied=box.exercise.name)


@router.post("/restore")
async def restore(request: Request, visitor: TheVisitor, box: TheBox, at: Annotated[int, Form(ge=0)]) -> Response:
    """Put the stored text number *at* back into the box, the newest for 0; the replaced text is stored."""
    learner = await visitor.begin()
    async with box.site.database.write(short=True) as db:
        stored = await history_view(db, learner, box.lesson, box.exercise, at)
        if not stored.count or at not in (0, stored.at):
            raise HTTPException(404)
        saved = await box.save(db, learner)
        await drafts.replace_draft(db, saved.draft, stored.text, "restore")
        view = await box.view(db, learner)
    if not wants_fragment(request):
        return box.back()
    return box_fragment(box, "_editor.html", view, "The earlier text is back in the box.")


@router.get("/history")
async def history(
    request: Request,
    visitor: TheVisitor,
    site: TheSite,
    lesson: TheLesson,
    exercise: TheCodeBox,
    at: int | None = None,
    against: Against = "",
) -> Response:
    """One stored text: as a fragment for the box, or as a page of its own."""
    learner = await visitor.learner()
    async with site.database.read() as db:
        view = await history_view(db, learner, lesson, exercise, at, against)
    if wants_fragment(request):
        return site.pages.fragment("_history.html", history=view, announcement=_step_text(view))
    return site.pages.page(request, "history.html", history=view, lesson=lesson)


@router.post("/history")
async def open_history(
    request: Request, visitor: TheVisitor, box: TheBox, at: Annotated[int | None, Form()] = None, against: Against = ""
) -> Response:
    """Save, then step back through the stored texts, from number *at* or the newest."""
    learner = await visitor.begin()
    async with box.site.database.write(short=True) as db:
        saved = await box.save(db, learner)
        view = await history_view(db, learner, box.lesson, box.exercise, at, against)
    if wants_fragment(request):
        shown = box.site.pages.fragment("_history.html", history=view, announcement=_step_text(view))
        return with_revision(shown, saved)
    return back_to(f"{view.url}/history?at={view.at}&against={against}" if against else f"{view.url}/history")


def _step_text(view: HistoryView) -> str:
    return f"Text {view.at} of {view.count}." if view.count else "Nothing was checked yet."
