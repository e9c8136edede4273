"""Lessons of a class: the progress of all learners in one, and the attempts of one learner in it."""

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.exceptions import HTTPException
from starlette.responses import Response

from app.store import board
from app.teaching.roster import distinct_names
from app.web.class_access import PREFIX, Watching, parse_row_id
from app.web.site import TheLesson
from app.web.views.board_view import assigned_places, by_lesson
from app.web.views.heat_view import heat_view
from app.web.views.sections import LabelQuery, is_in_section, section_of
from app.web.views.slips_view import slips_view
from app.web.views.trace_view import trace_view

router = APIRouter(prefix=PREFIX)


@router.get("/lessons")
async def lessons(page: Watching) -> Response:
    """List the assigned lessons, with how much of each the class has solved."""
    group = page.class_id
    async with page.read() as db:
        assigned = by_lesson(await assigned_places(db, page.site.course, group))
        size = len(await board.list_learners(db, group))
        solved = await board.solved_counts(db, group)
    rows = [
        (
            lesson,
            len(those),
            sum(solved.get((lesson.name, assigned_exercise.exercise.name), 0) for assigned_exercise in those),
        )
        for lesson, those in assigned
    ]
    return page.render("class_lessons.html", rows=rows, size=size)


@router.get("/lessons/{slug}")
async def lesson(page: Watching, lesson: TheLesson, label: LabelQuery = "") -> Response:
    """Every learner and every exercise; the page is a table."""
    group = page.class_id
    async with page.read() as db:
        places = [
            assigned_exercise
            for assigned_exercise in await assigned_places(db, page.site.course, group)
            if assigned_exercise.lesson is lesson
        ]
        if not places:
            raise HTTPException(404)
        people = await board.list_learners(db, group)
        standings = await board.exercise_statuses(db, group, lesson.name)
    shown = [person for person in people if is_in_section(person, label)]
    view = heat_view(lesson, places, shown, standings, distinct_names(people))
    return page.render("heat.html", view=view, section=section_of(people, label))


@router.get("/learners/{learner_id}")
async def learner(
    page: Watching,
    learner_id: str,
    asked: Annotated[str, Query(alias="lesson", max_length=200)] = "",
) -> Response:
    """Every attempt in order, in one lesson: the one that was worked in last, where none is named."""
    group, learner = page.class_id, parse_row_id(learner_id)
    async with page.read() as db:
        people = {membership.learner_id: membership for membership in await board.list_learners(db, group)}
        assigned = by_lesson(await assigned_places(db, page.site.course, group))
        latest = await board.latest_lesson(db, group, learner)
        place = next(
            (item for item in assigned if item[0].slug == asked or (not asked and item[0].name == latest)), None
        )
        if learner not in people or (asked and place is None):
            raise HTTPException(404)
        slips = slips_view(page.site.assigned, await board.slip_counts(db, group, learner=learner), by_learners=False)
        view = None
        if place is not None:
            attempts = await board.list_attempts(db, group, learner, place[0].name)
            standings = await board.exercise_statuses(db, group, place[0].name)
            shown_attempts = {
                exercise_status.exercise: exercise_status
                for exercise_status in standings
                if exercise_status.learner == learner
            }
            view = trace_view(place[0], place[1], attempts, shown_attempts, page.group.timezone)
    return page.render(
        "trace.html",
        person=people[learner],
        name=distinct_names(people.values())[learner],
        lessons=[lesson for lesson, _ in assigned],
        trace=view,
        view=slips,
    )
