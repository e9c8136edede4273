"""On paper, and where a browser forces its own colours: nothing is told by a background that is not drawn."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.answers import SMALL_ADDRESS as SMALL
from tests.browser.steps import open_page, scrolls_sideways

LETTERS = """one => {
  const drawn = one.querySelector("svg");
  const part = drawn.getBoundingClientRect().width / drawn.viewBox.baseVal.width;
  return part * Math.min(...[...one.querySelectorAll("text")].map(text => parseFloat(getComputedStyle(text).fontSize)));
}"""
"""Height in px of the smallest letters of a picture, as it is drawn."""


def test_a_printed_page_is_not_cut_and_asks_for_no_click(page: Page) -> None:
    open_page(page, SMALL)
    page.emulate_media(media="print")

    left = page.locator(".exercise").evaluate_all("all => all.map(one => one.getBoundingClientRect().left)")

    assert len(left) > 5
    assert min(left) >= 0
    expect(page.locator(":is(button, .button, .takeaway):visible")).to_have_count(0)


def test_the_index_is_printed_with_its_lessons_and_without_fields(page: Page) -> None:
    open_page(page, "/")
    page.emulate_media(media="print")

    expect(page.locator(".lesson-entry:visible").first).to_be_visible()
    expect(page.locator(":is(button, .button, input, textarea):visible")).to_have_count(0)


def test_a_sign_is_printed_though_it_is_a_background(page: Page) -> None:
    open_page(page, "/lessons/the-matrix-product")
    page.locator("#dw-shape-answer").fill("27")
    page.locator("#dw-shape-answer").press("Enter")
    page.emulate_media(media="print")

    mark = page.locator("#dw-shape-feedback .mark")

    expect(mark).to_be_visible()
    assert mark.evaluate("one => getComputedStyle(one).printColorAdjust") == "exact"


def test_what_asks_for_typing_leaves_no_heading_on_paper(page: Page) -> None:
    open_page(page, SMALL)
    page.locator("input[name=answer]").first.press("Enter")
    open_page(page, "/me")
    page.emulate_media(media="print")

    expect(page.locator("h2:visible")).to_have_count(0)


@pytest.mark.browser_options(forced_colors="active")
def test_a_lamp_is_told_from_a_dark_one_where_colours_are_forced(page: Page) -> None:
    open_page(page, "/finish")

    for lamps in (".made > li", ".gradients > li"):
        lamp = page.locator(lamps).first
        dark = lamp.screenshot()
        lamp.evaluate("one => one.dataset.done = 'true'")

        assert lamp.screenshot() != dark, lamps


@pytest.mark.browser_options(viewport={"width": 320, "height": 640})
def test_on_a_phone_the_table_of_a_unit_shows_every_column(page: Page) -> None:
    open_page(page, "/units/scalars")
    page.locator(".course-map > summary").click()
    table = page.locator(".course-map .table")

    expect(table.locator("td").last).to_be_visible()
    assert table.evaluate("one => one.scrollWidth <= one.clientWidth")


@pytest.mark.browser_options(viewport={"width": 320, "height": 640})
def test_on_a_phone_a_plot_of_lines_is_whole_and_its_numbers_are_legible(page: Page) -> None:
    open_page(page, "/lessons/slopes-by-nudging")
    plot = page.locator(".picture:has(.series)").first

    assert plot.evaluate("one => one.scrollWidth <= one.clientWidth")
    assert plot.evaluate(LETTERS) > 11


@pytest.mark.browser_options(viewport={"width": 390, "height": 844})
def test_on_a_phone_a_heat_map_shows_every_column_in_legible_letters(page: Page) -> None:
    open_page(page, "/lessons/ten-minutes")
    heat_map = page.locator(".picture:has([data-heat])").first

    assert heat_map.evaluate("one => one.scrollWidth <= one.clientWidth")
    assert heat_map.evaluate(LETTERS) > 11
    page.set_viewport_size({"width": 320, "height": 640})
    assert heat_map.evaluate(LETTERS) > 9
    assert not scrolls_sideways(page)
