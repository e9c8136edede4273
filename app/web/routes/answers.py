"""Quiz answers: mark, remember, show."""

import json
from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Form
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from app.content.blocks import Exercise, Matmul, Quiz
from app.store import progress
from app.store.progress import LessonState
from app.web.render import back_to, wants_fragment
from app.web.site import TheExercise, TheLesson, TheSite, TheVisitor
from app.web.views.exercise_view import hints_view, quiz_view

ANSWER_CHARACTERS = 200
VALUES = 96

router = APIRouter()


@router.post("/lessons/{slug}/quiz/{name}")
async def answer(
    request: Request,
    site: TheSite,
    visitor: TheVisitor,
    lesson: TheLesson,
    exercise: TheExercise,
    answer: Annotated[list[str], Form(max_length=VALUES, default_factory=list)],
    left: Annotated[str, Form()] = "",
    left_transposed: Annotated[str, Form()] = "",
    right: Annotated[str, Form()] = "",
    right_transposed: Annotated[str, Form()] = "",
) -> Response:
    """Mark one answer. The answer and what was said about it are kept."""
    quiz = quiz_of(exercise)
    fields = (left, left_transposed, right, right_transposed) if isinstance(quiz, Matmul) else answer
    given = tuple(value[:ANSWER_CHARACTERS].replace("\0", "\ufffd") for value in fields)
    shapes = await site.shapes.about(lesson, quiz)
    view = quiz_view(site.kept, lesson, quiz, LessonState(), shapes, fresh=given)
    assert view.feedback is not None, "a given answer is marked"
    learner = await visitor.begin()
    answered = progress.Answered(
        kind="quiz",
        text=json.dumps(given),
        verdict=json.dumps({"correct": view.feedback.correct, "echo": view.feedback.echo}),
        correct=view.feedback.correct,
    )
    async with site.database.write() as db:
        await progress.record_attempt(db, learner, lesson.name, quiz.name, answered)
        rows = await progress.progress_in(db, learner, lesson.name)
        if view.feedback.correct:
            rows[quiz.name] = await progress.mark_solved(db, learner, lesson.name, quiz.name)
    if not wants_fragment(request):
        return back_to(f"/lessons/{lesson.slug}", quiz.name)
    state = LessonState(progress=rows)
    return site.pages.fragment(
        "_answered.html",
        view=replace(view, solved=quiz.name in state.solved, hints=hints_view(quiz, state, view.url)),
        announcement=view.announcement,
        progress=site.progress(lesson, state.solved),
    )


def quiz_of(exercise: Exercise) -> Quiz:
    if not isinstance(exercise, Quiz):
        raise HTTPException(404)
    return exercise
