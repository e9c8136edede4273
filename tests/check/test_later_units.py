"""What each lesson of the units after *Trust* has: kinds of exercises, hints, a figure that answers, live shapes."""

import pytest

from app.content.blocks import Bug, Callout, CodeBox, Grad, Lesson, Visual
from app.kinds.registry import block_kind
from tests.courses import LESSONS, course_in

UNITS = ("time-and-space", "attention", "engine-room")
ANSWERING = {"slider", "tape", "cells", "graph", "heatmap", "forces"}
LATER = [lesson for unit in course_in(LESSONS).units if unit.slug in UNITS for lesson in unit.lessons]
each_lesson = pytest.mark.parametrize("lesson", LATER, ids=lambda lesson: lesson.slug)


def kinds(lesson: Lesson) -> set[str]:
    return {kind.name for exercise in lesson.exercises if (kind := block_kind(exercise))}


@each_lesson
def test_a_later_lesson_has_exercises_of_many_kinds(lesson: Lesson) -> None:
    assert len(lesson.exercises) >= 8
    assert {"order", "axes", "bug"} <= kinds(lesson)
    assert kinds(lesson) & {"program", "train"}
    assert len(kinds(lesson)) >= 4


@each_lesson
def test_a_later_lesson_has_a_plan_hints_and_mistakes(lesson: Lesson) -> None:
    assert "plan" in {callout.kind for callout in lesson.all_of(Callout)}
    for exercise in lesson.exercises:
        if isinstance(exercise, CodeBox):
            assert len(exercise.hints) >= 3, exercise.name
        if isinstance(exercise, Bug | Grad):
            assert exercise.mistakes, exercise.name


@each_lesson
def test_a_later_lesson_has_a_figure_that_answers(lesson: Lesson) -> None:
    assert ANSWERING & {visual.kind for visual in lesson.all_of(Visual)}


@each_lesson
def test_a_later_lesson_has_a_box_that_tells_shapes(lesson: Lesson) -> None:
    assert [box.name for box in lesson.exercises if isinstance(box, Bug | Grad) and lesson.forward(box.forward).dims]


def test_the_later_units_have_ten_lessons() -> None:
    assert len(LATER) == 10
