"""The classes that somebody is in, a new one, and the home of each."""

from typing import Annotated, Literal

from fastapi import APIRouter, Form
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from app.store import classes, invitations, joining
from app.store.classes import Inside, RefusedError
from app.store.tables import Class, Learner
from app.teaching.dates import day, timezones, zone_fault
from app.teaching.words import name_fault, one_line
from app.web.class_access import MAY, PREFIX, Arranging, Belonging, back_to_class, class_page
from app.web.render import back_to
from app.web.site import Site, TheSite, TheVisitor
from app.web.views.class_home_view import home_view, own_view

router = APIRouter()


@router.get("/classes")
async def listed(request: Request, site: TheSite, visitor: TheVisitor) -> Response:
    learner = await visitor.learner()
    async with site.database.read() as db:
        mine = await classes.classes_of(db, learner) if learner is not None else []
        me = await db.get(Learner, learner) if learner is not None else None
        claimed = await invitations.somebody_teaches(db)
    teaches = me is not None and me.teaches
    return site.pages.page(request, "classes.html", mine=mine, teaches=teaches, claimed=claimed)


async def _teacher(site: Site, learner: int | None) -> Learner:
    """Whoever may make classes; 404 for everybody else."""
    async with site.database.read() as db:
        me = await db.get(Learner, learner) if learner is not None else None
    if me is None or not me.teaches:
        raise HTTPException(404)
    return me


@router.get("/classes/new")
async def blank(request: Request, site: TheSite, visitor: TheVisitor) -> Response:
    me = await _teacher(site, await visitor.learner())
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
    me = await _teacher(site, await visitor.learner())
    await visitor.begin()
    name, called = one_line(name), one_line(called)
    problem = name_fault(called) or zone_fault(timezone) or ("" if name else classes.NO_CLASS_NAME)
    if problem:
        return _form(request, site, name=name, timezone=timezone, mine=called, problem=problem)
    async with site.database.write() as db:
        group = await classes.found(db, name[:200], timezone, me.id, called)
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
        zones=timezones(),
        problem=problem,
    )


@router.get(PREFIX)
async def home(request: Request, site: TheSite, within: Belonging) -> Response:
    return await _home(request, site, within)


async def _home(request: Request, site: Site, within: Inside, problem: str = "") -> Response:
    view = await (home_view if within.is_at_least(MAY["watch"]) else own_view)(site, within)
    return class_page(request, site, within, "class_home.html", view=view, problem=problem)


@router.post(PREFIX + "/leave")
async def leave(request: Request, site: TheSite, within: Belonging) -> Response:
    try:
        async with site.database.write() as db:
            await joining.leave(db, within.group, within.person.learner_id)
    except RefusedError as refused:
        return await _home(request, site, within, str(refused))
    return back_to("/classes")


@router.post(PREFIX + "/joining")
async def let_in(
    site: TheSite, within: Arranging, joining: Annotated[Literal["open", "invited", "closed", "rotate"], Form()]
) -> Response:
    """Who comes in with the code, or a new code in its place."""
    async with site.database.write() as db:
        await classes.let_in(db, within.group.id, joining, within.person.learner_id)
    return back_to_class(within, "roster")


@router.get(PREFIX + "/settings")
async def settings(request: Request, site: TheSite, within: Arranging) -> Response:
    group = within.group
    return _settings(
        request,
        site,
        within,
        name=group.name,
        timezone=group.timezone,
        keep_until=str(group.keep_until or ""),
        archived=group.archived_at is not None,
    )


def _settings(request: Request, site: Site, within: Inside, problem: str = "", **typed: str | bool) -> Response:
    return class_page(request, site, within, "class_settings.html", zones=timezones(), typed=typed, problem=problem)


@router.post(PREFIX + "/settings")
async def change(
    request: Request,
    site: TheSite,
    within: Arranging,
    name: Annotated[str, Form()] = "",
    timezone: Annotated[str, Form()] = "",
    keep_until: Annotated[str, Form()] = "",
    archived: Annotated[bool, Form()] = False,
) -> Response:
    try:
        async with site.database.write() as db:
            group = await db.get_one(Class, within.group.id)
            terms = classes.Terms(one_line(name)[:200], timezone, day(keep_until), archived=archived)
            await classes.change(db, group, terms, within.person.learner_id)
    except (RefusedError, ValueError) as refused:
        typed = {"name": name, "timezone": timezone, "keep_until": keep_until}
        return _settings(request, site, within, str(refused), archived=archived, **typed)
    return back_to_class(within)
