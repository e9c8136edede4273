"""Stream of what is written for the mistakes that a page shows: it comes to open pages without being asked for."""

from collections.abc import AsyncIterator, Mapping
from typing import Annotated

from fastapi import APIRouter, Depends
from fastapi.sse import EventSourceResponse, ServerSentEvent
from starlette.exceptions import HTTPException

from app.content.blocks import CodeBox, Lesson, Quiz
from app.engine.json_columns import decoded_verdict
from app.insight.mistakes import mistake_key
from app.kinds.registry import quiz_kind
from app.store.progress import LessonState
from app.store.written_sentences import sentence_topic
from app.web.site import Site, TheLesson, TheSite, TheVisitor
from app.web.views.exercise_view import ANSWER, written_for

router = APIRouter(prefix="/lessons/{slug}")

RELISTEN_SECONDS = 30.0
"""Whoever waits for a sentence looks so often by themselves, in case a word was lost."""
TOO_MANY_PAGES = "Sentences are waited for in too many places at once."


async def written_moments(site: TheSite, visitor: TheVisitor, lesson: TheLesson) -> AsyncIterator[AsyncIterator[str]]:
    """Event stream of the sentences for the newest mistakes in a lesson; a few pages of one learner may listen."""
    learner = await visitor.learner()
    if learner is None or lesson.drawn:
        raise HTTPException(404)
    with site.runs.watching(learner, TOO_MANY_PAGES):
        yield written_anew(site, learner, lesson)


@router.get("/sentences/events", response_class=EventSourceResponse)
async def written_events(
    moments: Annotated[AsyncIterator[str], Depends(written_moments)],
) -> AsyncIterator[ServerSentEvent]:
    """`written` events: by mistake, the sentence for it, as HTML, whenever it has changed.

    One `end` where nothing in the lesson went wrong last that a sentence could be written for.
    """
    async for html in moments:
        yield ServerSentEvent(raw_data=html, event="written")
    yield ServerSentEvent(raw_data="", event="end")


async def written_anew(site: Site, learner: int, lesson: Lesson) -> AsyncIterator[str]:
    """Sentences for the newest mistakes of *learner*, as HTML: now, and whenever one has changed."""
    seen = None  # the first is sent even if nothing is written: who asks for the head alone waits for it
    with site.bus.subscribe(sentence_topic(lesson.name)) as ear:
        while not site.runs.closing:
            written = _written_in(lesson, await site.state_of(learner, lesson))
            if not any(written.values()):
                return
            html = site.pages.text("_written_all.html", exercises=written)
            if html != seen:
                yield html
                seen = html
            await ear.wait(RELISTEN_SECONDS)


def _written_in(lesson: Lesson, state: LessonState) -> dict[str, Mapping[str, str]]:
    """By exercise and what in it went wrong last, what is written for that; "" for nothing yet."""
    found: dict[str, Mapping[str, str]] = {}
    for exercise in lesson.exercises:
        tries = state.tries.get(exercise.name)
        if tries is None:
            continue
        newest = tries.newest
        if isinstance(exercise, CodeBox) and (verdict := decoded_verdict(newest.verdict_json)):
            found[exercise.name] = written_for(exercise, verdict, state.written)
        elif isinstance(exercise, Quiz) and newest.correct is False and not quiz_kind(exercise).by_option:
            key = mistake_key(exercise, None, newest.text, newest.verdict_json)
            found[exercise.name] = {ANSWER: state.written.get((exercise.name, key), "")}
    return found
