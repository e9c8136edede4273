"""Account page: name, ways to sign in, devices, data export and deletion."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Form, Path
from starlette.requests import Request
from starlette.responses import Response

from app.accounts import credentials, one_time_tokens, passwords
from app.accounts.data_export import delete_learner, list_learner_rows, zip_archive
from app.store import learners
from app.store.classes import ClassMember, RefusedError, classes_of
from app.store.former_members import graded_classes
from app.store.learners import SessionLearner, hash_of
from app.store.notices import NoticeView, mark_read, notices_of
from app.store.tables import Credential, Session
from app.web.middleware.visitor import Visitor
from app.web.render import back_to, file_headers
from app.web.routes.form_fields import Typed
from app.web.routes.sign_in import sign_in_methods as ways_to_add
from app.web.routes.sign_in_result import MERGE_COOKIE, account_of, device_of, drop_cookie, shown_cookie
from app.web.site import Site, TheSite, TheVisitor

router = APIRouter(prefix="/me")

Id = Annotated[int, Path(ge=1, le=2**31 - 1)]
Beginning = Annotated[str, Path(pattern="^[0-9a-f]{16}$")]
NOT_SURE = "Nothing was deleted. Say that you mean it, and it is done at once."
WAYS = {
    "passkey": "Passkey",
    "oidc": "Sign-in elsewhere",
    "lti": "A learning platform",
    "email": "E-mail",
    "password": "Name and password",
    "proxy": "The login of this network",
}


@dataclass(frozen=True, slots=True)
class SignInMethod:
    """A way to sign in, in words."""

    id: int
    kind: str
    detail: str
    used_at: datetime | None


@dataclass(frozen=True, slots=True)
class Device:
    """A browser that is signed in, by the first letters of what is kept of its token."""

    id: str
    label: str
    seen_at: datetime
    here: bool


def way_of(row: Credential, titles: Mapping[str, str]) -> SignInMethod:
    """*titles* are those of the providers of this server, by their issuers."""
    if row.kind == "oidc" and row.issuer in titles:
        return SignInMethod(row.id, titles[row.issuer], "", row.used_at)
    detail = {
        "password": row.subject,
        "email": row.subject,
        "proxy": row.subject,
        "oidc": row.issuer,
        "lti": row.issuer,
    }.get(row.kind, "")
    return SignInMethod(row.id, WAYS[row.kind], detail, row.used_at)


def device(row: Session, token: str) -> Device:
    return Device(row.token_hash[:16], row.label or "A browser", row.seen_at, row.token_hash == hash_of(token))


@router.get("")
async def look(request: Request, site: TheSite, visitor: TheVisitor) -> Response:
    return await page(request, site, visitor)


async def page(
    request: Request, site: Site, visitor: Visitor, *, status: int = 200, said: str = "", at: str = ""
) -> Response:
    """The page, with what was *said* to the form *at*."""
    learner = await visitor.learner()
    ways: list[SignInMethod] = []
    devices: list[Device] = []
    holds = None
    groups: list[ClassMember] = []
    graded: list[ClassMember] = []
    notices: Sequence[NoticeView] = ()
    titles = {identity_provider.issuer: identity_provider.title for identity_provider in site.doors.providers.values()}
    if learner is not None:
        async with site.database.read() as db:
            ways = [way_of(credential, titles) for credential in await credentials.list_credentials(db, learner)]
            devices = [device(session, visitor.token) for session in await learners.sessions_of(db, learner)]
            holds = await credentials.account_summary(db, learner)
            groups = await classes_of(db, learner)
            graded = await graded_classes(db, learner)
            notices = await notices_of(db, learner)
    add = ways_to_add(request, site, add=True, back="/me", said=said, at=at, name="")
    values = {**add, "known": visitor.known, "ways": ways, "devices": devices, "holds": holds, "groups": groups}
    values |= {"graded": graded, "notices": notices}
    return site.pages.page(request, "me.html", status=status, **values)


@router.post("/name")
async def rename(request: Request, site: TheSite, visitor: TheVisitor, name: Typed = "") -> Response:
    """Set the display name of the learner; it opens nothing and need not be unique."""
    learner = await account_of(visitor)
    try:
        chosen = passwords.name_of(name) if name.strip() else None
    except RefusedError as refused:
        return await page(request, site, visitor, status=422, said=str(refused), at="called")
    async with site.database.write() as db:
        await learners.set_display_name(db, learner, chosen)
        await visitor.sessions.tell(db)
    return back_to("/me")


@router.post("/notices/read")
async def read_notices(site: TheSite, visitor: TheVisitor) -> Response:
    """Take notices off the other pages, once they were there for a week."""
    learner = await account_of(visitor)
    async with site.database.write() as db:
        await mark_read(db, learner)
        await visitor.sessions.tell(db)
    return back_to("/me")


@router.post("/credentials/{credential}/remove")
async def remove(request: Request, site: TheSite, visitor: TheVisitor, credential: Id, last: Typed = "") -> Response:
    """Remove a way to sign in; the last one only if the learner confirms it."""
    learner = await account_of(visitor)
    try:
        async with site.database.write() as db:
            await credentials.remove_credential(db, learner, credential, visitor.token, last=last == "yes")
            await visitor.sessions.tell(db)
    except RefusedError as refused:
        return await page(request, site, visitor, status=409, said=str(refused), at="ways")
    return back_to("/me", "ways")


@router.post("/sessions/{session}/end")
async def end(site: TheSite, visitor: TheVisitor, session: Beginning) -> Response:
    """Sign a device out: at once on every server, half a minute later at most where the word between them is lost."""
    learner = await account_of(visitor)
    async with site.database.write() as db:
        await learners.end_device(db, learner, session)
        await visitor.sessions.tell(db)
    return back_to("/me", "devices")


@router.get("/export.zip")
async def export(site: TheSite, visitor: TheVisitor) -> Response:
    """Everything that is kept of the learner."""
    learner = await account_of(visitor)
    async with site.database.read() as db:
        rows = await list_learner_rows(db, learner)
    content = await asyncio.to_thread(zip_archive, rows)
    return Response(content, headers=file_headers("backhand.zip"), media_type="application/zip")


@router.post("/delete")
async def delete(request: Request, site: TheSite, visitor: TheVisitor, sure: Typed = "") -> Response:
    """Delete everything of the learner, at once and for good."""
    learner = await account_of(visitor)
    if sure != "yes":
        return await page(request, site, visitor, status=409, said=NOT_SURE, at="delete")
    try:
        async with site.database.write() as db:
            await delete_learner(db, learner)
            await visitor.sessions.tell(db)
    except RefusedError as refused:
        return await page(request, site, visitor, status=409, said=str(refused), at="delete")
    visitor.switch_learner(SessionLearner(learner, stale=False), "")
    return back_to("/me")


@router.get("/merge")
async def look_at_two(request: Request, site: TheSite, visitor: TheVisitor) -> Response:
    """Show what the two accounts hold that this browser was signed in to, one after the other."""
    learner = await visitor.learner()
    async with site.database.read() as db:
        two = await one_time_tokens.peek(db, "merge", shown_cookie(request, MERGE_COOKIE))
        if two is None or two["now"] != learner:
            return back_to("/me")
        holds = {name: await credentials.account_summary(db, two[name]) for name in ("before", "now")}
    return site.pages.page(request, "two_accounts.html", holds=holds)


@router.post("/merge")
async def merge(
    request: Request, site: TheSite, visitor: TheVisitor, stays: Annotated[Literal["before", "now", "both"], Form()]
) -> Response:
    """Make one of the two, or leave them as they are."""
    token = shown_cookie(request, MERGE_COOKIE)
    try:
        async with site.database.write() as db:
            if stays == "both":
                await one_time_tokens.redeem(db, "merge", token)
            else:
                learner = await credentials.merge_accounts(db, visitor.token, token, stays)
                new = await credentials.rotate_session(db, visitor.token, learner, device_of(request), via=None)
                known = await learners.find_session_learner(db, new)
                await visitor.sessions.tell(db)
    except RefusedError as refused:
        return await page(request, site, visitor, status=409, said=str(refused), at="merge")
    if stays != "both" and known is not None:
        visitor.switch_learner(known, new)
    response = back_to("/me")
    drop_cookie(request, response, MERGE_COOKIE, "/me/merge")
    return response
