"""An author writes a lesson, and beside the editor its page changes."""

import asyncio
import shutil
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from fastapi import FastAPI
from playwright.sync_api import BrowserContext, FrameLocator, Page, expect

from app.course.course import load_course
from app.settings import Settings
from app.web.application import create_app
from app.web.author_preview import Preview
from app.web.course_reload import CourseReload
from tests.browser.answers import EACH_KIND
from tests.browser.authoring import serving
from tests.browser.steps import violations_in_both
from tests.waiting import until
from tests.web.conftest import FakeGrader


@pytest.fixture(scope="module")
def lesson(tmp_path_factory: pytest.TempPathFactory) -> Path:
    unit = tmp_path_factory.mktemp("author") / "lessons" / "1-layers"
    unit.mkdir(parents=True)
    for name in ("unit.md", "01-linear.md"):
        shutil.copy(EACH_KIND / name, unit)
    return unit / "01-linear.md"


# A check without graders: a line with a lost $ is a finding.
CHECK = """
import json, sys
for number, line in enumerate(open(sys.argv[1]), 1):
    if "lost $" in line:
        print(json.dumps({"file": sys.argv[1], "line": number, "level": "error", "message": "A partner lacks."}))
"""


@pytest.fixture(scope="module")
def previewing(lesson: Path) -> Iterator[str]:
    folder = lesson.parents[1]
    course = load_course(folder)
    settings = Settings(data_dir=lesson.parents[2], lessons=folder, database_url="")

    @asynccontextmanager
    async def watched(app: FastAPI) -> AsyncIterator[None]:
        told = Preview(app, lesson, (sys.executable, "-c", CHECK, str(lesson)))
        told.changed()
        watching = asyncio.create_task(CourseReload(app, folder, course, told.changed).watch())
        yield
        watching.cancel()
        await told.close()

    with serving(lambda: create_app(settings, course, FakeGrader(), drafts=True, framed=True), watched) as address:
        yield f"{address}/preview"


def shown(page: Page) -> FrameLocator:
    return page.frame_locator("iframe")


def reach_the_box(frame: FrameLocator) -> None:
    frame.locator("#linear-backward").scroll_into_view_if_needed()
    expect(frame.locator("#linear-backward .cm-content")).to_be_visible()


def test_the_page_changes_where_the_file_did_and_keeps_place_and_answers(
    page: Page, previewing: str, lesson: Path
) -> None:
    page.goto(previewing)
    frame = shown(page)
    reach_the_box(frame)
    frame.locator("#half-form input[name=answer]").fill("0.25")
    frame.locator("#linear-backward .cm-content").fill("dX = 1  # typed")
    inside = page.frames[1]
    inside.evaluate("scrollTo(0, 500)")
    inside.evaluate("document.querySelector('#dw-shape').marked = true")
    source = lesson.read_text("utf-8")

    lesson.write_text(source + "\n\nAnd one more paragraph.\n", "utf-8")

    expect(frame.locator("#main")).to_contain_text("And one more paragraph.")
    expect(frame.locator("#half-form input[name=answer]")).to_have_value("0.25")
    expect(frame.locator("#linear-backward-code")).to_have_value("dX = 1  # typed")
    assert inside.evaluate("scrollY") == 500
    assert inside.evaluate("document.querySelector('#dw-shape').marked"), "what did not change is the same element"
    frame.locator("#half-form [data-action=answer]").click()
    expect(frame.locator("#half-feedback")).to_have_attribute("data-correct", "false")
    lesson.write_text(source, "utf-8")
    expect(frame.locator("#main")).not_to_contain_text("And one more paragraph.")


def test_findings_show_at_their_place_and_in_a_list_that_leads_there(page: Page, previewing: str, lesson: Path) -> None:
    page.goto(previewing)
    frame = shown(page)
    source = lesson.read_text("utf-8")
    told, found = page.locator("#told"), frame.locator(".found")

    lesson.write_text(source.replace("Look at `W`.", "A lost $ here."), "utf-8")

    where = f"01-linear.md:{source.split(chr(10)).index('Look at `W`.') + 1}"
    expect(told.locator("li").first).to_contain_text(f"{where} A partner lacks.")
    expect(frame.locator(".found + #dw-shape")).to_be_visible()
    told.get_by_role("link", name=where).click()
    expect(found).to_be_focused()
    expect(found).to_contain_text(f"{where} A partner lacks.")
    expect(found).to_be_in_viewport()
    assert violations_in_both(page) == []
    lesson.write_text(source, "utf-8")
    expect(told).to_contain_text("Nothing is wrong")
    expect(found).to_have_count(0)


@pytest.mark.prove
def test_what_makes_a_file_unreadable_is_on_the_last_good_page(page: Page, previewing: str, lesson: Path) -> None:
    page.goto(previewing)
    frame = shown(page)
    frame.locator("#half-form input[name=answer]").fill("0.25")
    source = lesson.read_text("utf-8")

    lesson.write_text(
        source.replace("---\n\n", "---\n\nNew.\n\n").replace("{number} half", "{nmber} a lost $"), "utf-8"
    )

    expect(page.locator("#told")).to_contain_text("the page is the last one that could")
    expect(frame.locator(".found + #half")).to_be_visible()
    expect(frame.locator("#main")).not_to_contain_text("New.")
    expect(frame.locator("#half-form input[name=answer]")).to_have_value("0.25")
    lesson.write_text(source, "utf-8")
    expect(frame.locator(".found")).to_have_count(0)


@pytest.mark.prove
def test_a_preview_shows_answers_no_scripts_and_a_phone(context: BrowserContext, previewing: str) -> None:
    page = context.new_page()  # which will complain of scripts that it may not run
    page.goto(previewing)
    frame = shown(page)
    reach_the_box(frame)

    page.get_by_label("Answer key").check()
    expect(frame.locator("#dw-shape .answer-key")).to_contain_text("(D, H)")
    page.get_by_label("As without JavaScript").check()
    expect(frame.locator("#linear-backward-code")).to_be_visible()
    expect(frame.locator("#linear-backward .cm-content")).to_have_count(0)
    expect(frame.locator("#dw-shape .answer-key")).to_contain_text("(D, H)")
    page.get_by_label("Phone, 320").check()

    inside = page.frames[1]  # where no script runs, nothing of a page's own can be waited for
    until(lambda: inside.evaluate("innerWidth") == 320)
