"""What an instructor chooses for a platform: lessons, exercises and practice."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from app.accounts import one_time_tokens
from app.content.blocks import Lesson
from app.content.text.exercise_titles import exercise_title
from app.lti.deep_linking import ChosenLink, response_claims
from app.lti.enrolment import Target
from app.lti.keys import sign_claims
from app.lti.platform_client import origin_of
from app.store.assignments import MOST_POINTS
from app.store.classes import RefusedError
from app.store.tables import LtiPlatform
from app.web.site import Site, TheSite

router = APIRouter()

MAX_CHOSEN = 100
NOTHING = "Nothing is chosen yet."
ONE_ALONE = "The platform takes one link at a time here: choose one."
TOO_MANY = f"At most {MAX_CHOSEN} links are made at once."
GONE = "This choice was made before, or is older than an hour. Begin it again on your learning platform."


@dataclass(frozen=True, slots=True)
class Choice:
    """Something that a link can lead to; *value* is how a form calls it, and *points* what it is worth by itself."""

    value: str
    title: str
    points: int
    exercises: tuple["Choice", ...] = ()


@dataclass(frozen=True, slots=True)
class ChoiceGroup:
    title: str
    choices: tuple[Choice, ...]


def choices_of(site: Site) -> tuple[ChoiceGroup, ...]:
    """Everything that can be linked, unit by unit, and practice."""
    units = [ChoiceGroup(unit.title, tuple(map(_choice, unit.lessons))) for unit in site.course.units]
    sets = tuple(_choice(row.lesson) for row in site.practice.curriculum.sets.values())
    return (*units, *((ChoiceGroup("Practice", sets),) if sets else ()))


def _choice(lesson: Lesson) -> Choice:
    if lesson.name.startswith("practice"):
        return Choice(lesson.name, lesson.title, len(lesson.exercises))
    exercises = tuple(Choice(f"{lesson.name}#{one.name}", exercise_title(one), 1) for one in lesson.exercises)
    return Choice(lesson.name, lesson.title, len(exercises), exercises)


def picker(
    request: Request,
    site: Site,
    asked: Mapping[str, Any],
    token: str,
    *,
    problem: str = "",
    chosen: tuple[str, ...] = (),
) -> Response:
    """The page on which is chosen what was *asked* for."""
    response = site.in_frame.pages.page(
        request,
        "lti_choose.html",
        status=422 if problem else 200,
        groups=choices_of(site),
        asked=asked,
        token=token,
        problem=problem,
        chosen=chosen,
    )
    response.headers["cache-control"] = "no-store"
    return response


@router.post("/lti/choose")
async def choose(request: Request, site: TheSite) -> Response:
    """Bring what was chosen to the platform, by the browser."""
    form = await request.form(max_files=0, max_fields=5000)
    token, chosen = str(form.get("token", "")), tuple(str(value) for value in form.getlist("item"))
    async with site.database.read() as db:
        asked = await one_time_tokens.peek(db, "lti-choice", token)
        platform = await db.get(LtiPlatform, asked["platform"]) if asked else None
    if asked is None or platform is None:
        raise HTTPException(403, GONE)
    try:
        links = _links(site, chosen, form, several=asked["several"])
        async with site.database.write() as db:
            if await one_time_tokens.redeem(db, "lti-choice", token) is None:
                raise HTTPException(403, GONE)
            claims = response_claims(platform, asked, links, site.lti.base_url)
            signed = await sign_claims(db, site.lti.secret_path, claims)
    except RefusedError as refused:
        return picker(request, site, asked, token, problem=str(refused), chosen=chosen)
    request.state.form_action = f" {origin_of(asked['return_url'])}"
    page = {"url": asked["return_url"], "signed": signed, "links": links, "platform": platform}
    response = site.in_frame.pages.page(request, "lti_chosen.html", **page)
    response.headers["cache-control"] = "no-store"
    return response


def _links(site: Site, chosen: tuple[str, ...], form: Mapping[str, Any], *, several: bool) -> list[ChosenLink]:
    """
    Raises:
        RefusedError: Nothing is chosen, or too much.
    """
    links = [_link(site, value, form.get(f"points:{value}", "")) for value in dict.fromkeys(chosen)]
    if not links:
        raise RefusedError(NOTHING)
    if len(links) > (MAX_CHOSEN if several else 1):
        raise RefusedError(TOO_MANY if several else ONE_ALONE)
    return links


def _link(site: Site, value: str, points: Any) -> ChosenLink:
    """
    Raises:
        RefusedError: There is no such thing, or its points are none.
    """
    name, _, exercise = value.partition("#")
    lesson = site.assigned(name)
    block = lesson.exercise(exercise) if lesson else None
    if lesson is None or (exercise and block is None):
        raise RefusedError(f"There is no {value[:80]!r} in the course any more. Choose again.")
    title = f"{lesson.title}: {exercise_title(block)}" if block else lesson.title
    return ChosenLink(Target(name, exercise), title, _points(points, title))


def _points(typed: Any, title: str) -> float:
    try:
        points = float(str(typed).replace(",", ".") or 0)
    except ValueError:
        points = math.nan
    if not 0 <= points <= MOST_POINTS:
        raise RefusedError(f"Points of {title}: {str(typed)[:20]!r} is no number from 0 to {MOST_POINTS:,}.")
    return points
