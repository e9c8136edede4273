"""For the administrator of a platform: what is entered where, and whether both sides understand each other."""

import time
from typing import Annotated
from urllib.parse import urlsplit

from fastapi import APIRouter, Form
from starlette.requests import Request
from starlette.responses import Response

from app.lti.self_test import Trial, try_platform
from app.store.lti_platforms import find_platform
from app.store.tables import LtiPlatform
from app.web.site import Site, TheSite, TheVisitor

router = APIRouter(prefix="/lti/setup")

KEPT_SECONDS = 30.0
"""A platform is not asked more often than that, whoever presses the button."""
MAX_CHARS = 1000
NOT_REGISTERED = "No platform with this issuer and client id is registered here. The operator of this server does that."


@router.get("")
async def page(request: Request, site: TheSite) -> Response:
    return _page(request, site)


@router.post("")
async def show_trials(
    request: Request,
    site: TheSite,
    visitor: TheVisitor,
    issuer: Annotated[str, Form(max_length=MAX_CHARS)] = "",
    client_id: Annotated[str, Form(max_length=MAX_CHARS)] = "",
) -> Response:
    """Try the platform that they name; the client id is known to those who look after it."""
    site.tries.consume(("lti-setup", visitor.network))
    async with site.database.read() as db:
        platform = await find_platform(db, issuer.strip(), client_id.strip()) if client_id.strip() else None
    if platform is None:
        return _page(request, site, problem=NOT_REGISTERED, issuer=issuer, client_id=client_id)
    trials = await _try_platform(site, platform)
    return _page(request, site, issuer=issuer, client_id=client_id, trials=trials, family=platform.family)


async def _try_platform(site: Site, platform: LtiPlatform) -> tuple[Trial, ...]:
    kept_at, trials = site.lti.trials.get(platform.id, (-KEPT_SECONDS, ()))
    if time.monotonic() - kept_at > KEPT_SECONDS:
        trials = await try_platform(site.lti, platform)
        site.lti.trials[platform.id] = (time.monotonic(), trials)
    return tuple(trials)


def _page(
    request: Request,
    site: Site,
    *,
    problem: str = "",
    issuer: str = "",
    client_id: str = "",
    trials: tuple[Trial, ...] = (),
    family: str = "",
) -> Response:
    return site.pages.page(
        request,
        "lti_setup.html",
        status=422 if problem else 200,
        base_url=site.lti.base_url if site.lti.address else "",
        domain=urlsplit(site.lti.base_url).netloc,
        family=family,
        problem=problem,
        issuer=issuer,
        client_id=client_id,
        trials=trials,
    )
