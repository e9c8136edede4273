"""Coming from a learning platform: login and launch."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

import structlog
from fastapi import APIRouter
from sqlalchemy.exc import IntegrityError
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from app.accounts import one_time_tokens
from app.accounts.credentials import sign_in
from app.lti.claims import DeepLinking, Launch
from app.lti.deep_linking import check_return_url, pending_choice
from app.lti.enrolment import enrol, identity_of, is_known
from app.lti.errors import LaunchError, PlatformError
from app.lti.families import with_help
from app.lti.keys import published_keys
from app.lti.launches import Login, Pending, begin_login, check_no_error, find_pending, name_in_browser, read_message
from app.lti.line_items import link_line_item
from app.lti.platform_client import origin_of
from app.store import learners
from app.store.assignments import assignments_of
from app.store.class_copies import earlier_class
from app.store.progress import SITTINGS
from app.store.tables import LtiContext, LtiPlatform
from app.teaching.text_input import one_line
from app.web.middleware.frames import COOKIE, FRAME
from app.web.middleware.security import cookie_header, is_same_site
from app.web.middleware.visitor import EMBEDDED_SECONDS
from app.web.routes.form_fields import Typed
from app.web.routes.lti_choice import choices_for, picker
from app.web.routes.lti_entry import enter_in_tab, frame_page, issue_entry
from app.web.routes.lti_targets import link_target, site_of_class, target_address
from app.web.routes.sign_in_result import MINUTES, device_of, is_secure, shown_cookie, spend_ticket
from app.web.site import Site, TheSite, TheVisitor
from app.web.views.grade_sheet import assignment_titles, heading_for

log = structlog.get_logger()
router = APIRouter(prefix="/lti")

NO_ADDRESS = "This server does not know its own address. Its operator sets BACKHAND_ADDRESS."
BY_HAND = "Learning platforms send people here, and none has sent you: open the link inside of the course."
OTHER_BROWSER = (
    "Your browser did not show what it was given a moment ago: it keeps no cookies in this frame. Open the exercise in "
    "a tab of its own."
)
NOT_TO_CHOOSE = "Links are chosen by those who teach the course, and your learning platform says that you learn in it."
CHOICE_LIVES = timedelta(hours=1)
ONCE_MORE = 3
"""Two launches of one person, or of the first two of a course, may come at once."""


@router.get("/jwks")
async def own_keys(site: TheSite) -> Response:
    """The keys that platforms verify our messages with."""
    async with site.database.read() as db:
        keys = await published_keys(db)
    return JSONResponse(keys, headers={"cache-control": "public, max-age=300"})


@router.get("/login")
async def login(request: Request, site: TheSite, visitor: TheVisitor) -> Response:
    """Login initiation by a link."""
    return await _login(request, site, visitor, request.query_params)


@router.post("/login")
async def login_by_form(request: Request, site: TheSite, visitor: TheVisitor) -> Response:
    """The same by a form."""
    form = await request.form(max_files=0)
    return await _login(request, site, visitor, {name: text for name, text in form.items() if isinstance(text, str)})


async def _login(request: Request, site: Site, visitor: TheVisitor, query: Mapping[str, str]) -> Response:
    if not query.get("iss"):
        return _refusal_page(request, site, BY_HAND, by_hand=True)
    if not site.lti.address:
        return _refusal_page(request, site, NO_ADDRESS)
    spend_ticket(site, visitor)
    try:
        async with site.database.write(short=True) as db:
            began = await begin_login(db, query, site.lti.base_url)
    except LaunchError as error:
        return _refusal_page(request, site, str(error))
    response = (
        _storage_page(request, site, began) if began.storage and began.origin else RedirectResponse(began.url, 303)
    )
    response.headers["cache-control"] = "no-store"
    _keep_in_frame(request, response, name_in_browser(began.state), began.secret)
    return response


def _storage_page(request: Request, site: Site, began: Login) -> Response:
    """A page that has the platform keep the secret, and goes on to it."""
    return frame_page(request, site, "lti_store.html", began=began, key=name_in_browser(began.state))


@router.get("/launch")
async def launch_by_hand(request: Request, site: TheSite) -> Response:
    """A person opens the address of launches itself, to see whether the server is up."""
    return _refusal_page(request, site, BY_HAND, by_hand=True)


@router.post("/launch")
async def launch(
    request: Request,
    site: TheSite,
    state: Typed = "",
    id_token: Typed = "",
    stored: Typed = "",
    error: Typed = "",
    error_description: Typed = "",
) -> Response:
    """Launch: a platform's signed message of who came, and for what."""
    name = name_in_browser(state)
    cookie = shown_cookie(request, name)
    try:
        async with site.database.read() as db:
            pending = await find_pending(db, state)
        check_no_error(pending, "" if id_token else one_line(f"{error} {error_description}"))
        proved, storage = pending.is_of(cookie), pending.data["storage"]
        # A page of somebody else could bring a secret that it was given, and so let its own person in.
        own = is_same_site(request.headers, secure=is_secure(request))
        values: dict[str, Any] = {"name": name, "state": state, "id_token": id_token, "storage": storage}
        if not proved and not own and pending.data["granted"] and id_token:
            return frame_page(request, site, "lti_access.html", again=_again(site, pending), **values)
        if not proved and not stored and storage and id_token:
            origin = origin_of(pending.platform.auth_url)
            return frame_page(request, site, "lti_stored.html", origin=origin, **values)
        if not proved and not (storage and own and pending.is_of(stored)):
            return _refusal_page(request, site, OTHER_BROWSER, again=_again(site, pending), stay=_stay(site, pending))
        message = await read_message(site.database, site.lti.keys, pending, state, id_token, site.lti.base_url)
    except PlatformError as away:
        log.warning("lti-platform-unavailable", error=str(away), status=away.status)
        known, trouble = pending.platform, f"The keys of your learning platform cannot be read. {away}"
        return _refusal_page(request, site, with_help(trouble, known.family, "keys", known.jwks_url), status=502)
    except LaunchError as refused:
        log.warning("lti-launch-refused", reason=str(refused), error=error[:200])
        return _refusal_page(request, site, str(refused))
    if message.deep_linking is not None:
        response = await _choose(request, site, pending.platform, message, message.deep_linking)
    else:
        response = await _arrive(request, site, pending, message, sticks=proved)
    _keep_in_frame(request, response, name, "")
    return response


async def _choose(
    request: Request, site: Site, platform: LtiPlatform, message: Launch, request_for_links: DeepLinking
) -> Response:
    """Let an instructor choose what becomes a link; nothing but the choice needs to know who it is."""
    if message.role not in ("instructor", "assistant"):
        return _refusal_page(request, site, NOT_TO_CHOOSE)
    try:
        check_return_url(platform, request_for_links)
    except LaunchError as refused:
        return _refusal_page(request, site, str(refused))
    context = (await _enter(request, site, platform, message, framed=False)).context
    choice = pending_choice(platform, message, request_for_links, context.class_id if context else None)
    async with site.database.write() as db:
        token = await one_time_tokens.issue(db, "lti-choice", choice, lives=CHOICE_LIVES)
        groups = await choices_for(db, site, choice["class"])
    return picker(request, site, choice, token, groups)


async def _arrive(request: Request, site: Site, pending: Pending, message: Launch, *, sticks: bool) -> Response:
    """Let them in; *sticks* tells that their browser keeps cookies where they are."""
    framed, platform = _is_framed(request, message), pending.platform
    for left in reversed(range(ONCE_MORE)):
        try:
            arrival = await _enter(request, site, platform, message, framed=framed and sticks)
            break
        except IntegrityError:
            if not left:
                raise
    to = arrival.to
    if arrival.context is not None and arrival.earlier is not None:
        query = urlencode({"earlier": arrival.earlier, "to": to})
        to = f"/classes/{arrival.context.class_id}/take-over?{query}"
    if framed and sticks:
        response: Response = RedirectResponse(FRAME + to, 303)
        _keep_in_frame(request, response, COOKIE, arrival.token, EMBEDDED_SECONDS)
        return response
    if message.subject is None:
        return (
            RedirectResponse(to, 303) if not framed else frame_page(request, site, "lti_own_tab.html", entry="", to=to)
        )
    async with site.database.write() as db:
        entry = await issue_entry(db, identity_of(platform, message), to)
    if framed:
        return frame_page(request, site, "lti_own_tab.html", entry=entry, to=to, stay=_stay(site, pending))
    return enter_in_tab(request, entry)


@dataclass(frozen=True, slots=True)
class Arrival:
    """
    The *token* of a session of a frame, where they go *to*, their course, and the class of an earlier one that it was
    copied from.
    """

    token: str
    to: str
    context: LtiContext | None = None
    earlier: int | None = None


async def _enter(request: Request, site: Site, platform: LtiPlatform, message: Launch, *, framed: bool) -> Arrival:
    label = f"{device_of(request)}, in {platform.name}"[:200]
    async with site.database.write(short=True) as db:
        if message.subject is None:
            token = (await learners.begin_session(db, embedded=True))[1] if framed else ""
            return Arrival(token, target_address(site, link_target(site, message, ()), None))
        is_new = not await is_known(db, platform, message)
        result = await sign_in(db, "", identity_of(platform, message), label, embedded=True)
        learner = result.known.learner
        context = await enrol(db, platform, message, learner)
        earlier = None
        if context is not None and is_new:
            contexts = message.custom.get("context_history", "").split(",")
            before = await earlier_class(db, context, contexts, message.custom.get("class", ""), learner)
            earlier = before.group.id if before else None
        rows = await assignments_of(db, context.class_id) if context else ()
        site = await site_of_class(db, site, context.class_id if context else None, rows)
        target = link_target(site, message, rows)
        lesson = site.assigned(target.lesson)
        exercises = [exercise.name for exercise in lesson.exercises] if lesson else []
        counts = any(target.exercise in ("", name) for name in exercises)
        to = target_address(site, target, context)
        if target.lesson.startswith(SITTINGS) and target.lesson not in [row.lesson for row in rows]:
            counts = False  # a sitting of another class, or one that was taken back
            to = f"/classes/{context.class_id}" if context is not None and earlier is not None else to
        if context is not None and lesson is not None and counts and (message.lineitem_url or message.lineitems_url):
            heading = heading_for("", lesson.title, assignment_titles(site.assigned, rows))
            await link_line_item(db, context, message, target, heading, exercises)
        if not framed:
            await learners.end_session(db, result.token)
        return Arrival(result.token, to, context, earlier)


def _keep_in_frame(request: Request, response: Response, name: str, secret: str, seconds: int = MINUTES) -> None:
    """Have the browser show *secret* with the form that a platform sends here from another site, in a frame too."""
    cookie = cookie_header(name, secret, seconds, secure=is_secure(request), framed=True)
    response.headers.append("set-cookie", cookie)


def _is_framed(request: Request, message: Launch) -> bool:
    """True if the answer is shown in a frame: browsers say so, and of older ones the platform does."""
    shown_in = request.headers.get("sec-fetch-dest")
    return shown_in in ("iframe", "frame") if shown_in and shown_in != "empty" else message.framed


def _again(site: Site, pending: Pending, **more: str) -> str:
    """Address at which the same login begins anew."""
    return f"{site.lti.base_url}/lti/login?{urlencode({**pending.data['again'], **more})}"


def _stay(site: Site, pending: Pending) -> str:
    """The same for a frame that was granted storage access; "" where that was tried."""
    return "" if pending.data["granted"] else _again(site, pending, granted="1")


def _refusal_page(request: Request, site: Site, message: str, *, status: int = 403, **values: Any) -> Response:
    page = {"again": "", "stay": "", "by_hand": False, "message": message, **values}
    return frame_page(request, site, "lti_refused.html", status=status, **page)
