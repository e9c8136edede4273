"""Which of two sentences helps: an instructor gives both, the server draws, and the page tells what came of each.

A class compares nothing unless its instructor begins it, and its learners are told while it does.
"""

from typing import Annotated

from fastapi import APIRouter, Form, Query
from starlette.exceptions import HTTPException
from starlette.responses import Response

from app.content.blocks import CodeBox, Exercise, Lesson
from app.store import board, comparisons
from app.store.classes import RefusedError
from app.store.comparisons import NewComparison
from app.store.tables import Comparison
from app.store.written_sentences import LONGEST_SENTENCE
from app.web.class_access import PREFIX, Arranging, ClassPage, Watching, parse_row_id
from app.web.routes.sentence_forms import AboutFields, WordingFields
from app.web.site import Site
from app.web.views.comparison_view import HINT, ComparisonView, about_words

router = APIRouter(prefix=f"{PREFIX}/comparisons")

NOT_ASSIGNED = "This exercise is not assigned to the class. Begin from the page of what answers tell."
NOT_ABOUT = (
    "Two sentences can be about a mistake in a code box, or about a hint. Begin from the page of what answers tell."
)
Place = tuple[Lesson, Exercise]


@router.get("")
async def listed(page: Watching) -> Response:
    """Comparisons of the class, with what came of each wording so far."""
    async with page.read() as db:
        rows = await comparisons.list_comparisons(db, page.class_id)
        counts = [await comparisons.count_arms(db, row) for row in rows]
    views = [
        ComparisonView(row, *_find_exercise(page.site, row.lesson, row.exercise), arms, page.site.settings.shared_by)
        for row, arms in zip(rows, counts, strict=True)
    ]
    return page.render("comparisons.html", views=views)


def _find_exercise(site: Site, lesson: str, exercise: str) -> tuple[Lesson | None, Exercise | None]:
    known = site.course.named.get(lesson)
    return known, known.named.get(exercise) if known else None


async def _place(page: ClassPage, fields: AboutFields) -> Place:
    """An assigned exercise that a comparison can be about.

    Raises:
        HTTPException: It is none.
    """
    lesson = page.site.course.at.get(fields.lesson)
    named = lesson.named.get(fields.exercise) if lesson else None
    async with page.read() as db:
        assigned = await board.assigned_exercises(db, page.class_id)
    if lesson is None or named is None or not board.has_exercise(assigned, lesson.name, fields.exercise):
        raise HTTPException(422, NOT_ASSIGNED)
    if not _can_be_about(named, fields.about):
        raise HTTPException(422, NOT_ABOUT)
    return lesson, named


def _can_be_about(exercise: Exercise, about: str) -> bool:
    """True for a hint that there is, and for a mistake in a gradient that the box asks for."""
    number = about.removeprefix(HINT)
    if number != about:
        return number.isdecimal() and len(number) < 3 and 0 < int(number) <= len(exercise.hints)
    name, _, slip = about.partition(":")
    return isinstance(exercise, CodeBox) and name in exercise.require and slip != ""


@router.get("/new")
async def form(
    page: Arranging,
    fields: Annotated[AboutFields, Query()],
) -> Response:
    return _form(page, await _place(page, fields), fields.about)


def _form(
    page: ClassPage,
    place: Place,
    about: str,
    wordings: tuple[str, str] = ("", ""),
    problem: str = "",
) -> Response:
    lesson, exercise = place
    hint = exercise.hints[int(about.removeprefix(HINT)) - 1] if about.startswith(HINT) else None
    return page.render(
        "comparison_new.html", lesson=lesson, exercise=exercise, about=about, said=wordings,
        words=about_words(lesson, exercise, about), hint=hint, problem=problem, longest=LONGEST_SENTENCE,
    )  # fmt: skip


@router.post("")
async def begin(
    page: Arranging,
    fields: Annotated[WordingFields, Form()],
) -> Response:
    """Compare two wordings from now on."""
    place, about, wordings = await _place(page, fields), fields.about, fields.said
    problem = fields.problem
    if not problem:
        new = NewComparison(
            lesson=place[0].name, exercise=place[1].name, about=about, first=wordings[0], second=wordings[1]
        )
        try:
            async with page.write() as db:
                await comparisons.begin_comparison(db, page.class_id, new, page.learner)
        except RefusedError as refused:
            problem = str(refused)
    if problem:
        return _form(page, place, about, wordings, problem)
    return page.back("comparisons")


@router.post("/{comparison_id}/end")
async def end(page: Arranging, comparison_id: str) -> Response:
    """Show neither wording any more."""
    async with page.write() as db:
        row = await db.get(Comparison, parse_row_id(comparison_id))
        if row is None or row.class_id != page.class_id:
            raise HTTPException(404)
        await comparisons.end_comparison(db, row, page.learner)
    return page.back("comparisons")
