"""What each lesson of the units after *Trust* has: many kinds of exercises, hints, a picture, and code that runs."""

import pytest

from app.content.blocks import Bug, Callout, CodeBox, Grad, Lesson, Visual
from app.kinds.registry import block_kind
from tests.courses import LESSONS, course_in

UNITS = ("time-and-space", "attention", "engine-room")
LATER = [lesson for unit in course_in(LESSONS).units if unit.slug in UNITS for lesson in unit.lessons]


def kinds(lesson: Lesson) -> set[str]:
    return {kind.name for exercise in lesson.exercises if (kind := block_kind(exercise))}


@pytest.mark.parametrize("lesson", LATER, ids=lambda lesson: lesson.slug)
def test_a_later_lesson_has_exercises_of_many_kinds(lesson: Lesson) -> None:
    assert len(lesson.exercises) >= 8
    assert {"order", "axes", "bug"} <= kinds(lesson)
    assert kinds(lesson) & {"program", "train"}
    assert len(kinds(lesson)) >= 4


@pytest.mark.parametrize("lesson", LATER, ids=lambda lesson: lesson.slug)
def test_a_later_lesson_has_a_plan_a_picture_hints_and_mistakes(lesson: Lesson) -> None:
    assert "plan" in {callout.kind for callout in lesson.all_of(Callout)}
    assert lesson.all_of(Visual)
    for exercise in lesson.exercises:
        if isinstance(exercise, CodeBox):
            assert len(exercise.hints) >= 3, exercise.name
        if isinstance(exercise, Bug | Grad):
            assert exercise.mistakes, exercise.name


def test_the_later_units_have_ten_lessons() -> None:
    assert len(LATER) == 10
