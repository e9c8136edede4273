"""The end of the exam: its gradients light up one after another, and then a model may be trained with them."""

import re

import pytest
from playwright.sync_api import Page, expect

from app.content.blocks import Grad
from tests.browser.answers import read_lesson
from tests.browser.steps import expect_verdict, open_page, scrolls_sideways, write

LESSON = read_lesson("first-layer-and-exam")
EXAM = max((box for box in LESSON.exercises if isinstance(box, Grad)), key=lambda box: len(box.require))
ADDRESS = f"/lessons/{LESSON.slug}"
DELAYS = "rows => rows.map(row => parseFloat(getComputedStyle(row).animationDelay))"
# Of each lamp, what is read at the middle of its name.
NAMED = """lamps => lamps.map(lamp => {
  lamp.scrollIntoView({ block: "center" });
  const { left, right, top, bottom } = lamp.querySelector("code").getBoundingClientRect();
  const there = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
  return lamp.contains(there) && left >= 0 && right <= innerWidth ? there.textContent : null;
})"""
MOVES = "rows => rows.some(row => getComputedStyle(row).animationName !== 'none')"


def pass_the_exam(page: Page) -> None:
    open_page(page, ADDRESS)
    write(page, EXAM, EXAM.solution.source)
    page.keyboard.press("ControlOrMeta+Enter")
    expect_verdict(page, EXAM, passed="true")


@pytest.mark.browser_options(reduced_motion="no-preference")
def test_the_gradients_light_up_in_order_by_name_and_lead_to_training(page: Page) -> None:
    pass_the_exam(page)
    film = page.locator(f"#{EXAM.name}-verdict .film > li")

    assert film.all_text_contents() == list(EXAM.require)
    delays = film.evaluate_all(DELAYS)
    assert len(delays) == 26
    assert delays == sorted(set(delays))
    page.get_by_role("link", name="Train on it now").click()
    assert page.locator(re.sub(r".*#", "#", page.url)).count() == 1

    page.goto("/")
    expect(page.locator(".lamps [data-done=true]")).to_have_count(26)
    expect(page.get_by_role("link", name="Train a model with them")).to_be_visible()
    page.set_viewport_size({"width": 320, "height": 640})
    assert page.locator(".gradients a").evaluate_all(NAMED) == list(EXAM.require)
    assert not scrolls_sideways(page)


@pytest.mark.browser_options(reduced_motion="no-preference")
def test_the_film_is_shown_once_and_not_to_who_asks_for_less_motion(page: Page) -> None:
    pass_the_exam(page)
    film = page.locator(f"#{EXAM.name}-verdict .film > li")
    expect(film).to_have_count(26)
    assert film.evaluate_all(MOVES)

    page.emulate_media(reduced_motion="reduce")
    assert not film.evaluate_all(MOVES)

    page.emulate_media(reduced_motion="no-preference")
    page.reload()
    expect(film).to_have_count(26)
    assert not film.evaluate_all(MOVES)
