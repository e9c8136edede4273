"""What opens with an answer, where it stands and without a new page."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.steps import violations

ADDRESS = "/lessons/reveals"


def test_an_answer_opens_what_comes_after_it_in_place(page: Page) -> None:
    page.goto(ADDRESS)
    expect(page.locator("#seven")).not_to_contain_text("one straight on")
    page.locator("#predicted-answer").fill("6")

    page.keyboard.press("Enter")

    expect(page.locator("#seven")).to_contain_text("one straight on")
    expect(page.locator("#seven strong")).to_have_css("margin-right", "0px")  # a full stop may follow it
    expect(page.locator("#seven svg")).to_be_visible()
    expect(page.locator("#after-the-first")).to_contain_text("Far below.")
    expect(page.locator("#predicted-answer")).to_be_focused()
    assert violations(page, "#seven") == []


def test_a_knob_that_an_answer_opens_can_be_turned(page: Page) -> None:
    page.goto(ADDRESS)
    page.locator("#after-the-first").get_by_role("button", name="Show it now").click()

    page.get_by_role("slider", name="Turn x").press("ArrowRight")

    expect(page.locator("#knob-2")).to_be_in_viewport(ratio=0.5)
    expect(page.locator("#knob-1 .place")).not_to_be_in_viewport()
    expect(page.get_by_role("slider", name="Turn x")).to_have_count(1)


@pytest.mark.browser_options(java_script_enabled=False)
def test_it_can_be_shown_without_an_answer_and_without_scripts(page: Page) -> None:
    page.goto(ADDRESS)

    page.locator("#seven").get_by_role("button", name="Show it now").click()

    assert page.url.endswith(f"{ADDRESS}#seven")
    expect(page.locator("#seven")).to_contain_text("one straight on")


def test_a_check_waits_for_no_prediction_and_is_laid_beside_one(page: Page) -> None:
    page.goto("/lessons/predictions")
    page.locator("#alone .cm-content").click()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.insert_text("dW = dY.T @ X")
    page.keyboard.press("ControlOrMeta+Enter")
    expect(page.locator("#alone-verdict")).to_contain_text("to fix")

    page.locator("#alone").get_by_label("dW will be red.").check()
    page.locator("#alone-check").click()

    expect(page.locator("#alone-verdict")).to_contain_text("As you predicted: dW will be red.")
