"""Many questions in one form: with the keyboard, without scripts, on a phone."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.steps import violations

ADDRESS = "/lessons/sheets"
WIDTH = 320


def judged(page: Page, name: str, correct: str) -> None:
    expect(page.locator(f"#{name}-feedback")).to_have_attribute("data-correct", correct)


def test_enter_goes_down_and_the_row_that_is_left_is_judged(page: Page) -> None:
    page.goto(ADDRESS)
    page.locator("#w-shape-answer").fill("(1, 3)")

    for typed in ('"', "(4, 3)", "4"):
        page.keyboard.press("Enter")
        page.keyboard.type(typed)
    page.keyboard.press("Tab")

    for name, correct in {"w-shape": "true", "dw-shape": "true", "y-shape": "true", "terms": "false"}.items():
        judged(page, name, correct)
    expect(page.locator("#shapes-tally")).to_have_text("3 of 6 right")
    expect(page.locator("#terms-answer")).to_have_attribute("aria-invalid", "true")
    assert page.evaluate("document.activeElement.closest('.row').id") == "read-twice", "the focus stays where it went"


def test_ticks_wait_until_their_row_is_left(page: Page) -> None:
    page.goto(ADDRESS)
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.method))

    page.locator("#dw-axes input").nth(1).check()
    page.locator("#dw-axes input").nth(0).check()
    page.locator("#dw-axes input").nth(1).uncheck()
    assert "POST" not in sent
    page.locator("#read-twice-1").check()

    judged(page, "dw-axes", "true")


@pytest.mark.browser_options(java_script_enabled=False)
def test_a_sheet_is_a_plain_form_without_scripts(page: Page) -> None:
    page.goto(ADDRESS)
    page.locator("#w-shape-answer").fill("(1, 3)")
    page.locator("#dw-shape-answer").fill('"')
    page.locator("#read-twice-0").check()

    page.get_by_role("button", name="Check all").click()

    assert page.url.endswith(f"{ADDRESS}#w-shape")
    judged(page, "dw-shape", "true")
    judged(page, "read-twice", "false")
    expect(page.locator("#dw-shape-answer")).to_have_value("(1, 3)")


@pytest.mark.browser_options(viewport={"width": WIDTH, "height": 700})
def test_a_sheet_fits_a_phone_and_breaks_no_rule_of_access(page: Page) -> None:
    page.goto(ADDRESS)
    page.locator("#w-shape-answer").fill("(3,)")
    page.locator("#dw-shape-answer").focus()
    judged(page, "w-shape", "false")

    assert page.evaluate("document.documentElement.scrollWidth") <= WIDTH
    assert violations(page) == []


def test_a_press_on_check_all_says_how_many_are_empty(page: Page) -> None:
    page.goto(ADDRESS)

    page.get_by_role("button", name="Check all").click()

    expect(page.locator("#shapes-notice")).to_have_text("6 of 6 are not answered yet.")
