"""Code boxes: check, run, nudge, solution. The text of the box is saved before anything else is done.

Every button of a box belongs to its one form, so the text travels with each of them and nothing is lost where there
is no script.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated

from fastapi import APIRouter, Depends, Form
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from app.content.blocks import CodeBox, Exercise, FunctionBox, Lesson
from app.engine.codec import to_json_value
from app.engine.grader import Nudge, RunResult
from app.engine.json_columns import to_json_column
from app.grading.judge.hunt_verdict import with_line
from app.grading.judge.verdict import Verdict
from app.store import drafts, progress
from app.store.drafts import SaveResult
from app.store.progress import LessonState
from app.store.tables import Draft
from app.syntax import plain_lines
from app.web.middleware.visitor import RetryLaterError, Visitor, run_until_disconnect
from app.web.render import back_to, wants_fragment
from app.web.routes.form_fields import Typed
from app.web.site import LessonProgress, Site, TheExercise, TheLesson, TheSite, TheVisitor
from app.web.submission import Submission
from app.web.verdict_words import VerdictView, nudge_announcement, run_announcement
from app.web.views.course_progress import solved_by
from app.web.views.due_view import closed_until
from app.web.views.exercise_view import (
    ENTRY_CHARACTERS,
    CodeView,
    SolutionView,
    code_view,
    exam_of,
    field_of,
    is_unedited,
    number_word,
    starter_of,
)
from app.web.views.lamps import Lamp, lamps_of
from app.web.views.run_result_view import RunResultView

router = APIRouter(prefix="/code/{name}")

CONFLICT = "This box was also changed in another tab or on another device. Your version is shown; both are saved."


@dataclass(frozen=True, slots=True)
class BoxRequest:
    """One code box of one lesson, and the form that was sent from it."""

    site: Site
    lesson: Lesson
    exercise: CodeBox
    code: str
    revision: int | None

    @property
    def names(self) -> tuple[str, str]:
        return self.lesson.name, self.exercise.name

    async def save(self, db: AsyncSession, learner: int) -> SaveResult:
        return await drafts.save_draft(db, learner, *self.names, self.code, base=self.revision)

    async def starter(self, db: AsyncSession, learner: int) -> str:
        box = self.exercise
        before = box.after if isinstance(box, FunctionBox) else ""
        right = await progress.right_texts(db, learner, self.lesson.name) if before else {}
        return starter_of(box, right.get(before, ""))

    async def view(self, db: AsyncSession, learner: int, draft: Draft | None = None) -> CodeView:
        """The box as it is stored; with *draft*, as the page has it, whatever another tab has saved since."""
        state = await progress.lesson_state(db, learner, *self.names)
        return self.view_of(replace(state, drafts={self.exercise.name: draft}) if draft else state)

    def view_of(self, state: LessonState) -> CodeView:
        site, lesson, box = self.site, self.lesson, self.exercise
        return code_view(site.kept, lesson, box, state, site.scope(lesson, box), site.shapes.known(lesson, box))

    def back(self, query: str = "", saved: SaveResult | None = None) -> Response:
        """To the page; *saved* over the text of another tab, it asks which one is wanted."""
        if saved is not None and saved.conflict:
            query = f"?ask={self.exercise.name}&other={saved.other}"
        return back_to(f"{self.lesson.address}{query}", self.exercise.name)


def with_revision(response: Response, saved: SaveResult) -> Response:
    """Tell the page as which revision its text was saved: what it saves next starts from that one."""
    response.headers["revision"] = str(saved.draft.revision)
    return response


def save_answer(saved: SaveResult) -> JSONResponse:
    """Tell a script what a text was saved as, and whether another page had saved one."""
    answer = {
        "revision": saved.draft.revision,
        "saved": saved.draft.saved_at.isoformat(),
        "other": saved.other,
        "message": CONFLICT if saved.conflict else "",
    }
    return JSONResponse(answer, headers={"cache-control": "no-store"})


def received_text(exercise: Exercise, code: str, line: int | None = None) -> str:
    """Text of a form as the box showed it: browsers send CRLF, and no database and no program needs a NUL.

    Args:
        line: The line that was named in a bug hunt, or what was predicted; it becomes part of the text.
    """
    code = plain_lines(code)
    word = number_word(exercise) if isinstance(exercise, CodeBox) else None
    return with_line(code, line, word) if line is not None and word else code


async def code_box_of(exercise: TheExercise) -> CodeBox:
    if not isinstance(exercise, CodeBox):
        raise HTTPException(404)
    return exercise


TheCodeBox = Annotated[CodeBox, Depends(code_box_of)]


async def box_of(
    site: TheSite,
    lesson: TheLesson,
    exercise: TheCodeBox,
    code: Typed = "",
    line: Annotated[int | None, Form(ge=1, lt=10**6)] = None,
    *,
    revision: Annotated[int, Form(ge=0, lt=2**31)],
) -> BoxRequest:
    # The revision is required: a form without it did not come from a box, and must not empty one.
    return BoxRequest(site, lesson, exercise, received_text(exercise, code, line), revision)


TheBox = Annotated[BoxRequest, Depends(box_of)]


@router.post("/check")
async def check(request: Request, visitor: TheVisitor, box: TheBox) -> Response:
    """Grade the text; every check is kept with what was said about it."""
    site, learner = box.site, await visitor.begin()
    submission = Submission(site, learner, box.lesson, box.exercise, box.code, box.revision, visitor.in_class)
    saved, stored = await submission.save()
    try:
        result = await run_until_disconnect(request, submission.grade(stored))
    except RetryLaterError as later:
        return await _retry_later_response(request, box, learner, saved, later)
    tries, rows = await submission.record(saved, result)
    if not wants_fragment(request):
        return box.back(saved=saved)
    box = await _with_new_hints(box, learner)
    passed = result.verdict.passed
    by_exercise = {box.exercise.name: tries}
    async with site.database.read() as db:
        compares = visitor.in_class and not passed
        written = await progress.sentences_at(db, learner, box.lesson.name, by_exercise, compares=compares)
        begun = await _begun_boxes(box, db, learner) if passed else {}
    lamps = await _lamps(box, learner) if passed else ()
    drafts_now = {box.exercise.name: saved.draft}
    state = LessonState(progress=rows, tries=by_exercise, drafts=drafts_now, written=written)
    view = box.view_of(state)
    assert view.checked is not None, "an attempt was recorded"
    done = site.progress(box.lesson, state.solved)
    beside = await _solution_for_comparison(visitor, box, view) if passed else None
    told = view.checked.announcement
    return box_fragment(
        box, "_checked.html", view, told, saved=saved, done=done, lamps=lamps, beside=beside, begun=begun
    )


async def _with_new_hints(box: BoxRequest, learner: int) -> BoxRequest:
    """The same box; of an item of practice, with hints about what its newest check found."""
    lesson = await box.site.find_practice_lesson(learner, box.lesson.slug) if box.lesson.drawn else None
    exercise = lesson.exercise(box.exercise.name) if lesson else None
    return replace(box, lesson=lesson, exercise=exercise) if lesson and isinstance(exercise, CodeBox) else box


@router.post("/run")
async def run(request: Request, visitor: TheVisitor, box: TheBox) -> Response:
    """Run the text and show its values: no verdict, no attempt."""
    site, learner = box.site, await visitor.begin()
    async with site.database.write(short=True) as db:
        saved = await box.save(db, learner)
    try:
        result = await run_until_disconnect(request, site.checks.run(learner, box.lesson, box.exercise, box.code))
    except RetryLaterError as later:
        return await _retry_later_response(request, box, learner, saved, later, run=True)
    async with site.database.write(short=True) as db:
        saved.draft.run_json = to_json_column(result)
        stored = await drafts.draft_of(db, learner, *box.names)
        if stored is not None and stored.revision == saved.draft.revision:
            stored.run_json = saved.draft.run_json
        view = await box.view(db, learner, saved.draft)
    if not wants_fragment(request):
        return box.back(saved=saved)
    return box_fragment(box, "_checked.html", view, run_announcement(result), saved=saved)


@router.post("/nudge")
async def measure(
    request: Request, visitor: TheVisitor, box: TheBox, nudge: Annotated[str, Form(max_length=100)]
) -> Response:
    """Move one entry of the tensor that *nudge* is the gradient of, and see what becomes of the loss."""
    site, learner = box.site, await visitor.begin()
    entry = str((await request.form()).get(field_of(nudge), ""))[:ENTRY_CHARACTERS]
    async with site.database.write(short=True) as db:
        saved = await box.save(db, learner)
    asked = site.checks.nudge(learner, box.lesson, box.exercise, box.code, nudge, entry)
    try:
        nudged = await run_until_disconnect(request, asked)
    except RetryLaterError as later:
        busy = _nudge_response(request, box, Nudge(outcome="busy", name=nudge, message=later.detail))
        return later.apply_to(with_revision(busy, saved))
    return with_revision(_nudge_response(request, box, nudged), saved)


@router.post("/shapes")
async def shapes(
    request: Request,
    visitor: TheVisitor,
    site: TheSite,
    lesson: TheLesson,
    exercise: TheCodeBox,
    code: Typed = "",
    given: Annotated[bool, Form()] = False,
) -> JSONResponse:
    """Infer the shape of each line of the text; nothing is run, saved or counted, and no session is begun.

    Args:
        given: Whether to tell of the names that are in scope before the text, too.
    """
    asker = await visitor.learner() or visitor.network
    inlay_shapes = await run_until_disconnect(
        request, site.checks.line_shapes(asker, lesson, exercise, received_text(exercise, code))
    )
    if inlay_shapes is None:
        return JSONResponse({"later": True}, headers={"cache-control": "no-store"})
    names = tuple(name_shape for name_shape in inlay_shapes.names if given or name_shape.line)
    return JSONResponse(to_json_value(replace(inlay_shapes, names=names)), headers={"cache-control": "no-store"})


@router.post("/solution")
async def solution(request: Request, visitor: TheVisitor, box: TheBox) -> Response:
    """Show the author's code where the box's policy allows it and no class keeps it closed, beside one's own."""
    learner = await visitor.begin()
    until = await _closed_until(visitor, box)
    async with box.site.database.write(short=True) as db:
        saved = await box.save(db, learner)
        view = await box.view(db, learner)
        if not view.solution.closed and not until:
            await progress.open_solution(db, learner, *box.names)
            view = await box.view(db, learner)
    if until:
        raise HTTPException(409, until)
    if not wants_fragment(request):
        return box.back()
    message = view.solution.closed or "The solution is open."
    shown = box.site.pages.fragment("_solution.html", solution=view.solution, announcement=message)
    return with_revision(shown, saved)


async def _closed_until(visitor: Visitor, box: BoxRequest) -> str:
    return await closed_until(box.site, visitor, box.lesson, box.exercise.name) if visitor.in_class else ""


async def _solution_for_comparison(visitor: Visitor, box: BoxRequest, view: CodeView) -> SolutionView | None:
    """The author's code for comparison with a text that has just passed; None if it is the same, or stays closed."""
    solution = view.solution
    alike = box.code.strip() in (code.strip() for code in solution.codes)
    if alike or solution.closed or await _closed_until(visitor, box):
        return None
    return replace(solution, shown=True, own=box.code)


async def _lamps(box: BoxRequest, learner: int) -> tuple[Lamp, ...]:
    """The lamps of the unit as they are lit now; none where it ends in no exam."""
    unit = None if box.lesson.drawn else box.site.unit_of(box.lesson)
    exam = exam_of(box.site.kept, unit) if unit else None
    if unit is None or exam is None:
        return ()
    return await lamps_of(box.site, learner, exam, await solved_by(box.site, learner))


async def _begun_boxes(box: BoxRequest, db: AsyncSession, learner: int) -> dict[str, str]:
    """By name, what stands in each box that continues this one, and was not edited, now that this one is right."""
    later = [one for one in box.lesson.exercises if isinstance(one, FunctionBox) and one.after == box.exercise.name]
    stored = [await drafts.draft_of(db, learner, box.lesson.name, one.name) for one in later]
    return {
        one.name: starter_of(one, box.code) for one, draft in zip(later, stored, strict=True) if is_unedited(one, draft)
    }


async def _retry_later_response(
    request: Request, box: BoxRequest, learner: int, saved: SaveResult, later: RetryLaterError, *, run: bool = False
) -> Response:
    """Show the rate-limit message in place of the verdict; the stored verdict is unchanged.

    A plain form gets a page.
    """
    if not wants_fragment(request):
        raise later
    async with box.site.database.read() as db:
        view = await box.view(db, learner, saved.draft)
    if run:
        ran = RunResult(outcome="busy", message=later.detail)
        view, told = replace(view, run=RunResultView(ran, ())), run_announcement(ran)
    else:
        message = VerdictView(Verdict(outcome="busy", message=later.detail))
        view, told = replace(view, checked=message, run=None, stale=False), message.announcement
    return later.apply_to(box_fragment(box, "_checked.html", view, told, saved=saved))


def _nudge_response(request: Request, box: BoxRequest, nudge: Nudge) -> Response:
    name = box.exercise.name
    if wants_fragment(request):
        return box.site.pages.fragment("_nudged.html", nudge=nudge, name=name, announcement=nudge_announcement(nudge))
    return box.site.pages.page(request, "nudge.html", nudge=nudge, name=name, lesson=box.lesson)


def box_fragment(
    box: BoxRequest,
    template: str,
    view: CodeView,
    announcement: str,
    *,
    saved: SaveResult | None = None,
    done: LessonProgress | None = None,
    emptied: str = "",
    lamps: tuple[Lamp, ...] = (),
    beside: SolutionView | None = None,
    begun: Mapping[str, str] | None = None,
) -> Response:
    if saved is not None and saved.conflict:
        announcement = f"{announcement} {CONFLICT}"
    answer = box.site.pages.fragment(
        template,
        view=view,
        announcement=announcement,
        other=saved.other if saved is not None else 0,
        progress=done,
        lesson=box.lesson,
        readiness=box.site.grader.readiness,
        ask="",
        emptied=emptied,
        lamps=lamps,
        beside=beside,
        begun=begun or {},
    )
    return answer if saved is None else with_revision(answer, saved)
