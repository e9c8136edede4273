"""What each lesson of the units after *Trust* has: kinds of exercises, hints, a figure that answers, live shapes."""

from math import prod

import pytest

from app.content.blocks import Bug, Callout, CodeBox, Grad, Lesson, Visual
from app.grading.reading.walk import trace_program
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


TOLD = [
    ("a-cell-that-keeps", "turn-the-bias", {"b": 5}, 0.8743, None),
    ("a-transformer-trained", "around-tape", {"x0": 2, "w": 0.5}, 4.5, {"x0": 2.25}),
    ("the-other-axis", "ceiling", {"x": 12}, 1.372, None),
    ("keep-or-compute-again", "how-far-apart", {"every": 6}, 12, {"every": 0}),
    ("the-step", "turn-the-rate", {"rate": 0}, 50.5, {"rate": -10001}),
]


@pytest.mark.parametrize(("slug", "name", "at", "value", "slopes"), TOLD, ids=[row[1] for row in TOLD])
def test_a_figure_that_is_turned_shows_what_its_caption_says(slug, name, at, value, slopes) -> None:
    lesson = next(lesson for lesson in LATER if lesson.slug == slug)
    visual = next(visual for visual in lesson.all_of(Visual) if visual.name == name)
    forward = lesson.forward(visual.forward or "")

    walk = trace_program(forward, at)

    assert walk.values[forward.output].item() == pytest.approx(value, abs=6e-4 if value < 10 else 0.001)
    for knob, slope in (slopes or {}).items():
        assert walk.gradients[knob].item() == pytest.approx(slope)


@pytest.mark.parametrize(
    ("slug", "name", "count"),
    [
        ("one-weight-many-steps", "reader", "4,575"),
        ("a-window-that-slides", "pairs", "4,591"),
    ],
)
def test_a_model_has_as_many_parameters_as_its_lesson_says(slug: str, name: str, count: str) -> None:
    lesson = next(lesson for lesson in LATER if lesson.slug == slug)
    forward = lesson.forward(name)
    sizes = [[eval(size, {}, dict(forward.dims)) for size in tensor.sizes] for tensor in forward.inputs if tensor.real]

    assert f"{sum(map(prod, sizes)):,}" == count
    assert f"{count} parameters" in next(LESSONS.glob(f"*/*{slug}.md")).read_text()


def test_sharing_saves_what_the_lesson_on_windows_says() -> None:
    text = next(LESSONS.glob("*/*a-window-that-slides.md")).read_text()
    places, shared = 28 * 28, 16 * 32 * 3 * 3 + 32

    assert f"has {shared:,} parameters" in text
    assert f"has {(16 * places * 32 * places + 32 * places) / 1e6:.0f} million" in text
    assert f"has {32 * places:,} terms" in text
