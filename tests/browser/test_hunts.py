"""A bug hunt and a check of one's own, in a real browser with real graders."""

import pytest
from playwright.sync_api import Page, expect

from app.content.blocks import Bug, Checker
from tests.browser.answers import read_lesson
from tests.browser.steps import (
    expect_verdict,
    focus_stays,
    open_page,
    scrolls_sideways,
    section,
    tab_to,
    violations,
    write,
)

HUNT, CHECKS = "batch-norm-in-one-line", "a-comparison-you-can-trust"
BUG = next(one for one in read_lesson(HUNT).exercises if isinstance(one, Bug))
CHECKER = next(one for one in read_lesson(CHECKS).exercises if isinstance(one, Checker))
CREDULOUS = "def cmp(mine, theirs):\n    return not bool(((mine - theirs).abs() > 1e-6).any())\n"


def line(page: Page, number: int):
    return page.locator(f"#{BUG.name}-line-{number}")


def test_a_line_is_suspected_found_and_mended(page: Page) -> None:
    open_page(page, f"/lessons/{HUNT}")

    line(page, BUG.innocent[0].line).check()
    page.locator(f"#{BUG.name}-check").click()
    with focus_stays(page):
        expect_verdict(page, BUG, passed="false")
    expect(page.locator(f"#{BUG.name}-status")).to_contain_text(f"Not line {BUG.innocent[0].line}")
    line(page, BUG.line).check()
    write(page, BUG, BUG.solution.source)
    page.locator(f"#{BUG.name}-check").click()

    expect_verdict(page, BUG, passed="true")
    assert violations(page, f"#{BUG.name}") == []


def test_a_suspicion_is_saved_without_any_typing(page: Page) -> None:
    open_page(page, f"/lessons/{HUNT}")

    line(page, 2).check()
    expect(page.locator(f"#{BUG.name}-saved")).to_contain_text("Saved")
    page.reload()

    expect(line(page, 2)).to_be_checked()
    expect(page.locator(f"#{BUG.name}-code")).to_have_value(BUG.starter.source)


def test_a_reset_takes_the_suspicion_back_and_undo_brings_it_again(page: Page) -> None:
    open_page(page, f"/lessons/{HUNT}")
    page.on("dialog", lambda dialog: dialog.accept())

    line(page, 2).check()
    page.locator(f"#{BUG.name}-reset").click()
    expect(line(page, 2)).not_to_be_checked()
    page.locator(f"#{BUG.name}-undo").click()

    expect(line(page, 2)).to_be_checked()


def test_a_bug_is_found_and_mended_by_keyboard(page: Page) -> None:
    open_page(page, f"/lessons/{HUNT}")
    section(page, BUG).scroll_into_view_if_needed()
    page.locator(f"#{BUG.name}-line-1").focus()

    for _ in range(BUG.line - 1):
        page.keyboard.press("ArrowDown")
    expect(line(page, BUG.line)).to_be_checked()
    expect(section(page, BUG).locator(".cm-content")).to_be_visible()  # it comes a moment after the page
    tab_to(page, f"#{BUG.name} .cm-content")
    for key in ("ControlOrMeta+End", "Backspace", "Home", "Shift+End"):
        page.keyboard.press(key)
    page.keyboard.insert_text(BUG.mended.source.strip())
    page.keyboard.press("ControlOrMeta+Enter")

    expect_verdict(page, BUG, passed="true")


@pytest.mark.prove
def test_a_check_that_accepts_too_much_is_told_so_and_mended(page: Page) -> None:
    open_page(page, f"/lessons/{CHECKS}")

    write(page, CHECKER, CREDULOUS)
    page.locator(f"#{CHECKER.name}-check").click()
    expect_verdict(page, CHECKER, passed="false")
    expect(page.locator(f"#{CHECKER.name}-verdict .message").first).to_contain_text("not a number")
    assert violations(page, f"#{CHECKER.name}") == []
    write(page, CHECKER, CHECKER.solution.source)
    page.locator(f"#{CHECKER.name}-check").click()

    expect_verdict(page, CHECKER, passed="true")


@pytest.mark.browser_options(java_script_enabled=False)
def test_both_work_without_scripts(page: Page) -> None:
    page.goto(f"/lessons/{HUNT}")
    line(page, BUG.line).check()
    page.locator(f"#{BUG.name}-code").fill(BUG.solution.source)
    page.locator(f"#{BUG.name}-check").click()
    expect_verdict(page, BUG, passed="true")
    expect(line(page, BUG.line)).to_be_checked()

    page.goto(f"/lessons/{CHECKS}")
    page.locator(f"#{CHECKER.name}-code").fill(CHECKER.solution.source)
    page.locator(f"#{CHECKER.name}-check").click()

    expect_verdict(page, CHECKER, passed="true")


@pytest.mark.prove
@pytest.mark.browser_options(viewport={"width": 320, "height": 700}, color_scheme="dark")
def test_a_hunt_fits_a_narrow_dark_page(page: Page) -> None:
    open_page(page, f"/lessons/{HUNT}")
    line(page, 2).check()

    assert not scrolls_sideways(page)
    assert violations(page, f"#{BUG.name}") == []
