"""Every component in every state, as the pages themselves make them: for those who design, not for learners.

It is a lesson, `styleguide.md`, whose exercises stand in each state that an exercise can be in. The views and the
templates are those of any lesson; only what a learner would have done is made up. `python -m tests.styleguide` serves
it.
"""

from functools import cache
from pathlib import Path

from fastapi import APIRouter, FastAPI
from starlette.requests import Request
from starlette.responses import Response

from app.content.blocks import Course
from app.course.course import load_lesson
from app.installation import ROOT, TEMPLATES
from app.settings import Settings
from app.web.application import create_app
from app.web.render import _environment
from app.web.site import TheSite
from app.web.views.lesson_view import items_of
from tests.styleguide.specimen_states import made_up, states_by_component
from tests.styleguide.specimens import list_specimens
from tests.web.conftest import FakeGrader

FOLDER = Path(__file__).parent
LESSON = FOLDER / "styleguide.md"
router = APIRouter()


def styleguide_app(settings: Settings, course: Course) -> FastAPI:
    """The application with the page `/styleguide`."""
    app = create_app(settings, course, FakeGrader(), drafts=True)
    app.include_router(router)
    return app


@router.get("/styleguide")
async def styleguide(request: Request, site: TheSite) -> Response:
    lesson, state = made_up(load_lesson(LESSON))
    items = await items_of(site, lesson, state, None)
    return site.pages.page(
        request,
        _environment(TEMPLATES).from_string((FOLDER / "styleguide.html").read_text("utf-8")),
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
