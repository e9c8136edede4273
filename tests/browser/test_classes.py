"""A class from the word that makes an instructor to a learner on a phone."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import MS
from tests.browser.seeding import beside, teacher_word_in
from tests.browser.steps import scrolls_sideways

PHONE = {"width": 320, "height": 640}


@pytest.mark.own_context
@pytest.mark.browser_options(viewport=PHONE, timezone_id="Asia/Tokyo")
def test_a_class_is_set_up_and_joined_on_a_phone(
    page_with_errors: Page, server: str, server_folder: Path, browser: Browser
) -> None:
    page = page_with_errors
    word = beside(teacher_word_in(server_folder))
    page.goto(f"{server}/join/{word}")
    page.get_by_label("Your name").fill("Ada Lovelace")
    page.get_by_role("button", name="Become an instructor").click()
    page.get_by_label("What it is called").fill("Deep learning, autumn 2026, with a rather long name")
    expect(page.get_by_label("Time zone")).to_have_value("Asia/Tokyo")
    page.get_by_role("button", name="Make the class").click()
    page.wait_for_url(re.compile(r"/classes/\d+$"))
    home = page.url
    code = page.locator(".code-shown").inner_text()
    _fill_roster(page, home)
    _assign(page, home)

    _joined(browser, f"{server}/join/{code}")


def _fill_roster(page: Page, home: str) -> None:
    page.goto(f"{home}/roster")
    page.get_by_role("textbox", name="People").fill(
        "Grace Hopper;4711;Group A\nsomebody with a name as long as they are;4712\n;1"
    )
    page.get_by_role("button", name="Show what changes").click()
    expect(page.get_by_text("Line 3: It has no name.")).to_be_visible()
    assert not scrolls_sideways(page)
    page.get_by_role("button", name="Change the roster").click()
    expect(page.get_by_role("link", name="Grace Hopper")).to_be_visible()


def _assign(page: Page, home: str) -> None:
    page.goto(f"{home}/assignments")
    page.get_by_role("combobox", name="Lesson").select_option(index=1)
    page.get_by_label("Due", exact=True).fill("2199-03-01T23:59")
    page.get_by_role("button", name="Assign").click()
    expect(page.get_by_role("cell", name="Fri 1 Mar 2199, 23:59")).to_be_visible()


def _joined(browser: Browser, address: str) -> None:
    """Without script, as on any device."""
    context = browser.new_context(java_script_enabled=False, viewport=PHONE)
    context.set_default_timeout(MS)
    bob = context.new_page()
    bob.goto(address)
    expect(bob.get_by_text("With Ada Lovelace")).to_be_visible()
    bob.get_by_label("Your name").fill("Grace Hopper")
    bob.get_by_role("button", name="Join").click()
    expect(bob.get_by_text("due Fri 1 Mar 2199, 23:59")).to_be_visible()
    expect(bob.locator(".joined")).to_be_in_viewport()
    context.close()
