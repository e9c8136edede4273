"""Practice in a real browser: from the end of a lesson through the first meeting of an operation."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.answers import SMALL_ADDRESS as LESSON
from tests.browser.steps import SCHEMES, open_page, paint_in, scrolls_sideways, violations
from tests.waiting import SECONDS

ITEM = re.compile(r"/practice/\d+$")
DRAWN_MS = SECONDS * 1000


def begin(page: Page) -> None:
    page.goto(LESSON)
    page.get_by_role("button", name="Five more like these").press("Enter")
    page.wait_for_url(ITEM, timeout=DRAWN_MS)


def choose_until_right(page: Page) -> None:
    """By keyboard: a worked example asks why."""
    for option in page.get_by_role("radio").all():
        option.press("Space")
        page.locator("button[data-action=answer]").press("Enter")
        page.wait_for_load_state()
        if page.locator(".feedback[data-correct=true], .quiz-sheet[data-state=right]").count():
            break
    expect(page.locator("#complete")).to_have_attribute("data-complete", "true")


def told(page: Page) -> str:
    """The solution, after the last hint."""
    for _ in range(4):
        page.locator("[data-action=hint]").press("Enter")
        page.wait_for_load_state()
    page.get_by_role("button", name="Solution").press("Enter")
    page.wait_for_load_state()
    return str(page.get_by_role("region", name="Solution").text_content())


@pytest.mark.browser_options(java_script_enabled=False, viewport={"width": 320, "height": 640})
def test_an_operation_is_met_by_keyboard_without_scripts_on_a_phone(page: Page) -> None:
    begin(page)
    expect(page.get_by_role("heading", level=1)).to_have_text("A worked example")
    choose_until_right(page)

    page.get_by_role("button", name="Go on").press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("One line is missing")
    solution = told(page)
    page.locator("textarea[name=code]").fill(solution)
    page.get_by_role("button", name="Check").press("Enter")
    expect(page.locator("#complete")).to_have_attribute("data-complete", "true")

    page.get_by_role("button", name="Go on").press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Write the backward pass")
    page.get_by_role("button", name="Leave this one").press("Enter")
    assert ITEM.search(page.url)


@pytest.mark.browser_options(viewport={"width": 320, "height": 640})
def test_the_pages_of_practice_are_sound_on_a_phone_in_the_dark_and_in_the_light(page_with_errors: Page) -> None:
    page = page_with_errors
    begin(page)
    items = [page.url]
    for _ in range(2):
        page.get_by_role("button", name="Leave this one").click()
        page.wait_for_url(lambda url: bool(ITEM.search(url)) and url not in items, timeout=DRAWN_MS)
        items.append(page.url)

    for address in (*items, "/practice", "/practice/map", "/practice/drill/matmul"):
        open_page(page, address)
        assert not scrolls_sideways(page), address
        for scheme in SCHEMES:
            paint_in(page, scheme)
            assert violations(page) == [], (address, scheme)
