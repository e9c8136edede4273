"""Who is in a class: the list, a list that is laid over it, and one person of it."""

from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Depends, File, Form, Path, UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from app.accounts import passwords
from app.store import classes, invitations, rosters
from app.store.classes import Inside, RefusedError, Role
from app.store.tables import Membership
from app.teaching.codes import shown_code
from app.teaching.roster import Entry, read_roster
from app.teaching.sheets import as_sheet, text_of
from app.teaching.words import name_fault, one_line
from app.web.class_access import PREFIX, Arranging, Watching, back_to_class, class_page, numbered, server_of
from app.web.site import Site, TheSite

router = APIRouter()
ROSTER = PREFIX + "/roster"
PERSON = ROSTER + "/{learner_id}"
HEAD = ("name", "id", "label", "role", "joined", "last seen", "extra days")


@router.get(ROSTER)
async def roster(request: Request, site: TheSite, within: Watching) -> Response:
    return await _roster(request, site, within)


async def _roster(request: Request, site: Site, within: Inside, problem: str = "") -> Response:
    group = within.group
    async with site.database.read() as db:
        listed = await classes.people(db, group.id)
        seen = await rosters.last_seen(db, group.id)
        days = await rosters.extra_days(db, group.id)
        blocked = await rosters.blocked(db, group.id)
    code = shown_code(group.join_code) if group.join_code else ""
    return class_page(
        request,
        site,
        within,
        "roster.html",
        listed=listed,
        seen=seen,
        days=days,
        blocked=blocked,
        code=code,
        problem=problem,
        arranges=within.is_at_least("instructor"),
    )


@router.get(PREFIX + "/roster.csv")
async def roster_file(site: TheSite, within: Watching) -> Response:
    group = within.group.id
    async with site.database.read() as db:
        listed = await classes.people(db, group)
        seen = await rosters.last_seen(db, group)
        days = await rosters.extra_days(db, group)
    rows = [_row(one, seen.get(one.learner_id), days.get(one.learner_id, 0)) for one in listed]
    return sheet_file(f"roster-{group}.csv", [HEAD, *rows])


def _row(person: Membership, seen: object, days: int) -> tuple[object, ...]:
    joined = person.joined_at.date() if person.joined_at else ""
    last = str(seen)[:10] if seen else ""
    return person.name, person.external_id, person.label, person.role, joined, last, days


def sheet_file(name: str, rows: Sequence[Sequence[object]]) -> Response:
    """*rows* as a file that a browser keeps."""
    headers = {"content-disposition": f'attachment; filename="{name}"', "cache-control": "private, no-store"}
    return Response(as_sheet(rows), media_type="text/csv; charset=utf-8", headers=headers)


@router.post(ROSTER)
async def list_people(
    request: Request,
    site: TheSite,
    within: Arranging,
    text: Annotated[str, Form()] = "",
    file: Annotated[UploadFile | None, File()] = None,
    apply: Annotated[str, Form()] = "",
) -> Response:
    """Show what a list would change; *apply* does it."""
    given = text_of(await file.read()) if file is not None and file.size else text
    listing = read_roster(given)
    if not listing.entries and not listing.faults:
        return await _roster(request, site, within, "The list is empty. Paste a name a line, or choose a file.")
    if not apply or not listing.entries:
        async with site.database.read() as db:
            planned = rosters.changes(listing.entries, await classes.people(db, within.group.id))
        return class_page(
            request, site, within, "roster_preview.html", changes=planned, faults=listing.faults, text=given
        )
    async with site.database.write() as db:
        await rosters.apply(db, within.group, listing.entries, within.person.learner_id)
    return back_to_class(within, "roster")


@router.post(PREFIX + "/invitations")
async def invite(request: Request, site: TheSite, within: Arranging) -> Response:
    """A link for everybody who is expected. It is shown here and nowhere else: only its hash is kept."""
    async with site.database.write() as db:
        expected = [one for one in await classes.people(db, within.group.id) if one.joined_at is None]
        words = await invitations.seat_words(db, expected)
        await classes.record(db, within.group.id, within.person.learner_id, "invited", within.group.id, of=len(words))
    links = [(one, f"{server_of(request)}/join/{shown_code(words[one.learner_id])}") for one in expected]
    answer = class_page(request, site, within, "invitations.html", links=links)
    answer.headers["cache-control"] = "no-store"
    return answer


async def person_of(site: TheSite, within: Arranging, learner_id: Annotated[str, Path()]) -> Membership:
    """Somebody on the roster; 404 for everybody else."""
    async with site.database.read() as db:
        person = await rosters.person_in(db, within.group.id, numbered(learner_id))
    if person is None or (person.left_at is not None and not person.blocked):
        raise HTTPException(404)
    return person


ThePerson = Annotated[Membership, Depends(person_of)]


@router.get(PERSON)
async def person(request: Request, site: TheSite, within: Arranging, person: ThePerson) -> Response:
    return await _person(request, site, within, person)


async def _person(
    request: Request, site: Site, within: Inside, person: Membership, problem: str = "", **typed: str | int
) -> Response:
    async with site.database.read() as db:
        days = await rosters.extra_days(db, within.group.id)
    kept = {
        "name": person.name,
        "external_id": person.external_id or "",
        "label": person.label or "",
        "role": person.role,
        "extra_days": days.get(person.learner_id, 0),
    }
    return class_page(
        request,
        site,
        within,
        "roster_person.html",
        one=person,
        typed={**kept, **typed},
        roles=classes.ROLES,
        problem=problem,
    )


@router.post(PERSON)
async def change(
    request: Request,
    site: TheSite,
    within: Arranging,
    person: ThePerson,
    name: Annotated[str, Form()] = "",
    external_id: Annotated[str, Form()] = "",
    label: Annotated[str, Form()] = "",
    role: Annotated[Role, Form()] = "learner",
    extra_days: Annotated[int, Form()] = 0,
) -> Response:
    entry = Entry(0, one_line(name), one_line(external_id)[:200], one_line(label)[:200])
    problem = name_fault(entry.name)
    try:
        async with site.database.write() as db:
            here = await rosters.person_in(db, within.group.id, person.learner_id)
            if here is not None and not problem:
                await rosters.change_person(db, within.group, here, entry, role, extra_days, within.person.learner_id)
    except RefusedError as refused:
        problem = str(refused)
    if problem:
        typed = {"name": name, "external_id": external_id, "label": label}
        return await _person(request, site, within, person, problem, role=role, extra_days=extra_days, **typed)
    return back_to_class(within, "roster")


@router.post(PERSON + "/reset")
async def let_reset(request: Request, site: TheSite, within: Arranging, person: ThePerson) -> Response:
    """A link with which somebody sets a new password. It is shown here and nowhere else: only its hash is kept."""
    try:
        async with site.database.write() as db:
            token = await passwords.reset(db, learner=person.learner_id, by=within.person.learner_id)
    except RefusedError as refused:
        return await _person(request, site, within, person, str(refused))
    link = f"{server_of(request)}/sign-in/reset?token={token}"
    answer = class_page(request, site, within, "reset_link.html", one=person, link=link)
    answer.headers["cache-control"] = "no-store"
    return answer


@router.post(PERSON + "/remove")
async def remove(
    request: Request, site: TheSite, within: Arranging, person: ThePerson, block: Annotated[bool, Form()] = False
) -> Response:
    try:
        async with site.database.write() as db:
            here = await rosters.person_in(db, within.group.id, person.learner_id)
            if here is not None:
                await rosters.take_out(db, within.group, here, within.person.learner_id, block=block)
    except RefusedError as refused:
        return await _person(request, site, within, person, str(refused))
    return back_to_class(within, "roster")


@router.post(PERSON + "/unblock")
async def unblock(site: TheSite, within: Arranging, person: ThePerson) -> Response:
    async with site.database.write() as db:
        here = await rosters.person_in(db, within.group.id, person.learner_id)
        if here is not None:
            await rosters.unblock(db, within.group, here, within.person.learner_id)
    return back_to_class(within, "roster")
