"""Lessons with loops, helpers and several outputs, taken from the first question to the last."""

import pytest
from playwright.sync_api import Page

from app.content.blocks import Grad, Quiz
from tests.browser.answers import read_lesson, right_answer
from tests.browser.steps import answer_by_mouse, expect_feedback, expect_verdict, open_page, section, write
from tests.courses import ARCHITECTURES, course_in

SLUGS = [one.slug for one in course_in(ARCHITECTURES).lessons]
LONG = [pytest.param(slug, marks=pytest.mark.prove) for slug in SLUGS if slug != "graph"]


@pytest.mark.parametrize("slug", ["graph", *LONG])
def test_a_lesson_on_an_architecture_is_taken(page: Page, slug: str) -> None:
    lesson = read_lesson(slug)
    rows = {row.name for sheet in lesson.sheets.values() for row in sheet.rows}
    open_page(page, f"/lessons/{slug}")

    for one in lesson.exercises:
        if isinstance(one, Quiz) and one.name in rows:
            section(page, one).locator(f"input[name={one.name}]").fill(right_answer(lesson, one)[0])
            page.keyboard.press("Tab")
            expect_feedback(page, one, "true")
        elif isinstance(one, Quiz):
            answer_by_mouse(page, one, right_answer(lesson, one))
            expect_feedback(page, one, "true")
        elif isinstance(one, Grad):
            write(page, one, one.solution.source)
            section(page, one).locator("[data-action=check]").click()
            expect_verdict(page, one, passed="true")
