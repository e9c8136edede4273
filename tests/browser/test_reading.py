"""A whole lesson by mouse, in both themes and on a phone; axe-core finds nothing and the focus stays."""

import pytest
from playwright.sync_api import Page, expect

from app.content.blocks import Exercise, Grad, Lesson
from tests.browser.answers import SLUG, SMALL_SLUG, read_lesson, right_answer, wrong_answer
from tests.browser.steps import (
    SCHEMES,
    answer_by_mouse,
    expect_feedback,
    expect_verdict,
    focus_stays,
    open_page,
    paint_in,
    scrolls_sideways,
    section,
    violations,
    write,
)

LIGHT = pytest.mark.browser_options(color_scheme="light")
LOOKS = [
    pytest.param(SMALL_SLUG, id="light", marks=LIGHT),
    pytest.param(SLUG, id="light, a lesson of the course", marks=LIGHT),
    pytest.param(
        SMALL_SLUG,
        id="dark and narrow",
        marks=pytest.mark.browser_options(
            color_scheme="dark", viewport={"width": 320, "height": 640}, has_touch=True, is_mobile=True
        ),
    ),
]


@pytest.mark.prove
@pytest.mark.parametrize("slug", LOOKS)
def test_a_whole_lesson_can_be_taken_by_mouse(page: Page, slug: str) -> None:
    lesson = read_lesson(slug)
    open_page(page, f"/lessons/{slug}")
    assert violations(page) == []

    kinds: set[type[Exercise]] = set()
    for exercise in lesson.exercises:
        _take(page, lesson, exercise, looked_at=type(exercise) in kinds)
        kinds.add(type(exercise))

    expect(page.locator("#complete")).to_have_attribute("data-complete", "true")
    expect(page.locator("#complete-title")).to_have_text("Lesson complete")
    assert violations(page) == []
    assert not scrolls_sideways(page)


def in_both_themes(page: Page, exercise: Exercise) -> list[str]:
    """What is wrong with an answered exercise; the page goes on in the theme it had."""
    dark = page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    found = []
    for other in reversed(SCHEMES) if dark else SCHEMES:
        found += violations(page, f"#{exercise.name}")
        paint_in(page, other)
    return found


def _take(page: Page, lesson: Lesson, exercise: Exercise, *, looked_at: bool) -> None:
    """*looked_at*: axe-core has seen one of this kind; what it says of one it says of all."""
    if isinstance(exercise, Grad):
        wrong = exercise.mistakes[0].code.source if exercise.mistakes else exercise.starter.source
        write(page, exercise, wrong)
        check = page.locator(f"#{exercise.name}-check")
        check.click()
        with focus_stays(page):
            expect_verdict(page, exercise, passed="false")
        assert looked_at or in_both_themes(page, exercise) == []
        write(page, exercise, exercise.solution.source)
        check.click()
        with focus_stays(page):
            expect_verdict(page, exercise, passed="true")
    else:
        if exercise.draws:  # what is asked is what this reader sees
            exercise = exercise.draws[int(page.locator(f"#{exercise.name} [name$=draw]").input_value())]
        answer_by_mouse(page, exercise, wrong_answer(lesson, exercise))
        with focus_stays(page):
            expect_feedback(page, exercise, "false")
        assert looked_at or in_both_themes(page, exercise) == []
        answer_by_mouse(page, exercise, right_answer(lesson, exercise))
        with focus_stays(page):
            expect_feedback(page, exercise, "true")
    expect(section(page, exercise).locator("[role=status]")).not_to_be_empty()
