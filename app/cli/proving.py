"""Graders of its own for `backhand check`, and how far they are."""

import asyncio
import sys
import time
from collections.abc import Callable, Sequence

import typer

from app.check.bounded_grader import RetryingGrader
from app.check.findings import Finding
from app.check.mutants import mutants_of
from app.cli.graders import started_graders
from app.cli.refuse import refuse
from app.content.blocks import Bug, CodeBox, Exercise, Lesson, Visual
from app.content.directives.visuals import MOST_CELLS_PER_AXIS
from app.course.prove import prove_lessons
from app.engine.pool.local_graders import LocalGraders
from app.grading.reading.shape_inference import infer_shapes
from app.settings import Settings
from app.web.pictures import PICTURE_RENDERERS, draw_picture

NEEDS = {
    "broadcast": "a tensor that a line of the program copies along an axis",
    "cells": f"one factor of a matrix product of two tables, of at most {MOST_CELLS_PER_AXIS} rows and columns each",
}
"""By kind of picture: what it can be drawn of, where not of everything."""
AT_A_TERMINAL, IN_A_LOG = 0.5, 15.0  # seconds between two lines of progress


class ProgressReporter:
    """Counts what is done of *total*, and says so at most every *seconds*."""

    def __init__(self, total: int, say: Callable[[str], None], seconds: float, clock: Callable[[], float]) -> None:
        self._total, self._say, self._seconds, self._clock = total, say, seconds, clock
        self._done = 0
        self._began = self._said = clock()

    def step(self) -> None:
        """One more is done."""
        self._done += 1
        now = self._clock()
        if now - self._said >= self._seconds and self._done < self._total:
            self._said = now
            left = (now - self._began) / self._done * (self._total - self._done)
            self._say(f"{self._done} of {self._total} codes judged, about {in_words(left)} left")


def in_words(seconds: float) -> str:
    """`40 s`, `3 min`."""
    return f"{max(round(seconds), 1)} s" if seconds < 90 else f"{round(seconds / 60)} min"


def proved_now(
    lessons: Sequence[Lesson], reach: Sequence[Lesson], settings: Settings, *, mutate: bool
) -> tuple[Finding, ...]:
    """Prove *lessons*, which may use those in their *reach*."""
    findings = asyncio.run(_prove(lessons, reach, settings, mutate=mutate))
    return (*findings, *(finding for lesson in lessons for finding in undrawn(lesson)))


def undrawn(lesson: Lesson) -> list[Finding]:
    """An error for every picture of *lesson* of which a page would show the caption alone."""
    findings = []
    for visual in (item for item in lesson.all_of(Visual) if item.kind in PICTURE_RENDERERS):
        forward = lesson.forward(visual.forward)
        shapes = infer_shapes(forward) if forward else {}
        if (shapes or forward is None) and not draw_picture(visual, shapes, forward):
            of = f" of `{visual.of}`" if visual.of else ""
            needs = f" It draws {NEEDS[visual.kind]}." if visual.kind in NEEDS else ""
            message = (
                f"Nothing can be drawn here: no {visual.kind!r}{of} comes of this.{needs} "
                "Name another tensor, or remove it."
            )
            findings.append(Finding(visual.place, "error", "not-drawn", message))
    return findings


def codes_of(exercise: Exercise, *, mutate: bool) -> int:
    """About how many codes are judged to prove *exercise*."""
    if not isinstance(exercise, CodeBox):
        return 0
    source = exercise.mended.source if isinstance(exercise, Bug) else exercise.solution.source
    required = frozenset(exercise.require)
    return 2 + len(exercise.mistakes) + (len(mutants_of(source, required)) if mutate else 0)


async def _prove(
    lessons: Sequence[Lesson], reach: Sequence[Lesson], settings: Settings, *, mutate: bool
) -> tuple[Finding, ...]:
    codes = sum(codes_of(exercise, mutate=mutate) for lesson in lessons for exercise in lesson.exercises)
    progress = ProgressReporter(codes, _say, AT_A_TERMINAL if sys.stderr.isatty() else IN_A_LOG, time.monotonic)
    async with started_graders(LocalGraders(settings, keep_facts=False)) as graders:
        if graders.readiness.state != "ready":
            refuse(f"Nothing was proved. {graders.readiness.reason}")
        findings = await prove_lessons(
            lessons, RetryingGrader(graders, answered=progress.step), mutate=mutate, reach=reach
        )
    if sys.stderr.isatty():
        typer.echo("\r\x1b[K", err=True, nl=False)
    return findings


def _say(text: str) -> None:
    """A line that the next one replaces, at a terminal; else a line of its own."""
    if sys.stderr.isatty():
        typer.echo(f"\r\x1b[K{text}", err=True, nl=False)
    else:
        typer.echo(text, err=True)
