"""Problems with exercises: a learner reports one, and an account that makes classes answers it."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Form
from starlette.requests import Request
from starlette.responses import Response

from app.content.blocks import Exercise, Lesson, Quiz
from app.content.text.exercise_titles import exercise_title
from app.course.editions import edition_of
from app.engine.json_columns import decoded_answer, decoded_draw
from app.kinds.registry import select_draw
from app.store import problem_reports
from app.store.problem_reports import LONGEST_SAID, MOST_OPEN, MOST_SHOWN, TooManyReportsError
from app.store.tables import ProblemReport
from app.syntax import plain_lines
from app.web.class_access import require_teacher
from app.web.render import back_to
from app.web.routes.form_fields import Typed
from app.web.routes.sign_in_result import device_of
from app.web.site import Site, TheExercise, TheLesson, TheSite, TheVisitor
from app.web.views.attempt_mistakes import answer_words

router = APIRouter()

EMPTY = "Write what is wrong, or what you expected. A sentence is enough."
TOO_LONG = f"A report has at most {LONGEST_SAID} characters; this one has {{count}}."
TOO_MANY = f"{MOST_OPEN} of your reports wait for an answer. Nothing was sent."
NO_ANSWER = "Write an answer, or close what was chosen without one."
NONE_CHOSEN = "Choose what the answer is for."


@dataclass(frozen=True, slots=True)
class ReportedExercise:
    """Reports about one exercise, which the course may have no more; *current* is the edition that it has now."""

    lesson: Lesson
    exercise: Exercise | None
    reports: Sequence[ProblemReport]
    current: str

    @property
    def title(self) -> str:
        return exercise_title(self.exercise) if self.exercise else self.reports[0].exercise


@router.get("/lessons/{slug}/report/{name}")
async def form(
    request: Request, site: TheSite, visitor: TheVisitor, lesson: TheLesson, exercise: TheExercise
) -> Response:
    return await _form(request, site, await visitor.learner(), lesson, exercise)


async def _form(
    request: Request,
    site: Site,
    learner: int | None,
    lesson: Lesson,
    exercise: Exercise,
    *,
    said: str = "",
    problem: str = "",
) -> Response:
    reports: Sequence[ProblemReport] = ()
    if learner is not None:
        async with site.database.read() as db:
            reports = await problem_reports.reports_of(db, learner, lesson.name, exercise.name)
    return site.pages.page(
        request, "report.html", status=422 if problem else 200, lesson=lesson, exercise=exercise,
        title=exercise_title(exercise), reports=reports, said=said, problem=problem, longest=LONGEST_SAID,
    )  # fmt: skip


@router.post("/lessons/{slug}/report/{name}")
async def report(
    request: Request,
    site: TheSite,
    visitor: TheVisitor,
    lesson: TheLesson,
    exercise: TheExercise,
    said: Typed = "",
) -> Response:
    """Keep a report, with the text that stands in the box."""
    said = as_sent(said)
    if not said or len(said) > LONGEST_SAID:
        problem = TOO_LONG.format(count=len(said)) if said else EMPTY
        return await _form(request, site, await visitor.learner(), lesson, exercise, said=said, problem=problem)
    site.reports.consume(visitor.network)
    learner = await visitor.begin()
    try:
        async with site.database.write() as db:
            await problem_reports.report_problem(
                db, learner, lesson.name, exercise.name, edition=edition_of(lesson, exercise), said=said,
                browser=device_of(request), answer_text=partial(_answer_text, exercise),
            )  # fmt: skip
    except TooManyReportsError:
        return await _form(request, site, learner, lesson, exercise, said=said, problem=TOO_MANY)
    return back_to(f"{lesson.address}/report/{exercise.name}", "reported")


def _answer_text(exercise: Exercise, answer: str, verdict: str) -> str:
    """An *answer* (JSON) to a question as the learner saw it, with the numbers that were drawn for them."""
    given = decoded_answer(answer)
    if not isinstance(exercise, Quiz) or given is None:
        return answer
    return answer_words(select_draw(exercise, decoded_draw(verdict)), given).striptags()


def as_sent(text: str) -> str:
    """*text* of a form, as a database takes it: with plain ends of lines, and without NUL or halves of characters."""
    return plain_lines(text).encode("utf-8", "replace").decode().strip()


@router.get("/reports")
async def listed(request: Request, site: TheSite, visitor: TheVisitor) -> Response:
    """All reports about lessons that an account which makes classes can see, the open ones first; no names."""
    await require_teacher(site, await visitor.learner())
    return await _list_page(request, site)


async def _list_page(
    request: Request, site: Site, *, chosen: Sequence[int] = (), answer: str = "", problem: str = ""
) -> Response:
    lessons = [lesson.name for lesson in site.course.lessons]
    async with site.database.read() as db:
        waiting = await problem_reports.list_reports(db, lessons, settled=False)
        settled = await problem_reports.list_reports(db, lessons, settled=True)
    return site.pages.page(
        request, "reports.html", status=422 if problem else 200, waiting=_by_exercise(site, waiting),
        settled=_by_exercise(site, settled), chosen=chosen, answer=answer, problem=problem, longest=LONGEST_SAID,
    )  # fmt: skip


def _by_exercise(site: Site, reports: Sequence[ProblemReport]) -> Sequence[ReportedExercise]:
    by_place: dict[tuple[str, str], list[ProblemReport]] = defaultdict(list)
    for problem_report in reports:
        by_place[problem_report.lesson, problem_report.exercise].append(problem_report)
    lessons = {lesson.name: lesson for lesson in site.course.lessons}
    return [_reported_exercise(lessons[lesson], exercise, rows) for (lesson, exercise), rows in by_place.items()]


def _reported_exercise(lesson: Lesson, name: str, reports: Sequence[ProblemReport]) -> ReportedExercise:
    exercise = lesson.named.get(name)
    return ReportedExercise(lesson, exercise, reports, edition_of(lesson, exercise) if exercise else "")


@router.post("/reports")
async def settle(
    request: Request,
    site: TheSite,
    visitor: TheVisitor,
    chosen: Annotated[list[int] | None, Form(max_length=MOST_SHOWN)] = None,
    answer: Typed = "",
    close: Typed = "",
) -> Response:
    """Answer the chosen reports, all with the same words, or close them without any."""
    by = await require_teacher(site, await visitor.learner())
    numbers = [number for number in chosen or () if 0 < number < 2**31]
    answer = "" if close else as_sent(answer)
    problem = "" if answer or close else NO_ANSWER
    if len(answer) > LONGEST_SAID:
        problem = TOO_LONG.replace("A report", "An answer").format(count=len(answer))
    problem = problem if numbers else NONE_CHOSEN
    if problem:
        return await _list_page(request, site, chosen=numbers, answer=answer, problem=problem)
    lessons = [lesson.name for lesson in site.course.lessons]
    async with site.database.write() as db:
        await problem_reports.settle_reports(db, numbers, lessons, by.id, answer)
        await visitor.sessions.tell(db)
    return back_to("/reports")
