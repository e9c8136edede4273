"""Moving one entry: from the row of a wrong gradient, by keyboard, on a phone, and without a script."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.answers import ADDRESS, read_lesson
from tests.browser.steps import expect_verdict, focus_stays, open_page, scrolls_sideways, violations, write

BOX = read_lesson().exercise("linear-backward")
DOUBLED = "dX = dY @ W.T\ndW = 2 * X.T @ dY\ndb = dY.sum(0)\n"


def checked(page: Page, code: str = DOUBLED) -> None:
    open_page(page, ADDRESS)
    write(page, BOX, code)
    page.locator("#linear-backward-check").click()
    expect_verdict(page, BOX, outcome="graded")


@pytest.mark.browser_options(color_scheme="dark", viewport={"width": 320, "height": 640})
def test_an_entry_is_nudged_and_the_own_number_is_compared(page: Page) -> None:
    checked(page)
    field, told = page.locator("#linear-backward-dW-entry"), page.locator("#linear-backward-dW-nudged")
    page.get_by_text("Show me").click()
    page.get_by_text("Nudge an entry").locator("visible=true").click()
    expect(field).to_have_value(re.compile(r"\d+, \d+"))

    field.focus()
    with focus_stays(page):
        page.keyboard.press("Enter")
        expect(told).to_contain_text("Your number is 2 times the quotient")

    expect(page.locator("#linear-backward-status")).to_contain_text("2 times the quotient")
    assert violations(page, "#linear-backward") == []
    assert not scrolls_sideways(page)

    field.fill("100, 0")
    page.locator("#linear-backward-dW-nudge").click()
    expect(told).to_contain_text("axis 0 goes from 0 to 99, so there is no entry 100")


@pytest.mark.prove
def test_the_strip_shows_parallel_gradients_with_their_standings(page: Page) -> None:
    checked(page)

    strip = page.get_by_role("list", name="Gradients in the order of the backward pass")
    expect(strip.get_by_role("listitem")).to_have_text(
        ["dY given;", "dX right, from dY; dW not yet right, from dY; db right, from dY;"], use_inner_text=False
    )


@pytest.mark.prove
@pytest.mark.browser_options(java_script_enabled=False)
def test_without_a_script_a_nudge_is_a_page_and_the_text_is_kept(page: Page) -> None:
    page.goto(ADDRESS)
    page.locator("#linear-backward-code").fill(DOUBLED)
    page.locator("#linear-backward-check").click()
    page.locator("#linear-backward-code").fill(DOUBLED.replace("2 *", "3 *"))
    page.get_by_text("Show me").click()
    page.get_by_text("Nudge an entry").locator("visible=true").click()

    page.locator("#linear-backward-dW-nudge").click()

    expect(page.locator("#linear-backward-dW-nudged")).to_contain_text("3 times the quotient")
    page.get_by_role("link", name="Back to the exercise").click()
    expect(page.locator("#linear-backward-code")).to_have_value(DOUBLED.replace("2 *", "3 *"))
