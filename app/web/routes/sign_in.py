"""Signing in and out: one page with the ways that this server has, names with passwords, links that reset them."""

from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import Response

from app.accounts import passwords, recovery
from app.accounts.credentials import VerifiedIdentity, find_credential
from app.store import learners
from app.store.classes import RefusedError
from app.web.middleware.visitor import Visitor
from app.web.render import back_to, own_path
from app.web.routes.form_fields import Typed
from app.web.routes.sign_in_result import WAY_COOKIE, proxied_subject, shown_cookie, sign_in_response
from app.web.site import Site, TheSite, TheVisitor

router = APIRouter()


async def sign_in_page(
    request: Request, visitor: Visitor, back: str, *, status: int = 200, message: str = "", at: str = "",
    name: str = "", add: bool = False,
) -> Response:  # fmt: skip
    """The page, with a *message* at the form *at*; of an account that wants to *add* a way, its part of it."""
    site: Site = request.app.state.site
    await visitor.learner()
    shown = sign_in_methods(request, site, add=add, back=own_path(back), said=message, at=at, name=name)
    return site.pages.page(request, "sign_in.html", status=status, known=visitor.known, **shown)


def sign_in_methods(request: Request, site: Site, *, add: bool = False, **values: str) -> dict[str, Any]:
    """Sign-in methods for a template: those of this server, the last used one first, or those to *add*."""
    providers, user = site.doors.providers, proxied_subject(request, site)
    order = ["passkey", *providers]
    order += [*["proxy"] * bool(user), *["email"] * bool(site.doors.letters), "password"]
    last = "" if add else shown_cookie(request, WAY_COOKIE)
    return {
        "add": add,
        "order": sorted(order, key=lambda way: way != last),
        "providers": providers,
        "proxied": user,
        **values,
    }


@router.get("/sign-in")
async def look(request: Request, visitor: TheVisitor, back: Annotated[str, Query(alias="next")] = "/") -> Response:
    return await sign_in_page(request, visitor, back)


@router.post("/sign-in/password")
async def by_password(
    request: Request, site: TheSite, visitor: TheVisitor, name: Typed = "", password: Typed = "", back: Typed = "/"
) -> Response:
    """Sign in with a name and its password."""
    try:
        subject = passwords.subject_of(name)
        async with site.turns.turn():
            keys = (("name", subject), ("address", visitor.network))
            for key in keys:
                site.tries.consume(key)
            async with site.database.read() as db:
                credential = await find_credential(db, "password", "", subject)
            await passwords.verify_password(credential, password)
            for key in keys:
                site.tries.charge(key, -1)  # only what fails counts: a class comes at once
    except RefusedError as refused:
        return await sign_in_page(request, visitor, back, status=422, message=str(refused), at="password", name=name)
    proof = VerifiedIdentity(kind="password", issuer="", subject=subject)
    return await sign_in_response(request, site, visitor, proof, way="password", back=back)


@router.post("/sign-in/name")
async def with_new_name(
    request: Request, site: TheSite, visitor: TheVisitor, name: Typed = "", password: Typed = "", back: Typed = "/",
    add: Typed = "",
) -> Response:  # fmt: skip
    """Create an account of this browser's learner: with a name that is not taken, and a password."""
    try:
        passwords.refuse_weak(name, password)
        async with site.turns.turn():
            # Both before the hash, which is what costs: a name that is taken stays counted, and so does a new learner.
            site.tries.consume(("address", visitor.network))
            visitor.sessions.beginnings.consume(visitor.network)
            async with site.database.read() as db:
                proof = await passwords.new_proof(db, name)
            proof = replace(proof, secret=await passwords.hash_password(name, password))
            site.tries.charge(("address", visitor.network), -1)
        return await sign_in_response(request, site, visitor, proof, way="password", back=back, add=bool(add))
    except RefusedError as refused:
        return await sign_in_page(
            request, visitor, back, status=422, message=str(refused), at="name", name=name, add=bool(add)
        )


@router.get("/sign-in/reset")
async def look_at_reset(request: Request, site: TheSite, token: str = "") -> Response:
    """The form of a link that an instructor has made; nothing is changed by looking at it."""
    return await _reset_page(request, site, token)


@router.post("/sign-in/reset")
async def reset(
    request: Request, site: TheSite, visitor: TheVisitor, token: Typed = "", password: Typed = ""
) -> Response:
    """Set the password anew, and sign in with it."""
    try:
        async with site.database.read() as db:
            name = await recovery.name_to_reset(db, token)
        async with site.turns.turn():
            secret = await passwords.hash_password(name, password)
        async with site.database.write() as db:
            proof = await recovery.set_new_password(db, token, secret)
    except RefusedError as refused:
        return await _reset_page(request, site, token, status=422, message=str(refused))
    return await sign_in_response(request, site, visitor, proof, way="password", back="/")


async def _reset_page(request: Request, site: Site, token: str, *, status: int = 200, message: str = "") -> Response:
    name = None
    try:
        async with site.database.read() as db:
            name = await recovery.name_to_reset(db, token)
    except RefusedError as refused:
        status, message = 404, message or str(refused)
    return site.pages.page(request, "reset.html", status=status, token=token, name=name, said=message)


@router.post("/sign-out")
async def sign_out(site: TheSite, visitor: TheVisitor) -> Response:
    """End this browser's session; an anonymous learner stays signed in, because they could never come back."""
    await visitor.learner()
    if visitor.known is not None and visitor.account:
        async with site.database.write() as db:
            await learners.end_session(db, visitor.token)
            await visitor.sessions.tell(db)
        visitor.switch_learner(visitor.known, "")
    return back_to("/")
