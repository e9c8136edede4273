"""What a first visit brings over the network: counted by the browser, compressed, with fonts and formulas."""

import pytest
from playwright.sync_api import Page

from benchmarks.browser import weight
from tests.browser.answers import SMALL_SLUG

KB = 1000
MOST = {"why-by-hand": 115 * KB, "one-number-per-entry": 225 * KB, SMALL_SLUG: 350 * KB}
"""Of a lesson with text alone, one with formulas, one with formulas and code boxes."""

WHOLE = """() => [...document.fonts].some(
  (one) => one.family.includes("Serif") && one.status === "loaded" && !one.unicodeRange.startsWith("U+20")
)"""


@pytest.mark.parametrize("slug", MOST)
def test_a_lesson_brings_no_more_than_it_did(page: Page, slug: str) -> None:
    found = weight(page, f"/lessons/{slug}")

    assert sum(found.values()) < MOST[slug], sorted(found.items(), key=lambda one: -one[1])


def test_a_font_comes_whole_only_where_a_rare_sign_stands(page: Page) -> None:
    found = weight(page, f"/lessons/{SMALL_SLUG}")

    fonts = [path for path in found if path.endswith(".woff2")]
    assert [path for path in fonts if "-core-" not in path] == []
    page.evaluate("document.querySelector('h1').append('Ærø')")
    page.wait_for_function(WHOLE)
