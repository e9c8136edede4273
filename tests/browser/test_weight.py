"""What a first visit brings over the network: counted by the browser, compressed, with fonts and formulas."""

import pytest
from playwright.sync_api import Page

from app.content.blocks import CodeBox
from app.kinds.order.block import OrderQuestion
from benchmarks.browser import weight
from tests.browser.answers import SMALL_SLUG
from tests.courses import LESSONS, course_in

KB = 1000
LESSONS_OPEN = [one for one in course_in(LESSONS).lessons if not one.draft]
TEXT = [one.slug for one in LESSONS_OPEN if not any(isinstance(each, CodeBox) for each in one.exercises)]
LONGEST = max(LESSONS_OPEN, key=lambda one: len(one.source)).slug
MOST = {**dict.fromkeys(TEXT, 130 * KB), **dict.fromkeys((LONGEST, SMALL_SLUG), 300 * KB)}
"""Of lessons with text and formulas, and of those with code boxes and their editor."""
ORDERED = next(one.slug for one in LESSONS_OPEN if any(isinstance(each, OrderQuestion) for each in one.exercises))
"""A lesson whose buttons hold arrows."""

WHOLE = """() => [...document.fonts].some(
  (one) => one.family.includes("Serif") && one.status === "loaded" && !one.unicodeRange.startsWith("U+20")
)"""


@pytest.mark.parametrize("slug", MOST)
def test_a_lesson_is_as_light_as_it_was_promised(page: Page, slug: str) -> None:
    found = weight(page, f"/lessons/{slug}")

    assert sum(found.values()) < MOST[slug], sorted(found.items(), key=lambda one: -one[1])


@pytest.mark.parametrize("path", ["/", f"/lessons/{SMALL_SLUG}", f"/lessons/{ORDERED}"])
def test_a_font_comes_whole_only_where_a_rare_sign_stands(page: Page, path: str) -> None:
    found = weight(page, path)

    fonts = [path for path in found if path.endswith(".woff2")]
    assert [path for path in fonts if "-core-" not in path] == []
    page.evaluate("document.querySelector('h1').append('Ærø')")
    page.wait_for_function(WHOLE)
