"""Item analysis pages: over all learners of the server, for accounts that make classes, or over one class."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Depends, Query
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from app.insight.report import CourseReport
from app.store import item_reports
from app.store.classes import ClassMember, find_class_member
from app.store.tables import Class
from app.store.written_sentences import sentences_shown
from app.web.class_access import may_act, parse_row_id, require_teacher
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


@dataclass(frozen=True, slots=True)
class ReportScope:
    """Learners whom a report is about: those of one class, or all on the server."""

    member: ClassMember | None = None

    @property
    def group(self) -> Class | None:
        return self.member.group if self.member else None

    @property
    def number(self) -> int | None:
        """The number of the class; None for all learners."""
        return self.member.group.id if self.member else None

    @property
    def may_write(self) -> bool:
        """True for the instructors of a class; of the report on all learners, for all who may see it."""
        return self.member is None or may_act(self.member, "arrange")

    @property
    def query(self) -> str:
        """Query string of its pages."""
        return f"?class={self.number}" if self.member else ""


async def report_scope(
    site: TheSite, visitor: TheVisitor, named: Annotated[str, Query(alias="class")] = ""
) -> ReportScope:
    """Scope of a page, for accounts that make classes; of a class, for its teachers; 404 for all others."""
    learner = await visitor.learner()
    if not named:
        await require_teacher(site, learner)
        return ReportScope()
    async with site.database.read() as db:
        member = await find_class_member(db, parse_row_id(named), learner) if learner is not None else None
    if member is None or not may_act(member, "watch"):
        raise HTTPException(404)
    return ReportScope(member)


TheScope = Annotated[ReportScope, Depends(report_scope)]


async def _find_report(site: Site, scope: ReportScope) -> KeptReport:
    """Find the report, and ask for a newer one where it is no longer fresh."""
    async with site.database.read() as db:
        row = await item_reports.stored_report(db, scope.number)
    report = decoded_report(row.report_json) if row else None
    is_due = item_reports.is_stale(row) or (report is None and row is not None and row.made_at is not None)
    if is_due:
        async with site.database.write(short=True) as db:
            await item_reports.ask_report(db, scope.number)
    waits = row is not None and (row.made_at is None or row.made_at < row.asked_at)
    return KeptReport(report, is_due or waits)


@router.get("")
async def overview(request: Request, site: TheSite, scope: TheScope) -> Response:
    """Exercises that need an author, the neediest first, and how lessons and families of operations go."""
    report = await _find_report(site, scope)
    current = item_views(site.course, [item for item in report.report.items if item.current] if report.report else ())
    needy = [view for view in current if view.needs]
    by_lesson = [
        (lesson, [view for view in current if view.lesson is lesson])
        for lesson in site.course.lessons
        if any(view.lesson is lesson for view in current)
    ]
    return site.pages.page(
        request, "items.html", kept=report, scope=scope, needy=needy[:MOST_NEEDY], more=len(needy[MOST_NEEDY:]),
        lessons=by_lesson, curves=curve_views(report.report) if report.report else (),
    )  # fmt: skip


@router.get("/{slug}")
async def of_lesson(request: Request, site: TheSite, scope: TheScope, lesson: TheLesson) -> Response:
    """Every number of the exercises of a lesson."""
    report = await _find_report(site, scope)
    items = [item for item in report.report.items if item.lesson == lesson.name] if report.report else ()
    views = item_views(site.course, items)
    async with site.database.read() as db:
        shown = await sentences_shown(db, scope.number)
    return site.pages.page(
        request,
        "items_lesson.html",
        kept=report,
        scope=scope,
        lesson=lesson,
        exercises=by_exercise(lesson, views),
        may_write=scope.may_write,
        written={(exercise, mistake): said for (name, exercise, mistake), said in shown.items() if name == lesson.name},
    )
