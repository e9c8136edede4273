"""A list that is laid over the roster of a class and taken back, and personal links for those on it."""

from collections.abc import Mapping
from typing import Annotated, Literal

from fastapi import APIRouter, File, Form, UploadFile
from starlette.responses import Response

from app.store import classes, invitations, roster_lists
from app.teaching.codes import shown_code
from app.teaching.roster import read_roster
from app.teaching.roster_columns import Field
from app.teaching.sheets import text_of
from app.web.class_access import PREFIX, Arranging, server_of
from app.web.routes.form_fields import Typed
from app.web.routes.rosters import ROSTER, roster_page, sheet_file

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
    page: Arranging,
    text: Typed = "",
    file: Annotated[UploadFile | None, File()] = None,
    apply: Typed = "",
    column: Annotated[list[str] | None, Form()] = None,
    head: Typed = "",
) -> Response:
    """Show what a list would change; *apply* does it."""
    given = text_of(await file.read()) if file is not None and file.size else text
    listing = read_roster(given, column, named=bool(head))
    if not listing.entries and not listing.faults:
        return await roster_page(page, EMPTY_LIST)
    if not apply or not listing.entries:
        async with page.read() as db:
            planned = roster_lists.roster_changes(listing.entries, await classes.list_members(db, page.class_id))
        return page.render(
            "roster_preview.html",
            changes=planned,
            listing=listing,
            text=given,
            words=FIELD_WORDS,
        )
    async with page.write() as db:
        await roster_lists.apply_list(db, page.group, listing.entries, page.learner)
    return page.back("roster")


@router.post(ROSTER + "/undo")
async def undo(page: Arranging) -> Response:
    """Take the last list back."""
    async with page.write() as db:
        await roster_lists.undo_list(db, page.group, page.learner)
    return page.back("roster")


@router.post(PREFIX + "/invitations")
async def invite(page: Arranging, kind: Annotated[Literal["page", "csv"], Form()] = "page") -> Response:
    """Create a link for every expected member. It is shown here and nowhere else: only its hash is stored."""
    async with page.write() as db:
        expected = [
            membership for membership in await classes.list_members(db, page.class_id) if membership.joined_at is None
        ]
        words = await invitations.seat_words(db, expected)
        await classes.record_event(db, page.class_id, page.learner, "invited", page.class_id, of=len(words))
    links = [
        (membership, f"{server_of(page.request)}/join/{shown_code(words[membership.learner_id])}")
        for membership in expected
    ]
    if kind == "csv":
        rows = [(membership.name, membership.external_id, membership.label, link) for membership, link in links]
        return sheet_file(f"links-{page.class_id}.csv", [("name", "id", "label", "link"), *rows])
    return page.render("invitations.html", links=links)
