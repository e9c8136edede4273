"""A class, and a function that goes on from it: without scripts, by the keyboard, and on a phone."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.steps import open_page, violations_in_both

ADDRESS, ENGINE, WORK = "/lessons/continued", "engine", "engine-at-work"
CLASS = "class Value:\n    def __init__(self, data):\n        self.data = data\n"
STARTER = "def doubled(x):\n    ____\n"
WRONG = CLASS.replace("= data", "= None")
SLOPES = "num-grad"
WIDTH = 320


def judged(page: Page, name: str, passed: str) -> None:
    verdict = page.locator(f"#{name}-verdict")
    expect(verdict).to_have_attribute("data-outcome", "graded")
    expect(verdict).to_have_attribute("data-passed", passed)


def write_engine(page: Page, code: str, name: str = ENGINE) -> None:
    page.locator(f"#{name}").scroll_into_view_if_needed()  # the editor comes to a box that comes into view
    editor = page.locator(f"#{name} .cm-content")
    editor.scroll_into_view_if_needed()
    editor.focus()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.insert_text(code)
    page.keyboard.press("Escape")  # the list of names would open over the buttons
    expect(page.locator(f"#{name}-code")).to_have_value(code)


@pytest.mark.browser_options(java_script_enabled=False)
def test_a_program_and_what_goes_on_from_it_are_plain_forms(page: Page) -> None:
    page.goto(ADDRESS)
    page.locator(f"#{ENGINE}-code").fill(CLASS)
    page.locator(f"#{ENGINE}-check").click()
    judged(page, ENGINE, "true")

    begun = page.locator(f"#{WORK}-code").input_value()
    assert begun == f"{CLASS}\n\n{STARTER}"
    page.locator(f"#{WORK}-code").fill(begun.replace("____", "return 2 * Value(x).data"))
    page.locator(f"#{WORK}-check").click()
    judged(page, WORK, "true")


def test_a_program_is_written_and_checked_by_the_keyboard(page: Page) -> None:
    open_page(page, ADDRESS)
    write_engine(page, CLASS)
    page.keyboard.press("ControlOrMeta+Enter")
    judged(page, ENGINE, "true")

    # A box that goes on from it takes the text, and so does the editor over it, without another load of the page.
    expect(page.locator(f"#{WORK}-code")).to_have_value(f"{CLASS}\n\n{STARTER}")
    expect(page.locator(f"#{WORK} .cm-content")).to_contain_text("class Value")
    write_engine(page, CLASS.replace("data):", "data, *_):"))
    page.keyboard.press("ControlOrMeta+Enter")
    expect(page.locator(f"#{WORK}-code")).to_have_value(f"{CLASS.replace('data):', 'data, *_):')}\n\n{STARTER}")


def test_what_was_written_meanwhile_stays_and_a_reset_brings_it(page: Page) -> None:
    open_page(page, ADDRESS)
    write_engine(page, "def doubled(x):\n    return 2", WORK)
    write_engine(page, CLASS)
    page.keyboard.press("ControlOrMeta+Enter")
    judged(page, ENGINE, "true")
    expect(page.locator(f"#{WORK}-code")).to_have_value("def doubled(x):\n    return 2")

    page.once("dialog", lambda asked: asked.accept())
    page.locator(f"#{WORK}-reset").focus()
    page.keyboard.press("Enter")
    expect(page.locator(f"#{WORK}-code")).to_have_value(f"{CLASS}\n\n{STARTER}")
    expect(page.locator(f"#{WORK} .cm-content")).to_contain_text("class Value")


@pytest.mark.browser_options(viewport={"width": WIDTH, "height": 700}, has_touch=True, is_mobile=True)
def test_a_case_that_fails_fits_a_phone_and_breaks_no_rule_of_access(page: Page) -> None:
    open_page(page, ADDRESS)
    write_engine(page, WRONG)
    page.locator(f"#{ENGINE}-check").tap()
    judged(page, ENGINE, "false")

    assert page.evaluate("document.documentElement.scrollWidth") <= WIDTH
    assert violations_in_both(page, f"#{ENGINE}") == []


@pytest.mark.browser_options(viewport={"width": WIDTH, "height": 700}, has_touch=True, is_mobile=True)
def test_of_many_failing_cases_the_first_is_shown_and_others_folded(page: Page) -> None:
    open_page(page, "/lessons/slopes-by-nudging")
    write_engine(page, "def num_grad(f, x, h):\n    return torch.zeros_like(x)\n", SLOPES)
    page.locator(f"#{SLOPES}-check").tap()
    judged(page, SLOPES, "false")

    verdict = page.locator(f"#{SLOPES}-verdict")
    expect(verdict.locator("dl.called:visible")).to_have_count(1)
    verdict.locator(".rest > summary").tap()
    verdict.locator(".rest [data-right=false] > details > summary").first.tap()
    expect(verdict.locator("dl.called:visible")).to_have_count(2)
    assert page.evaluate("document.documentElement.scrollWidth") <= WIDTH
    assert violations_in_both(page, f"#{SLOPES}") == []
