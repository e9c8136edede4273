"""Text is never lost: saved while it is typed, kept on the device when the server is away, both kept on a conflict."""

import re

import pytest
from playwright.sync_api import APIResponse, BrowserContext, Page, Route, expect

from app.content.blocks import Grad
from app.kinds.number.block import NumberQuestion
from tests.browser.answers import SMALL_ADDRESS as ADDRESS
from tests.browser.answers import SMALL_SLUG, read_lesson, right_answer
from tests.browser.steps import (
    answer_by_mouse,
    close_unheard,
    editor,
    expect_feedback,
    expect_verdict,
    focus_stays,
    section,
    violations,
    write,
)
from tests.waiting import until

LESSON = read_lesson(SMALL_SLUG)
BOX = next(one for one in LESSON.exercises if isinstance(one, Grad))
NUMBER = next(one for one in LESSON.exercises if isinstance(one, NumberQuestion))
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
    assert violations(page, f"#{BOX.name}") == []
    page.close()
    context.set_offline(False)
    page = context.new_page()
    page.goto(ADDRESS)

    expect(page.locator(f"#{BOX.name}-code")).to_have_value("dW = 4")
    expect(page.locator(f"#{BOX.name}-saved")).to_have_text(SAVED)


def test_without_a_network_an_answer_is_not_said_to_be_the_last_one(context: BrowserContext) -> None:
    page = context.new_page()
    page.goto(ADDRESS)
    answer_by_mouse(page, NUMBER, right_answer(LESSON, NUMBER))
    expect_feedback(page, NUMBER, "true")
    write(page, BOX, "dW = dY")
    page.locator(f"#{BOX.name}-check").click()
    expect_verdict(page, BOX, outcome="graded")
    mark = section(page, BOX).locator(".cm-lint-marker-error")
    expect(mark).not_to_have_count(0)

    page.route("**/*", lambda route: route.abort("internetdisconnected"))
    answer_by_mouse(page, NUMBER, ["1234"])
    write(page, BOX, "dW = dX")
    page.locator(f"#{BOX.name}-check").click()

    for name in (NUMBER.name, BOX.name):
        expect(page.locator(f"#{name} .notice")).to_contain_text("What you wrote stays")
    expect(page.locator(f"#{NUMBER.name}-feedback")).to_have_attribute("data-edited", "")
    expect(mark).to_have_count(0)
    page.unroute_all()
    answer_by_mouse(page, NUMBER, ["1234"])
    expect_feedback(page, NUMBER, "false")
    expect(page.locator(f"#{NUMBER.name} .notice")).to_be_hidden()


def test_two_tabs_never_overwrite_each_other(context: BrowserContext) -> None:
    first, second = context.new_page(), context.new_page()
    first.goto(ADDRESS)
    second.goto(ADDRESS)

    write(first, BOX, "dW = 'first'")
    expect(first.locator(f"#{BOX.name}-saved")).to_have_text(SAVED)
    write(second, BOX, "dW = 'second'")

    asked = second.locator(f"#{BOX.name}-both")
    expect(asked).to_contain_text("both are saved")
    expect(section(second, BOX).locator("[role=status]")).to_contain_text("both are saved")
    asked.get_by_role("button", name="Compare").click()
    expect(section(second, BOX).locator(".past del")).to_contain_text("first")
    expect(section(second, BOX).locator(".past ins")).to_contain_text("second")
    assert violations(second, f"#{BOX.name}") == []
    asked.get_by_role("button", name="Take the other").click()
    expect(second.locator(f"#{BOX.name}-code")).to_have_value("dW = 'first'")
    expect(asked).to_be_hidden()
    second.locator(f"#{BOX.name}-history-button").click()
    expect(section(second, BOX).locator(".past pre")).to_contain_text("second")


@pytest.mark.browser_options(viewport={"width": 390, "height": 420})
def test_a_history_or_a_hint_that_is_opened_comes_into_sight(page: Page) -> None:
    page.goto(ADDRESS)
    write(page, BOX, BOX.solution.source.replace("dY", "-dY"))
    page.keyboard.press("ControlOrMeta+Enter")
    expect_verdict(page, BOX, passed="false")

    page.locator(f"#{BOX.name}-hint").click()
    expect(page.locator(f"#{BOX.name}-hint-1")).to_be_in_viewport()
    page.locator(f"#{BOX.name}-history-button").click()

    expect(section(page, BOX).locator(".past-ways")).to_be_in_viewport()


@pytest.mark.prove
def test_two_tabs_without_a_network_lose_neither_text(context: BrowserContext) -> None:
    tabs = [context.new_page(), context.new_page()]
    for tab in tabs:
        tab.goto(ADDRESS)
        editor(tab, BOX)
    context.set_offline(True)
    for name, tab in zip(("first", "second"), tabs, strict=True):
        write(tab, BOX, f"dW = '{name}'")
        expect(tab.locator(f"#{BOX.name}-saved")).to_have_text("Kept on this device")
    for tab in reversed(tabs):
        close_unheard(tab)  # what it sends as it is closed might come through after all
    context.set_offline(False)
    page = context.new_page()
    page.goto(ADDRESS)

    expect(page.locator(f"#{BOX.name}-both")).to_contain_text("both are saved")
    mine = page.locator(f"#{BOX.name}-code").input_value()  # the other is with the server, by what came through last
    other = {"dW = 'first'": "second", "dW = 'second'": "first"}[mine]
    page.locator(f"#{BOX.name}-both").get_by_role("button", name="Compare").click()
    expect(section(page, BOX).locator(".past del")).to_contain_text(other)
    page.locator(f"#{BOX.name}-both").get_by_role("link", name="Keep mine").click()
    expect(page.locator(f"#{BOX.name}-both")).to_be_hidden()
    expect(page.locator(f"#{BOX.name}-check")).to_be_focused()
    assert page.evaluate("Object.keys(localStorage)") == []


def test_a_check_right_after_typing_is_no_conflict(page: Page) -> None:
    page.goto(ADDRESS)

    for number in range(3):
        write(page, BOX, f"dW = {number}")
        page.keyboard.press("ControlOrMeta+Enter")
        expect(section(page, BOX).locator(".verdict [data-verdict], .verdict .outcome").first).to_be_visible()

    expect(page.locator(f"#{BOX.name}-notice")).to_be_empty()


def test_presses_that_overlap_come_from_no_other_tab(page: Page) -> None:
    page.goto(ADDRESS)
    both = page.locator(f"#{BOX.name}-both")
    write(page, BOX, "dW = 'hint'")
    page.locator(f"#{BOX.name}-hint").click()
    expect(page.locator(f"#{BOX.name}-hint-1")).to_be_visible()
    held: list[Route] = []
    page.route("**/history", lambda route: held.append(route))
    write(page, BOX, "dW = 'history'")
    page.locator(f"#{BOX.name}-history-button").click()
    until(lambda: page.evaluate("0") or held)
    saved = held[0].fetch()

    write(page, BOX, BOX.solution.source)
    page.locator(f"#{BOX.name}-check").click()
    held[0].fulfill(response=saved)

    expect_verdict(page, BOX, passed="true")
    expect(both).to_be_hidden()


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
    expect(page.locator(f"#{BOX.name}-notice")).to_have_text("Stopped. Your text is saved.")
    expect(page.locator(f"#{BOX.name}-check")).to_be_focused()
    expect(page.locator(f"#{BOX.name}-saved")).to_have_text(SAVED)


def test_after_a_stop_the_next_text_is_checked_and_is_no_conflict(page: Page) -> None:
    page.goto(ADDRESS)
    write(page, BOX, "while True:\n    pass")
    page.locator(f"#{BOX.name}-check").click()
    section(page, BOX).locator("[data-action=stop]").click()

    write(page, BOX, BOX.solution.source)
    page.locator(f"#{BOX.name}-check").click()

    expect_verdict(page, BOX, passed="true")
    expect(page.locator(f"#{BOX.name}-notice")).to_be_empty()


@pytest.mark.own_context  # its clock is another
def test_a_server_that_cannot_save_is_said_and_asked_again(context: BrowserContext) -> None:
    page = context.new_page()
    page.clock.install()
    page.goto(ADDRESS)
    page.route("**/draft", lambda route: route.fulfill(status=503, body="The server cannot save right now."))
    write(page, BOX, "dW = 5")
    page.clock.run_for(2_000)
    expect(page.locator(f"#{BOX.name}-saved")).to_have_text("Kept on this device: the server could not save it")

    page.unroute("**/draft")
    page.clock.run_for(16_000)

    expect(page.locator(f"#{BOX.name}-saved")).to_have_text(SAVED)


@pytest.mark.parametrize("status", [pytest.param(429, marks=pytest.mark.prove), 503])
def test_a_check_that_is_put_off_says_so_and_leaves_the_text_alone(context: BrowserContext, status: int) -> None:
    page = context.new_page()
    page.goto(ADDRESS)
    write(page, BOX, "dW = 6")
    expect(page.locator(f"#{BOX.name}-saved")).to_have_text(SAVED)
    if status == 429:
        page.route("**/check", lambda route: route.fulfill(response=spend_a_minute(page)))
    else:
        body = '<p class="problem" role="alert"><strong>The server cannot save right now.</strong></p>'
        page.route(
            "**/check",
            lambda route: route.fulfill(
                status=503, body=body, headers={"content-type": "text/html", "hx-reswap": "innerHTML"}
            ),
        )

    page.locator(f"#{BOX.name}-check").focus()
    with focus_stays(page):
        page.keyboard.press("Enter")
        said = "within a minute" if status == 429 else "cannot save right now"
        expect(page.locator(f"#{BOX.name}-verdict")).to_contain_text(said)

    expect(page.locator(f"#{BOX.name}-code")).to_have_value("dW = 6")
    expect(page.locator(f"#{BOX.name}-saved")).to_have_text(SAVED)
    assert violations(page, f"#{BOX.name}") == []


def test_a_verdict_says_when_another_text_stands_in_the_box(page: Page) -> None:
    page.goto(ADDRESS)
    earlier = page.locator(f"#{BOX.name}-verdict .stale")
    write(page, BOX, "dW = 7")
    page.locator(f"#{BOX.name}-check").click()
    expect(page.locator(f"#{BOX.name}-verdict .word").first).to_be_visible()
    expect(earlier).to_be_hidden()

    write(page, BOX, "dW = 8")
    expect(earlier).to_be_visible()
    write(page, BOX, "dW = 7")
    expect(earlier).to_be_hidden()

    write(page, BOX, "dW = 9")
    expect(page.locator(f"#{BOX.name}-saved")).to_have_text(SAVED)
    page.reload()
    expect(earlier).to_be_visible()
    page.locator(f"#{BOX.name}-check").click()
    expect(earlier).to_be_hidden()


def spend_a_minute(page: Page) -> APIResponse:
    """Ask, in the name of this browser, for more than one minute allows; what is said to that."""
    url = page.locator(f"#{BOX.name}-form").get_attribute("action")
    headers = {"sec-fetch-site": "same-origin", "hx-request": "true"}
    session = page.context.cookies()[0]["value"]  # a text that anybody had checked before would cost nothing
    for number in range(300):  # the allowance grows again while they are answered
        answer = page.request.post(
            str(url),
            form={"code": f"import module_{number}  # {session}", "revision": "999"},
            headers=headers,
            fail_on_status_code=False,
        )
        if answer.status == 429:
            return answer
    raise AssertionError("three hundred checks were let through")


def test_names_in_scope_are_offered_with_their_shapes(page: Page) -> None:
    page.goto(ADDRESS)
    editor(page, BOX).click()
    page.keyboard.press("ControlOrMeta+a")

    page.keyboard.type("dX = d")

    offered = page.locator(".cm-tooltip-autocomplete")
    expect(offered).to_contain_text("dY")
    page.keyboard.press("Escape")
    expect(offered).to_be_hidden()
