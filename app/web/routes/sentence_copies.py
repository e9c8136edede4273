"""Sentences that leave a server and come into another, as JSON: each is tried anew where it comes in.

Keys of mistakes differ between servers, as hidden numbers do. What travels is the example, which finds its key again.
"""

from dataclasses import dataclass

from fastapi import APIRouter
from pydantic import TypeAdapter
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from app.course.editions import edition_of
from app.store import written_sentences as store
from app.store.written_sentences import LONGEST_SENTENCE, NewSentence, sentence_topic
from app.teaching.text_input import one_line
from app.web.render import back_to
from app.web.routes.code_boxes import received_text
from app.web.routes.form_fields import Typed
from app.web.routes.items import ReportScope, TheScope
from app.web.routes.sentences import Writing, sentences_page
from app.web.sentence_trials import SentenceTrial
from app.web.site import Site, TheSite, TheVisitor
from app.web.views.sentence_view import known_example, subject_of

router = APIRouter(prefix="/authors/sentences")

MOST_AT_ONCE = 20
COLUMNS = ("lesson", "exercise", "edition", "mistake", "said", "example", "written_at", "withdrawn_at")
UNREADABLE = "This is no list of sentences as another server gives it out. Paste all of its JSON."
TOO_MANY = f"At most {MOST_AT_ONCE} sentences are tried at once; these are {{count}}. Paste them in parts."
NO_EXERCISE = "The course has no exercise {exercise} in {lesson} in which {name} could go wrong."
NAMED = "The example makes no mistake here that nothing names. {told}"


@dataclass(frozen=True, slots=True)
class SentenceCopy:
    """A sentence as it travels."""

    lesson: str
    exercise: str
    mistake: str
    said: str
    example: str
    withdrawn_at: str | None = None


@dataclass(frozen=True, slots=True)
class SentenceCopies:
    sentences: tuple[SentenceCopy, ...]


COPIES: TypeAdapter[SentenceCopies] = TypeAdapter(SentenceCopies)


@router.get("/export.json")
async def exported(site: TheSite, scope: TheScope) -> Response:
    """The sentences of the class, or of the course, without who wrote them."""
    async with site.database.read() as db:
        rows = await store.list_sentences(db, scope.number)
    copies = [{name: getattr(row, name) for name in COLUMNS} for row in rows]
    for row in copies:
        row |= {name: row[name].isoformat() if row[name] else None for name in ("written_at", "withdrawn_at")}
    return JSONResponse({"sentences": copies}, headers={"cache-control": "no-store"})


@router.post("/import")
async def take_in(
    request: Request, site: TheSite, visitor: TheVisitor, scope: Writing, sentences: Typed = ""
) -> Response:
    """Try sentences that another server gave out, and keep those that hold; the others are told with the reason."""
    learner = await visitor.begin()
    try:
        copies = [copy for copy in COPIES.validate_json(sentences).sentences if copy.withdrawn_at is None]
    except ValueError:
        return await sentences_page(request, site, scope, UNREADABLE)
    if len(copies) > MOST_AT_ONCE:
        return await sentences_page(request, site, scope, TOO_MANY.format(count=len(copies)))
    problems = [f"{copy.said} {problem}" for copy in copies if (problem := await _take(site, learner, scope, copy))]
    if problems:
        taken = len(copies) - len(problems)
        return await sentences_page(
            request, site, scope, "\n".join([f"{taken} of {len(copies)} were taken in.", *problems])
        )
    return back_to(f"/authors/sentences{scope.query}")


async def _take(site: Site, learner: int, scope: ReportScope, copy: SentenceCopy) -> str:
    """Keep a sentence; reason why that cannot be."""
    name = copy.mistake.partition(":")[0]
    lesson = site.course.named.get(copy.lesson)
    exercise = lesson.named.get(copy.exercise) if lesson else None
    if lesson is None or exercise is None or not subject_of(exercise, copy.mistake):
        return NO_EXERCISE.format(exercise=repr(copy.exercise), lesson=repr(copy.lesson), name=repr(name))
    sentence, example = one_line(copy.said)[:LONGEST_SENTENCE], received_text(exercise, copy.example).strip()
    example = known_example(exercise, copy.mistake) or example
    trial = SentenceTrial(site, learner, lesson, exercise)
    mistake, copies = await trial.mistake_of(name, example)
    if not mistake:
        return NAMED.format(told=copies).strip()
    if fault := await trial.fault_of(mistake, example):
        return fault
    new = NewSentence(
        class_id=scope.number, lesson=lesson.name, exercise=exercise.name, mistake=mistake, said=sentence,
        example=example, edition=edition_of(lesson, exercise),
    )  # fmt: skip
    async with site.database.write() as db:
        await store.write_sentence(db, new, learner)
        await site.bus.publish(db, sentence_topic(lesson.name))
    return ""
