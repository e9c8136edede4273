"""A list that is laid over the roster of a class and taken back, and personal links for those on it."""

from collections.abc import Mapping
from typing import Annotated, Literal

from fastapi import APIRouter, File, Form, UploadFile
from starlette.requests import Request
from starlette.responses import Response

from app.store import classes, invitations, roster_lists
from app.teaching.codes import shown_code
from app.teaching.roster import read_roster
from app.teaching.roster_columns import Field
from app.teaching.sheets import text_of
from app.web.class_access import PREFIX, Arranging, back_to_class, class_page, server_of
from app.web.routes.rosters import ROSTER, roster_page, sheet_file
from app.web.site import TheSite

router = APIRouter()
EMPTY_LIST = "The list is empty. Paste a name a line, or choose a file."
FIELD_WORDS: Mapping[Field, str] = {
    "": "not read",
    "name": "whole name",
    "first": "first name",
    "last": "last name",
    "id": "id",
    "label": "label",
}


@router.post(ROSTER)
async def list_people(
    request: Request,
    site: TheSite,
    within: Arranging,
    text: Annotated[str, Form()] = "",
    file: Annotated[UploadFile | None, File()] = None,
    apply: Annotated[str, Form()] = "",
    column: Annotated[list[str] | None, Form()] = None,
    head: Annotated[str, Form()] = "",
) -> Response:
    """Show what a list would change; *apply* does it."""
    given = text_of(await file.read()) if file is not None and file.size else text
    listing = read_roster(given, column, named=bool(head))
    if not listing.entries and not listing.faults:
        return await roster_page(
            request, site, within, problem="The list is empty. Paste a name a line, or choose a file."
        )
    if not apply or not listing.entries:
        async with site.database.read() as db:
            planned = roster_lists.roster_changes(listing.entries, await classes.list_members(db, within.group.id))
        return class_page(
            request,
            site,
            within,
            "roster_preview.html",
            changes=planned,
            listing=listing,
            text=given,
            words=FIELD_WORDS,
        )
    async with site.database.write() as db:
        await roster_lists.apply_list(db, within.group, listing.entries, within.person.learner_id)
    return back_to_class(within, "roster")


@router.post(ROSTER + "/undo")
async def undo(site: TheSite, within: Arranging) -> Response:
    """Take the last list back."""
    async with site.database.write() as db:
        await roster_lists.undo_list(db, within.group, within.person.learner_id)
    return back_to_class(within, "roster")


@router.post(PREFIX + "/invitations")
async def invite(
    request: Request, site: TheSite, within: Arranging, kind: Annotated[Literal["page", "csv"], Form()] = "page"
) -> Response:
    """Create a link for every expected member. It is shown here and nowhere else: only its hash is stored."""
    async with site.database.write() as db:
        expected = [
            membership for membership in await classes.list_members(db, within.group.id) if membership.joined_at is None
        ]
        words = await invitations.seat_words(db, expected)
        await classes.record_event(
            db, within.group.id, within.person.learner_id, "invited", within.group.id, of=len(words)
        )
    links = [
        (membership, f"{server_of(request)}/join/{shown_code(words[membership.learner_id])}") for membership in expected
    ]
    if kind == "csv":
        rows = [(membership.name, membership.external_id, membership.label, link) for membership, link in links]
        return sheet_file(f"links-{within.group.id}.csv", [("name", "id", "label", "link"), *rows])
    answer = class_page(request, site, within, "invitations.html", links=links)
    answer.headers["cache-control"] = "no-store"
    return answer
