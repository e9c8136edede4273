"""Classes of a learner, a new class, and the home of each."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from fastapi import APIRouter, Form
from pydantic import BaseModel
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.requests import Request
from starlette.responses import Response

from app.store import classes, invitations, joining
from app.store.assignments import assignments_of
from app.store.classes import RefusedError
from app.store.comparisons import is_comparing
from app.store.former_members import is_graded
from app.store.learner_views import views_of
from app.store.tables import Class, Learner
from app.teaching.dates import format_moment, list_timezones, parse_day, zone_fault
from app.teaching.text_input import name_fault, one_line
from app.web.class_access import MAY, PREFIX, Arranging, Belonging, ClassPage, require_teacher
from app.web.render import back_to
from app.web.routes.form_fields import Typed
from app.web.routes.rosters import roster_page
from app.web.site import Site, TheSite, TheVisitor
from app.web.views.class_home_view import home_view, own_view
from app.web.views.grade_sheet import assignment_titles

router = APIRouter()
REPLACES = "A new code makes this one useless at once, on every slide and in every letter. Who has joined stays."


@router.get("/classes")
async def listed(request: Request, site: TheSite, visitor: TheVisitor) -> Response:
    learner = await visitor.learner()
    async with site.database.read() as db:
        memberships = await classes.classes_of(db, learner) if learner is not None else []
        me = await db.get(Learner, learner) if learner is not None else None
        claimed = await invitations.somebody_teaches(db)
    teaches = me is not None and me.teaches
    return site.pages.page(request, "classes.html", mine=memberships, teaches=teaches, claimed=claimed)


@router.get("/classes/new")
async def blank(request: Request, site: TheSite, visitor: TheVisitor) -> Response:
    me = await require_teacher(site, await visitor.learner())
    return _form(request, site, mine=me.name or "")


@router.post("/classes/new")
async def make(
    request: Request,
    site: TheSite,
    visitor: TheVisitor,
    name: Typed = "",
    timezone: Typed = "UTC",
    called: Typed = "",
) -> Response:
    me = await require_teacher(site, await visitor.learner())
    await visitor.begin()
    name, called = one_line(name), one_line(called)
    problem = name_fault(called) or zone_fault(timezone) or ("" if name else classes.NO_CLASS_NAME)
    if problem:
        return _form(request, site, name=name, timezone=timezone, mine=called, problem=problem)
    async with site.database.write() as db:
        group = await classes.create_class(db, name[:200], timezone, me.id, called)
        await visitor.sessions.tell(db)
    return back_to(f"/classes/{group.id}")


def _form(
    request: Request, site: Site, *, mine: str, name: str = "", timezone: str = "", problem: str = ""
) -> Response:
    return site.pages.page(
        request,
        "class_new.html",
        status=409 if problem else 200,
        name=name,
        mine=mine,
        timezone=timezone,
        zones=list_timezones(),
        problem=problem,
    )


@router.get(PREFIX)
async def home(page: Belonging) -> Response:
    if page.member.is_at_least(MAY["watch"]):
        view = await home_view(page.site, page.member, page.site.settings.shared_by)
    else:
        view = await own_view(page.site, page.member)
    async with page.read() as db:
        comparing = await is_comparing(db, page.class_id)
        looked = await views_of(db, page.class_id, page.learner)
    looks = [(name, format_moment(at, page.group.timezone)) for name, at in looked]
    return page.render("class_home.html", view=view, comparing=comparing, looked=looks)


@router.get(PREFIX + "/leave")
async def ask_to_leave(page: Belonging) -> Response:
    """Show what stays and what is deleted, before a member leaves."""
    return await _leave(page)


async def _leave(page: ClassPage, problem: str = "") -> Response:
    async with page.read() as db:
        graded = page.person.role == "learner" and await is_graded(db, page.class_id)
    return page.render("leave.html", graded=graded, problem=problem)


@router.post(PREFIX + "/leave")
async def leave(page: Belonging, sure: Typed = "") -> Response:
    if sure != "yes":
        return await _leave(page)
    try:
        async with page.write() as db:
            await joining.leave_class(db, page.group, page.learner)
    except RefusedError as refused:
        return await _leave(page, str(refused))
    return back_to("/classes")


@router.post(PREFIX + "/joining")
async def let_in(
    page: Arranging,
    joining: Annotated[Literal["open", "invited", "closed", "rotate"], Form()],
    confirm: Typed = "",
) -> Response:
    """Set who may join with the class code, or replace the code, once that is confirmed."""
    if joining == "rotate" and not confirm:
        return await roster_page(page, REPLACES, replacing=True)
    async with page.write() as db:
        await classes.let_in(db, page.class_id, joining, page.learner)
    return page.back("roster")


@dataclass(frozen=True, slots=True)
class Moved:
    """A time of an assignment, in words, before and after another time zone was chosen."""

    title: str
    what: str
    before: str
    after: str


MOVES = "The moments stay, and another time zone shows them at other times. Look at them, and save again."


@router.get(PREFIX + "/settings")
async def settings(page: Arranging) -> Response:
    return _settings(page)


class ClassForm(BaseModel):
    """Settings of a class as they are typed; *confirm* is the time zone whose other times were looked at."""

    name: str = ""
    timezone: str = ""
    keep_until: str = ""
    archived: bool = False
    assistants_grade: bool = False
    confirm: str = ""


def _settings(
    page: ClassPage,
    problem: str = "",
    typed: ClassForm | None = None,
    moved: Sequence[Moved] = (),
) -> Response:
    group = page.group
    present = ClassForm(
        name=group.name,
        timezone=group.timezone,
        keep_until=str(group.keep_until or ""),
        archived=group.archived_at is not None,
        assistants_grade=group.assistants_grade,
    )
    first = classes.today_of(group.timezone) + classes.NOTICE
    zones = list_timezones()
    return page.render(
        "class_settings.html", problem=problem, moved=moved, zones=zones, typed=typed or present, first=first
    )


@router.post(PREFIX + "/settings")
async def change(page: Arranging, typed: Annotated[ClassForm, Form()]) -> Response:
    moved: list[Moved] = []
    try:
        async with page.write() as db:
            group = await db.get_one(Class, page.class_id)
            terms = classes.ClassSettings(
                one_line(typed.name)[:200],
                typed.timezone,
                parse_day(typed.keep_until),
                archived=typed.archived,
                assistants_grade=typed.assistants_grade,
            )
            zone = typed.timezone
            moved = [] if typed.confirm == zone else await _moved_dates(page.site, db, group, zone)
            if not moved:
                await classes.change_class(db, group, terms, page.learner)
    except (RefusedError, ValueError) as refused:
        return _settings(page, str(refused), typed)
    return _settings(page, MOVES, typed, moved) if moved else page.back()


async def _moved_dates(site: Site, db: AsyncSession, group: Class, timezone: str) -> list[Moved]:
    """The times of assignments that another time zone shows otherwise; none where it is none."""
    if timezone == group.timezone or zone_fault(timezone):
        return []
    rows = await assignments_of(db, group.id)
    pairs = zip(rows, assignment_titles(site.assigned, rows), strict=True)
    return [
        Moved(title, word, format_moment(at, group.timezone), format_moment(at, timezone))
        for row, title in pairs
        for word, at in (
            ("opens", row.opens_at),
            ("due", row.due_at),
            ("late until", row.late_until),
            ("solutions closed until", row.solutions_at),
        )
        if at is not None
    ]


@router.post(PREFIX + "/delete")
async def delete(visitor: TheVisitor, page: Arranging, name: Typed = "") -> Response:
    """Forget the class now; for an instructor who has typed its name."""
    try:
        async with page.write() as db:
            await classes.delete_class(db, page.group, name, page.learner)
            await visitor.sessions.tell(db)
    except RefusedError as refused:
        return _settings(page, str(refused))
    return back_to("/classes")
