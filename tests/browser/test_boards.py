"""The board of a class as it is watched: live, on the wall, by keyboard."""

import os
import urllib.request
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, expect

from tests.browser.answers import SMALL_ADDRESS, SMALL_SLUG, read_lesson
from tests.browser.seeding import beside, database_in
from tests.waiting import SECONDS
from tests.web.classroom import Seated, seated

pytestmark = pytest.mark.skipif("BACKHAND_TEST_SERVER" in os.environ, reason="its database is not ours to fill")

Answer = Callable[[int, str], None]


@pytest.fixture(scope="module")
def url(server: str, server_folder: Path) -> str:
    assert server
    return database_in(server_folder)


@pytest.fixture
def room(server: str, url: str, page: Page) -> Seated:
    """A class of four, whose instructor has the browser."""
    made = beside(seated(url, 4, read_lesson(SMALL_SLUG).name))
    page.context.add_cookies([{"name": "session", "value": made.instructor, "url": server}])
    return made


@pytest.fixture
def answers(server: str, room: Seated) -> Answer:
    """Some learner's answer to the question *half*."""

    def answer(number: int, given: str) -> None:
        headers = {"cookie": f"session={room.pupils[number]}", "sec-fetch-site": "same-origin"}
        body = urlencode({"answer": given}).encode()
        asked = urllib.request.Request(f"{server}{SMALL_ADDRESS}/quiz/half", body, headers)
        urllib.request.urlopen(asked, timeout=SECONDS).close()

    return answer


def board(room: Seated, query: str = "") -> str:
    return f"/classes/{room.group}/board?place={SMALL_SLUG}/half{query}"


def test_a_board_shows_an_answer_that_comes_while_it_is_watched(page: Page, room: Seated, answers: Answer) -> None:
    page.goto(board(room))
    expect(page.locator(".measured")).to_contain_text("0 are wrong now")
    explain = page.locator("#explain")
    explain.focus()

    answers(0, "7")

    expect(page.locator(".measured")).to_contain_text("1 is wrong now")
    expect(page.locator(".bars")).to_contain_text("Learner 1")
    expect(explain).to_be_focused()


def test_the_wall_is_led_by_keys_and_freezes(page: Page, room: Seated, answers: Answer) -> None:
    for number in range(3):
        answers(number, "7")
    page.goto(board(room, "&project=1"))
    count = page.locator(".bar-head strong")
    expect(count).to_have_text("3")

    page.keyboard.press("Space")
    answers(3, "7")
    witness = page.context.new_page()
    witness.goto(board(room))
    expect(witness.locator(".bar-head strong")).to_have_text("4")
    witness.close()
    expect(page.locator("[data-freeze]")).to_have_attribute("aria-pressed", "true")
    expect(count).to_have_text("3")
    page.keyboard.press("Space")
    expect(count).to_have_text("4")

    page.keyboard.press("ArrowRight")
    expect(page.locator("h1")).to_contain_text("What undoes a broadcast?")
    page.wait_for_load_state()
    page.keyboard.press("ArrowLeft")
    expect(page.locator("h1")).to_contain_text("What is one divided by two?")


def test_a_cell_tells_its_code_when_it_is_reached(page: Page, room: Seated, answers: Answer) -> None:
    answers(0, "7")
    page.goto(f"/classes/{room.group}/lessons/{SMALL_SLUG}")
    cell = page.locator("td[data-state=tried] a")

    cell.focus()

    box = cell.locator(".tip").bounding_box()
    assert box is not None
    assert box["width"] > 50
    expect(cell.locator(".tip")).to_have_text("tried, 1 try")
