"""Classes of a learner, a new class, and the home of each."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Form
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.requests import Request
from starlette.responses import Response

from app.store import classes, invitations, joining
from app.store.assignments import assignments_of
from app.store.classes import ClassMember, RefusedError
from app.store.comparisons import is_comparing
from app.store.former_members import is_graded
from app.store.learner_views import views_of
from app.store.tables import Class, Learner
from app.teaching.dates import format_moment, list_timezones, parse_day, zone_fault
from app.teaching.text_input import name_fault, one_line
from app.web.class_access import MAY, PREFIX, Arranging, Belonging, back_to_class, class_page, require_teacher
from app.web.render import back_to
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
    name: Annotated[str, Form()] = "",
    timezone: Annotated[str, Form()] = "UTC",
    called: Annotated[str, Form()] = "",
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
async def home(request: Request, site: TheSite, within: Belonging) -> Response:
    if within.is_at_least(MAY["watch"]):
        view = await home_view(site, within, request.app.state.settings.shared_by)
    else:
        view = await own_view(site, within)
    async with site.database.read() as db:
        comparing = await is_comparing(db, within.group.id)
        looked = await views_of(db, within.group.id, within.person.learner_id)
    return class_page(
        request, site, within, "class_home.html", view=view, comparing=comparing, looked=_local_times(within, looked)
    )


def _local_times(within: ClassMember, looked: Sequence[tuple[str, datetime]]) -> list[tuple[str, str]]:
    """Names of those who looked at pages as this member, with the time in the zone of the class."""
    return [(name, format_moment(at, within.group.timezone)) for name, at in looked]


@router.get(PREFIX + "/leave")
async def ask_to_leave(request: Request, site: TheSite, within: Belonging) -> Response:
    """Show what stays and what is deleted, before a member leaves."""
    return await _leave(request, site, within)


async def _leave(request: Request, site: Site, within: ClassMember, problem: str = "") -> Response:
    async with site.database.read() as db:
        graded = within.person.role == "learner" and await is_graded(db, within.group.id)
    return class_page(request, site, within, "leave.html", graded=graded, problem=problem)


@router.post(PREFIX + "/leave")
async def leave(request: Request, site: TheSite, within: Belonging, sure: Annotated[str, Form()] = "") -> Response:
    if sure != "yes":
        return await _leave(request, site, within)
    try:
        async with site.database.write() as db:
            await joining.leave_class(db, within.group, within.person.learner_id)
    except RefusedError as refused:
        return await _leave(request, site, within, str(refused))
    return back_to("/classes")


@router.post(PREFIX + "/joining")
async def let_in(
    request: Request,
    site: TheSite,
    within: Arranging,
    joining: Annotated[Literal["open", "invited", "closed", "rotate"], Form()],
    confirm: Annotated[str, Form()] = "",
) -> Response:
    """Set who may join with the class code, or replace the code, once that is confirmed."""
    if joining == "rotate" and not confirm:
        return await roster_page(request, site, within, REPLACES, replacing=True)
    async with site.database.write() as db:
        await classes.let_in(db, within.group.id, joining, within.person.learner_id)
    return back_to_class(within, "roster")


@dataclass(frozen=True, slots=True)
class Moved:
    """A time of an assignment, in words, before and after another time zone was chosen."""

    title: str
    what: str
    before: str
    after: str


MOVES = "The moments stay, and another time zone shows them at other times. Look at them, and save again."


@router.get(PREFIX + "/settings")
async def settings(request: Request, site: TheSite, within: Arranging) -> Response:
    return _settings(request, site, within, _form_values(within.group))


def _form_values(group: Class) -> dict[str, str | bool]:
    return {
        "name": group.name,
        "timezone": group.timezone,
        "keep_until": str(group.keep_until or ""),
        "archived": group.archived_at is not None,
        "assistants_grade": group.assistants_grade,
    }


def _settings(
    request: Request,
    site: Site,
    within: ClassMember,
    typed: dict[str, str | bool],
    problem: str = "",
    moved: Sequence[Moved] = (),
) -> Response:
    shown = {
        "moved": moved,
        "zones": list_timezones(),
        "typed": typed,
        "first": classes.today_of(within.group.timezone) + classes.NOTICE,
    }
    return class_page(request, site, within, "class_settings.html", problem=problem, **shown)


@router.post(PREFIX + "/settings")
async def change(
    request: Request,
    site: TheSite,
    within: Arranging,
    name: Annotated[str, Form()] = "",
    timezone: Annotated[str, Form()] = "",
    keep_until: Annotated[str, Form()] = "",
    archived: Annotated[bool, Form()] = False,
    assistants_grade: Annotated[bool, Form()] = False,
    confirm: Annotated[str, Form()] = "",
) -> Response:
    moved: list[Moved] = []
    try:
        async with site.database.write() as db:
            group = await db.get_one(Class, within.group.id)
            terms = classes.ClassSettings(
                one_line(name)[:200],
                timezone,
                parse_day(keep_until),
                archived=archived,
                assistants_grade=assistants_grade,
            )
            moved = [] if confirm == timezone else await _moved_dates(site, db, group, timezone)
            if not moved:
                await classes.change_class(db, group, terms, within.person.learner_id)
    except (RefusedError, ValueError) as refused:
        typed: dict[str, str | bool] = {
            "name": name,
            "timezone": timezone,
            "keep_until": keep_until,
            "archived": archived,
            "assistants_grade": assistants_grade,
        }
        return _settings(request, site, within, typed, str(refused))
    if moved:
        typed = {"name": name, "timezone": timezone, "keep_until": keep_until, "archived": archived}
        typed |= {"assistants_grade": assistants_grade}
        return _settings(request, site, within, typed, MOVES, moved)
    return back_to_class(within)


async def _moved_dates(site: Site, db: AsyncSession, group: Class, timezone: str) -> list[Moved]:
    """The times of assignments that another time zone shows otherwise; none where it is none."""
    if timezone == group.timezone or zone_fault(timezone):
        return []
    rows = await assignments_of(db, group.id)
    pairs = zip(rows, assignment_titles(site.assigned, rows), strict=True)
    return [
        Moved(title, word, format_moment(at, group.timezone), format_moment(at, timezone))
        for row, title in pairs
        for word, at in (("opens", row.opens_at), ("due", row.due_at), ("late until", row.late_until))
        if at is not None
    ]


@router.post(PREFIX + "/delete")
async def delete(
    request: Request, site: TheSite, visitor: TheVisitor, within: Arranging, name: Annotated[str, Form()] = ""
) -> Response:
    """Forget the class now; for an instructor who has typed its name."""
    group = within.group
    try:
        async with site.database.write() as db:
            await classes.delete_class(db, group, name, within.person.learner_id)
            await visitor.sessions.tell(db)
    except RefusedError as refused:
        return _settings(request, site, within, _form_values(group), str(refused))
    return back_to("/classes")
