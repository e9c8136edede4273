"""Text is never lost: saved while it is typed, kept on the device when the server is away, both kept on a conflict."""

import re

from playwright.sync_api import BrowserContext, Page, expect

from app.content.blocks import Grad
from tests.browser.answers import ADDRESS, read_lesson
from tests.browser.steps import editor, expect_verdict, section, write

BOX = next(one for one in read_lesson().exercises if isinstance(one, Grad))
SAVED = re.compile(r"^Saved \d")


def test_a_draft_is_saved_while_typing_and_restored(page: Page) -> None:
    page.goto(ADDRESS)
    write(page, BOX, "# a thought\ndW = 1")

    expect(page.locator(f"#{BOX.name}-saved")).to_have_text(SAVED)
    page.reload()

    expect(page.locator(f"#{BOX.name}-code")).to_have_value("# a thought\ndW = 1")


def test_a_draft_is_saved_when_the_page_is_left_at_once(page: Page) -> None:
    page.goto(ADDRESS)
    write(page, BOX, "dW = 2")

    page.goto("/")
    page.goto(ADDRESS)

    expect(page.locator(f"#{BOX.name}-code")).to_have_value("dW = 2")


def test_without_a_network_the_text_stays_on_the_device(context: BrowserContext) -> None:
    page = context.new_page()
    page.goto(ADDRESS)
    write(page, BOX, "dW = 3")
    expect(page.locator(f"#{BOX.name}-saved")).to_have_text(SAVED)

    context.set_offline(True)
    write(page, BOX, "dW = 4")
    expect(page.locator(f"#{BOX.name}-saved")).to_have_text("Kept on this device")
    page.close()
    context.set_offline(False)
    page = context.new_page()
    page.goto(ADDRESS)

    expect(page.locator(f"#{BOX.name}-code")).to_have_value("dW = 4")
    expect(page.locator(f"#{BOX.name}-saved")).to_have_text(SAVED)


def test_two_tabs_never_overwrite_each_other(context: BrowserContext) -> None:
    first, second = context.new_page(), context.new_page()
    first.goto(ADDRESS)
    second.goto(ADDRESS)

    write(first, BOX, "dW = 'first'")
    expect(first.locator(f"#{BOX.name}-saved")).to_have_text(SAVED)
    write(second, BOX, "dW = 'second'")

    expect(second.locator(f"#{BOX.name}-saved")).to_contain_text("kept under History")
    second.locator(f"#{BOX.name}-history-button").click()
    expect(section(second, BOX).locator(".past pre")).to_contain_text("first")


def test_a_check_right_after_typing_is_no_conflict(page: Page) -> None:
    page.goto(ADDRESS)

    for number in range(3):
        write(page, BOX, f"dW = {number}")
        page.keyboard.press("ControlOrMeta+Enter")
        expect(section(page, BOX).locator(".verdict [data-verdict], .verdict .outcome").first).to_be_visible()

    expect(page.locator(f"#{BOX.name}-notice")).to_be_empty()


def test_the_line_of_an_error_is_marked_and_the_mark_goes_with_the_error(page: Page) -> None:
    page.goto(ADDRESS)
    write(page, BOX, "a = 1\nb = undefined_name")

    page.locator(f"#{BOX.name}-check").click()
    expect_verdict(page, BOX, outcome="error")
    expect(section(page, BOX).locator(".cm-lint-marker-error")).to_have_count(1)
    write(page, BOX, BOX.solution.source)
    page.locator(f"#{BOX.name}-check").click()

    expect_verdict(page, BOX, passed="true")
    expect(section(page, BOX).locator(".cm-lint-marker-error")).to_have_count(0)


def test_pasted_typography_becomes_plain_and_is_said(page: Page) -> None:
    page.goto(ADDRESS)
    content = editor(page, BOX)
    content.click()
    page.keyboard.press("ControlOrMeta+a")

    content.evaluate(
        """element => {
            const clipboardData = new DataTransfer();
            clipboardData.setData("text/plain", "dW = \u2212X\u00a0# \u201cso\u201d");
            element.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
        }"""
    )

    expect(page.locator(f"#{BOX.name}-code")).to_have_value('dW = -X # "so"')
    expect(page.locator(f"#{BOX.name}-notice")).to_contain_text("typographic minus")


def test_a_running_check_can_be_stopped(page: Page) -> None:
    page.goto(ADDRESS)
    write(page, BOX, "while True:\n    pass")

    page.locator(f"#{BOX.name}-check").click()
    section(page, BOX).locator("[data-action=stop]").click()

    expect(section(page, BOX).locator("[role=status]")).to_contain_text("Stopped")
    expect(page.locator(f"#{BOX.name}-check")).to_be_focused()


def test_names_in_scope_are_offered_with_their_shapes(page: Page) -> None:
    page.goto(ADDRESS)
    editor(page, BOX).click()
    page.keyboard.press("ControlOrMeta+a")

    page.keyboard.type("dX = d")

    offered = page.locator(".cm-tooltip-autocomplete")
    expect(offered).to_contain_text("dY")
    page.keyboard.press("Escape")
    expect(offered).to_be_hidden()
