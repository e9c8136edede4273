"""Signing in by a code that is sent by mail, and typed in the browser that asked for it.

Programs open the links of letters before people do, so to open one changes nothing: it shows a button.
"""

import secrets

from fastapi import APIRouter
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from app.accounts import one_time_tokens
from app.accounts.credentials import VerifiedIdentity
from app.accounts.mail import address_of
from app.accounts.providers import ProviderUnavailableError
from app.store.classes import RefusedError
from app.store.learners import hash_of
from app.teaching.codes import fresh_code, read_code, shown_code
from app.web.render import back_to, own_path
from app.web.routes.form_fields import Typed
from app.web.routes.sign_in import sign_in_page
from app.web.routes.sign_in_result import MINUTES, drop_cookie, is_adding, keep_cookie, shown_cookie, sign_in_response
from app.web.site import Site, TheSite, TheVisitor

router = APIRouter(prefix="/sign-in")

COOKIE, PATH = "code", "/sign-in"
MAX_CODE_TRIES = 5
TOKENS = 3
"""What a letter costs of the tries of its address and of the beginnings of a network."""
OVER = "There is no code for this browser: it holds for ten minutes and five tries, where it was asked for. Ask again."
WRONG = "That is not the code of the newest letter."


@router.post("/email")
async def send(
    request: Request, site: TheSite, visitor: TheVisitor, email: Typed = "", back: Typed = "/", add: Typed = ""
) -> Response:
    """Send a one-time code; the answer does not show whether the address has an account."""
    if site.doors.letters is None:
        raise HTTPException(404)
    try:
        address = address_of(email)
    except RefusedError as refused:
        return await sign_in_page(
            request, visitor, back, status=422, message=str(refused), at="email", name=email, add=bool(add)
        )
    for allowance, key in ((site.tries, ("email", address)), (visitor.sessions.beginnings, visitor.network)):
        allowance.consume(key)
        allowance.charge(key, TOKENS - 1)
    site.letters.consume(address)
    site.tickets.consume(visitor.network)
    code, token = fresh_code(), secrets.token_urlsafe(32)
    learner = await visitor.learner() if add else None
    async with site.database.write() as db:
        data = {"email": address, "code": hash_of(token + code), "back": own_path(back), "add": learner}
        await one_time_tokens.issue(db, "email-code", data, token=token)
    try:
        link = f"{site.doors.base_url}/sign-in/code?code={shown_code(code)}"
        await site.doors.letters.send(address, shown_code(code), link)
    except ProviderUnavailableError as away:
        raise HTTPException(502, str(away)) from away
    response = back_to("/sign-in/code")
    keep_cookie(request, response, COOKIE, token, PATH, MINUTES)
    return response


@router.get("/code")
async def look(request: Request, site: TheSite, code: str = "") -> Response:
    """The field for the code, with the one of a letter in it."""
    async with site.database.read() as db:
        token_data = await one_time_tokens.peek(db, "email-code", shown_cookie(request, COOKIE))
    return _page(request, site, code=code, message="" if token_data else OVER, here=token_data is not None)


@router.post("/code")
async def by_code(request: Request, site: TheSite, visitor: TheVisitor, code: Typed = "") -> Response:
    """Sign in with it."""
    token = shown_cookie(request, COOKIE)
    async with site.database.write() as db:
        token_data = await one_time_tokens.redeem_with_tries(db, "email-code", token, MAX_CODE_TRIES)
        right = token_data is not None and secrets.compare_digest(
            hash_of(token + (read_code(code) or "")), token_data["code"]
        )
        if right:
            await one_time_tokens.redeem(db, "email-code", token)
    if token_data is None or not right:
        return _page(
            request, site, status=422, code=code, message=WRONG if token_data else OVER, here=token_data is not None
        )
    proof = VerifiedIdentity(kind="email", issuer="", subject=token_data["email"])
    add = await is_adding(visitor, token_data["add"])
    response = await sign_in_response(request, site, visitor, proof, way="email", back=token_data["back"], add=add)
    drop_cookie(request, response, COOKIE, PATH)
    return response


def _page(request: Request, site: Site, *, status: int = 200, code: str, message: str, here: bool) -> Response:
    shown = shown_code(typed_code) if (typed_code := read_code(code)) else ""
    return site.pages.page(request, "code.html", status=status, code=shown, problem=message, here=here)
