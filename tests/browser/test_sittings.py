"""A quiet sitting in a browser: a clock in words, a text that is kept, and another device that went on."""

import re
import sqlite3
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conftest import Watched
from tests.browser.seeding import beside, database_in, sitting_in
from tests.browser.steps import open_page
from tests.waiting import SECONDS
from tests.web.classroom import seated

pytestmark = pytest.mark.own_context  # a clock that was set is the context's for good


@pytest.fixture(scope="module")
def written(server_folder: Path) -> tuple[str, str]:
    """The address of a sitting, and the session that writes in it."""
    made = beside(seated(database_in(server_folder), 2, "linear-layer"))
    sitting, _ = beside(sitting_in(server_folder, made.group, *made.pupils))
    return f"/classes/{made.group}/sittings/{sitting}", made.pupils[0]


@pytest.fixture
def page(context: BrowserContext, server: str, written: tuple[str, str]) -> Iterator[Page]:
    """Of who writes; a save may be refused."""
    context.add_cookies([{"name": "session", "value": written[1], "url": server}])
    opened = context.new_page()
    watched = Watched(opened)
    yield opened
    assert [one for one in watched.complaints if "status of 409" not in one] == []


def test_the_clock_is_told_at_ten_minutes_and_at_one(page: Page, written: tuple[str, str]) -> None:
    page.clock.install()
    open_page(page, written[0])
    left, told = page.locator(".sitting-left"), page.locator("#sitting-said")
    minutes = int(left.inner_text().split()[0])

    expect(told).to_have_text("")
    page.clock.run_for(60_000 * (minutes - 11))
    expect(told).to_have_text("")
    page.clock.run_for(60_000)
    expect(left).to_have_text("10 minutes left")
    expect(told).to_have_text("10 minutes are left.")
    page.clock.run_for(60_000 * 9)
    expect(left).to_have_text("less than a minute left")
    expect(told).to_have_text("One minute is left.")


def test_more_time_is_on_the_clock_of_an_open_page_with_the_next_save(
    page: Page, written: tuple[str, str], server_folder: Path
) -> None:
    open_page(page, written[0])
    left = page.locator(".sitting-left")
    minutes = int(left.inner_text().split()[0])
    until = page.locator(".sitting-bar time")
    before, ended = until.get_attribute("datetime"), until.inner_text()

    with sqlite3.connect(server_folder / "backhand.db", timeout=SECONDS) as db:
        sitting = written[0].rpartition("/")[2]
        db.execute("update sitting_record set extra_minutes = 30 where assignment_id = ?", [sitting])
    page.locator("#item-1 .cm-content").click()
    page.keyboard.type("# more ")

    expect(left).to_have_text(re.compile(f"^({minutes + 29}|{minutes + 30}) minutes left$"))
    now = datetime.fromisoformat(until.get_attribute("datetime") or "")
    assert now - datetime.fromisoformat(before or "") == timedelta(minutes=30)
    assert until.inner_text() != ended


def test_a_text_is_saved_and_a_device_that_is_left_says_so(
    page: Page, written: tuple[str, str], server_folder: Path
) -> None:
    open_page(page, written[0])
    box, saved = page.locator("#item-1 .cm-content"), page.locator("#item-1-saved")
    box.click()
    page.keyboard.type("# mine ")
    expect(saved).to_have_text(re.compile("^Saved "))
    page.reload()
    expect(box).to_contain_text("# mine")

    with sqlite3.connect(server_folder / "backhand.db", timeout=SECONDS) as db:
        sitting = written[0].rpartition("/")[2]
        db.execute("update sitting_record set token_hash = 'another' where assignment_id = ?", [sitting])
    box.click()
    page.keyboard.type("# lost ")
    expect(saved).to_have_text(re.compile("Nothing is saved from here any more"))
    page.reload()
    expect(page.get_by_role("button", name="Go on here")).to_be_visible()
