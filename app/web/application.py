"""The web application, put together from its parts."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import cache, partial

import structlog
from fastapi import APIRouter, FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import Response

from app.accounts.sign_in_options import doors_of
from app.content.blocks import Course
from app.content.text.errors import LessonError
from app.course.course import published
from app.course.editions import wordings_of
from app.engine.grader import Grader
from app.insight.renewal import RENEWAL_SECONDS, renew_reports
from app.lti import rosters as rosters_of_platforms
from app.lti.line_item_search import LineItemFinder
from app.lti.rosters import RosterReader
from app.lti.scores import LOOK_SECONDS, ScoreSender
from app.lti.service import LtiService
from app.practice.item_lessons import Curriculum, PracticeItems
from app.practice.pool import REFILL_SECONDS, ItemPool
from app.practice.sessions import Practice
from app.practice.sittings import SittingItems
from app.settings import Settings
from app.store import cleanup
from app.store.assignments import lost_assignments
from app.store.database import Database
from app.store.event_bus import RELOOK_SECONDS, EventBus
from app.store.migrate import migrate
from app.store.moments import PAGE, record_editions
from app.store.progress import ResumePoint
from app.store.renames import adopt_renames
from app.web.checks import CheckService, TaskRegistry
from app.web.middleware.frames import FrameMiddleware
from app.web.middleware.guesses import Guesses
from app.web.middleware.metrics import Metrics
from app.web.middleware.path_prefix import PathPrefix
from app.web.middleware.reports import TITLES, WHEN_READ, ErrorPages, RequestCount, RequestLog, describe_failure
from app.web.middleware.security import HeadRequestMiddleware, RelativeRedirects, RequestGuard, SecurityHeaders
from app.web.middleware.visitor import RateLimit, SessionCache, VisitorMiddleware
from app.web.operator_pages import operator_pages
from app.web.render import URL, Assets, ImmutableFiles, Pages, wants_fragment
from app.web.routes import (
    answers,
    assignments,
    attempts_out,
    box_texts,
    class_board,
    class_home,
    class_lessons,
    code_boxes,
    comparisons,
    contents,
    downloads,
    finish,
    gradebook,
    health,
    hints,
    items,
    joining,
    lti,
    lti_choice,
    lti_entry,
    lti_register,
    lti_setup,
    me,
    next_term,
    occasions,
    operator_papers,
    pages,
    passkey_calls,
    practice_pages,
    principles,
    problem_reports,
    roster_lists,
    rosters,
    seeing,
    sentence_copies,
    sentences,
    sign_in,
    sign_in_codes,
    sign_in_elsewhere,
    sitting_forms,
    sitting_setup,
    sittings,
    theme,
    training,
    written,
)
from app.web.site import RenderCache, ShapeLookup, Site, open_to
from app.web.sitting_jobs import DRAW_SECONDS, SittingJobs
from app.web.sitting_jobs import LOOK_SECONDS as SITTING_SECONDS
from app.web.training_runs import MOST_RUNS, TrainingRuns

log = structlog.get_logger()

FOR_ALL = (
    contents, pages, downloads, finish, training, theme, me, health, occasions, practice_pages, operator_papers,
    written,
)  # fmt: skip
OF_ACCOUNTS = (
    sign_in,
    sign_in_codes,
    passkey_calls,
    sign_in_elsewhere,
    lti,
    lti_entry,
    lti_choice,
    lti_register,
    lti_setup,
)
OF_CLASSES = (
    problem_reports,
    items,
    sentence_copies,
    sentences,
    joining,
    roster_lists,
    rosters,
    assignments,
    sitting_forms,
    sitting_setup,
    sittings,
    class_home,
    next_term,
    class_board,
    class_lessons,
    seeing,
    comparisons,
    gradebook,
    attempts_out,
)

Job = tuple[str, Callable[[], Awaitable[object]], float]
"""What is done every so many seconds, with its name."""
PASSES = (429, 500, 502, 503)
"""Of these it helps to ask once more."""
TICKETS, TICKET_MINUTES = 2000, 10
"""Questions of a network that may be open at a time: each is a row for ten minutes."""
LETTERS, LETTER_MINUTES = 10, 60
REPORTS, REPORT_MINUTES = 60, 60
TOO_MANY_TICKETS = "More than {limit} began to sign in from your network within ten minutes. Try again in {seconds} s."
TOO_MANY_LETTERS = "More than {limit} letters were asked for to this address within an hour. Try again in {seconds} s."
TOO_MANY_REPORTS = (
    "More than {limit} problems were reported from your network within an hour. Try again in {seconds} s."
)
TOO_MANY_TRIES = "More than {limit} tries to sign in came within a minute. Go on in {seconds} s."


def create_app(
    settings: Settings,
    course: Course,
    grader: Grader,
    *,
    drafts: bool = False,
    framed: bool = False,
    mark: str = "",
    hosts: frozenset[str] = frozenset(),
) -> FastAPI:
    """The application for *course*, with code checked by *grader*.

    Args:
        drafts: Serve lessons that are marked as drafts too.
        framed: Pages may stand in frames of their own site.
        mark: Of the hidden numbers that *grader* judges on.
        hosts: The names that requests may ask for; empty for any.
    """
    shown = course if drafts else published(course)
    database, bus = Database(settings.resolved_database_url), EventBus(settings.resolved_database_url)
    sessions = SessionCache(
        database,
        bus,
        changes_a_minute=settings.share(settings.changes_per_minute),
        new_a_minute=settings.share(settings.new_learners_per_minute),
        data_dir=settings.data_dir,
    )
    assets, own_pages = Assets(), operator_pages(settings)
    tasks, metrics, pool = TaskRegistry(shown, mark), Metrics(), ItemPool(database, grader)
    database.seconds = metrics.database
    site = Site(
        settings=settings,
        course=open_to(shown),
        whole=shown,
        database=database,
        grader=grader,
        pages=Pages(
            assets,
            prefix=settings.prefix,
            unsafe=settings.unsafe_no_sandbox,
            imprint="imprint" in own_pages,
            demo=settings.demo,
        ),
        shapes=ShapeLookup(grader),
        checks=CheckService(grader, tasks, metrics, settings.share(settings.checks_per_minute)),
        tasks=tasks,
        runs=TrainingRuns(grader, database, bus, settings.names, at_once=_trainings_at_once(settings)),
        metrics=metrics,
        bus=bus,
        guesses=Guesses(settings.share),
        tries=RateLimit(settings.share(settings.sign_in_tries_per_minute), said=TOO_MANY_TRIES),
        tickets=RateLimit(settings.share(TICKETS), said=TOO_MANY_TICKETS, minutes=TICKET_MINUTES),
        reports=RateLimit(settings.share(REPORTS), said=TOO_MANY_REPORTS, minutes=REPORT_MINUTES),
        letters=RateLimit(settings.share(LETTERS), said=TOO_MANY_LETTERS, minutes=LETTER_MINUTES),
        practice=Practice(Curriculum(open_to(shown)), PracticeItems(), pool),
        sittings=SittingItems(),
        doors=doors_of(settings),
        lti=LtiService(settings, database),
    )

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        if getattr(app.state, "runs", False):
            raise RuntimeError("This application runs already, and its connections belong to the loop that it runs in.")
        app.state.runs = True
        await migrate(settings.resolved_database_url)
        await _adopt_course(database, shown)
        await _warn_of_lost_lessons(site)
        if not assets.built:
            log.warning("assets-missing", fix="Run npm ci && npm run build.")
        site.runs.check_names()
        stopping = asyncio.Event()
        listening = [asyncio.create_task(item) for item in (bus.relay_notifications(), sessions.listen())]
        sender = ScoreSender(database, site.lti.services, lambda: app.state.site.exercises_for_anybody)
        # What is being proved, or on its way, may be left where it is: it is done again when its lease is over.
        left: list[Job] = [
            ("refill", pool.refill, REFILL_SECONDS),
            ("lti-line-items", LineItemFinder(database, site.lti.services).find_due, LOOK_SECONDS),
            ("lti-scores", sender.send_due, LOOK_SECONDS),
            ("lti-rosters", RosterReader(database, site.lti.services).read_due, rosters_of_platforms.LOOK_SECONDS),
        ]
        if not settings.demo:
            of_sittings = sitting_jobs_of(app)
            left += [
                ("sittings-drawn", of_sittings.draw_due, DRAW_SECONDS),
                ("sittings", of_sittings.close_and_grade, SITTING_SECONDS),
            ]
        ended: list[Job] = [("take-over", site.runs.take_over, RELOOK_SECONDS)]
        if settings.replicas == 1:
            sweep = cleanup.delete_demo_work if settings.demo else cleanup.delete_expired
            every = cleanup.DEMO_SWEEP_SECONDS if settings.demo else cleanup.SWEEP_SECONDS
            ended.append(("sweep", partial(sweep, database), every))
            left.append(("items", partial(_renew_items, app), RENEWAL_SECONDS))
        listening += [asyncio.create_task(cleanup.run_periodically(*job, stopping)) for job in left]
        work = [asyncio.create_task(cleanup.run_periodically(*job, stopping)) for job in ended]
        yield
        stopping.set()
        await asyncio.gather(*work)
        await site.runs.close()
        for task in listening:
            task.cancel()
        await asyncio.gather(*listening, return_exceptions=True)
        await site.lti.close()
        await database.close()
        app.state.runs = False

    app = FastAPI(
        title="Backhand",
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        lifespan=lifespan,
        middleware=[
            *([Middleware(PathPrefix, prefix=settings.prefix)] if settings.prefix else []),
            *([] if settings.demo else [Middleware(FrameMiddleware, ancestors=site.lti.ancestors)]),
            Middleware(RequestCount, requests=metrics.requests, seconds=metrics.request_seconds),
            Middleware(RequestLog),
            Middleware(HeadRequestMiddleware),
            Middleware(SecurityHeaders, secure=settings.secure_cookies, framed=framed),
            Middleware(RelativeRedirects),
            Middleware(GZipMiddleware, minimum_size=1000, compresslevel=6),
            Middleware(ErrorPages, show=_show_error),
            Middleware(RequestGuard, hosts=hosts, secure=settings.secure_cookies),
            Middleware(VisitorMiddleware, sessions=sessions, secure=settings.secure_cookies),
        ],
    )
    app.state.site = site
    app.state.settings = settings
    app.state.operator_pages = own_pages
    app.state.stopping = False
    app.state.looking, app.state.database = asyncio.Lock(), (0.0, "")
    for error in (HTTPException, RequestValidationError):
        app.add_exception_handler(error, _as_page)
    # Routes are tried in order, and an exercise is asked with every line that is typed.
    app.router.routes.extend(_exercises().routes)
    for room in FOR_ALL if settings.demo else (*FOR_ALL, *OF_ACCOUNTS, *OF_CLASSES):
        # As they were read when their module was: of a router that is included each is read anew, for each application.
        app.router.routes.extend(room.router.routes)
    app.state.drafts = drafts
    _lead_from_former_addresses(app)
    app.mount(URL, ImmutableFiles(directory=assets.folder, check_dir=False))
    return app


@cache  # to read what a handler asks for takes FastAPI six milliseconds
def _exercises() -> APIRouter:
    """Routes of an exercise, of lessons and of practice alike."""
    router = APIRouter()
    for room in (code_boxes, principles, box_texts, answers, hints):
        for route in room.router.routes:
            assert isinstance(route, APIRoute)
            for home in ("/lessons/{slug}", "/practice/{item}"):
                # One by one: of a router that is included the log would tell the rest of the path alone.
                router.add_api_route(
                    home + route.path,
                    route.endpoint,
                    methods=sorted(route.methods or ()),
                    response_class=route.response_class,
                )
    return router


async def _renew_items(app: FastAPI) -> None:
    """Count answers anew where that was asked for, for the course as it is served now."""
    settings: Settings = app.state.settings
    site: Site = app.state.site
    await renew_reports(site.database, settings.resolved_database_url, site.whole, settings.shared_by)


async def take_course(app: FastAPI, course: Course, faults: tuple[LessonError, ...] = ()) -> None:
    """Serve *course* from now on; with drafts, its pages also tell the *faults* that it has."""
    site: Site = app.state.site
    shown = course if app.state.drafts else published(course)
    await _adopt_course(site.database, shown)
    site.tasks.take(shown)
    site.practice.curriculum = Curriculum(open_to(shown))
    faults = faults if app.state.drafts else ()
    app.state.site = replace(site, course=open_to(shown), whole=shown, faults=faults, kept=RenderCache())
    _lead_from_former_addresses(app)
    await _warn_of_lost_lessons(app.state.site)


async def _adopt_course(database: Database, course: Course) -> None:
    """Carry what is stored over to *course*, and keep since when its exercises are as they are."""
    async with database.write() as db:
        await adopt_renames(db, renames_of(course))
        await record_editions(db, wordings_of(course))


async def _warn_of_lost_lessons(site: Site) -> None:
    """Tell the operator which lessons a class was given and the course has lost."""
    async with site.database.read() as db:
        lost = await lost_assignments(
            db, site.with_private_lessons([lesson.name for lesson in site.whole.lessons]).assigned
        )
    for lost_assignment in lost:
        log.warning(
            "assigned-lesson-gone",
            class_id=lost_assignment.class_id,
            assignment=lost_assignment.assignment_id,
            lesson=lost_assignment.lesson,
        )


def _lead_from_former_addresses(app: FastAPI) -> None:
    """In place of the redirects that were there before."""
    routes = pages.former_addresses(app.state.site.course)
    known = {id(item) for item in getattr(app.state, "former", ())}
    app.router.routes[:] = [*routes, *(route for route in app.router.routes if id(route) not in known)]
    app.state.former = routes


def renames_of(course: Course) -> dict[ResumePoint, ResumePoint]:
    """Former places of exercises (`was`), and their present ones; a place that is in use is no former one."""
    current = {ResumePoint(lesson.name, exercise.name) for lesson in course.lessons for exercise in lesson.exercises}
    renames: dict[ResumePoint, ResumePoint] = {}
    for lesson in course.lessons:
        names = {former.lesson for former in current}
        renames |= {ResumePoint(was, PAGE): ResumePoint(lesson.name, PAGE) for was in lesson.was if was not in names}
        for exercise in lesson.exercises:
            former = [(word.partition("#")[0], word.partition("#")[2]) for word in exercise.was if "#" in word]
            former += [(lesson.name, word) for word in exercise.was if "#" not in word]
            former += [
                (name, word) for name in lesson.was for word in (exercise.name, *exercise.was) if "#" not in word
            ]
            renames |= {
                ResumePoint(*old): ResumePoint(lesson.name, exercise.name)
                for old in former
                if ResumePoint(*old) not in current
            }
    return renames


def sitting_jobs_of(app: FastAPI) -> SittingJobs:
    """Jobs for quiet sittings, with the course as it is served when they run."""
    site: Site = app.state.site

    def operations() -> frozenset[str]:
        curriculum = app.state.site.practice.curriculum
        return frozenset(curriculum.operations_of(curriculum.lessons))

    return SittingJobs(
        site.database, site.grader, site.tasks, site.sittings, operations, lambda: app.state.site.practice.clock()
    )


def _trainings_at_once(settings: Settings) -> int:
    """Number of training chunks that may run at a time; a broker has slots of their own for them, apart from checks."""
    return MOST_RUNS if settings.nats_url else max(1, settings.graders - 1)


async def _as_page(request: Request, error: Exception) -> Response:
    status, message = describe_failure(error)
    response = await _show_error(request, status, TITLES.get(status, "That did not work"), message)
    response.headers.update(getattr(error, "headers", None) or {})
    return response


async def _show_error(request: Request, status: int, title: str, message: str) -> Response:
    site: Site = request.app.state.site
    if getattr(request.state, "framed", False):
        site = site.in_frame
    if request.method == "GET":
        title, message = WHEN_READ.get(status, (title, message))
    if wants_fragment(request):
        response = site.pages.fragment("_problem.html", status=status, title=title, message=message)
        # Into the target, not in its place: the next answer needs the target again.
        response.headers["HX-Reswap"] = "innerHTML"
        return response
    return site.pages.page(
        request,
        "error.html",
        status=status,
        number=status,
        title=title,
        message=message,
        back=_came_from(site, request),
        again=request.method == "GET" and status in PASSES,
    )


def _came_from(site: Site, request: Request) -> str:
    """The exercise whose form was sent; empty where it was none."""
    if "item" in request.path_params:
        return f"/practice/{request.path_params['item']}"
    lesson = site.course.at.get(request.path_params.get("slug", ""))
    name = request.path_params.get("name", "")
    return f"{lesson.address}#{name}" if lesson is not None and lesson.exercise(name) else ""
