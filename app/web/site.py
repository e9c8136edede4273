"""Site: what every handler needs, made once: the course, the database, the graders, the templates."""

import asyncio
import contextlib
import re
from collections.abc import Callable, Collection, Hashable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Annotated, Any, TypeVar, cast

from fastapi import Depends
from markupsafe import Markup
from sqlalchemy.exc import OperationalError
from starlette.exceptions import HTTPException
from starlette.requests import Request

from app.accounts.passwords import AT_ONCE, MOST_WAITING
from app.accounts.sign_in_options import SignInOptions
from app.cache import LruCache, Same
from app.content.blocks import (
    Checker,
    CodeBox,
    Course,
    Exercise,
    Forward,
    FunctionBox,
    Lesson,
    Quiz,
    Unit,
    Visual,
)
from app.content.program.programs import tensors_of
from app.content.text.errors import LessonError
from app.content.text.sizes import format_shape
from app.engine.grader import Grader
from app.engine.task import GradTask, HuntTask
from app.grading.forward.facts import Shape
from app.grading.reading.shape_inference import infer_shapes
from app.kinds.registry import quiz_kind
from app.lti.service import LtiService
from app.practice.item_lessons import exercises_in
from app.practice.sessions import Practice
from app.practice.sitting_names import sitting_named
from app.practice.sittings import SittingItems
from app.settings import Settings
from app.store.assignments import lessons_seen
from app.store.board import Asked, assigned_exercises, has_exercise
from app.store.database import Database
from app.store.event_bus import EventBus
from app.store.progress import AttemptKey, LessonState, lesson_state
from app.store.tables import Assignment, Draft
from app.web.checks import CheckService, TaskRegistry
from app.web.middleware.frames import FRAME
from app.web.middleware.guesses import Guesses
from app.web.middleware.metrics import Metrics
from app.web.middleware.turns import Turns
from app.web.middleware.visitor import RateLimit, Visitor
from app.web.pictures import draw_picture
from app.web.render import Pages
from app.web.training_runs import TrainingRuns

MOST_KEPT = 4096
ITEM = re.compile(r"[1-9][0-9]{0,8}", re.ASCII)
SCOPE_MODULES = ("torch", "F", "math")

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class LessonProgress:
    """Progress in a lesson: the number of solved exercises; *after* is the next lesson."""

    lesson: Lesson
    done: int
    total: int
    after: Lesson | None

    @property
    def complete(self) -> bool:
        return self.done == self.total

    @property
    def percent(self) -> int:
        """Progress in whole per cent: 100 only if nothing is left."""
        return 100 * self.done // self.total if self.total else 0

    @property
    def announcement(self) -> str:
        return "Lesson complete." if self.complete else f"{self.done} of {self.total} exercises done."


class RenderCache:
    """LRU cache of what is the same for every learner: pictures, quiz choices, feedback.

    Args:
        most: How many are kept; the one that was not asked for the longest goes first.
    """

    def __init__(self, most: int = MOST_KEPT) -> None:
        self._made = LruCache[Hashable, tuple[Mapping[str, Shape], Any]](most)

    def of(self, block: object, shapes: Mapping[str, Shape], make: Callable[[], T], *about: Hashable) -> T:
        """Return what *make* gives for *block* and *about*, made again if other *shapes* are known."""
        key = Same(block), *about
        entry = self._made.get(key)
        if entry is None or entry[0] != shapes:
            entry = self._made.put(key, (shapes, make()))
        value: T = entry[1]
        return value


TITLE_LETTERS = range(5, 10)


class ShapeLookup:
    """Shapes by forward program."""

    def __init__(self, grader: Grader) -> None:
        self._grader = grader
        self._read = LruCache[Same, tuple[Mapping[str, Shape], frozenset[str]]](MOST_KEPT)
        self._ran = LruCache[Same, Mapping[str, Shape]](MOST_KEPT)

    def inferred(self, forward: Forward) -> Mapping[str, Shape]:
        """Infer shapes from the source alone; nothing is run."""
        return self._inferred(forward)[0]

    def _inferred(self, forward: Forward) -> tuple[Mapping[str, Shape], frozenset[str]]:
        """The shapes that the source of *forward* tells, and the tensors of which it tells none."""
        return self._read.of(Same(forward), lambda: _known_shapes(forward))

    async def of(self, forward: Forward | None, names: Collection[str] | None = None) -> Mapping[str, Shape]:
        """Shapes of *forward* with at least *names* (None for all of its tensors), if a grader can find them."""
        if forward is None:
            return {}
        shapes, untold = self._inferred(forward)
        if not (untold if names is None else untold.intersection(names)):
            return shapes
        ran = self._ran.get(Same(forward))
        if ran is None:
            if self._grader.readiness.state != "ready":
                return shapes
            facts = await self._grader.facts(forward)
            if facts.error:
                return shapes
            ran = self._ran.put(Same(forward), {**facts.shapes, **shapes})
        return ran

    def known(self, lesson: Lesson, box: CodeBox) -> Mapping[str, Shape]:
        """Shapes known from the source of the forward program of *box*."""
        forward = lesson.forwards.get(box.forward or "")
        return {} if forward is None else self.inferred(forward)

    async def about(self, lesson: Lesson, quiz: Quiz) -> Mapping[str, Shape]:
        """Shapes of the tensors that *quiz* is about; nothing for one without a forward program."""
        forward = lesson.forwards.get(quiz.forward or "")
        if forward is None or not self._inferred(forward)[1]:
            return await self.of(forward)
        return await self.of(forward, quiz_kind(quiz).tensors(quiz, forward))


def _known_shapes(forward: Forward) -> tuple[Mapping[str, Shape], frozenset[str]]:
    shapes = infer_shapes(forward)
    return shapes, frozenset(tensors_of(forward)) - shapes.keys()


@dataclass(frozen=True)
class Site:
    """One running course, as the learner may see it; *whole* has the private lessons, too."""

    settings: Settings
    course: Course
    whole: Course
    database: Database
    grader: Grader
    pages: Pages
    shapes: ShapeLookup
    checks: CheckService
    tasks: TaskRegistry
    runs: TrainingRuns
    metrics: Metrics
    bus: EventBus
    guesses: Guesses
    """Wrong codes of classes."""
    tries: RateLimit
    """Of signing in, by network and by name."""
    tickets: RateLimit
    """Questions about signing in that are kept, by network."""
    reports: RateLimit
    """Of problems, by network."""
    letters: RateLimit
    """By the address that they go to."""
    doors: SignInOptions
    practice: Practice
    sittings: SittingItems
    lti: LtiService
    turns: Turns = field(default_factory=lambda: Turns(AT_ONCE, MOST_WAITING))
    """Whoever shows a password waits for one: a guess is counted when it is looked at, and a class comes at once."""
    one_code: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Codes are looked at one after the other: a guess is counted when it is looked at, and a class comes at once."""
    seen: Asked | None = None
    """What is assigned to a learner, where an instructor looks at pages as they see them: nothing else is shown."""
    kept: RenderCache = field(default_factory=RenderCache)
    """What was made once is the same for all, in a frame and with private lessons too."""
    right_names: LruCache[AttemptKey, frozenset[str]] = field(default_factory=lambda: LruCache(MOST_KEPT))
    """Gradients that were right, by check of an exam: its verdict is written once."""
    faults: tuple[LessonError, ...] = ()
    """What is wrong with the files of the course, where its author reads along."""

    @cached_property
    def pictures(self) -> frozenset[str]:
        """The image files that lessons show, by their paths in the folder of the course: no other file is served."""
        return frozenset(link.target for lesson in self.course.lessons for link in lesson.pictures)

    @cached_property
    def invented(self) -> tuple[str, ...]:
        """Two names of the course's own samples that are in no list, for its title page, if it has samples."""
        pictures = (visual for lesson in self.course.lessons for visual in lesson.all_of(Visual))
        given = next((visual.given for visual in pictures if visual.kind == "samples"), {})
        samples, known = given.get("names"), given.get("known", [])
        if not isinstance(samples, list) or not isinstance(known, list):
            return ()
        return tuple(name for name in samples[-1] if name not in known and len(name) in TITLE_LETTERS)[:2]

    def assigned(self, name: str) -> Lesson | None:
        """Find what a class may have been assigned under *name*: a lesson, or any round of practice."""
        return self.practice.curriculum.assigned(name) or self.course.named.get(name)

    def assigned_as(self, assignment: Assignment) -> Lesson | None:
        """Lesson or sitting of an assignment, by its title: a sitting has no other than its heading."""
        lesson = self.assigned(assignment.lesson)
        named = lesson is not None and sitting_named(lesson.name) is not None
        return replace(lesson, title=assignment.heading or lesson.title) if lesson is not None and named else lesson

    def assigned_to_anybody(self, name: str) -> Lesson | None:
        """The same among all lessons, private ones too: for those who come by a link to it."""
        return self.practice.curriculum.assigned(name) or self.whole.named.get(name)

    def exercises(self, name: str) -> tuple[str, ...]:
        """The exercises by name of what a class may have been given as *name*."""
        return exercises_in(self.assigned(name))

    def exercises_for_anybody(self, name: str) -> tuple[str, ...]:
        """The same of all lessons, private ones too."""
        return exercises_in(self.assigned_to_anybody(name))

    @cached_property
    def assignable_lessons(self) -> tuple[Lesson, ...]:
        """Lessons that a class may be assigned next."""
        return (*self.course.lessons, *(practice_set.lesson for practice_set in self.practice.curriculum.sets.values()))

    @cached_property
    def _seen(self) -> dict[frozenset[str], "Site"]:
        return {}

    @cached_property
    def in_frame(self) -> "Site":
        """This site in the frame of a learning platform: its pages have nothing around them, and addresses there."""
        return replace(self, pages=self.pages.below(FRAME))

    @cached_property
    def private_lessons(self) -> frozenset[str]:
        """Lessons that a class may be assigned only if the operator gave their unit to it."""
        return frozenset(lesson.name for unit in self.whole.units if unit.private for lesson in unit.lessons)

    def lessons_of(self, unit: str) -> tuple[str, ...]:
        """The lessons of a unit, by the name of its folder; none where there is no such unit."""
        return tuple(lesson.name for item in self.whole.units if item.slug == unit for lesson in item.lessons)

    def with_private_lessons(self, names: Collection[str]) -> "Site":
        """This site with the private lessons in *names* visible."""
        shown = self.private_lessons & set(names)
        if not shown:
            return self
        if shown not in self._seen:
            self._seen[shown] = replace(self, course=open_to(self.whole, shown))
        return self._seen[shown]

    def as_seen(self, assigned: Asked) -> "Site":
        """This site as an instructor sees it who looks at pages as a learner: of what is *assigned* alone."""
        units = (
            replace(unit, lessons=tuple(lesson for lesson in unit.lessons if lesson.name in assigned))
            for unit in self.course.units
        )
        return replace(self, course=Course(units=tuple(unit for unit in units if unit.lessons)), seen=assigned)

    def picture(self, visual: Visual, shapes: Mapping[str, Shape], forward: Forward | None = None) -> Markup:
        """*visual*, drawn once."""
        return self.kept.of(visual, shapes, lambda: draw_picture(visual, shapes, forward))

    def scope(self, lesson: Lesson, box: CodeBox) -> str:
        """The names that the editor of *box* offers."""
        return self.kept.of(box, self.shapes.known(lesson, box), lambda: self._scope(lesson, box))

    def _scope(self, lesson: Lesson, box: CodeBox) -> str:
        match self.tasks.task(lesson, box):
            case Checker(arguments=arguments) | FunctionBox(arguments=arguments):
                return _details_text(dict.fromkeys(arguments, ""))
            case HuntTask(mending=task) | (GradTask() as task):
                return scope_of(task, self.shapes.inferred(task.forward))

    async def find_practice_lesson(self, learner: int | None, item: str) -> Lesson | None:
        """An item of practice as a lesson; None for a learner who was not given it."""
        if learner is None or not ITEM.fullmatch(item):
            return None
        async with self.database.read() as db:
            return await self.practice.lesson_of(db, learner, int(item))

    async def state_of(self, learner: int | None, lesson: Lesson, exercise: str | None = None) -> LessonState:
        """State of *learner* in *lesson*, or at one *exercise* of it; empty for a new learner."""
        if learner is None:
            return LessonState()
        async with self.database.read() as db:
            state = await lesson_state(db, learner, lesson.name, exercise)
        return state if self.seen is None else _as_seen(state, lesson, self.seen)

    def progress(self, lesson: Lesson, solved: Collection[str]) -> LessonProgress:
        """Progress in *lesson* of a learner who has *solved* these of its exercises."""
        done = sum(all(name in solved for name in names) for names in lesson.tasks)
        after = self.neighbours(lesson)[1] if not lesson.drawn else None
        return LessonProgress(lesson=lesson, done=done, total=len(lesson.tasks), after=after)

    def unit_of(self, lesson: Lesson) -> Unit:
        return next(unit for unit in self.course.units if lesson in unit.lessons)

    def neighbours(self, lesson: Lesson) -> tuple[Lesson | None, Lesson | None]:
        """The lesson before and the one after, in course order."""
        lessons = self.course.lessons
        position = lessons.index(lesson)
        before = lessons[position - 1] if position else None
        after = lessons[position + 1] if position + 1 < len(lessons) else None
        return before, after


def _as_seen(state: LessonState, lesson: Lesson, assigned: Asked) -> LessonState:
    """*state* as an instructor may see it: assigned exercises, with what was answered in the place of drafts."""
    tries = {name: each for name, each in state.tries.items() if has_exercise(assigned, lesson.name, name)}
    sent = {
        name: Draft(text=each.newest.text, revision=0, saved_at=each.newest.created_at)
        for name, each in tries.items()
        if each.newest.kind == "code"
    }
    progress = {name: row for name, row in state.progress.items() if has_exercise(assigned, lesson.name, name)}
    return replace(state, progress=progress, tries=tries, drafts=sent)


def open_to(course: Course, names: Collection[str] = ()) -> Course:
    """*course* without what is private in it, except the lessons of these *names*."""
    if not any(unit.private for unit in course.units):
        return course
    units = (
        replace(unit, lessons=tuple(lesson for lesson in unit.lessons if lesson.name in names))
        if unit.private
        else unit
        for unit in course.units
    )
    return Course(units=tuple(unit for unit in units if unit.lessons or not unit.private))


def scope_of(task: GradTask, shapes: Mapping[str, Shape]) -> str:
    """`X|(32, 100); dY|(32, 27); N|32; torch|module`: names that the page knows nothing about have no detail."""
    forward = task.forward
    details = {name: format_shape(shape) for name, shape in shapes.items()}
    for gradient in (*forward.upstreams, *task.given):
        details[gradient] = details.get(gradient.removeprefix("d"), "")
    details |= {name: str(size) for name, size in forward.dims.items()}
    return _details_text(details)


def _details_text(details: dict[str, str]) -> str:
    return "; ".join(f"{name}|{detail}" for name, detail in (details | dict.fromkeys(SCOPE_MODULES, "module")).items())


def or_404(value: T | None) -> T:
    """*value*; 404 where there is none."""
    if value is None:
        raise HTTPException(404)
    return value


# Dependencies are coroutines: FastAPI would send plain functions to another thread, which costs more than they do.


async def site_of(request: Request) -> Site:
    """The site as this learner may see it; private lessons stay hidden while the database does not answer."""
    site = cast(Site, request.app.state.site)
    if getattr(request.state, "framed", False):
        site = site.in_frame
    visitor = cast(Visitor, request.state.visitor)
    if visitor.seen is not None:
        async with site.database.read() as db:
            site = site.with_private_lessons(await lessons_seen(db, visitor.seen.learner, site.lessons_of))
            return site.as_seen(await assigned_exercises(db, visitor.seen.class_id))
    if site.whole is site.course:
        return site
    with contextlib.suppress(OperationalError):
        learner = await visitor.learner()
        if learner is not None and visitor.in_class:
            async with site.database.read() as db:
                return site.with_private_lessons(await lessons_seen(db, learner, site.lessons_of))
    return site


async def visitor_of(request: Request) -> Visitor:
    return cast(Visitor, request.state.visitor)


TheSite = Annotated[Site, Depends(site_of)]
TheVisitor = Annotated[Visitor, Depends(visitor_of)]


async def lesson_of(request: Request, site: TheSite, visitor: TheVisitor) -> Lesson:
    """The lesson of the address, or the item of practice, for those who were given it."""
    if "slug" in request.path_params:
        lesson = site.course.at.get(request.path_params["slug"])
    else:
        lesson = await site.find_practice_lesson(await visitor.learner(), request.path_params["item"])
    if lesson is None:
        raise HTTPException(404)
    return lesson


TheLesson = Annotated[Lesson, Depends(lesson_of)]


async def exercise_of(lesson: TheLesson, name: str) -> Exercise:
    return or_404(lesson.named.get(name))


TheExercise = Annotated[Exercise, Depends(exercise_of)]
