"""Puzzles and pictures to step through: by mouse, by keyboard, without scripts."""

import pytest
from playwright.sync_api import Page, expect

from app.kinds.order.block import OrderQuestion
from tests.browser.answers import read_lesson
from tests.browser.steps import SCHEMES, Scheme, expect_feedback, open_page, paint_in, tab_to, violations

SLUG = "puzzles"
ADDRESS = f"/lessons/{SLUG}"
LESSON = read_lesson(SLUG)
ORDER = next(one for one in LESSON.exercises if isinstance(one, OrderQuestion))
STEPS = ("Draw", "Run the", "Run it", "Move")
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


def test_moves_that_were_not_checked_stay_until_a_check(page: Page) -> None:
    open_page(page, ADDRESS)
    page.locator(f"{ROWS}:nth-child(2) [data-move=up]").click()
    moves = lines(page)

    open_page(page, "/")
    open_page(page, ADDRESS)
    assert lines(page) == moves

    check(page, ORDER.name)
    expect(page.locator(f"#{ORDER.name}-feedback")).to_have_attribute("data-correct", "false")
    open_page(page, ADDRESS)
    assert lines(page) == moves


def test_an_order_that_is_right_folds_out_of_sight_and_opens_again(page: Page) -> None:
    open_page(page, ADDRESS)
    for at, wanted in enumerate(ORDER.lines, 1):
        page.locator(f"{ROWS}:nth-child({lines(page).index(wanted) + 1}) [data-place]").fill(str(at))
        page.keyboard.press("Tab")
    check(page, ORDER.name)
    expect_feedback(page, ORDER, "true")
    expect(page.locator(ROWS).first).to_be_visible()

    page.locator("#complete").scroll_into_view_if_needed()
    expect(page.locator(ROWS).first).to_be_hidden()
    page.reload()
    expect(page.locator(ROWS).first).to_be_hidden()
    page.get_by_text("Your order").click()

    expect(page.locator(ROWS).first).to_be_visible()
    assert lines(page) == list(ORDER.lines)


def test_a_number_moves_its_line_there(page: Page) -> None:
    open_page(page, ADDRESS)
    last = lines(page)[-1]

    page.locator(f"{ROWS}:last-child [data-place]").fill("1")
    page.keyboard.press("Tab")

    assert lines(page)[0] == last
    places = page.locator(f"{ROWS} [data-place]").evaluate_all("all => all.map(one => one.value)")
    assert places == [str(at + 1) for at in range(len(ORDER.lines))]


def test_enter_in_a_place_moves_the_line_and_hands_nothing_in(page: Page) -> None:
    open_page(page, ADDRESS)
    last, field = lines(page)[-1], page.locator(f"{ROWS}:last-child [data-place]")
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url) if request.method == "POST" else None)

    field.fill("1")
    field.press("Enter")

    assert lines(page)[0] == last
    expect(page.locator(f"{ROWS}:first-child [data-place]")).to_be_focused()
    assert sent == []


def test_a_place_that_there_is_not_moves_nothing_and_is_told(page: Page) -> None:
    open_page(page, ADDRESS)
    before = lines(page)
    field, notice = page.locator(f"{ROWS}:last-child [data-place]"), page.locator(f"#{ORDER.name} .notice")

    for place in ("99", "0", "abc", ""):
        notice.evaluate("one => one.textContent = ''")
        field.fill(place)
        page.keyboard.press("Tab")

        expect(notice).to_contain_text(f"a number from 1 to {len(ORDER.lines)}")
        assert lines(page) == before, place
        expect(field).to_have_value(str(len(before)))


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


@pytest.mark.parametrize(
    ("width", "scheme"),
    [
        (width, scheme) if (width, scheme) == (320, "dark") else pytest.param(width, scheme, marks=pytest.mark.prove)
        for width in (320, 1280)
        for scheme in SCHEMES
    ],
)
def test_puzzles_are_accessible_and_fit_a_phone(page: Page, width: int, scheme: Scheme) -> None:
    paint_in(page, scheme)
    page.set_viewport_size({"width": width, "height": 800})
    open_page(page, ADDRESS)
    check(page, ORDER.name)
    expect_feedback(page, ORDER, "false")

    assert violations(page, "#lesson") == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


SHOWN = """name => {
  const frames = [...document.querySelectorAll(`#${name} .frames > li`)];
  const list = frames[0].parentElement.getBoundingClientRect();
  const shown = frames.findIndex((frame) => Math.abs(frame.getBoundingClientRect().left - list.left) < 4);
  return frames.every((frame, at) => frame.inert === (at !== shown)) ? shown + 1 : 0;
}"""
"""The step in view, once the keyboard reaches it alone: that comes a moment later."""


def expect_frame(page: Page, name: str, number: int) -> None:
    page.wait_for_function(f"([name, number]) => ({SHOWN})(name) === number", arg=[name, number])


def test_a_picture_is_stepped_through_by_the_keyboard_and_the_page_stays(page: Page) -> None:
    open_page(page, ADDRESS)
    expect_frame(page, "walk", 1)
    page.locator("#walk-1 [data-step=next]").focus()
    before = page.evaluate("scrollY")

    for number in (2, 3, 4):
        page.keyboard.press("Enter")
        expect_frame(page, "walk", number)

    assert page.evaluate("scrollY") == before
    assert page.evaluate("document.activeElement.closest('li').id") == "walk-4"


def test_a_knob_is_turned_by_a_slider_and_its_steps_move_it(page: Page) -> None:
    open_page(page, ADDRESS)
    knob = page.get_by_role("slider", name="Turn x")
    knob.focus()

    for _ in range(3):
        page.keyboard.press("ArrowRight")
    expect_frame(page, "knob", 4)
    expect(knob).to_have_attribute("aria-valuetext", "x = 2")
    page.locator("#knob-4 [data-step=next]").press("Enter")

    expect_frame(page, "knob", 5)
    expect(knob).to_have_value("4")


@PLAIN
def test_a_picture_is_stepped_through_without_scripts(page: Page) -> None:
    page.goto(ADDRESS)

    page.locator("#knob-1 [data-step=next]").click()

    expect(page.locator("#knob-2")).to_be_in_viewport()
    expect(page.locator("#knob-1 .place")).not_to_be_in_viewport()


@PLAIN
def test_cells_are_filled_in_and_ticked_without_scripts(page: Page) -> None:
    page.goto(ADDRESS)
    for name in ("O[0, 0]", "O[0, 1]"):
        page.get_by_role("checkbox", name=name, exact=True).check()

    check(page, "fed")
    expect(page.locator("#fed-feedback")).to_have_attribute("data-correct", "true")

    values = ["-1", "-1", "28", "38"]
    for field, value in zip(page.locator("#filled .grid input").all(), values, strict=True):
        field.fill(value)
    check(page, "filled")
    expect(page.locator("#filled-feedback")).to_have_attribute("data-correct", "true")
    assert [field.input_value() for field in page.locator("#filled .grid input").all()] == values


def test_a_table_is_filled_in_by_the_keyboard(page: Page) -> None:
    open_page(page, ADDRESS)

    tab_to(page, "#filled .grid input")
    for value in ("-1", "-1", "28"):
        page.keyboard.type(value)
        page.keyboard.press("Tab")
    page.keyboard.type("3")
    page.keyboard.press("Enter")

    expect(page.locator("#filled-feedback")).to_contain_text("3 of 4 are right. Look at dA[1, 1] first.")


def test_tab_goes_through_the_step_in_view_and_on(page: Page) -> None:
    open_page(page, ADDRESS)
    expect_frame(page, "walk", 1)
    page.locator("#walk-1 [data-step=next]").focus()

    page.keyboard.press("Enter")
    expect_frame(page, "walk", 2)
    page.keyboard.press("Tab")

    assert page.evaluate("document.activeElement.closest('.frames')") is None


@PLAIN
def test_steps_numbers_and_an_entry_are_answered_without_scripts(page: Page) -> None:
    page.goto(ADDRESS)
    for row in page.locator("#steps .line").all():
        said = row.locator(".step").inner_text()
        place = next(at for at, start in enumerate(STEPS, start=1) if said.startswith(start))
        row.locator("[data-place]").fill(str(place))
    check(page, "steps")
    expect(page.locator("#steps-feedback")).to_have_attribute("data-correct", "true")

    for field, number in zip(page.locator("#moments input").all(), ("2", "0.25"), strict=True):
        field.fill(number)
    check(page, "moments")
    expect(page.locator("#moments-feedback")).to_have_attribute("data-correct", "true")

    page.get_by_role("radio", name="A[1, 0], -3").check()
    check(page, "least")
    expect(page.locator("#least-feedback")).to_have_attribute("data-correct", "true")


def test_an_entry_is_pointed_at_by_the_keyboard(page: Page) -> None:
    open_page(page, ADDRESS)
    page.get_by_role("radio", name="A[0, 0], 1").focus()
    for key in ("Space", "ArrowDown", "ArrowDown"):
        page.keyboard.press(key)
    page.keyboard.press("Enter")

    expect(page.locator("#least-feedback")).to_have_attribute("data-correct", "true")
