"""The grades of a class: as a page, as CSV for a spreadsheet or another system, as JSON for a script."""

from collections.abc import Mapping
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from app.store.classes import ClassMember
from app.store.grades import Gradebook, State, build_gradebook
from app.teaching.roster import distinct_names
from app.web.class_access import PREFIX, Watching, class_page
from app.web.site import Site, TheSite
from app.web.views.grade_sheet import System, assignment_titles, gradebook_csv, is_confirmed, shown_points, total_points

router = APIRouter(prefix=PREFIX)

SHOWN_STATES: Mapping[State, str] = {"excused": "excused", "unknown": "unknown", "open": "not due", "absent": "–"}
UNKEPT = {"cache-control": "private, no-store"}


@router.get("/gradebook")
async def page(request: Request, site: TheSite, within: Watching) -> Response:
    book = await _book(site, within)
    return class_page(
        request,
        site,
        within,
        "gradebook.html",
        book=book,
        titles=assignment_titles(site.assigned, book.assignments),
        points=shown_points,
        totals=total_points,
        names=distinct_names([row.person for row in book.rows if row.left_at is None]),
        marks=SHOWN_STATES,
        without_id=[row.person for row in book.rows if not row.person.external_id],
        unconfirmed=[row.person for row in book.rows if row.person.external_id and not is_confirmed(row.person)],
    )


@router.get("/gradebook.csv")
async def as_csv(site: TheSite, within: Watching, system: Annotated[System, Query(alias="for")] = "") -> Response:
    text = gradebook_csv(site.assigned, await _book(site, within), system)
    name = f"grades-{within.group.id}{f'-{system}' if system else ''}.csv"
    headers = {**UNKEPT, "content-disposition": f'attachment; filename="{name}"'}
    # A byte order mark makes spreadsheets read names as they are; Canvas and Moodle would read it as part of the head.
    return Response(("" if system else "\ufeff") + text, media_type="text/csv; charset=utf-8", headers=headers)


@router.get("/gradebook.json")
async def as_json(site: TheSite, within: Watching) -> Response:
    book = await _book(site, within)
    heads = assignment_titles(site.assigned, book.assignments)
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
    return JSONResponse({"class": within.group.id, "assignments": assignments, "learners": learners}, headers=UNKEPT)


async def _book(site: Site, within: ClassMember) -> Gradebook:
    async with site.database.read() as db:
        return await build_gradebook(db, within.group, site.exercises)
