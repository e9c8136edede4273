"""Every component in every state, as the pages themselves make them: for those who design, not for learners.

It is a lesson, `templates/styleguide.md`, whose exercises stand in each state that an exercise can be in. The views and
the templates are those of any lesson; only what a learner would have done is made up.
"""

from functools import cache
from pathlib import Path

from fastapi import APIRouter
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from app.course.course import load_lesson
from app.installation import ROOT, TEMPLATES
from app.web.site import TheSite
from app.web.views.lesson_view import items_of
from app.web.views.specimen_states import made_up, states_by_component
from app.web.views.specimens import list_specimens

router = APIRouter()


@router.get("/styleguide")
async def styleguide(request: Request, site: TheSite) -> Response:
    if not request.app.state.drafts:
        raise HTTPException(404)
    lesson, state = made_up(load_lesson(TEMPLATES / "styleguide.md"))
    items = await items_of(site, lesson, state, None)
    return site.pages.page(
        request,
        "styleguide.html",
        lesson=lesson,
        specimens=states_by_component(items),
        pieces={
            name: [(specimen.word, site.pages.part(specimen.template, **specimen.values)) for specimen in those]
            for name, those in list_specimens(lesson).items()
        },
        tokens=tokens(),
        ask="",
        other=0,
        emptied="",
        readiness=site.grader.readiness,
    )


@cache
def tokens(path: Path = ROOT / "static" / "css" / "tokens.css") -> tuple[tuple[str, str], ...]:
    """Names and values of the design, in their order."""
    values_by_name: dict[str, str] = {}
    for line in path.read_text("utf-8").splitlines():
        name, _, value = line.strip().partition(": ")
        if name.startswith("--"):
            values_by_name.setdefault(name.removeprefix("--"), value.partition(";")[0])
    return tuple(values_by_name.items())
