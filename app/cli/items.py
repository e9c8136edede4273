"""`backhand items`: what answers tell about exercises, for authors, without a browser."""

import asyncio
import json
from pathlib import Path
from typing import Any

import typer

from app.cli import environment
from app.cli.refuse import refuse
from app.content.blocks import Course, Lesson
from app.content.text.errors import LessonErrors
from app.course.course import load_course, published
from app.insight.report import FEW, REPORT, CourseReport, make_report
from app.settings import Settings
from app.store.database import Database
from app.store.migrate import migrate
from app.store.tables import Class
from app.web.views.items_view import ItemView, item_views


def items(lesson: str, group: int, *, as_json: bool) -> None:
    """Print what is told of one *lesson*, by its id or its slug, or of the whole course.

    Args:
        group: The number of a class, whose learners alone count; 0 for all learners.
    """
    settings = environment.load_settings()
    try:
        course = published(load_course(settings.lessons))
    except LessonErrors as errors:
        typer.echo(str(errors), err=True)
        refuse(f"Nothing was counted. Mend what is named; backhand check {settings.lessons} tells all.", status=1)
    chosen = _lesson(course, lesson) if lesson else None
    report = asyncio.run(_make_report(settings, course, group))
    views = [view for view in item_views(course, report.items) if chosen is None or view.lesson is chosen]
    if as_json:
        typer.echo(json.dumps(_facts(report, views), indent=2, ensure_ascii=False))
        return
    for line in _lines(views, report.least):
        typer.echo(line)


def _lesson(course: Course, name: str) -> Lesson:
    lessons = (item for item in course.lessons if name in (item.name, item.slug, Path(item.path).name))
    lesson = next(lessons, None)
    if lesson is None:
        refuse(f"The course has no lesson {name!r}. Give its id, or the name of its file.")
    return lesson


async def _make_report(settings: Settings, course: Course, group: int) -> CourseReport:
    await migrate(settings.resolved_database_url)
    async with Database(settings.resolved_database_url) as database:
        async with database.read() as db:
            if group and await db.get(Class, group) is None:
                refuse(f"There is no class {group}. `backhand class list` tells which there are.")
        return await make_report(database, course, settings.shared_by, group or None)


def _facts(report: CourseReport, views: list[ItemView]) -> dict[str, Any]:
    """The report on what *views* show; null stands for what is too few to be told."""
    whole = _without_few(REPORT.dump_python(report, mode="json"))
    shown = {(view.item.lesson, view.item.exercise, view.item.edition): view for view in views}
    rows = []
    for row in whole["items"]:
        view = shown.get((row["lesson"], row["exercise"], row["edition"]))
        if view is not None:
            row["at"] = f"{view.exercise.place.path}:{view.exercise.place.line}"
            row["needs_in_words"] = [
                f"{need.place.path}:{need.place.line}: {need.said.striptags()}" for need in view.needs
            ]
            for mistake, seen in zip(row["mistakes"], view.mistakes, strict=True):
                mistake |= {"said": seen.said.striptags(), "at": f"{seen.place.path}:{seen.place.line}"}
            rows.append(row)
    return {**whole, "items": rows}


def _without_few(value: Any) -> Any:
    match value:
        case dict():
            return {key: _without_few(item) for key, item in value.items()}
        case list():
            return [_without_few(item) for item in value]
        case _:
            return None if isinstance(value, int) and value == FEW else value


def _lines(views: list[ItemView], least: int) -> list[str]:
    current = [view for view in views if view.item.current]
    if not current:
        return [f"Fewer than {least} learners tried any of these exercises."]
    lines = []
    for view in current:
        at_first = f", {view.first_share} right at first" if view.first_share else ""
        lines.append(f"{view.exercise.place.path}:{view.exercise.place.line}: {view.item.counts.tried} tried{at_first}")
        lines += [f"  {need.said.striptags()} ({need.place.path}:{need.place.line})" for need in view.needs]
    return lines
