"""Puzzles and pictures to step through: by mouse, by keyboard, without scripts."""

import pytest
from playwright.sync_api import Page, expect

from app.content.blocks import Order
from tests.browser.answers import read_lesson
from tests.browser.steps import expect_feedback, open_page, tab_to, violations

SLUG = "puzzles"
ADDRESS = f"/lessons/{SLUG}"
LESSON = read_lesson(SLUG)
ORDER = next(one for one in LESSON.exercises if isinstance(one, Order))
ROWS = f"#{ORDER.name} .line"
PLAIN = pytest.mark.browser_options(java_script_enabled=False)


def lines(page: Page) -> list[str]:
    return page.locator(f"{ROWS} code").all_text_contents()


def check(page: Page, name: str) -> None:
    page.locator(f"#{name}-form [data-action=answer]").click()


def test_lines_are_moved_by_the_keyboard_until_the_order_works(page: Page) -> None:
    open_page(page, ADDRESS)
    assert sorted(lines(page)) == sorted(ORDER.lines)

    for at, wanted in enumerate(ORDER.lines):
        place = lines(page).index(wanted)
        if place == at:
            continue
        tab_to(page, f"{ROWS}:nth-child({place + 1}) [data-move=up]")
        for _ in range(place - at):
            page.keyboard.press("Enter")
        expect(page.locator(f"#{ORDER.name}-status")).to_have_text(f"{wanted} is now line {at + 1}.")
        page.evaluate("document.activeElement.blur()")

    assert lines(page) == list(ORDER.lines)
    check(page, ORDER.name)
    expect_feedback(page, ORDER, "true")


def test_a_number_moves_its_line_there(page: Page) -> None:
    open_page(page, ADDRESS)
    last = lines(page)[-1]

    page.locator(f"{ROWS}:last-child [data-place]").fill("1")
    page.keyboard.press("Tab")

    assert lines(page)[0] == last
    places = page.locator(f"{ROWS} [data-place]").evaluate_all("all => all.map(one => one.value)")
    assert places == [str(at + 1) for at in range(len(ORDER.lines))]


def test_a_wrong_order_is_told_by_its_first_line_that_comes_too_early(page: Page) -> None:
    open_page(page, ADDRESS)

    check(page, ORDER.name)

    expect_feedback(page, ORDER, "false")
    expect(page.locator(f"#{ORDER.name}-feedback")).to_contain_text("comes too early.")


@PLAIN
def test_lines_are_put_in_order_by_numbers_without_scripts(page: Page) -> None:
    page.goto(ADDRESS)
    for row in page.locator(ROWS).all():
        place = ORDER.lines.index(row.locator("code").text_content() or "") + 1
        row.locator("[data-place]").fill(str(place))

    check(page, ORDER.name)

    expect_feedback(page, ORDER, "true")
    assert lines(page) == list(ORDER.lines), "the page shows the order that was answered"


@pytest.mark.parametrize("width", [320, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_puzzles_are_accessible_and_fit_a_phone(page: Page, width: int, scheme: str) -> None:
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    page.set_viewport_size({"width": width, "height": 800})
    open_page(page, ADDRESS)
    check(page, ORDER.name)
    expect_feedback(page, ORDER, "false")

    assert violations(page, "#lesson") == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


SHOWN = """name => {
  const frames = [...document.querySelectorAll(`#${name} .frames > li`)];
  const list = frames[0].parentElement.getBoundingClientRect();
  return frames.findIndex((frame) => Math.abs(frame.getBoundingClientRect().left - list.left) < 4) + 1;
}"""


def expect_frame(page: Page, name: str, number: int) -> None:
    page.wait_for_function(f"([name, number]) => ({SHOWN})(name) === number", arg=[name, number])


def test_a_picture_is_stepped_through_by_the_keyboard_and_the_page_stays(page: Page) -> None:
    open_page(page, ADDRESS)
    page.locator("#walk-1 [data-step=next]").focus()
    before = page.evaluate("scrollY")

    for number in (2, 3, 4):
        page.keyboard.press("Enter")
        expect_frame(page, "walk", number)

    assert page.evaluate("scrollY") == before
    assert page.evaluate("document.activeElement.closest('li').id") == "walk-4"


@PLAIN
def test_a_picture_is_stepped_through_without_scripts(page: Page) -> None:
    page.goto(ADDRESS)

    page.locator("#knob-1 [data-step=next]").click()

    expect(page.locator("#knob-2")).to_be_in_viewport()
    expect(page.locator("#knob-1 .place")).not_to_be_in_viewport()
