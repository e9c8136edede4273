"""Quiz answers, one at a time or a sheet of them: mark, remember, show."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Form
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from app.content.blocks import Exercise, Lesson, Quiz, Sheet
from app.engine.json_columns import decoded_draw
from app.kinds.registry import quiz_kind, select_draw
from app.store import progress
from app.store.board import exercise_topic
from app.store.progress import LessonState
from app.store.tables import Progress
from app.store.written_sentences import Spoken, sentences_for
from app.web.render import back_to, wants_fragment
from app.web.site import Site, TheExercise, TheLesson, TheSite, TheVisitor
from app.web.views.exercise_view import QuizView, hints_view, quiz_view
from app.web.views.lesson_view import sheet_view

ANSWER_CHARACTERS = 200
VALUES = 96
MOST_FIELDS = 1000
DRAW = re.compile(r"[0-9]{1,3}", re.ASCII)
DITTO = ('"', "''", "″", "〃", "”", "“", "„", "‘‘", "’’")
"""What says *the same as above* in a row of a sheet."""

router = APIRouter()


@router.post("/quiz/{name}")
async def answer(
    request: Request,
    site: TheSite,
    visitor: TheVisitor,
    lesson: TheLesson,
    exercise: TheExercise,
    answer: Annotated[list[str], Form(max_length=VALUES, default_factory=list)],
    draw: Annotated[int, Form(ge=0, lt=MOST_FIELDS)] = 0,
) -> Response:
    """Mark one answer, to the *draw* that the page shows. The answer and what was said about it are kept."""
    quiz = select_draw(quiz_of(exercise), draw)
    if own := quiz_kind(quiz).fields:
        form = await request.form()
        answer = [value if isinstance(value := form.get(name), str) else "" for name in own]
    view = await _mark_answer(site, lesson, quiz, _plain(answer))
    learner = await visitor.begin()
    rows = await _record_answers(site, learner, lesson, [view], watched=visitor.in_class)
    if not wants_fragment(request):
        return back_to(lesson.address, quiz.name)
    state = LessonState(progress=rows, written=await _written_sentences(site, learner, lesson, [view]))
    return site.pages.fragment(
        "_answered.html", view=_standing(view, state), progress=site.progress(lesson, state.solved)
    )


@router.post("/sheet/{name}")
async def answer_sheet(request: Request, site: TheSite, visitor: TheVisitor, lesson: TheLesson, name: str) -> Response:
    """Mark the rows of a sheet whose answer is new."""
    sheet = lesson.sheets.get(name)
    if sheet is None or sheet.name != name:
        raise HTTPException(404)
    form = await request.form(max_files=0, max_fields=MOST_FIELDS)
    given = answers_in(sheet, form)
    learner = await visitor.begin()
    async with site.database.read() as db:
        tries = await progress.tries_of(db, learner, lesson.name)
    before = {
        name: (attempt_summary.newest.text, decoded_draw(attempt_summary.newest.verdict_json))
        for name, attempt_summary in tries.items()
    }
    asked = [select_draw(row, draw_in(form, row)) for row in sheet.rows if row.name in given]
    fresh = [row for row in asked if before.get(row.name) != (json.dumps(given[row.name]), row.draw)]
    views = [await _mark_answer(site, lesson, row, given[row.name]) for row in fresh]
    rows = await _record_answers(site, learner, lesson, views, watched=visitor.in_class)
    if not wants_fragment(request):
        return back_to(lesson.address, next((view.name for view in views), name))
    state = LessonState(progress=rows, tries=tries, written=await _written_sentences(site, learner, lesson, views))
    answered = [_standing(view, state) for view in views]
    return site.pages.fragment(
        "_sheet_answered.html",
        view=(await sheet_view(site, lesson, sheet, state, learner)).answered(answered),
        answered=answered,
        empty=len(sheet.rows) - len(given) if "all" in form else 0,
        progress=site.progress(lesson, state.solved),
    )


def answers_in(sheet: Sheet, form: FormData) -> dict[str, tuple[str, ...]]:
    """By row, the answer that *form* holds. An empty row has none; a ditto mark repeats the answer above."""
    answers: dict[str, tuple[str, ...]] = {}
    above: tuple[str, ...] = ()
    for row in sheet.rows:
        given = _plain([name for name in form.getlist(row.name) if isinstance(name, str)][:VALUES])
        if quiz_kind(row).ditto:
            same = bool(above) and "".join(given).strip() in DITTO
            given = above = above if same else given
        if any(value.strip() for value in given):
            answers[row.name] = given
    return answers


def draw_in(form: FormData, row: Quiz) -> int:
    """The draw of *row* that the page shows."""
    text = form.get(f"{row.name}-draw")
    return int(text) if isinstance(text, str) and DRAW.fullmatch(text) else 0


def _plain(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(value[:ANSWER_CHARACTERS].replace("\0", "\ufffd") for value in values)


async def _mark_answer(site: Site, lesson: Lesson, quiz: Quiz, given: tuple[str, ...]) -> QuizView:
    shapes = await site.shapes.about(lesson, quiz)
    return quiz_view(site.kept, lesson, quiz, LessonState(), shapes, fresh=given)


async def _record_answers(
    site: Site, learner: int, lesson: Lesson, views: Sequence[QuizView], *, watched: bool
) -> Mapping[str, Progress]:
    """Keep the answers of *views* and what was said about them; the progress in the lesson, by exercise.

    Args:
        watched: Whether the board of a class may show it.
    """
    async with site.database.write(short=True) as db:
        for view in views:
            assert view.feedback is not None, "a given answer is marked"
            answered = progress.NewAttempt(
                kind="quiz",
                text=json.dumps(view.given),
                verdict=json.dumps(
                    {"correct": view.feedback.correct, "echo": view.feedback.echo}
                    | ({"draw": view.quiz.draw} if view.quiz.numbers else {})
                ),
                correct=view.feedback.correct,
            )
            await progress.record_attempt(db, learner, lesson.name, view.name, answered)
            if view.feedback.correct:
                await progress.mark_solved(db, learner, lesson.name, view.name, view.edition)
        if watched:
            for view in views:
                await site.bus.publish(db, exercise_topic(lesson.name, view.name))
        await db.flush()
        if lesson.drawn:
            await site.practice.catch_up(db, learner, lesson.name)
        return await progress.progress_in(db, learner, lesson.name)


def _standing(view: QuizView, state: LessonState) -> QuizView:
    """*view* with what *state* says about its exercise."""
    changed = state.changed(view.name, view.edition)
    hints = hints_view(view.quiz, state, view.url)
    written = None if view.written is None else state.written.get((view.name, view.key), "")
    return replace(view, solved=view.name in state.solved, changed=changed, hints=hints, written=written)


async def _written_sentences(site: Site, learner: int, lesson: Lesson, views: Iterable[QuizView]) -> Spoken:
    """Sentences of instructors for the wrong answers of *views*; queried only where there may be any."""
    waiting = [view.name for view in views if view.written is not None]
    if not waiting:
        return {}
    async with site.database.read() as db:
        return await sentences_for(db, learner, lesson.name, waiting)


def quiz_of(exercise: Exercise) -> Quiz:
    if not isinstance(exercise, Quiz):
        raise HTTPException(404)
    return exercise
