"""What a wound leaves of a lesson is proved to the end, whatever is found."""

import asyncio

import pytest

from app.check.bounded_grader import RetryingGrader
from app.course.prove import prove_lessons
from tests.content.test_wounds import check_wounds
from tests.graders import SharedGraders


@pytest.mark.prove
def test_every_wounded_lesson_that_parses_is_proved_without_a_stumble(graders: SharedGraders) -> None:
    lessons = check_wounds(seed=100, count=40)

    findings = asyncio.run(prove_lessons(lessons, RetryingGrader(graders), mutate=False))

    assert [one for one in findings if "stumbled" in one.message] == []
