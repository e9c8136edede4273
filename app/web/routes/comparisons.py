"""Which of two sentences helps: an instructor gives both, the server draws, and the page tells what came of each.

A class compares nothing unless its instructor begins it, and its learners are told while it does.
"""

from typing import Annotated

from fastapi import APIRouter, Form, Path, Query
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from app.content.blocks import CodeBox, Exercise, Lesson
from app.settings import Settings
from app.store import board, comparisons
from app.store.classes import ClassMember, RefusedError
from app.store.comparisons import NewComparison
from app.store.tables import Comparison
from app.store.written_sentences import LONGEST_SENTENCE
from app.web.class_access import PREFIX, Arranging, Watching, back_to_class, class_page, parse_row_id
from app.web.routes.sentence_forms import AboutFields, WordingFields
from app.web.site import Site, TheSite
from app.web.views.comparison_view import HINT, ComparisonView, about_words

router = APIRouter(prefix=f"{PREFIX}/comparisons")

NOT_ASSIGNED = "This exercise is not assigned to the class. Begin from the page of what answers tell."
NOT_ABOUT = (
    "Two sentences can be about a mistake in a code box, or about a hint. Begin from the page of what answers tell."
)
Place = tuple[Lesson, Exercise]


@router.get("")
async def listed(request: Request, site: TheSite, within: Watching) -> Response:
    """Comparisons of the class, with what came of each wording so far."""
    settings: Settings = request.app.state.settings
    async with site.database.read() as db:
        rows = await comparisons.list_comparisons(db, within.group.id)
        counts = [await comparisons.count_arms(db, row) for row in rows]
    views = [
        ComparisonView(row, *_find_exercise(site, row.lesson, row.exercise), arms, settings.shared_by)
        for row, arms in zip(rows, counts, strict=True)
    ]
    return class_page(request, site, within, "comparisons.html", views=views)


def _find_exercise(site: Site, lesson: str, exercise: str) -> tuple[Lesson | None, Exercise | None]:
    found = next((item for item in site.course.lessons if item.name == lesson), None)
    return found, found.named.get(exercise) if found else None


async def _place(site: Site, within: ClassMember, fields: AboutFields) -> Place:
    """An assigned exercise that a comparison can be about.

    Raises:
        HTTPException: It is none.
    """
    found = site.course.at.get(fields.lesson)
    named = found.named.get(fields.exercise) if found else None
    async with site.database.read() as db:
        assigned = await board.assigned_exercises(db, within.group.id)
    if found is None or named is None or not board.has_exercise(assigned, found.name, fields.exercise):
        raise HTTPException(422, NOT_ASSIGNED)
    if not _can_be_about(named, fields.about):
        raise HTTPException(422, NOT_ABOUT)
    return found, named


def _can_be_about(exercise: Exercise, about: str) -> bool:
    """True for a hint that there is, and for a mistake in a gradient that the box asks for."""
    number = about.removeprefix(HINT)
    if number != about:
        return number.isdecimal() and len(number) < 3 and 0 < int(number) <= len(exercise.hints)
    name, _, slip = about.partition(":")
    return isinstance(exercise, CodeBox) and name in exercise.require and slip != ""


@router.get("/new")
async def form(
    request: Request,
    site: TheSite,
    within: Arranging,
    fields: Annotated[AboutFields, Query()],
) -> Response:
    return _form(request, site, within, await _place(site, within, fields), fields.about)


def _form(
    request: Request,
    site: Site,
    within: ClassMember,
    place: Place,
    about: str,
    said: tuple[str, str] = ("", ""),
    problem: str = "",
) -> Response:
    lesson, exercise = place
    hint = exercise.hints[int(about.removeprefix(HINT)) - 1] if about.startswith(HINT) else None
    return class_page(
        request, site, within, "comparison_new.html", lesson=lesson, exercise=exercise, about=about, said=said,
        words=about_words(lesson, exercise, about), hint=hint, problem=problem, longest=LONGEST_SENTENCE,
    )  # fmt: skip


@router.post("")
async def begin(
    request: Request,
    site: TheSite,
    within: Arranging,
    fields: Annotated[WordingFields, Form()],
) -> Response:
    """Compare two wordings from now on."""
    place, about, said = await _place(site, within, fields), fields.about, fields.said
    problem = fields.problem
    if not problem:
        new = NewComparison(lesson=place[0].name, exercise=place[1].name, about=about, first=said[0], second=said[1])
        try:
            async with site.database.write() as db:
                await comparisons.begin_comparison(db, within.group.id, new, within.person.learner_id)
        except RefusedError as refused:
            problem = str(refused)
    if problem:
        return _form(request, site, within, place, about, said, problem)
    return back_to_class(within, "comparisons")


@router.post("/{comparison_id}/end")
async def end(site: TheSite, within: Arranging, comparison_id: Annotated[str, Path()]) -> Response:
    """Show neither wording any more."""
    async with site.database.write() as db:
        row = await db.get(Comparison, parse_row_id(comparison_id))
        if row is None or row.class_id != within.group.id:
            raise HTTPException(404)
        await comparisons.end_comparison(db, row, within.person.learner_id)
    return back_to_class(within, "comparisons")
