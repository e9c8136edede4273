"""The same lesson in a browser that runs no scripts."""

import pytest
from playwright.sync_api import Page, expect

from app.content.blocks import Grad
from tests.browser.answers import SMALL_ADDRESS as ADDRESS
from tests.browser.answers import SMALL_SLUG, read_lesson, right_answer
from tests.browser.steps import answer_by_mouse, expect_feedback, expect_verdict, section

LESSON = read_lesson(SMALL_SLUG)
pytestmark = pytest.mark.browser_options(java_script_enabled=False)


def test_a_whole_lesson_can_be_taken_without_scripts(page: Page) -> None:
    page.goto(ADDRESS)

    for exercise in LESSON.exercises:
        if isinstance(exercise, Grad):
            page.locator(f"#{exercise.name}-code").fill(exercise.solution.source)
            page.locator(f"#{exercise.name}-check").click()
            expect_verdict(page, exercise, passed="true")
        else:
            answer_by_mouse(page, exercise, right_answer(LESSON, exercise))
            expect_feedback(page, exercise, "true")
        assert page.url.endswith(f"{ADDRESS}#{exercise.name}"), "the page comes back to the exercise"

    expect(page.locator("#complete")).to_have_attribute("data-complete", "true")


def test_nothing_is_offered_that_needs_a_script(page: Page) -> None:
    page.goto(ADDRESS)

    scripted = "[data-opens]:visible, [data-action=stop]:visible, .keyrow:visible, button kbd:visible"
    expect(page.locator(scripted)).to_have_count(0)


def test_code_is_written_in_the_face_of_code(page: Page) -> None:
    page.goto(ADDRESS)

    box = page.locator("#linear-backward-code")
    assert "mono" in str(box.evaluate("element => getComputedStyle(element).fontFamily")).lower()


def test_formulas_are_set_without_scripts(page: Page) -> None:
    page.goto(ADDRESS)
    page.evaluate("document.fonts.ready.then(() => null)")

    assert page.locator("math mi").count() > 0
    assert page.evaluate("[...document.fonts].some(one => one.family.includes('STIX') && one.status === 'loaded')")


def test_the_theme_is_a_plain_form(page: Page) -> None:
    page.goto(ADDRESS)

    page.get_by_role("button", name="Dark").click()

    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    assert page.url.endswith(ADDRESS)


def test_a_reset_asks_first_and_the_text_is_one_click_away(page: Page) -> None:
    box = next(one for one in LESSON.exercises if isinstance(one, Grad))
    page.goto(ADDRESS)
    page.locator(f"#{box.name}-code").fill("dX = 1")

    page.locator(f"#{box.name}-reset").click()
    section(page, box).get_by_role("button", name="Reset").first.click()
    expect(page.locator(f"#{box.name}-code")).to_have_value(box.starter.source)
    page.locator(f"#{box.name}-history-button").click()

    expect(page.locator("pre").first).to_have_text("dX = 1")
