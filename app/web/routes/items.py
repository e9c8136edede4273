"""What answers tell about exercises: for whoever makes classes, over all learners of the server."""

from dataclasses import dataclass
from datetime import datetime

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from app.insight.report import CourseReport
from app.store import item_reports
from app.web.class_access import require_teacher
from app.web.site import Site, TheLesson, TheSite, TheVisitor
from app.web.views.items_view import by_exercise, curve_views, decoded_report, item_views

router = APIRouter(prefix="/authors/items")

MOST_NEEDY = 30


@dataclass(frozen=True, slots=True)
class KeptReport:
    """The report that is kept, if there is one; *renewing* if a newer one is on its way."""

    report: CourseReport | None
    renewing: bool

    @property
    def made(self) -> datetime | None:
        return self.report.made_at if self.report else None


async def _kept(site: Site) -> KeptReport:
    """Find the report, and ask for a newer one where it is no longer fresh."""
    async with site.database.read() as db:
        row = await item_reports.stored_report(db)
    report = decoded_report(row.report_json) if row else None
    asked = item_reports.is_stale(row) or (report is None and row is not None and row.made_at is not None)
    if asked:
        async with site.database.write(short=True) as db:
            await item_reports.ask_report(db)
    waits = row is not None and (row.made_at is None or row.made_at < row.asked_at)
    return KeptReport(report, asked or waits)


@router.get("")
async def overview(request: Request, site: TheSite, visitor: TheVisitor) -> Response:
    """Exercises that need an author, the neediest first, and how lessons and families of operations go."""
    await require_teacher(site, await visitor.learner())
    kept = await _kept(site)
    current = item_views(site.course, [item for item in kept.report.items if item.current] if kept.report else ())
    needy = [view for view in current if view.needs]
    by_lesson = [
        (lesson, [view for view in current if view.lesson is lesson])
        for lesson in site.course.lessons
        if any(view.lesson is lesson for view in current)
    ]
    return site.pages.page(
        request, "items.html", kept=kept, needy=needy[:MOST_NEEDY], more=len(needy[MOST_NEEDY:]),
        lessons=by_lesson, curves=curve_views(kept.report) if kept.report else (),
    )  # fmt: skip


@router.get("/{slug}")
async def of_lesson(request: Request, site: TheSite, visitor: TheVisitor, lesson: TheLesson) -> Response:
    """Every number of the exercises of a lesson."""
    await require_teacher(site, await visitor.learner())
    kept = await _kept(site)
    items = [item for item in kept.report.items if item.lesson == lesson.name] if kept.report else ()
    views = item_views(site.course, items)
    return site.pages.page(request, "items_lesson.html", kept=kept, lesson=lesson, exercises=by_exercise(lesson, views))
