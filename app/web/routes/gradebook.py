"""The grades of a class: as a page, as CSV for a spreadsheet or another system, as JSON for a script."""

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from app.store.classes import Inside
from app.store.grades import Gradebook, gradebook
from app.web.class_access import PREFIX, Watching, class_page
from app.web.site import Site, TheSite
from app.web.views.grade_sheet import System, sheet, shown_points, titles

router = APIRouter(prefix=PREFIX)

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
        titles=titles(site.assigned, book),
        points=shown_points,
        without_id=sum(not row.person.external_id for row in book.rows),
    )


@router.get("/gradebook.csv")
async def as_csv(site: TheSite, within: Watching, system: Annotated[System, Query(alias="for")] = "") -> Response:
    text = sheet(site.assigned, await _book(site, within), system)
    name = f"grades-{within.group.id}{f'-{system}' if system else ''}.csv"
    headers = {**UNKEPT, "content-disposition": f'attachment; filename="{name}"'}
    # A byte order mark makes spreadsheets read names as they are; Canvas and Moodle would read it as part of the head.
    return Response(("" if system else "\ufeff") + text, media_type="text/csv; charset=utf-8", headers=headers)


@router.get("/gradebook.json")
async def as_json(site: TheSite, within: Watching) -> Response:
    book = await _book(site, within)
    heads = titles(site.assigned, book)
    assignments = [
        {"id": one.id, "lesson": one.lesson, "title": title, "points": one.points}
        for one, title in zip(book.assignments, heads, strict=True)
    ]
    learners = [
        {
            "learner": row.person.learner_id,
            "name": row.person.name,
            "external_id": row.person.external_id,
            "label": row.person.label,
            "points": row.points,
            "possible": row.possible,
            "grades": [
                {
                    "assignment": one.id,
                    "points": grade.points,
                    "in_time": grade.in_time,
                    "late": grade.late,
                    "exercises": grade.total,
                    "excused": grade.excuse is not None and grade.excuse.points is None,
                }
                for one, grade in zip(book.assignments, row.grades, strict=True)
            ],
        }
        for row in book.rows
    ]
    return JSONResponse({"class": within.group.id, "assignments": assignments, "learners": learners}, headers=UNKEPT)


async def _book(site: Site, within: Inside) -> Gradebook:
    async with site.database.read() as db:
        return await gradebook(db, within.group, site.exercises)
