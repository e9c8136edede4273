"""The same lesson without a mouse."""

from playwright.sync_api import Page, expect

from app.content.blocks import Grad
from tests.browser.answers import SMALL_ADDRESS as ADDRESS
from tests.browser.answers import SMALL_SLUG, read_lesson, right_answer
from tests.browser.steps import (
    answer_by_keyboard,
    expect_feedback,
    expect_verdict,
    focus_stays,
    tab_to,
    write_by_keyboard,
)

LESSON = read_lesson(SMALL_SLUG)
BOX = next(one for one in LESSON.exercises if isinstance(one, Grad))


def test_a_whole_lesson_can_be_taken_with_the_keyboard_alone(page: Page) -> None:
    page.goto(ADDRESS)

    for exercise in LESSON.exercises:
        if isinstance(exercise, Grad):
            write_by_keyboard(page, exercise, exercise.solution.source)
            page.keyboard.press("ControlOrMeta+Enter")
            with focus_stays(page):
                expect_verdict(page, exercise, passed="true")
            page.keyboard.press("Escape")
            page.keyboard.press("Tab")
            assert not page.evaluate("document.activeElement.matches('.cm-content')"), "Esc, then Tab leaves the box"
        else:
            answer_by_keyboard(page, exercise, right_answer(LESSON, exercise))
            with focus_stays(page):
                expect_feedback(page, exercise, "true")

    expect(page.locator("#complete")).to_have_attribute("data-complete", "true")


def test_the_key_that_checked_goes_on_until_something_else_stands_there(page: Page) -> None:
    quiz, below = LESSON.exercises[0], LESSON.exercises[1]
    page.goto(ADDRESS)
    answer_by_keyboard(page, quiz, right_answer(LESSON, quiz))
    expect_feedback(page, quiz, "true")
    field = page.locator(f"#{quiz.name} input[name=answer]")
    field.focus()

    page.keyboard.type(" ")
    onward = page.locator(f"#{quiz.name} [data-next]")
    expect(onward).to_be_hidden()
    page.keyboard.press("Enter")
    expect(onward).to_be_visible()
    expect(field).to_be_focused()
    page.keyboard.press("Enter")

    expect(page.locator(f"#{below.name} input[name=answer]")).to_be_focused()


def test_shift_enter_runs_without_a_verdict(page: Page) -> None:
    page.goto(f"{ADDRESS}#{BOX.name}")
    write_by_keyboard(page, BOX, BOX.solution.source)

    page.keyboard.press("Shift+Enter")

    with focus_stays(page):
        expect_verdict(page, BOX, outcome="run")


def test_hints_open_one_by_one_and_stay(page: Page) -> None:
    page.goto(f"{ADDRESS}#{BOX.name}")

    for number in range(1, len(BOX.hints) + 1):
        tab_to(page, f"#{BOX.name}-hint")
        page.keyboard.press("Enter")
        expect(page.locator(f"#{BOX.name}-hints .hint")).to_have_count(number)
        expect(page.locator(f"#{BOX.name}-hint")).to_be_focused()


def test_tab_leaves_the_editor_after_escape_closed_the_names(page: Page) -> None:
    page.goto(ADDRESS)
    page.locator(f"#{BOX.name}").scroll_into_view_if_needed()
    editor = page.locator(f"#{BOX.name} .cm-content")
    editor.focus()
    page.keyboard.type("d")
    expect(page.locator(".cm-tooltip-autocomplete")).to_be_visible()

    page.keyboard.press("Escape")
    page.keyboard.press("Tab")

    expect(page.locator(".cm-tooltip-autocomplete")).to_be_hidden()
    expect(editor).not_to_be_focused()


def test_the_keys_are_explained_and_escape_closes_the_explanation(page: Page) -> None:
    page.goto(ADDRESS)
    opener = page.locator(f"#{BOX.name} [data-opens=keys]")
    opener.focus()

    page.keyboard.press("Enter")
    expect(page.locator("#keys")).to_be_visible()
    page.keyboard.press("Escape")

    expect(page.locator("#keys")).to_be_hidden()
    expect(opener).to_be_focused()


def test_the_first_tab_skips_to_the_text(page: Page) -> None:
    page.goto(ADDRESS)

    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_focused()
    page.keyboard.press("Enter")

    expect(page.locator("#main")).to_be_focused()
