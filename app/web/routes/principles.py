"""Which principle is behind this line? Asked once of each family of operations, after the first right answer at it.

The page asks for it after a right check; no check waits for it, and a learner who skips it is not asked again.
"""

from typing import Annotated

from fastapi import APIRouter, Form
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from app.content.blocks import Grad
from app.practice.principles import ask_principle, principle_of
from app.store import progress
from app.web.render import back_to, wants_fragment
from app.web.site import TheExercise, TheLesson, TheSite, TheVisitor

router = APIRouter(prefix="/code/{name}/principle")
ROOM = "practice/principles"
"""The lesson whose exercises are the families that were asked about, in the progress of a learner."""


@router.post("")
async def ask(
    request: Request, site: TheSite, visitor: TheVisitor, lesson: TheLesson, exercise: TheExercise
) -> Response:
    """The question, for the newest right text of a box; nothing where all its families were asked about."""
    forward = lesson.forward(exercise.forward)
    learner = await visitor.learner()
    if not isinstance(exercise, Grad) or forward is None:
        raise HTTPException(404)
    if not wants_fragment(request):
        return back_to(lesson.address, exercise.name)
    question = None
    if learner is not None and site.seen is None:
        async with site.database.read() as db:
            code = (await progress.right_texts(db, learner, lesson.name)).get(exercise.name, "")
            asked = frozenset(await progress.progress_in(db, learner, ROOM))
        question = ask_principle(code, forward, exercise.require, asked, exercise.starter.source)
    if learner is None or question is None:
        return HTMLResponse("")
    async with site.database.write(short=True) as db:
        await progress.open_solution(db, learner, ROOM, question.family)
    url = f"{lesson.address}/code/{exercise.name}/principle"
    return site.pages.fragment("_principle.html", question=question, name=exercise.name, url=url)


@router.post("/answer")
async def answer(
    request: Request,
    site: TheSite,
    visitor: TheVisitor,
    lesson: TheLesson,
    exercise: TheExercise,
    family: Annotated[str, Form(max_length=40)] = "",
    right: Annotated[str, Form(max_length=40)] = "",
    chosen: Annotated[str, Form(max_length=40)] = "",
) -> Response:
    """Feedback on the principle that was *chosen*; the family is known as soon as it is the right one."""
    principle, learner = principle_of(right), await visitor.learner()
    if not wants_fragment(request):
        return back_to(lesson.address, exercise.name)
    if principle is None or family not in principle.families or learner is None or site.seen is not None:
        return HTMLResponse("")
    async with site.database.write(short=True) as db:
        if family in await progress.progress_in(db, learner, ROOM) and chosen == right:
            await progress.mark_solved(db, learner, ROOM, family)
    return site.pages.fragment("_principle_told.html", name=exercise.name, principle=principle, correct=chosen == right)
