"""Next term: assignments of an earlier class at later dates, without its people.

They are those of a class that is made for them, or of one that is there: of a platform's course that was copied.
"""

from datetime import date
from typing import Annotated, Any

from fastapi import APIRouter, Form
from pydantic import AfterValidator, BaseModel
from starlette.exceptions import HTTPException
from starlette.responses import Response

from app.store import classes
from app.store.assignments import assignments_of
from app.store.class_copies import MAX_DAYS_LATER, first_day, take_over_assignments
from app.store.classes import ClassMember, find_class_member
from app.store.tables import Class
from app.store.written_sentences import take_over_sentences
from app.teaching.dates import parse_day
from app.teaching.text_input import one_line
from app.web.class_access import PREFIX, Arranging, ClassPage, parse_row_id, require_teacher
from app.web.render import back_to, own_path
from app.web.site import Site, TheVisitor

router = APIRouter(prefix=PREFIX)

NO_MOVE = "Say when the term begins, or by how many weeks its dates move."
TWO_MOVES = "The first day and the weeks say different things. Leave one of them empty."
NO_WEEKS = "{typed!r} is no number of weeks from 0 to {most}."
TOO_EARLY = "{day} is before {first}, when the earlier term began."
TOO_LATE = "{day} is more than ten years after {first}, when the earlier term began."


class TermForm(BaseModel):
    """A term as it is typed: what its class is called, or which was the *earlier* one, and where to go on *to*."""

    name: Annotated[str, AfterValidator(lambda name: one_line(name)[:200])] = ""
    first: Annotated[str, AfterValidator(lambda day: day.strip()[:40])] = ""
    weeks: Annotated[str, AfterValidator(lambda weeks: weeks.strip()[:20])] = ""
    earlier: str = ""
    to: str = ""


@router.get("/next")
async def ask(visitor: TheVisitor, page: Arranging) -> Response:
    await require_teacher(page.site, await visitor.learner())
    return await _form(page, TermForm(name=page.group.name))


@router.post("/next")
async def make(visitor: TheVisitor, page: Arranging, typed: Annotated[TermForm, Form()]) -> Response:
    """Make the class of next term, with who asks as its instructor."""
    me = await require_teacher(page.site, await visitor.learner())
    async with page.read() as db:
        began = await first_day(db, page.group)
    if not typed.name:
        return await _form(page, typed, classes.NO_CLASS_NAME)
    try:
        days = days_to_move(typed.first, typed.weeks, began)
    except ValueError as error:
        return await _form(page, typed, str(error))
    async with page.write() as db:
        earlier = await db.get_one(Class, page.class_id)
        group = await classes.create_class(db, typed.name, earlier.timezone, me.id, page.person.name)
        group.assistants_grade = earlier.assistants_grade
        await take_over_assignments(db, earlier, group, me.id, days, left_out=page.site.private_lessons)
        await take_over_sentences(db, earlier.id, group.id)
        await visitor.sessions.tell(db)
    return back_to(f"/classes/{group.id}/assignments")


def days_to_move(first: str, weeks: str, began: date | None) -> int:
    """Days from the term that *began* then to the one on whose *first* day, or so many *weeks* later, it begins anew.

    Raises:
        ValueError: They say nothing, or different things, or no such day; in words for who typed them.
    """
    if began is None:
        return 0
    moves = set()
    if weeks:
        if not weeks.isascii() or not weeks.isdecimal() or len(weeks) > 4 or 7 * int(weeks) > MAX_DAYS_LATER:
            raise ValueError(NO_WEEKS.format(typed=weeks, most=MAX_DAYS_LATER // 7))
        moves.add(7 * int(weeks))
    if day := parse_day(first):
        days = (day - began).days
        if not 0 <= days <= MAX_DAYS_LATER:
            raise ValueError((TOO_EARLY if days < 0 else TOO_LATE).format(day=day, first=began))
        moves.add(days)
    if len(moves) != 1:
        raise ValueError(TWO_MOVES if moves else NO_MOVE)
    return moves.pop()


async def _form(page: ClassPage, typed: TermForm, problem: str = "") -> Response:
    copied = await _copy_summary(page.site, page.group)
    return page.render("class_next.html", typed=typed, problem=problem, **copied)


async def _copy_summary(site: Site, earlier: Class) -> dict[str, Any]:
    """Summary of what a copy of a class has: when it *began*, how many assignments, and how many stay *behind*."""
    async with site.database.read() as db:
        rows, began = await assignments_of(db, earlier.id), await first_day(db, earlier)
    behind = sum(row.lesson in site.private_lessons for row in rows)
    return {"began": began, "behind": behind, "count": len(rows) - behind}


@router.get("/take-over")
async def ask_to_take_over(page: Arranging, earlier: str = "", to: str = "") -> Response:
    """Offer the assignments of the class whose course was copied."""
    if not earlier:
        return page.back()
    before = await _earlier(page, earlier)
    return await _offer(page, before.group, TermForm(to=to))


@router.post("/take-over")
async def take_over(page: Arranging, typed: Annotated[TermForm, Form()]) -> Response:
    if not typed.earlier:
        return page.back()
    before = await _earlier(page, typed.earlier)
    async with page.read() as db:
        began = await first_day(db, before.group)
    try:
        days = days_to_move(typed.first, typed.weeks, began)
    except ValueError as error:
        return await _offer(page, before.group, typed, str(error))
    async with page.write() as db:
        group, me = await db.merge(page.group, load=True), page.learner
        await take_over_assignments(db, before.group, group, me, days, left_out=page.site.private_lessons)
    return page.back("assignments")


async def _offer(page: ClassPage, earlier: Class, typed: TermForm, problem: str = "") -> Response:
    copied = await _copy_summary(page.site, earlier)
    wanted = own_path(typed.to) if typed.to else f"/classes/{page.class_id}"
    return page.render("lti_take_over.html", earlier=earlier, typed=typed, to=wanted, problem=problem, **copied)


async def _earlier(page: ClassPage, number: str) -> ClassMember:
    """The earlier class, of which they are an instructor as well; 404 for all others."""
    async with page.read() as db:
        before = await find_class_member(db, parse_row_id(number), page.learner)
    if before is None or not before.is_at_least("instructor") or before.group.id == page.class_id:
        raise HTTPException(404)
    return before
