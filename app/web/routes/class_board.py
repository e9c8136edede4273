"""The board of a class: what it is stuck on at one exercise, live; and the same for the wall of a lecture hall."""

import asyncio
import time
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Form, Query
from fastapi.sse import EventSourceResponse, ServerSentEvent
from pydantic import BaseModel, Field
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.responses import Response

from app.store import board
from app.store.classes import find_class_member
from app.store.database import now
from app.web.class_access import MAY, PREFIX, ClassPage, Watching
from app.web.render import back_to
from app.web.site import or_404
from app.web.views.board_view import GONE_AFTER, AssignedExercise, BoardView, assigned_places, board_view, by_lesson
from app.web.views.sections import section_of
from app.web.views.slips_view import recent_mistakes, slips_view

router = APIRouter(prefix=PREFIX)

AT_MOST_EVERY = 1.0
"""A class that answers all at once is shown once a second."""
TOO_MANY = "This board is watched in too many places at once."
MOST_RECENT = 6
JUST_NOW = timedelta(minutes=10)


class BoardQuery(BaseModel):
    """Query of the board: an exercise, as *slug/name*; for the projector, with the graph, or of one label alone."""

    place: Annotated[str, Field(max_length=400)] = ""
    project: bool = False
    graph: bool = False
    label: Annotated[str, Field(max_length=200)] = ""

    def address(self, class_id: int, end: str = "", **other: str | bool) -> str:
        """Of the same look at a board, or with something else in it."""
        fields = self.model_dump() | other
        given = {name: value if isinstance(value, str) else 1 for name, value in fields.items() if value}
        query = urlencode(given, safe="/")
        return f"/classes/{class_id}/board{end}" + (f"?{query}" if query else "")


TheBoardQuery = Annotated[BoardQuery, Query()]


@router.get("/board")
async def look(page: Watching, query: TheBoardQuery) -> Response:
    """Show the board of one exercise; if none is named, the one with the latest wrong answer."""
    group = page.class_id
    async with page.read() as db:
        all_places = await assigned_places(db, page.site.course, group)
        current = await _place(db, group, all_places, query.place)
        view = await _view(page, db, current, query.label) if current else None
        people = await board.list_learners(db, group)
        recent = await recent_mistakes(db, page.site.assigned, group, now() - JUST_NOW)
    at = all_places.index(current) if current else 0
    query = query.model_copy(update={"place": current.value if current else ""})
    return page.render(
        "board_projected.html" if query.project else "board.html",
        view=view,
        asked=query,
        here=current,
        section=section_of(people, query.label),
        places=by_lesson(all_places),
        before=all_places[at - 1] if at else None,
        after=all_places[at + 1] if current and at + 1 < len(all_places) else None,
        recent=[
            recent_mistake
            for recent_mistake in recent
            if current is None or recent_mistake.exercise is not current.exercise
        ][:MOST_RECENT],
    )


@router.post("/board/explained")
async def mark_explanation(
    page: Watching,
    place: Annotated[str, Form(max_length=400)] = "",
    label: Annotated[str, Form(max_length=200)] = "",
) -> Response:
    """Mark this moment; the board tells from here on who has left the mistake."""
    group = page.class_id
    async with page.write() as db:
        current = _get_place(await assigned_places(db, page.site.course, group), place)
        await board.record_explanation(db, group, page.learner, current.lesson.name, current.exercise.name)
        await page.site.bus.publish(db, board.exercise_topic(current.lesson.name, current.exercise.name))
    return back_to(BoardQuery(place=place, label=label).address(group))


async def watch_board(page: Watching, query: TheBoardQuery) -> AsyncIterator[AsyncIterator[str]]:
    """A board as HTML, again and again; at most a few pages of one person may watch at a time."""
    async with page.read() as db:
        current = _get_place(await assigned_places(db, page.site.course, page.class_id), query.place)
    with page.site.runs.watching(page.learner, TOO_MANY):
        yield _moments(page, current, query)


@router.get("/board/events", response_class=EventSourceResponse)
async def events(moments: Annotated[AsyncIterator[str], Depends(watch_board)]) -> AsyncIterator[ServerSentEvent]:
    """`board` events: the board as HTML, whenever it has changed."""
    async for html in moments:
        yield ServerSentEvent(raw_data=html, event="board")


async def _moments(page: ClassPage, current: AssignedExercise, query: BoardQuery) -> AsyncIterator[str]:
    """Events until the server stops, the viewer loses access, or the exercise is no longer assigned."""
    group, last_html = page.class_id, ""
    with page.site.bus.subscribe(board.exercise_topic(current.lesson.name, current.exercise.name)) as ear:
        while not page.site.runs.closing:
            began = time.monotonic()
            async with page.read() as db:
                member = await find_class_member(db, group, page.learner)
                asks = board.has_exercise(
                    await board.assigned_exercises(db, group), current.lesson.name, current.exercise.name
                )
                if member is None or not member.is_at_least(MAY["watch"]) or not asks:
                    return
                view = await _view(page, db, current, query.label)
            template = "_board_projected.html" if query.project else "_board.html"
            html = page.site.pages.text(template, view=view, asked=query, group=page.group)
            if html != last_html:
                yield html
                last_html = html
            await asyncio.sleep(AT_MOST_EVERY - (time.monotonic() - began))
            await ear.wait()


async def _view(page: ClassPage, db: AsyncSession, current: AssignedExercise, label: str) -> BoardView:
    least = page.site.settings.shared_by
    return await board_view(db, page.group, current.lesson, current.exercise, least=least, label=label)


def _get_place(all_places: list[AssignedExercise], place: str) -> AssignedExercise:
    return or_404(
        next((assigned_exercise for assigned_exercise in all_places if assigned_exercise.value == place), None)
    )


async def _place(
    db: AsyncSession, group: int, all_places: list[AssignedExercise], place: str
) -> AssignedExercise | None:
    """Find the exercise at *place*, else the one with the latest wrong answer, else the first."""
    if place:
        return _get_place(all_places, place)
    by_name = {
        (assigned_exercise.lesson.name, assigned_exercise.exercise.name): assigned_exercise
        for assigned_exercise in all_places
    }
    recent = await board.recent_exercises(db, group, now() - GONE_AFTER)
    return next((by_name[item] for item in recent if item in by_name), next(iter(all_places), None))


@router.get("/slips")
async def slips(page: Watching) -> Response:
    """Which mistakes the class makes, by the operation that they are made at."""
    async with page.read() as db:
        view = slips_view(page.site.assigned, await board.slip_counts(db, page.class_id), by_learners=True)
    return page.render("slips.html", view=view)
