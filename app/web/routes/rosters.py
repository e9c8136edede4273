"""Roster of a class: the list, an imported list, and one person of it."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Form, Query
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.responses import Response

from app.accounts import recovery
from app.accounts.merge import seat_person
from app.store import classes, rosters
from app.store.classes import RefusedError, Role
from app.store.former_members import forget_former
from app.store.lti_platforms import contexts_of
from app.store.tables import Membership
from app.teaching.codes import shown_code
from app.teaching.dates import to_local
from app.teaching.roster import RosterEntry, distinct_names
from app.teaching.sheets import as_sheet
from app.teaching.text_input import LONGEST_LINE, name_fault, one_line
from app.web.class_access import PREFIX, Arranging, ClassPage, Watching, parse_row_id, server_of
from app.web.render import file_headers
from app.web.routes.form_fields import parse_whole_number
from app.web.views.roster_view import RosterFilter, roster_view

router = APIRouter()
ROSTER = PREFIX + "/roster"
NOBODY = "Nobody was chosen. Tick the people first."
PERSON = ROSTER + "/{learner_id}"
ROSTER_COLUMNS = ("name", "id", "label", "role", "joined", "last seen", "extra days")


@router.get(ROSTER)
async def roster(page: Watching, only: Annotated[RosterFilter, Query()]) -> Response:
    return await roster_page(page, only=only)


async def roster_page(
    page: ClassPage,
    problem: str = "",
    only: RosterFilter | None = None,
    *,
    replacing: bool = False,
) -> Response:
    """The roster, with what was wrong with what was sent."""
    group, only = page.group, only or RosterFilter()
    arranges = page.may("arrange")
    async with page.read() as db:
        platforms = await contexts_of(db, group.id)
        offers = await rosters.seat_offers(db, group.id) if arranges else []
    return page.render(
        "roster.html",
        view=await roster_view(page.site, page.member, only),
        platforms=platforms,
        offers=offers,
        only=only,
        code=shown_code(group.join_code) if group.join_code else "",
        problem=problem,
        arranges=arranges,
        replacing=replacing,
    )


@router.get(PREFIX + "/roster.csv")
async def roster_file(page: Watching) -> Response:
    group, zone = page.class_id, page.group.timezone
    async with page.read() as db:
        listed = await classes.list_members(db, group)
        seen = await rosters.last_seen(db, group)
        days = await rosters.extra_days(db, group)
    rows = [
        _row(membership, seen.get(membership.learner_id), days.get(membership.learner_id, 0), zone)
        for membership in listed
    ]
    return sheet_file(f"roster-{group}.csv", [ROSTER_COLUMNS, *rows])


def _row(person: Membership, seen_at: datetime | None, days: int, zone: str) -> tuple[object, ...]:
    joined, last = (to_local(moment, zone).date() if moment else "" for moment in (person.joined_at, seen_at))
    return person.name, person.external_id, person.label, person.role, joined, last, days


def sheet_file(name: str, rows: Sequence[Sequence[object]]) -> Response:
    """*rows* as a file that a browser keeps."""
    return Response(as_sheet(rows), media_type="text/csv; charset=utf-8", headers=file_headers(name))


class Selection(BaseModel):
    """People of the roster, or *all* whom a page shows, and what becomes of them."""

    person: list[str] = []
    everybody: str = ""
    act: Literal["label", "remove"] = "label"
    new_label: str = ""
    confirm: str = ""


@router.post(ROSTER + "/selected")
async def change_selected(
    page: Arranging,
    selection: Annotated[Selection, Form()],
    only: Annotated[RosterFilter, Query()],
) -> Response:
    """One label for many, or many taken out of the class, once that was confirmed."""
    view = await roster_view(page.site, page.member, only)
    chosen = [
        membership for membership in view.shown if selection.everybody or str(membership.learner_id) in selection.person
    ]
    if not chosen:
        return await roster_page(page, NOBODY, only)
    if selection.act == "remove" and not selection.confirm:
        return page.render("roster_selected.html", chosen=chosen)
    try:
        async with page.write() as db:
            for membership in await classes.list_members(db, page.class_id):
                if membership.learner_id not in {person.learner_id for person in chosen}:
                    continue
                if selection.act == "remove":
                    await rosters.take_out(db, page.group, membership, page.learner, block=False)
                else:
                    membership.label = one_line(selection.new_label)[:LONGEST_LINE] or None
    except RefusedError as refused:
        return await roster_page(page, str(refused), only)
    return page.back("roster")


async def person_of(page: Arranging, learner_id: str) -> Membership:
    """Person on the roster; 404 for any other."""
    async with page.read() as db:
        person = await db.get(Membership, (page.class_id, parse_row_id(learner_id)))
    if person is None or (person.left_at is not None and not person.blocked):
        raise HTTPException(404)
    return person


ThePerson = Annotated[Membership, Depends(person_of)]


@router.get(PERSON)
async def person(page: Arranging, person: ThePerson) -> Response:
    return await _person(page, person)


class PersonForm(BaseModel):
    """A person of the roster as they are typed."""

    name: str = ""
    external_id: str = ""
    label: str = ""
    role: Role = "learner"
    extra_days: str = ""


async def _person(page: ClassPage, person: Membership, problem: str = "", typed: PersonForm | None = None) -> Response:
    async with page.read() as db:
        days = await rosters.extra_days(db, page.class_id)
        has_account = await recovery.has_account(db, person.learner_id)
        listed = await classes.list_members(db, page.class_id)
    present = {name: getattr(person, name) or "" for name in ("name", "external_id", "label", "role")}
    present["extra_days"] = days.get(person.learner_id, 0)
    return page.render(
        "roster_person.html",
        one=person,
        typed=typed or present,
        roles=classes.ROLES,
        has_account=has_account,
        names=distinct_names(listed),
        seats=[membership for membership in listed if membership.joined_at is None and membership.role == "learner"],
        problem=problem,
    )


@router.post(PERSON)
async def change(page: Arranging, person: ThePerson, typed: Annotated[PersonForm, Form()]) -> Response:
    entry = RosterEntry(0, one_line(typed.name), one_line(typed.external_id)[:200], one_line(typed.label)[:200])
    problem = name_fault(entry.name)
    try:
        async with page.write() as db:
            membership = await db.get(Membership, (page.class_id, person.learner_id))
            if membership is not None and not problem:
                days = parse_whole_number("Extra days", typed.extra_days)
                await rosters.change_person(db, page.group, membership, entry, typed.role, days, page.learner)
    except RefusedError as refused:
        problem = str(refused)
    return await _person(page, person, problem, typed) if problem else page.back("roster")


@router.post(PERSON + "/seat")
async def put_into_seat(page: Arranging, person: ThePerson, seat: Annotated[int, Form()] = 0) -> Response:
    """Put a learner into the seat that was reserved for them, with everything that was arranged for it."""
    try:
        async with page.write() as db:
            await seat_person(db, page.group, person.learner_id, seat, page.learner)
    except RefusedError as refused:
        return await _person(page, person, str(refused))
    return page.back("roster", person.learner_id)


@router.post(PERSON + "/reset")
async def let_reset(page: Arranging, person: ThePerson) -> Response:
    """A link to come back: to a new password, or to the seat of who has no account. It is shown nowhere else."""
    by = page.learner
    try:
        async with page.write() as db:
            account = await recovery.has_account(db, person.learner_id)
            if account:
                place = f"/sign-in/reset?token={await recovery.reset_link(db, learner=person.learner_id, by=by)}"
            else:
                place = f"/join/{shown_code(await recovery.seat_link(db, page.group, person, by))}"
    except RefusedError as refused:
        return await _person(page, person, str(refused))
    link = server_of(page.request) + place
    return page.render("reset_link.html", one=person, link=link, account_link=account)


@router.post(PERSON + "/remove")
async def remove(page: Arranging, person: ThePerson, block: Annotated[bool, Form()] = False) -> Response:
    try:
        async with page.write() as db:
            membership = await db.get(Membership, (page.class_id, person.learner_id))
            if membership is not None:
                await rosters.take_out(db, page.group, membership, page.learner, block=block)
    except RefusedError as refused:
        return await _person(page, person, str(refused))
    return page.back("roster")


@router.post(PERSON + "/unblock")
async def unblock(page: Arranging, person: ThePerson) -> Response:
    async with page.write() as db:
        membership = await db.get(Membership, (page.class_id, person.learner_id))
        if membership is not None:
            await rosters.unblock_member(db, page.group, membership, page.learner)
    return page.back("roster")


@router.post(PREFIX + "/former/{former_id}/forget")
async def forget(page: Arranging, former_id: str) -> Response:
    """Let the grades of one who left go."""
    async with page.write() as db:
        await forget_former(db, page.class_id, parse_row_id(former_id), page.learner)
    return page.back("roster")
