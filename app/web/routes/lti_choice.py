"""Deep linking: links that an instructor chooses: lessons, exercises, practice, sittings of the class."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter
from sqlalchemy.ext.asyncio import AsyncSession
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
from app.practice.sitting_names import TITLE
from app.store.assignments import MOST_POINTS, assignments_of
from app.store.classes import RefusedError
from app.store.progress import SITTINGS
from app.store.tables import Assignment, LtiPlatform
from app.web.routes.form_fields import parse_number
from app.web.routes.lti_targets import site_of_class
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
    points: float
    exercises: tuple["Choice", ...] = ()


@dataclass(frozen=True, slots=True)
class ChoiceGroup:
    title: str
    choices: tuple[Choice, ...]


async def choices_for(db: AsyncSession, site: Site, group: int | None) -> tuple[ChoiceGroup, ...]:
    """Everything that the class *group* can link: units, of private ones its own, practice, and its sittings."""
    rows = await assignments_of(db, group) if group is not None else ()
    site = await site_of_class(db, site, group, rows)
    sittings = (row for row in rows if row.lesson.startswith(SITTINGS))
    groups = (
        *(ChoiceGroup(unit.title, tuple(map(_choice, unit.lessons))) for unit in site.course.units),
        ChoiceGroup("Practice", tuple(_choice(row.lesson) for row in site.practice.curriculum.sets.values())),
        ChoiceGroup("Sittings", tuple(map(_sitting, sittings))),
    )
    return tuple(group for group in groups if group.choices)


def _sitting(row: Assignment) -> Choice:
    """A sitting by what its links are called in every copy of the course."""
    return Choice(row.resource_id or row.lesson, row.heading or TITLE, row.points)


def _choice(lesson: Lesson) -> Choice:
    if lesson.name.startswith("practice"):
        return Choice(lesson.name, lesson.title, len(lesson.exercises))
    exercises = tuple(
        Choice(f"{lesson.name}#{exercise.name}", exercise_title(exercise), 1) for exercise in lesson.exercises
    )
    return Choice(lesson.name, lesson.title, len(exercises), exercises)


def picker(
    request: Request,
    site: Site,
    token_data: Mapping[str, Any],
    token: str,
    groups: Sequence[ChoiceGroup],
    *,
    problem: str = "",
    chosen: tuple[str, ...] = (),
) -> Response:
    """The page that offers *groups*, for the request of a platform in *token_data*."""
    return site.in_frame.pages.page(
        request,
        "lti_choose.html",
        status=422 if problem else 200,
        groups=groups,
        asked=token_data,
        token=token,
        problem=problem,
        chosen=chosen,
    )


@router.post("/lti/choose")
async def choose(request: Request, site: TheSite) -> Response:
    """Bring what was chosen to the platform, by the browser."""
    form = await request.form(max_files=0, max_fields=5000)
    token, chosen = str(form.get("token", "")), tuple(str(value) for value in form.getlist("item"))
    async with site.database.read() as db:
        token_data = await one_time_tokens.peek(db, "lti-choice", token)
        platform = await db.get(LtiPlatform, token_data["platform"]) if token_data else None
        groups = await choices_for(db, site, token_data["class"]) if token_data else ()
    if token_data is None or platform is None:
        raise HTTPException(403, GONE)
    try:
        links = _links(_titles(groups), chosen, form, several=token_data["several"])
        async with site.database.write() as db:
            if await one_time_tokens.redeem(db, "lti-choice", token) is None:
                raise HTTPException(403, GONE)
            claims = response_claims(platform, token_data, links, site.lti.base_url)
            signed = await sign_claims(db, site.lti.secret_path, claims)
    except RefusedError as refused:
        return picker(request, site, token_data, token, groups, problem=str(refused), chosen=chosen)
    request.state.form_action = f" {origin_of(token_data['return_url'])}"
    page = {"url": token_data["return_url"], "signed": signed, "links": links, "platform": platform}
    return site.in_frame.pages.page(request, "lti_chosen.html", **page)


def _titles(groups: Sequence[ChoiceGroup]) -> dict[str, str]:
    """Titles of links by the value of its choice: an exercise with its lesson."""
    lessons = [choice for group in groups for choice in group.choices]
    exercises = {
        exercise.value: f"{choice.title}: {exercise.title}" for choice in lessons for exercise in choice.exercises
    }
    return {choice.value: choice.title for choice in lessons} | exercises


def _links(
    titles: Mapping[str, str], chosen: tuple[str, ...], form: Mapping[str, Any], *, several: bool
) -> list[ChosenLink]:
    """
    Raises:
        RefusedError: Nothing is chosen, or too much.
    """
    links = [_link(titles, value, form.get(f"points:{value}", "")) for value in dict.fromkeys(chosen)]
    if not links:
        raise RefusedError(NOTHING)
    if len(links) > (MAX_CHOSEN if several else 1):
        raise RefusedError(TOO_MANY if several else ONE_ALONE)
    return links


def _link(titles: Mapping[str, str], value: str, points: Any) -> ChosenLink:
    """
    Raises:
        RefusedError: There is no such thing, or its points are none.
    """
    title = titles.get(value)
    if title is None:
        raise RefusedError(f"There is no {value[:80]!r} in the course any more. Choose again.")
    lesson, _, exercise = value.partition("#")
    return ChosenLink(Target(lesson, exercise), title, _points(points, title))


def _points(typed: Any, title: str) -> float:
    points = parse_number(f"Points of {title}", str(typed) or "0")
    if not 0 <= points <= MOST_POINTS:
        raise RefusedError(f"Points of {title}: {str(typed)[:20]!r} is no number from 0 to {MOST_POINTS}.")
    return points
