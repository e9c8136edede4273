"""Sentences for all who make one mistake that nothing names: written once, shown at once to every learner who makes it.

A sentence stands beside what the judge says, and changes no verdict. It is tried before it is shown.
"""

from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Depends, Form, Query
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from app.content.blocks import CodeBox, Exercise, Lesson
from app.course.editions import edition_of
from app.store import board, history_rows
from app.store import written_sentences as store
from app.store.tables import Learner, WrittenSentence
from app.store.written_sentences import LONGEST_SENTENCE, MistakenText, NewSentence, sentence_topic
from app.teaching.text_input import one_line
from app.web.class_access import parse_row_id
from app.web.render import back_to
from app.web.routes.code_boxes import received_text
from app.web.routes.items import ReportScope, TheScope
from app.web.routes.sentence_forms import MistakeFields, SentenceFields
from app.web.sentence_trials import SentenceTrial
from app.web.site import Site, TheSite, TheVisitor, or_404
from app.web.views.sentence_blocks import with_block
from app.web.views.sentence_view import SentenceView, example_of, known_example, subject_of

router = APIRouter(prefix="/authors/sentences")

NO_EXAMPLE = "Write a text that makes this mistake: it is tried, and becomes the example of the block for the lesson."


async def writing_scope(scope: TheScope) -> ReportScope:
    """Scope of who may write: the course, for accounts that make classes; a class, for its instructors."""
    if not scope.may_write:
        raise HTTPException(404)
    return scope


Writing = Annotated[ReportScope, Depends(writing_scope)]


@dataclass(frozen=True, slots=True)
class MistakePlace:
    """A mistake at an exercise, as an address or a form names it, and what it is about."""

    lesson: Lesson
    exercise: Exercise
    mistake: str
    subject: str

    @property
    def names(self) -> tuple[str, str]:
        return self.lesson.name, self.exercise.name

    @property
    def known_example(self) -> str:
        """Code or answer that makes it, where the mistake itself tells; "" where a text has to be written."""
        return known_example(self.exercise, self.mistake)


def _place(site: Site, fields: MistakeFields) -> MistakePlace:
    lesson = site.course.at.get(fields.lesson)
    named = lesson.named.get(fields.exercise) if lesson else None
    subject = subject_of(named, fields.mistake) if named else ""
    if lesson is None or named is None or not subject:
        raise HTTPException(404)
    return MistakePlace(lesson, named, fields.mistake, subject)


@router.get("")
async def listed(request: Request, site: TheSite, scope: TheScope) -> Response:
    """All sentences of the class, or of the course."""
    return await sentences_page(request, site, scope)


async def sentences_page(request: Request, site: Site, scope: ReportScope, problem: str = "") -> Response:
    """The page of all sentences; with a *problem*, what was sent to it did not hold."""
    async with site.database.read() as db:
        rows = await store.list_sentences(db, scope.number)
    views = [sentence_view(site, row) for row in rows]
    status = 422 if problem else 200
    return site.pages.page(request, "sentences.html", status=status, views=views, scope=scope, problem=problem)


@router.get("/new")
async def form(
    request: Request,
    site: TheSite,
    scope: Writing,
    fields: Annotated[MistakeFields, Query()],
) -> Response:
    """Form for a sentence, with a text that makes the mistake, if enough learners made it."""
    place = _place(site, fields)
    if place.known_example or not isinstance(place.exercise, CodeBox):
        return _form(request, site, scope, place)
    texts = await _shared_texts(site, scope, place)
    return _form(request, site, scope, place, example=example_of(place.lesson, place.exercise, texts))


async def _shared_texts(site: Site, scope: ReportScope, place: MistakePlace) -> list[MistakenText]:
    """Texts that make the mistake; none where so few learners made it that one could be known by it."""
    async with site.database.read() as db:
        learners, staff = await _learners(db, scope, place), await history_rows.list_staff(db)
        texts = await store.mistaken_texts(db, *place.names, place.mistake, learners)
    texts = [each for each in texts if each.learner not in staff]
    return texts if len({each.learner for each in texts}) >= site.settings.shared_by else []


async def _learners(db: AsyncSession, scope: ReportScope, place: MistakePlace) -> list[int] | None:
    """Learners whose texts are looked at: those of a class, if the exercise is assigned to it, or all (None)."""
    if scope.number is None:
        return None
    if not board.has_exercise(await board.assigned_exercises(db, scope.number), *place.names):
        return []
    return [person.learner_id for person in await board.list_learners(db, scope.number)]


def _form(
    request: Request,
    site: Site,
    scope: ReportScope,
    place: MistakePlace,
    *,
    said: str = "",
    example: str = "",
    problem: str = "",
) -> Response:
    return site.pages.page(
        request, "sentence_new.html", status=422 if problem else 200, scope=scope, place=place, said=said,
        example=example, problem=problem, longest=LONGEST_SENTENCE,
    )  # fmt: skip


@router.post("")
async def write(
    request: Request,
    site: TheSite,
    visitor: TheVisitor,
    scope: Writing,
    fields: Annotated[SentenceFields, Form()],
) -> Response:
    """Try a sentence and store it; every learner who makes the mistake sees it from now on."""
    place, learner, mistake = _place(site, fields), await visitor.begin(), fields.mistake
    sentence = one_line(fields.said)
    example = place.known_example or received_text(place.exercise, fields.example).strip()
    problem = fields.problem or ("" if example else NO_EXAMPLE)
    trial = SentenceTrial(site, learner, place.lesson, place.exercise)
    problem = problem or await trial.fault_of(mistake, example)
    if problem:
        return _form(request, site, scope, place, said=sentence, example=example, problem=problem)
    new = NewSentence(
        class_id=scope.number, lesson=place.lesson.name, exercise=place.exercise.name, mistake=mistake, said=sentence,
        example=example, edition=edition_of(place.lesson, place.exercise),
    )  # fmt: skip
    async with site.database.write() as db:
        row = await store.write_sentence(db, new, learner)
        await site.bus.publish(db, sentence_topic(place.lesson.name))
    return back_to(sentence_view(site, row).address)


@router.get("/{number}")
async def shown(request: Request, site: TheSite, scope: TheScope, number: str) -> Response:
    """A sentence, with the block for the lesson and the change that it makes to its file."""
    async with site.database.read() as db:
        row = await _find_sentence(db, scope, number)
        author = await db.get(Learner, row.learner_id) if row.learner_id else None
    view = sentence_view(site, row)
    return site.pages.page(
        request, "sentence.html", view=view, scope=scope, diff=_diff(site, view), by=author.name if author else "",
        may_withdraw=scope.may_write,
    )  # fmt: skip


def _diff(site: Site, view: SentenceView) -> str:
    """The change of the lesson file, as `git apply` takes it; "" where the course has no such exercise any more."""
    lessons = site.settings.lessons
    if view.exercise is None or not view.block:
        return ""
    path = Path(view.exercise.place.path)
    try:
        text = path.read_text("utf-8")
    except (OSError, ValueError):
        return ""
    shown = path.relative_to(lessons).as_posix() if path.is_relative_to(lessons) else path.name
    changed = with_block(text, view.exercise, view.block)
    before, after = (part.splitlines(keepends=True) for part in (text, changed))
    return "".join(unified_diff(before, after, f"a/{shown}", f"b/{shown}"))


@router.post("/{number}/withdraw")
async def withdraw(site: TheSite, visitor: TheVisitor, scope: Writing, number: str) -> Response:
    """Stop showing a sentence."""
    learner = await visitor.begin()
    async with site.database.write() as db:
        row = await _find_sentence(db, scope, number)
        await store.withdraw_sentence(db, row, learner)
        await site.bus.publish(db, sentence_topic(row.lesson))
    return back_to(f"/authors/sentences{scope.query}")


async def _find_sentence(db: AsyncSession, scope: ReportScope, number: str) -> WrittenSentence:
    return or_404(await store.find_sentence(db, parse_row_id(number), scope.number))


def sentence_view(site: Site, row: WrittenSentence) -> SentenceView:
    """*row* with its exercise, as far as the course still has it."""
    lesson = site.course.named.get(row.lesson)
    exercise = lesson.named.get(row.exercise) if lesson else None
    current = lesson is not None and exercise is not None and edition_of(lesson, exercise) == row.edition
    return SentenceView(row, lesson if exercise else None, exercise, current=current)
