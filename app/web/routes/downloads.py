"""A lesson to take away, with what its reader has written: a notebook, a script, a text."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace

from fastapi import APIRouter
from starlette.exceptions import HTTPException
from starlette.responses import Response

from app.content.blocks import Lesson, Quiz, Train
from app.content.directives.vary import with_draws
from app.course.export import EXPORT_FORMS, Work, cells_of, written_as
from app.engine.json_columns import decoded_answer
from app.engine.train.corpus_file import load_names
from app.kinds.registry import quiz_kind, right_answers
from app.store import progress
from app.store.progress import LessonState
from app.web.pictures.alone import drawings_of, files_of
from app.web.render import file_headers
from app.web.site import TheLesson, TheSite, TheVisitor
from app.web.views.exercise_view import quiz_for_learner

router = APIRouter()

TYPES: Mapping[str, str] = {
    "ipynb": "application/x-ipynb+json",
    "py": "text/x-python; charset=utf-8",
    "md": "text/markdown; charset=utf-8",
}


@router.get("/lessons/{slug}/export.{form}")
async def export(site: TheSite, visitor: TheVisitor, lesson: TheLesson, form: str, blank: bool = False) -> Response:
    """Export the lesson as a file, with the answers and hints that were reached; with *blank*, without them."""
    if form not in EXPORT_FORMS:
        raise HTTPException(404)
    state, right = LessonState(), dict[str, str]()
    learner = None if blank else await visitor.learner()
    if learner is not None:
        async with site.database.read() as db:
            state = await progress.lesson_state(db, learner, lesson.name)
            right = await progress.right_texts(db, learner, lesson.name)
    lesson = with_draws(lesson, lambda quiz: quiz_for_learner(site.kept, lesson, quiz, state, learner))
    work = await asyncio.to_thread(work_of, lesson, state, right)
    if lesson.pictures:
        work = replace(work, pictures=await asyncio.to_thread(files_of, lesson, site.settings.lessons))
    if learner is not None and (texts := await asyncio.to_thread(_read_in, lesson, work)):
        reasons = dict(zip(texts, await site.checks.export_problems(learner, texts), strict=True))
        work = replace(work, unfit=reasons.__getitem__)
    text = await asyncio.to_thread(lambda: written_as(form, cells_of(lesson, work)))
    headers = file_headers(f"{lesson.slug}.{form}") | {"content-type": TYPES[form]}
    return Response(text.encode("utf-8", "replace"), headers=headers)


def _read_in(lesson: Lesson, work: Work) -> list[str]:
    """The texts that an export reads: a grader does, for whatever it costs to read them."""
    texts: dict[str, str] = {}
    cells_of(lesson, replace(work, unfit=lambda text: texts.setdefault(text, "")))
    return list(texts)


def work_of(lesson: Lesson, state: LessonState, right: Mapping[str, str]) -> Work:
    """Work of a learner: the newest *right* text or answer of each exercise, else the present one."""
    tried = {name: tries.newest.text for name, tries in state.tries.items()} | dict(right)
    answers = dict[str, Sequence[str]]()
    for quiz in lesson.all_of(Quiz):
        # An earlier answer was right for the numbers of then.
        newest = state.tries[quiz.name].newest.text if quiz.numbers and quiz.name in state.tries else None
        if given := decoded_answer(newest or tried.get(quiz.name)):
            answers[quiz.name] = quiz_kind(quiz).values(given)
    codes = {name: draft.text for name, draft in state.drafts.items()} | dict(right)
    return Work(
        codes=codes,
        answers=answers,
        right=right_answers(lesson),
        solved=state.solved,
        hints={name: row.hints for name, row in state.progress.items()},
        drawings=drawings_of(lesson),
        names=names_for(lesson),
    )


def names_for(lesson: Lesson) -> tuple[str, ...]:
    """Names that an export of *lesson* trains on: the census's. A longer list would outweigh the lesson."""
    return load_names().names if lesson.all_of(Train) else ()
