"""The grades of a class: as a page, as CSV for a spreadsheet or another system, as JSON for a script."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import JSONResponse, Response

from app.lti.families import help_with
from app.store import lti_scores
from app.store.grades import Gradebook, State, build_gradebook
from app.store.lti_platforms import contexts_of
from app.teaching.roster import distinct_names
from app.web.class_access import PREFIX, Arranging, ClassPage, Watching
from app.web.render import file_headers
from app.web.views.grade_sheet import System, assignment_titles, gradebook_csv, is_confirmed, shown_points, total_points
from app.web.views.sections import LabelQuery, narrowed_book, section_of

router = APIRouter(prefix=PREFIX)

SHOWN_STATES: Mapping[State, str] = {"excused": "excused", "unknown": "unknown", "open": "not due", "absent": "–"}


@router.get("/gradebook")
async def show(page: Watching, label: LabelQuery = "") -> Response:
    whole = await _book(page)
    book = narrowed_book(whole, label)
    return page.render(
        "gradebook.html",
        book=book,
        titles=assignment_titles(page.site.assigned, book.assignments),
        points=shown_points,
        totals=total_points,
        names=distinct_names([row.person for row in whole.rows if row.left_at is None]),
        section=section_of((row.person for row in whole.rows), label),
        marks=SHOWN_STATES,
        without_id=[row.person for row in book.rows if not row.person.external_id],
        platforms=await _platforms(page),
        unconfirmed=[row.person for row in book.rows if row.person.external_id and not is_confirmed(row.person)],
    )


@dataclass(frozen=True, slots=True)
class RefusedGrade:
    """A grade that a platform did not take: of whom, for what, and what it said, with *help* where that is known.

    *tried* tells that it still is.
    """

    name: str
    title: str
    answer: str
    help: str
    tried: bool


@dataclass(frozen=True, slots=True)
class PlatformGrades:
    """Grades of a class that go to learning platforms, which are called *names*; *notes* of columns, by their title."""

    names: tuple[str, ...]
    waiting: int
    refused: tuple[RefusedGrade, ...]
    notes: tuple[tuple[str, str], ...]


async def _platforms(page: ClassPage) -> PlatformGrades | None:
    """Grades that platforms have yet to be told; None for a class without platforms."""
    async with page.read() as db:
        contexts = await contexts_of(db, page.class_id)
        if not contexts:
            return None
        waiting, failing = await lti_scores.waiting(db, page.class_id), await lti_scores.failing(db, page.class_id)
        noted = await lti_scores.noted_line_items(db, page.class_id)
    titles = assignment_titles(page.site.assigned, [assignment for _, _, assignment, _ in failing])
    refused = tuple(
        RefusedGrade(
            person.name,
            title,
            score.answer or "",
            help_with(platform.family, (score.answer or "")[:3]),
            score.refused_at is None,
        )
        for (score, person, _, platform), title in zip(failing, titles, strict=True)
    )
    headings = assignment_titles(page.site.assigned, [assignment for _, assignment in noted])
    notes = tuple((title, item.answer or "") for (item, _), title in zip(noted, headings, strict=True))
    return PlatformGrades(tuple(dict.fromkeys(platform.name for _, platform in contexts)), waiting, refused, notes)


@router.post("/gradebook/again")
async def send_again(page: Arranging) -> Response:
    """Tell platforms once more what they did not take."""
    async with page.write() as db:
        await lti_scores.try_refused_again(db, page.class_id)
    return page.back("gradebook")


@router.get("/gradebook.csv")
async def as_csv(
    page: Watching, system: Annotated[System, Query(alias="for")] = "", label: LabelQuery = ""
) -> Response:
    text = gradebook_csv(page.site.assigned, narrowed_book(await _book(page), label), system)
    section = re.sub(r"[^A-Za-z0-9]+", "-", f"-{label}" if label else "").rstrip("-")
    name = f"grades-{page.class_id}{section}{f'-{system}' if system else ''}.csv"
    # A byte order mark makes spreadsheets read names as they are; Canvas and Moodle would read it as part of the head.
    return Response(
        ("" if system else "\ufeff") + text, media_type="text/csv; charset=utf-8", headers=file_headers(name)
    )


@router.get("/gradebook.json")
async def as_json(page: Watching, label: LabelQuery = "") -> Response:
    book = narrowed_book(await _book(page), label)
    heads = assignment_titles(page.site.assigned, book.assignments)
    assignments = [
        {
            "id": assignment.id,
            "lesson": assignment.lesson,
            "title": title,
            "points": assignment.points,
            "gone": assignment.id in book.gone,
        }
        for assignment, title in zip(book.assignments, heads, strict=True)
    ]
    learners = [
        {
            "learner": row.person.learner_id,
            "name": row.person.name,
            "external_id": row.person.external_id,
            "label": row.person.label,
            "left_at": row.left_at and row.left_at.isoformat(),
            "points": row.points,
            "possible": row.possible,
            "joined": row.person.joined_at is not None,
            "grades": [
                {
                    "assignment": assignment.id,
                    "points": grade.points,
                    "in_time": grade.in_time,
                    "late": grade.late,
                    "exercises": grade.total,
                    "excused": grade.state == "excused",
                    "state": grade.state,
                }
                for assignment, grade in zip(book.assignments, row.grades, strict=True)
            ],
        }
        for row in book.rows
    ]
    facts = {"class": page.class_id, "assignments": assignments, "learners": learners}
    return JSONResponse(facts, headers={"cache-control": "private, no-store"})


async def _book(page: ClassPage) -> Gradebook:
    async with page.read() as db:
        return await build_gradebook(db, page.group, page.site.exercises)
