"""Requests of the passkey script: a challenge, and the verification of the device's response."""

from typing import Annotated, Any

from fastapi import APIRouter, Body
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from app.accounts import one_time_tokens, passkeys
from app.accounts.credentials import VerifiedIdentity, find_credential, list_credentials
from app.accounts.passkeys import RelyingParty
from app.store.classes import RefusedError
from app.web.middleware.visitor import Visitor
from app.web.render import own_path
from app.web.routes.sign_in_result import (
    MINUTES,
    drop_cookie,
    is_adding,
    keep_cookie,
    shown_cookie,
    sign_in_response,
    spend_ticket,
)
from app.web.site import Site, TheSite, TheVisitor

router = APIRouter(prefix="/sign-in/passkey")

Sent = Annotated[dict[str, Any], Body()]
COOKIE, PATH = "challenge", "/sign-in/passkey"
GONE = "That took longer than ten minutes, or was tried before. Try again."


@router.post("/ask")
async def ask(request: Request, site: TheSite, visitor: TheVisitor, sent: Sent) -> Response:
    """A challenge: `make` a new passkey, or show one."""
    party, learner = _here(request, site), await visitor.learner()
    spend_ticket(site, visitor)
    make = sent.get("make") is True
    async with site.database.write() as db:
        have = await list_credentials(db, learner) if learner is not None else []
        options = (
            passkeys.registration_options(party, _name(visitor), have)
            if make
            else passkeys.authentication_options(party)
        )
        data = {
            "challenge": options["challenge"],
            "make": make,
            "add": learner if sent.get("add") is True else None,
            "back": own_path(str(sent.get("back", "/"))),
        }
        token = await one_time_tokens.issue(db, "passkey", data)
    response = JSONResponse(options, headers={"cache-control": "no-store"})
    keep_cookie(request, response, COOKIE, token, PATH, MINUTES)
    return response


@router.post("/enter")
async def enter(request: Request, site: TheSite, visitor: TheVisitor, sent: Sent) -> Response:
    """Sign in by what the device made of the challenge; where to go on to."""
    try:
        proof, token_data = await _proof(request, site, sent)
        add = await is_adding(visitor, token_data["add"])
        response = await sign_in_response(
            request, site, visitor, proof, way="passkey", back=token_data["back"], add=add
        )
    except RefusedError as refused:
        site.tries.consume(("address", visitor.network))
        return JSONResponse({"said": str(refused)}, 422)
    answer = JSONResponse({"to": site.settings.prefix + response.headers["location"]})
    answer.raw_headers += [header for header in response.raw_headers if header[0] == b"set-cookie"]
    drop_cookie(request, answer, COOKIE, PATH)
    return answer


async def _proof(request: Request, site: Site, sent: dict[str, Any]) -> tuple[VerifiedIdentity, dict[str, Any]]:
    party = _here(request, site)
    async with site.database.write() as db:
        token_data = await one_time_tokens.redeem(db, "passkey", shown_cookie(request, COOKIE))
    if token_data is None:
        raise RefusedError(GONE)
    registration = passkeys.verify_registration(party, token_data["challenge"], sent) if token_data["make"] else None
    async with site.database.read() as db:
        credential = await find_credential(
            db, "passkey", party.host, registration.subject if registration else passkeys.shown_id(sent)
        )
    if registration is not None:
        if credential is not None:  # whoever makes one under the id of another proves nothing of that one
            raise RefusedError(passkeys.NO_PROOF)
        return registration, token_data
    return passkeys.verify_authentication(party, token_data["challenge"], sent, credential), token_data


def _here(request: Request, site: Site) -> RelyingParty:
    token_data = request.headers.get("host", "")
    return site.doors.here(token_data, secure=site.settings.secure_cookies)


def _name(visitor: Visitor) -> str:
    return (visitor.known.name if visitor.known else None) or "Backhand"
