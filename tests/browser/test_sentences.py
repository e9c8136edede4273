"""A sentence that an instructor writes is on the open page of who made the mistake, without asking again."""

from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.seeding import Visitor, asked, beside, database_in
from tests.browser.steps import open_page, scrolls_sideways
from tests.browser.test_every_page import BOX, RIGHT, SMALL, SMALL_ADDRESS, SMALL_SLUG
from tests.web.classroom import seated

STRANGE = f"{RIGHT}\ndW = dW.sin() + dW.exp()\n"
"""A mistake that nobody else makes: others write sentences for theirs on the same server."""


@pytest.mark.browser_options(viewport={"width": 320, "height": 640})
def test_a_sentence_comes_to_the_open_page_of_who_made_the_mistake(
    page_with_errors: Page, context: BrowserContext, server: str, server_folder: Path
) -> None:
    made = beside(seated(database_in(server_folder), 1, SMALL.name))
    pupil, teacher = Visitor(server, made.pupils[0]), Visitor(server, made.instructor)
    pupil.post(f"{SMALL_ADDRESS}/code/{BOX.name}/check", code=STRANGE, revision="0")
    mistake = asked(server_folder, "select code from attempt where text = ? limit 1", STRANGE)
    context.add_cookies(pupil.cookies)
    open_page(page_with_errors, SMALL_ADDRESS)
    written = page_with_errors.locator(".written")
    expect(written).to_have_text("")

    teacher.post(
        f"/authors/sentences?class={made.group}", lesson=SMALL_SLUG, exercise=BOX.name, mistake=mistake,
        said="Nothing bends in `this` line.", example=STRANGE,
    )  # fmt: skip

    expect(written).to_have_text("Written for this mistake: Nothing bends in this line.")
    expect(written).to_have_attribute("aria-live", "polite")
    assert not scrolls_sideways(page_with_errors)
