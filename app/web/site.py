"""What every handler needs, made once: the course, the database, the graders, the templates. And who asks."""

from collections.abc import Collection
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cached_property
from typing import Annotated, cast

from fastapi import Depends, Path
from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.requests import Request

from app.content.blocks import CodeBox, Course, Exercise, Lesson, Unit
from app.engine.grader import Grader
from app.engine.task import CheckerTask, FunctionTask, HuntTask, Task
from app.store.database import Database
from app.store.progress import Place
from app.web.checks import Checks
from app.web.middleware.metrics import Metrics
from app.web.middleware.visitor import Visitor
from app.web.pictures.album import Album
from app.web.render import Pages
from app.web.tasks import ShapesOf, Tasks, scope_of, scope_of_function
from app.web.training_runs import Runs


@dataclass(frozen=True, slots=True, kw_only=True)
class LessonProgress:
    """How many exercises are solved; *after* is the lesson that comes next."""

    lesson: Lesson
    done: int
    total: int
    after: Lesson | None

    @property
    def complete(self) -> bool:
        return self.done == self.total

    @property
    def announcement(self) -> str:
        return "Lesson complete." if self.complete else f"{self.done} of {self.total} exercises done."


@dataclass(frozen=True)
class Site:
    """One running course."""

    course: Course
    database: Database
    grader: Grader
    pages: Pages
    shapes: ShapesOf
    checks: Checks
    tasks: Tasks
    runs: Runs
    metrics: Metrics

    @cached_property
    def with_math(self) -> frozenset[str]:
        """Names of the lessons that hold formulas, and `units/` with the slugs of the units whose own page does."""
        lessons = {lesson.name for lesson in self.course.lessons if has_math(lesson)}
        return frozenset(
            lessons
            | {f"units/{unit.slug}" for unit in self.course.units if has_math((unit.summary, unit.deliverables))}
        )

    @cached_property
    def album(self) -> Album:
        """The pictures of this course, each drawn once."""
        return Album()

    @cached_property
    def _scopes(self) -> dict[tuple[str, str], str]:
        return {}

    def scope(self, lesson: Lesson, exercise: CodeBox) -> str:
        """The names that the editor of *exercise* offers, found once."""
        key = lesson.name, exercise.name
        if key not in self._scopes:
            match self.tasks.task(lesson, exercise):
                case CheckerTask(checker=box) | FunctionTask(box=box):
                    self._scopes[key] = scope_of_function(box)
                case HuntTask(mending=task) | (Task() as task):
                    self._scopes[key] = scope_of(task, self.shapes.inferred(task.forward))
        return self._scopes[key]

    def progress(self, lesson: Lesson, solved: Collection[str]) -> LessonProgress:
        """How far somebody is in *lesson* who has *solved* these of its exercises."""
        done = sum(one.name in solved for one in lesson.exercises)
        return LessonProgress(lesson=lesson, done=done, total=len(lesson.exercises), after=self.neighbours(lesson)[1])

    def unit_of(self, lesson: Lesson) -> Unit:
        return next(unit for unit in self.course.units if lesson in unit.lessons)

    def neighbours(self, lesson: Lesson) -> tuple[Lesson | None, Lesson | None]:
        """The lesson before and the one after, in course order."""
        lessons = self.course.lessons
        position = lessons.index(lesson)
        before = lessons[position - 1] if position else None
        after = lessons[position + 1] if position + 1 < len(lessons) else None
        return before, after


def published(course: Course) -> Course:
    """*course* without drafts, and without units that hold nothing else."""
    units = (replace(unit, lessons=tuple(one for one in unit.lessons if not one.draft)) for unit in course.units)
    return Course(units=tuple(unit for unit in units if unit.lessons))


def renames_of(course: Course) -> dict[Place, Place]:
    """Where exercises stood before (`was`), and where they are now; a place that is in use is nobody's past."""
    current = {Place(lesson.name, one.name) for lesson in course.lessons for one in lesson.exercises}
    found: dict[Place, Place] = {}
    for lesson in course.lessons:
        for one in lesson.exercises:
            former = [(word.partition("#")[0], word.partition("#")[2]) for word in one.was if "#" in word]
            former += [(lesson.name, word) for word in one.was if "#" not in word]
            former += [(name, word) for name in lesson.was for word in (one.name, *one.was) if "#" not in word]
            found |= {Place(*old): Place(lesson.name, one.name) for old in former if Place(*old) not in current}
    return found


def has_math(part: object) -> bool:
    """Whether any rendered text in *part* holds a formula."""
    if isinstance(part, Markup):
        return 'class="math"' in part
    if isinstance(part, tuple):
        return any(has_math(one) for one in part)
    return is_dataclass(part) and any(has_math(getattr(part, one.name)) for one in fields(part))


# Dependencies are coroutines: FastAPI would send plain functions to another thread, which costs more than they do.


async def site_of(request: Request) -> Site:
    return cast(Site, request.app.state.site)


async def visitor_of(request: Request) -> Visitor:
    return cast(Visitor, request.state.visitor)


TheSite = Annotated[Site, Depends(site_of)]
TheVisitor = Annotated[Visitor, Depends(visitor_of)]


async def lesson_of(site: TheSite, slug: Annotated[str, Path()]) -> Lesson:
    lesson = site.course.lesson(slug)
    if lesson is None:
        raise HTTPException(404)
    return lesson


TheLesson = Annotated[Lesson, Depends(lesson_of)]


async def exercise_of(lesson: TheLesson, name: Annotated[str, Path()]) -> Exercise:
    exercise = lesson.exercise(name)
    if exercise is None:
        raise HTTPException(404)
    return exercise


TheExercise = Annotated[Exercise, Depends(exercise_of)]
