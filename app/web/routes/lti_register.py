"""Registration of a platform that brings the operator's ticket."""

from typing import Annotated, Any

import structlog
from fastapi import APIRouter, Form, Query
from starlette.requests import Request
from starlette.responses import Response

from app.accounts import one_time_tokens
from app.lti.errors import LaunchError, PlatformError
from app.lti.keys import encryption_in, make_keys
from app.lti.platform_client import address_fault, origin_of
from app.lti.registration import register_at
from app.store.classes import RefusedError
from app.store.lti_platforms import add_platform
from app.web.site import Site, TheSite, TheVisitor

log = structlog.get_logger()
router = APIRouter(prefix="/lti/register")

Asked = Annotated[str, Query(max_length=2000)]
Sent = Annotated[str, Form(max_length=8000)]
NO_TICKET = "This address was used before, or is older than an hour. The operator of this server makes another one."
NO_PLATFORM = "This address is for the registration form of a learning platform, which opens it itself."


@router.get("")
async def ask(
    request: Request,
    site: TheSite,
    ticket: Asked = "",
    openid_configuration: Asked = "",
    registration_token: Annotated[str, Query(max_length=8000)] = "",
) -> Response:
    """A platform opens this in a frame; nothing happens before the button is pressed."""
    data = await _ticket(site, ticket)
    if data is None:
        return _page(request, site, problem=NO_TICKET, status=403)
    if not openid_configuration:
        return _page(request, site, problem=NO_PLATFORM, status=422)
    if fault := address_fault(openid_configuration, private=data["private"]):
        return _page(request, site, problem=f"The platform's configuration cannot be asked for. {fault}", status=422)
    _let_frame(request, openid_configuration)
    form = {"ticket": ticket, "openid_configuration": openid_configuration, "registration_token": registration_token}
    return _page(request, site, form=form, host=origin_of(openid_configuration))


@router.post("")
async def register(
    request: Request,
    site: TheSite,
    visitor: TheVisitor,
    ticket: Sent = "",
    openid_configuration: Sent = "",
    registration_token: Sent = "",
) -> Response:
    site.tries.consume(("lti-register", visitor.network))
    data = await _ticket(site, ticket)
    if data is None or not site.lti.address:
        return _page(request, site, problem=NO_TICKET, status=403)
    _let_frame(request, openid_configuration)
    try:
        platform, deployments = await register_at(
            site.lti.client, openid_configuration, registration_token, site.lti.base_url, private=data["private"]
        )
        async with site.database.write() as db:
            if await one_time_tokens.redeem(db, "lti-ticket", ticket) is None:
                return _page(request, site, problem=NO_TICKET, status=403)
            await make_keys(db, encryption_in(site.lti.secret_path, make=True))
            await add_platform(db, platform, deployments)
    except (LaunchError, PlatformError, RefusedError) as error:
        problem = f"{error} {getattr(error, 'answer', '')}".strip()
        log.warning("lti-registration-refused", reason=problem)
        return _page(request, site, problem=problem, status=422)
    site.lti.forget_origins()
    log.info("lti-platform-registered", issuer=platform.issuer, client_id=platform.client_id)
    return _page(request, site, platform=platform, deployments=deployments)


async def _ticket(site: Site, ticket: str) -> dict[str, Any] | None:
    async with site.database.read() as db:
        return await one_time_tokens.peek(db, "lti-ticket", ticket) if ticket else None


def _let_frame(request: Request, configuration_url: str) -> None:
    """Let any site with the ticket show this in a frame: the platform is not registered yet."""
    request.state.frame_ancestors = origin_of(configuration_url) or "'none'"


def _page(request: Request, site: Site, *, status: int = 200, problem: str = "", **values: Any) -> Response:
    shared = {"form": None, "host": "", "platform": None, "deployments": (), **values}
    return site.in_frame.pages.page(request, "lti_register.html", status=status, problem=problem, **shared)
