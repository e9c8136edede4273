"""From the frame of a learning platform into a tab, as the same person, by a one-time token."""

from typing import Any

from fastapi import APIRouter
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from app.accounts import one_time_tokens
from app.accounts.credentials import VerifiedIdentity
from app.store import learners
from app.store.classes import RefusedError
from app.store.tables import Credential, Session
from app.web.middleware.security import is_same_site
from app.web.render import back_to, own_path
from app.web.routes.form_fields import Typed
from app.web.routes.sign_in_result import MINUTES, drop_cookie, is_secure, keep_cookie, shown_cookie, sign_in_response
from app.web.site import Site, TheSite, TheVisitor

router = APIRouter(prefix="/lti")

ENTRY_COOKIE, ENTRY_PATH = "lti-entry", "/lti/enter"
TICKET_OVER = "This was opened before, or more than ten minutes ago. Open the link on your learning platform again."


async def issue_entry(db: AsyncSession, identity: VerifiedIdentity, to: str) -> str:
    """The token with which a browser comes in as *identity*, once, and goes on *to* a page."""
    data = {"issuer": identity.issuer, "subject": identity.subject, "name": identity.name, "to": to}
    return await one_time_tokens.issue(db, "lti-entry", data)


def enter_in_tab(request: Request, entry: str) -> Response:
    """Lead a tab to where the token *entry* lets it in."""
    response = RedirectResponse(ENTRY_PATH, 303)
    keep_cookie(request, response, ENTRY_COOKIE, entry, ENTRY_PATH, MINUTES)
    return response


@router.get("/own-tab")
async def own_tab(request: Request, site: TheSite, visitor: TheVisitor, to: str = "/") -> Response:
    """In a frame, what opens *to* in a tab: with the same person, where cookies of tabs are kept."""
    if not visitor.framed:
        return back_to(own_path(to))
    # Only our own pages lead here, and what is answered to others begins nothing.
    own = is_same_site(request.headers, secure=is_secure(request))
    learner, entry = await visitor.learner() if own else None, ""
    async with site.database.write() as db:
        session = await db.get(Session, learners.hash_of(visitor.token)) if learner is not None else None
        credential = await db.get(Credential, session.credential_id) if session and session.credential_id else None
        if credential is not None:
            identity = VerifiedIdentity(kind="lti", issuer=credential.issuer, subject=credential.subject, name="")
            entry = await issue_entry(db, identity, own_path(to))
    return frame_page(request, site, "lti_own_tab.html", entry=entry, to=own_path(to), stay="")


@router.post("/enter")
async def enter_by_form(
    request: Request, site: TheSite, visitor: TheVisitor, entry: Typed = "", to: Typed = "/"
) -> Response:
    """From a frame into a tab of its own."""
    return await _enter(request, site, visitor, entry) if entry else back_to(own_path(to))


@router.get("/enter")
async def enter(request: Request, site: TheSite, visitor: TheVisitor) -> Response:
    """From a launch in a tab."""
    response = await _enter(request, site, visitor, shown_cookie(request, ENTRY_COOKIE))
    drop_cookie(request, response, ENTRY_COOKIE, ENTRY_PATH)
    return response


async def _enter(request: Request, site: Site, visitor: TheVisitor, entry: str) -> Response:
    async with site.database.write() as db:
        data = await one_time_tokens.redeem(db, "lti-entry", entry)
    if data is None:
        raise HTTPException(403, TICKET_OVER)
    proof = VerifiedIdentity(kind="lti", issuer=data["issuer"], subject=data["subject"], name=data["name"])
    try:
        return await sign_in_response(request, site, visitor, proof, way="lti", back=data["to"])
    except RefusedError as refused:
        raise HTTPException(409, str(refused)) from refused


def frame_page(request: Request, site: Site, template: str, *, status: int = 200, **values: Any) -> Response:
    """A page as it is in a frame, with nothing around it."""
    return site.in_frame.pages.page(request, template, status=status, base_url=site.lti.base_url, **values)
