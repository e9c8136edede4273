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
from app.store.classes import ClassMember, RefusedError, record_event
from app.store.learners import hash_of
from app.store.progress import lesson_state
from app.store.sittings import GRACE, OwnSitting
from app.teaching.dates import to_local
from app.web.class_access import MAY, PREFIX, Belonging, back_to_class, class_page, parse_row_id
from app.web.middleware.visitor import RetryLaterError, run_until_disconnect
from app.web.render import wants_fragment
from app.web.routes.code_boxes import CONFLICT, with_revision
from app.web.routes.sign_in_result import device_of
from app.web.routes.sitting_setup import board_page
from app.web.site import Site, TheSite, TheVisitor
from app.web.views.sitting_view import SittingItemView, graded_items, sitting_state, sitting_view, written_items

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

    site: Site
    within: ClassMember
    own: OwnSitting
    moment: datetime
    token_hash: str

    @property
    def learner(self) -> int:
        return self.within.person.learner_id

    @property
    def group(self) -> int:
        return self.within.group.id

    async def fresh(self, db: AsyncSession) -> OwnSitting:
        """The same as it is in *db*, where it may be changed."""
        own = await sittings.find_sitting(db, self.group, self.own.assignment.id, self.learner)
        if own is None:
            raise HTTPException(404)
        return own

    def back(self, anchor: str = "") -> Response:
        response = back_to_class(self.within, "sittings", self.own.assignment.id)
        if anchor:
            response.headers["location"] += f"#{anchor}"
        return response


async def sitting_of(
    site: TheSite, visitor: TheVisitor, within: Belonging, sitting_id: Annotated[str, Path()]
) -> SittingRequest:
    """A sitting of this very class; 404 for every other."""
    async with site.database.read() as db:
        own = await sittings.find_sitting(db, within.group.id, parse_row_id(sitting_id), within.person.learner_id)
    if own is None:
        raise HTTPException(404)
    return SittingRequest(site, within, own, site.practice.clock(), hash_of(visitor.token))


TheSitting = Annotated[SittingRequest, Depends(sitting_of)]


async def sitter_of(sitting_request: TheSitting) -> SittingRequest:
    """The same for a learner who changes something; 409 for who teaches the class."""
    if sitting_request.within.person.role != "learner":
        raise HTTPException(409, NOT_A_LEARNER)
    return sitting_request


TheSitter = Annotated[SittingRequest, Depends(sitter_of)]


@router.get("")
async def page(request: Request, visitor: TheVisitor, sitting_request: TheSitting) -> Response:
    """For a learner the sitting as it is for them; for instructors who has begun, and what came of it."""
    if sitting_request.within.is_at_least(MAY["watch"]):
        return await board_page(request, sitting_request.site, sitting_request.within, sitting_request.own)
    return await _page(request, sitting_request, framed=visitor.framed)


async def _page(
    request: Request, sitting_request: SittingRequest, problem: str = "", *, framed: bool = False, sure: bool = False
) -> Response:
    own, site = sitting_request.own, sitting_request.site
    async with site.database.read() as db:
        records = await sittings.list_records(db, own.assignment.id)
        items = await _items(db, sitting_request)
    view = sitting_view(
        own, records, sitting_request.within.group.timezone, sitting_request.moment, sitting_request.token_hash, items
    )
    response = class_page(
        request, site, sitting_request.within, "sitting.html", problem=problem, view=view,
        note=IN_A_FRAME if framed else "",
        address=f"/classes/{sitting_request.group}/sittings/{own.assignment.id}", sure=sure and view.state == "writing",
    )  # fmt: skip
    response.headers["cache-control"] = "no-store"
    return response


async def _items(db: AsyncSession, sitting_request: SittingRequest) -> list[SittingItemView]:
    """Items that a learner sees now: none before they begin, and none once they handed in, until it is shown."""
    own = sitting_request.own
    match sitting_state(own, sitting_request.moment, sitting_request.token_hash):
        case "writing":
            lessons = await sitting_request.site.sittings.of(db, own)
            state = await lesson_state(db, sitting_request.learner, own.assignment.lesson)
            return written_items(sitting_request.site, lessons, state.drafts)
        case "shown":
            lessons = await sitting_request.site.sittings.of(db, own)
            answers = await sitting_results.answers_of(db, own.assignment.id, sitting_request.learner)
            return graded_items(sitting_request.site, lessons, answers)
    return []


@router.post("/begin")
async def begin(request: Request, visitor: TheVisitor, sitting_request: TheSitter) -> Response:
    """Begin: from now on the time runs."""
    await visitor.begin()
    if visitor.framed:
        return await _page(request, sitting_request, IN_A_FRAME, framed=True)
    if sitting_state(sitting_request.own, sitting_request.moment, sitting_request.token_hash) == "undrawn":
        return await _page(request, sitting_request, UNDRAWN)
    try:
        async with sitting_request.site.database.write() as db:
            own = await sitting_request.fresh(db)
            draw = await draw_for(db, own, sitting_request.learner)
            place = sitting_request.token_hash, device_of(request)
            await sittings.begin_sitting(
                db, sitting_request.within.group, own, sitting_request.learner, draw, place, sitting_request.moment
            )
    except RefusedError as refused:
        return await _page(request, sitting_request, str(refused))
    return sitting_request.back()


@router.post("/switch")
async def switch(request: Request, visitor: TheVisitor, sitting_request: TheSitter) -> Response:
    """Go on in this browser, and no more in the other one."""
    await visitor.begin()
    async with sitting_request.site.database.write() as db:
        own = await sitting_request.fresh(db)
        if sitting_state(own, sitting_request.moment, sitting_request.token_hash) != "elsewhere" or own.record is None:
            return sitting_request.back()
        record = await sittings.record_for(db, own.assignment.id, sitting_request.learner)
        may = record.switches < record.switches_allowed
        if may:
            record.switches += 1
            record.token_hash, record.device, record.switched_at = (
                sitting_request.token_hash,
                device_of(request),
                sitting_request.moment,
            )
            await record_event(
                db,
                sitting_request.group,
                sitting_request.learner,
                "sitting-went-on",
                sitting_request.learner,
                assignment=own.assignment.id,
            )
    return sitting_request.back() if may else await _page(request, sitting_request, NO_SWITCH)


@router.post("/hand-in")
async def hand_in(
    request: Request, visitor: TheVisitor, sitting_request: TheSitter, sure: Annotated[str, Form()] = ""
) -> Response:
    """Hand in before the time is over, once that is confirmed."""
    await visitor.begin()
    if sure != "yes":
        return await _page(request, sitting_request, sure=True)
    async with sitting_request.site.database.write() as db:
        own = await sitting_request.fresh(db)
        if sitting_state(own, sitting_request.moment, sitting_request.token_hash) == "writing":
            record = await sittings.record_for(db, own.assignment.id, sitting_request.learner)
            record.handed_in_at, record.handed_in_by = sitting_request.moment, "learner"
    return sitting_request.back()


@dataclass(frozen=True, slots=True)
class SittingItemRequest:
    """One item of a sitting, and the text that was sent from its box."""

    asked: SittingRequest
    name: str
    code: str
    revision: int

    async def lesson(self, db: AsyncSession, own: OwnSitting) -> tuple[Lesson, CodeBox]:
        lessons: Sequence[Lesson] = await self.asked.site.sittings.of(db, own)
        for lesson in lessons:
            if lesson.boxes[0].name == self.name:
                return lesson, lesson.boxes[0]
        raise HTTPException(404)

    async def save(self, db: AsyncSession) -> tuple[OwnSitting, drafts.SaveResult]:
        """Save the text.

        Raises:
            RefusedError: The time is over, or they went on elsewhere.
        """
        sitting_request = self.asked
        own = await sitting_request.fresh(db)
        if own.record is None or own.record.begun_at is None:
            raise RefusedError("You have not begun this sitting.")
        if own.is_over(sitting_request.moment, GRACE):
            raise RefusedError(OVER)
        if own.record.token_hash != sitting_request.token_hash:
            at = own.record.switched_at
            zone = sitting_request.within.group.timezone
            raise RefusedError(ELSEWHERE.format(at=f" at {to_local(at, zone):%H:%M} ({zone})" if at else ""))
        await self.lesson(db, own)
        lesson = own.assignment.lesson
        return own, await drafts.save_draft(
            db, sitting_request.learner, lesson, self.name, self.code, base=self.revision
        )


async def item_of(
    sitting_request: TheSitter,
    name: Annotated[str, Path(max_length=20)],
    code: Annotated[str, Form()] = "",
    *,
    revision: Annotated[int, Form(ge=0, lt=2**31)] = 0,
) -> SittingItemRequest:
    return SittingItemRequest(
        sitting_request, name, code.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd"), revision
    )


TheItem = Annotated[SittingItemRequest, Depends(item_of)]


@router.post("/code/{name}/draft")
async def draft(request: Request, visitor: TheVisitor, item: TheItem) -> Response:
    """Save what is being typed."""
    await visitor.begin()
    try:
        async with item.asked.site.database.write(short=True) as db:
            _, saved = await item.save(db)
    except RefusedError as refused:
        if "application/json" not in request.headers.get("accept", ""):
            return await _page(request, item.asked, str(refused))
        return JSONResponse({"message": str(refused)}, 409, headers={"cache-control": "no-store"})
    if "application/json" not in request.headers.get("accept", ""):
        return item.asked.back(item.name)
    answer = {
        "revision": saved.draft.revision,
        "saved": saved.draft.saved_at.isoformat(),
        "other": saved.other,
        "message": CONFLICT if saved.conflict else "",
    }
    return JSONResponse(answer, headers={"cache-control": "no-store"})


@router.post("/code/{name}/check")
async def check(request: Request, visitor: TheVisitor, item: TheItem) -> Response:
    """Say whether the text is right, and nothing else, where the sitting tells that."""
    sitting_request = item.asked
    await visitor.begin()
    if sitting_request.own.sitting.shows != "right":
        raise HTTPException(403, "This sitting tells nothing before its end.")
    try:
        async with sitting_request.site.database.write(short=True) as db:
            own, saved = await item.save(db)
            lesson, box = await item.lesson(db, own)
    except RefusedError as refused:
        raise HTTPException(409, str(refused)) from None
    try:
        result = await run_until_disconnect(
            request, sitting_request.site.checks.check(sitting_request.learner, lesson, box, item.code, stored=None)
        )
        words, status = ("Right." if result.verdict.passed else "Not yet."), 200
    except RetryLaterError as later:
        words, status = later.detail, 429
    at = f"{to_local(sitting_request.moment, sitting_request.within.group.timezone):%H:%M}"
    if not wants_fragment(request):
        return await _page(request, sitting_request, f"Item {item.name.removeprefix('item-')}, {at}: {words}")
    shown = sitting_request.site.pages.fragment("_sitting_told.html", status=status, name=item.name, words=words, at=at)
    return with_revision(shown, saved)
