"""A quiet sitting as its learners have it: begin, write, go on elsewhere, hand in; afterwards what it came to.

Nothing of an item is told before its window has ended for all, but whether it is right where the sitting tells that.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Depends, Form, Path
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from app.content.blocks import CodeBox, Lesson
from app.practice.sittings import draw_for
from app.store import drafts, sitting_results, sittings
from app.store.classes import RefusedError, record_event
from app.store.learners import hash_of
from app.store.progress import lesson_state
from app.store.sittings import GRACE, OwnSitting
from app.syntax import plain_lines
from app.teaching.dates import to_local
from app.web.class_access import MAY, PREFIX, Belonging, ClassPage, parse_row_id
from app.web.middleware.visitor import RetryLaterError, run_until_disconnect
from app.web.render import wants_fragment
from app.web.routes.code_boxes import save_answer, with_revision
from app.web.routes.form_fields import Typed
from app.web.routes.sign_in_result import device_of
from app.web.routes.sitting_setup import board_page
from app.web.site import TheVisitor, or_404
from app.web.views.sitting_view import (
    SittingItemView,
    graded_items,
    seconds_left,
    sitting_state,
    sitting_view,
    written_items,
)

router = APIRouter(prefix=PREFIX + "/sittings/{sitting_id}")

OVER = "The time is over, or you handed in. What was saved before counts; nothing is saved any more."
ELSEWHERE = "You went on on another device{at}. Nothing is saved from here any more."
NOT_A_LEARNER = "Only learners of the class sit it. The specimen shows what they see."
IN_A_FRAME = "Open this page in a tab of its own to begin: in the frame of a platform it would end with the frame."
UNDRAWN = "The exercises are still being drawn. Try again in a minute; your time has not begun."
NO_SWITCH = "You used your change of device. Ask your instructor for another one; what you wrote is saved."


@dataclass(frozen=True, slots=True)
class SittingRequest:
    """One learner at one sitting, at a *moment*, in the browser of *token_hash*."""

    page: ClassPage
    own: OwnSitting
    moment: datetime
    token_hash: str

    @property
    def learner(self) -> int:
        return self.page.learner

    async def fresh(self, db: AsyncSession) -> OwnSitting:
        """The same as it is in *db*, where it may be changed."""
        return or_404(await sittings.find_sitting(db, self.page.class_id, self.own.assignment.id, self.learner))

    def back(self, anchor: str = "") -> Response:
        response = self.page.back("sittings", self.own.assignment.id)
        if anchor:
            response.headers["location"] += f"#{anchor}"
        return response


async def sitting_of(visitor: TheVisitor, page: Belonging, sitting_id: str) -> SittingRequest:
    """A sitting of this very class; 404 for every other."""
    async with page.read() as db:
        own = or_404(await sittings.find_sitting(db, page.class_id, parse_row_id(sitting_id), page.learner))
    return SittingRequest(page, own, page.site.practice.clock(), hash_of(visitor.token))


TheSitting = Annotated[SittingRequest, Depends(sitting_of)]


async def sitter_of(sitting: TheSitting) -> SittingRequest:
    """The same for a learner who changes something; 409 for who teaches the class."""
    if sitting.page.person.role != "learner":
        raise HTTPException(409, NOT_A_LEARNER)
    return sitting


TheSitter = Annotated[SittingRequest, Depends(sitter_of)]


@router.get("")
async def page(visitor: TheVisitor, sitting: TheSitting) -> Response:
    """For a learner the sitting as it is for them; for instructors who has begun, and what came of it."""
    if sitting.page.member.is_at_least(MAY["watch"]):
        return await board_page(sitting.page, sitting.own)
    return await _page(sitting, framed=visitor.framed)


async def _page(sitting: SittingRequest, problem: str = "", *, framed: bool = False, sure: bool = False) -> Response:
    own, page = sitting.own, sitting.page
    async with page.read() as db:
        records = await sittings.list_records(db, own.assignment.id)
        items = await _items(db, sitting)
    view = sitting_view(own, records, page.group.timezone, sitting.moment, sitting.token_hash, items)
    return page.render(
        "sitting.html", problem=problem, view=view,
        note=IN_A_FRAME if framed else "",
        address=f"/classes/{page.class_id}/sittings/{own.assignment.id}", sure=sure and view.state == "writing",
    )  # fmt: skip


async def _items(db: AsyncSession, sitting: SittingRequest) -> list[SittingItemView]:
    """Items that a learner sees now: none before they begin, and none once they handed in, until it is shown."""
    own = sitting.own
    match sitting_state(own, sitting.moment, sitting.token_hash):
        case "writing":
            lessons = await sitting.page.site.sittings.of(db, own)
            state = await lesson_state(db, sitting.learner, own.assignment.lesson)
            return written_items(sitting.page.site, lessons, state.drafts)
        case "shown":
            lessons = await sitting.page.site.sittings.of(db, own)
            answers = await sitting_results.answers_of(db, own.assignment.id, sitting.learner)
            return graded_items(sitting.page.site, lessons, answers)
    return []


@router.post("/begin")
async def begin(visitor: TheVisitor, sitting: TheSitter) -> Response:
    """Begin: from now on the time runs."""
    await visitor.begin()
    if visitor.framed:
        return await _page(sitting, IN_A_FRAME, framed=True)
    if sitting_state(sitting.own, sitting.moment, sitting.token_hash) == "undrawn":
        return await _page(sitting, UNDRAWN)
    try:
        async with sitting.page.write() as db:
            own = await sitting.fresh(db)
            draw = await draw_for(db, own, sitting.learner)
            place = sitting.token_hash, device_of(sitting.page.request)
            await sittings.begin_sitting(db, sitting.page.group, own, sitting.learner, draw, place, sitting.moment)
    except RefusedError as refused:
        return await _page(sitting, str(refused))
    return sitting.back()


@router.post("/switch")
async def switch(visitor: TheVisitor, sitting: TheSitter) -> Response:
    """Go on in this browser, and no more in the other one."""
    await visitor.begin()
    async with sitting.page.write() as db:
        own = await sitting.fresh(db)
        if sitting_state(own, sitting.moment, sitting.token_hash) != "elsewhere" or own.record is None:
            return sitting.back()
        record = await sittings.record_for(db, own.assignment.id, sitting.learner)
        may = record.switches < record.switches_allowed
        if may:
            record.switches += 1
            record.token_hash, record.device, record.switched_at = (
                sitting.token_hash,
                device_of(sitting.page.request),
                sitting.moment,
            )
            await record_event(
                db,
                sitting.page.class_id,
                sitting.learner,
                "sitting-went-on",
                sitting.learner,
                assignment=own.assignment.id,
            )
    return sitting.back() if may else await _page(sitting, NO_SWITCH)


@router.post("/hand-in")
async def hand_in(visitor: TheVisitor, sitting: TheSitter, sure: Typed = "") -> Response:
    """Hand in before the time is over, once that is confirmed."""
    await visitor.begin()
    if sure != "yes":
        return await _page(sitting, sure=True)
    async with sitting.page.write() as db:
        own = await sitting.fresh(db)
        if sitting_state(own, sitting.moment, sitting.token_hash) == "writing":
            record = await sittings.record_for(db, own.assignment.id, sitting.learner)
            record.handed_in_at, record.handed_in_by = sitting.moment, "learner"
    return sitting.back()


@dataclass(frozen=True, slots=True)
class SittingItemRequest:
    """One item of a sitting, and the text that was sent from its box."""

    sitting: SittingRequest
    name: str
    code: str
    revision: int

    async def lesson(self, db: AsyncSession, own: OwnSitting) -> tuple[Lesson, CodeBox]:
        lessons: Sequence[Lesson] = await self.sitting.page.site.sittings.of(db, own)
        for lesson in lessons:
            if lesson.boxes[0].name == self.name:
                return lesson, lesson.boxes[0]
        raise HTTPException(404)

    async def save(self, db: AsyncSession) -> tuple[OwnSitting, drafts.SaveResult]:
        """Save the text.

        Raises:
            RefusedError: The time is over, or they went on elsewhere.
        """
        sitting = self.sitting
        own = await sitting.fresh(db)
        if own.record is None or own.record.begun_at is None:
            raise RefusedError("You have not begun this sitting.")
        if own.is_over(sitting.moment, GRACE):
            raise RefusedError(OVER)
        if own.record.token_hash != sitting.token_hash:
            at = own.record.switched_at
            zone = sitting.page.group.timezone
            raise RefusedError(ELSEWHERE.format(at=f" at {to_local(at, zone):%H:%M} ({zone})" if at else ""))
        await self.lesson(db, own)
        lesson = own.assignment.lesson
        return own, await drafts.save_draft(db, sitting.learner, lesson, self.name, self.code, base=self.revision)


async def item_of(
    sitting: TheSitter,
    name: Annotated[str, Path(max_length=20)],
    code: Typed = "",
    *,
    revision: Annotated[int, Form(ge=0, lt=2**31)] = 0,
) -> SittingItemRequest:
    return SittingItemRequest(sitting, name, plain_lines(code), revision)


TheItem = Annotated[SittingItemRequest, Depends(item_of)]


@router.post("/code/{name}/draft")
async def draft(request: Request, visitor: TheVisitor, item: TheItem) -> Response:
    """Save what is being typed."""
    await visitor.begin()
    try:
        async with item.sitting.page.site.database.write(short=True) as db:
            own, saved = await item.save(db)
    except RefusedError as refused:
        if "application/json" not in request.headers.get("accept", ""):
            return await _page(item.sitting, str(refused))
        return JSONResponse({"message": str(refused)}, 409, headers={"cache-control": "no-store"})
    if "application/json" not in request.headers.get("accept", ""):
        return item.sitting.back(item.name)
    answer = save_answer(saved)
    if own.ends_at is not None:  # more time may have been given since the page was opened
        answer.headers["seconds-left"] = str(seconds_left(own.ends_at, item.sitting.moment))
        answer.headers["ends-at"] = own.ends_at.isoformat()
    return answer


@router.post("/code/{name}/check")
async def check(request: Request, visitor: TheVisitor, item: TheItem) -> Response:
    """Say whether the text is right, and nothing else, where the sitting tells that."""
    sitting = item.sitting
    await visitor.begin()
    if sitting.own.sitting.shows != "right":
        raise HTTPException(403, "This sitting tells nothing before its end.")
    try:
        async with sitting.page.site.database.write(short=True) as db:
            own, saved = await item.save(db)
            lesson, box = await item.lesson(db, own)
    except RefusedError as refused:
        raise HTTPException(409, str(refused)) from None
    try:
        result = await run_until_disconnect(
            request,
            sitting.page.site.checks.check(sitting.learner, lesson, box, item.code, stored=None),
        )
        words, status = ("Right." if result.verdict.passed else "Not yet."), 200
    except RetryLaterError as later:
        words, status = later.detail, 429
    at = f"{to_local(sitting.moment, sitting.page.group.timezone):%H:%M}"
    if not wants_fragment(request):
        return await _page(sitting, f"Item {item.name.removeprefix('item-')}, {at}: {words}")
    shown = sitting.page.site.pages.fragment("_sitting_told.html", status=status, name=item.name, words=words, at=at)
    return with_revision(shown, saved)
