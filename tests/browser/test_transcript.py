"""A lesson as a screen reader meets it: its accessibility tree, which `make pictures` renews."""

import os
from difflib import unified_diff
from pathlib import Path

import pytest
from playwright.sync_api import Page

from app.installation import version
from tests.browser.answers import SMALL_ADDRESS
from tests.browser.steps import open_page, upgrade

TRANSCRIPT = Path(__file__).parent / "transcript.yaml"


@pytest.mark.browser_options(timezone_id="UTC", locale="en-GB")
def test_a_lesson_is_read_aloud_as_in_the_transcript(page: Page) -> None:
    open_page(page, SMALL_ADDRESS)
    upgrade(page)

    said = page.locator("body").aria_snapshot().replace(version(), "VERSION") + "\n"

    if "PICTURES" in os.environ:
        TRANSCRIPT.write_text(said, "utf-8")
    changed = unified_diff(TRANSCRIPT.read_text("utf-8").splitlines(), said.splitlines(), lineterm="", n=1)
    assert list(changed) == [], "read what has changed; then: make pictures"
