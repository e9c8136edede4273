"""Sign-in by an identity provider, or by a proxy in front of this server."""

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from app.accounts import one_time_tokens
from app.accounts.credentials import VerifiedIdentity
from app.accounts.providers import IdentityProvider, ProviderUnavailableError
from app.store.classes import RefusedError
from app.web.middleware.security import is_same_site
from app.web.render import own_path
from app.web.routes.form_fields import Typed
from app.web.routes.sign_in import sign_in_page
from app.web.routes.sign_in_result import (
    MINUTES,
    drop_cookie,
    is_adding,
    keep_cookie,
    proxied_subject,
    shown_cookie,
    sign_in_response,
    spend_ticket,
)
from app.web.site import Site, TheSite, TheVisitor, or_404

router = APIRouter(prefix="/sign-in")

Back = Annotated[str, Query(alias="next")]
COOKIE = "asked"
PATH = "/sign-in"
GONE = "This sign-in began in another browser, was already used, or is older than ten minutes. Start again."


@router.post("/proxy")
async def by_proxy(
    request: Request,
    site: TheSite,
    visitor: TheVisitor,
    back: Typed = "/",
    add: Typed = "",
) -> Response:
    """Be whom the proxy says."""
    user = proxied_subject(request, site)
    if not user:
        raise HTTPException(403, "No proxy that this server believes says who you are.")
    proof = VerifiedIdentity(kind="proxy", issuer="", subject=user, name=user)
    try:
        return await sign_in_response(request, site, visitor, proof, way="proxy", back=back, add=bool(add))
    except RefusedError as refused:
        return await sign_in_page(request, visitor, back, status=422, message=str(refused), at="proxy", add=bool(add))


@router.get("/{provider}")
async def ask(
    request: Request, site: TheSite, visitor: TheVisitor, provider: str, back: Back = "/", add: str = ""
) -> Response:
    """Send the browser to a provider. A link and no form: a content policy keeps forms from leading elsewhere."""
    door = _door(site, provider)
    if not is_same_site(request.headers, secure=site.settings.secure_cookies):
        raise HTTPException(403, "Signing in begins on a page of this server.")
    spend_ticket(site, visitor)
    try:
        question = await door.question(f"{site.doors.base_url}/sign-in/{provider}/back")
    except ProviderUnavailableError as away:
        raise HTTPException(502, str(away)) from away
    learner = await visitor.learner() if add else None
    async with site.database.write() as db:
        data = {"asked": question, "provider": provider, "back": own_path(back), "add": learner}
        token = await one_time_tokens.issue(db, "oidc", data)
    response = RedirectResponse(question["url"], 303, {"cache-control": "no-store"})
    keep_cookie(request, response, COOKIE, token, PATH, MINUTES)
    return response


@router.get("/{provider}/back")
async def answer(request: Request, site: TheSite, visitor: TheVisitor, provider: str) -> Response:
    """The browser is back, with what the provider says of it."""
    door = _door(site, provider)
    async with site.database.write() as db:
        data = await one_time_tokens.redeem(db, "oidc", shown_cookie(request, COOKIE))
    if data is None or data["provider"] != provider:
        return await sign_in_page(request, visitor, "/", status=403, message=GONE, at=provider)
    try:
        proof = await door.answer(data["asked"], dict(request.query_params))
        add = await is_adding(visitor, data["add"])
        response = await sign_in_response(request, site, visitor, proof, way=provider, back=data["back"], add=add)
    except ProviderUnavailableError as away:
        raise HTTPException(502, str(away)) from away
    except RefusedError as refused:
        add = data["add"] is not None
        return await sign_in_page(
            request, visitor, data["back"], status=403, message=str(refused), at=provider, add=add
        )
    drop_cookie(request, response, COOKIE, PATH)
    return response


def _door(site: Site, provider: str) -> IdentityProvider:
    return or_404(site.doors.providers.get(provider))
