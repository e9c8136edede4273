"""What holds for every page of the course."""

from pathlib import Path

import pytest

from app.content.blocks import CodeBox, Course, Quiz, Train
from app.kinds.choice.block import ChoiceQuestion
from tests.courses import course_in


@pytest.fixture(scope="module")
def course() -> Course:
    return course_in(Path(__file__).resolve().parents[2] / "lessons")


def test_every_question_says_something_to_a_right_answer(course: Course) -> None:
    silent = []
    for lesson in course.lessons:
        for quiz in lesson.exercises:
            if not isinstance(quiz, Quiz) or quiz.name in lesson.sheets:
                continue
            said = quiz.right or (
                isinstance(quiz, ChoiceQuestion) and all(one.feedback for one in quiz.options if one.right)
            )
            silent += [] if said else [f"{lesson.slug}#{quiz.name}"]

    assert silent == []


def test_every_unit_trains_something_with_the_learners_own_code(course: Course) -> None:
    trains = {"xor-net", "newton"}  # in a function that learners write, without the run of the page
    without = [
        unit.slug
        for unit in course.units
        if not any(isinstance(one, Train) or one.name in trains for page in unit.lessons for one in page.exercises)
    ]

    assert without == []


def test_every_box_of_the_course_has_hints_but_the_exam(course: Course) -> None:
    without = [
        f"{page.slug}#{one.name}"
        for page in course.lessons
        for one in page.exercises
        if isinstance(one, CodeBox) and not one.hints
    ]

    assert without == ["first-layer-and-exam#exam"]
