"""Next term: a class made from an earlier one, with its assignments at later dates and without its people."""

from collections.abc import Mapping
from datetime import date
from typing import Annotated

from fastapi import APIRouter, Form
from starlette.requests import Request
from starlette.responses import Response

from app.store import classes
from app.store.assignments import assignments_of
from app.store.class_copies import MAX_DAYS_LATER, first_day, take_over_assignments
from app.store.classes import ClassMember
from app.store.tables import Class
from app.teaching.dates import parse_day
from app.teaching.text_input import one_line
from app.web.class_access import PREFIX, Arranging, class_page, require_teacher
from app.web.render import back_to
from app.web.site import Site, TheSite, TheVisitor

router = APIRouter(prefix=PREFIX)

NO_MOVE = "Say when the term begins, or by how many weeks its dates move."
TWO_MOVES = "The first day and the weeks say different things. Leave one of them empty."
NO_WEEKS = "{typed!r} is no number of weeks from 0 to {most}."
TOO_EARLY = "{day} is before {first}, when the earlier term began."
TOO_LATE = "{day} is more than ten years after {first}, when the earlier term began."


@router.get("/next")
async def ask(request: Request, site: TheSite, visitor: TheVisitor, within: Arranging) -> Response:
    await require_teacher(site, await visitor.learner())
    return await _form(request, site, within, {"name": within.group.name, "first": "", "weeks": ""})


@router.post("/next")
async def make(
    request: Request,
    site: TheSite,
    visitor: TheVisitor,
    within: Arranging,
    name: Annotated[str, Form()] = "",
    first: Annotated[str, Form()] = "",
    weeks: Annotated[str, Form()] = "",
) -> Response:
    """Make the class of next term, with who asks as its instructor."""
    me = await require_teacher(site, await visitor.learner())
    typed = {"name": one_line(name)[:200], "first": first.strip()[:40], "weeks": weeks.strip()[:20]}
    async with site.database.read() as db:
        began = await first_day(db, within.group)
    if not typed["name"]:
        return await _form(request, site, within, typed, classes.NO_CLASS_NAME)
    try:
        days = days_to_move(typed["first"], typed["weeks"], began)
    except ValueError as error:
        return await _form(request, site, within, typed, str(error))
    async with site.database.write() as db:
        earlier = await db.get_one(Class, within.group.id)
        group = await classes.create_class(db, typed["name"], earlier.timezone, me.id, within.person.name)
        group.assistants_grade = earlier.assistants_grade
        await take_over_assignments(db, earlier, group, me.id, days, left_out=private_lessons(site))
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


def private_lessons(site: Site) -> frozenset[str]:
    """Lessons that a class may be assigned only if the operator gave their unit to it."""
    return frozenset(lesson.name for unit in site.whole.units if unit.private for lesson in unit.lessons)


async def _form(
    request: Request, site: Site, within: ClassMember, typed: Mapping[str, str], problem: str = ""
) -> Response:
    async with site.database.read() as db:
        rows, began = await assignments_of(db, within.group.id), await first_day(db, within.group)
    private = private_lessons(site)
    behind = sum(row.lesson in private for row in rows)
    return class_page(
        request, site, within, "class_next.html", typed=typed, problem=problem, began=began, behind=behind,
        count=len(rows) - behind,
    )  # fmt: skip
