"""Practice in a real browser: from the end of a lesson through the first meeting of an operation."""

import re
import sqlite3
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from app.content.blocks import Axes, Bug, Exercise, Lesson, Order, Shape
from app.content.code_exercises import CodeExercise
from app.grading.quiz.mark_order import as_values
from app.practice.pool import columns_of
from app.practice.proof import curated
from app.web.practice_items import FORMS
from tests.browser.answers import SMALL_ADDRESS as LESSON
from tests.browser.answers import right_answer
from tests.browser.steps import SCHEMES, open_page, paint_in, scrolls_sideways, violations
from tests.waiting import SECONDS

ITEM = re.compile(r"/practice/\d+$")
DRAWN_MS = SECONDS * 1000


def begin(page: Page) -> None:
    page.goto(LESSON)
    page.get_by_role("button", name="Five more like these").press("Enter")
    page.wait_for_url(ITEM, timeout=DRAWN_MS)


def choose_until_right(page: Page) -> None:
    """By keyboard: a worked example asks why."""
    for option in page.get_by_role("radio").all():
        option.press("Space")
        page.locator("button[data-action=answer]").press("Enter")
        page.wait_for_load_state()
        if page.locator(".feedback[data-correct=true], .quiz-sheet[data-state=right]").count():
            break
    expect(page.locator("#complete")).to_have_attribute("data-complete", "true")


def told(page: Page) -> str:
    """The solution, after the last hint."""
    for _ in range(4):
        page.locator("[data-action=hint]").press("Enter")
        page.wait_for_load_state()
    page.get_by_role("button", name="Solution").press("Enter")
    page.wait_for_load_state()
    return str(page.get_by_role("region", name="Solution").text_content())


@pytest.mark.browser_options(java_script_enabled=False, viewport={"width": 320, "height": 640})
def test_an_operation_is_met_by_keyboard_without_scripts_on_a_phone(page: Page) -> None:
    begin(page)
    expect(page.get_by_role("heading", level=1)).to_have_text("A worked example")
    choose_until_right(page)

    page.get_by_role("button", name="Go on").press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("One line is missing")
    solution = told(page)
    page.locator("textarea[name=code]").fill(solution)
    page.get_by_role("button", name="Check").press("Enter")
    expect(page.locator("#complete")).to_have_attribute("data-complete", "true")

    page.get_by_role("button", name="Go on").press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Write the backward pass")
    page.get_by_role("button", name="Leave this one").press("Enter")
    assert ITEM.search(page.url)


@pytest.mark.browser_options(viewport={"width": 320, "height": 640})
def test_the_pages_of_practice_are_sound_on_a_phone_in_the_dark_and_in_the_light(page_with_errors: Page) -> None:
    page = page_with_errors
    begin(page)
    items = [page.url]
    for _ in range(2):
        page.get_by_role("button", name="Leave this one").click()
        page.wait_for_url(lambda url: bool(ITEM.search(url)) and url not in items, timeout=DRAWN_MS)
        items.append(page.url)

    for address in (*items, "/practice", "/practice/map", "/practice/drill/matmul"):
        open_page(page, address)
        assert not scrolls_sideways(page), address
        for scheme in SCHEMES:
            paint_in(page, scheme)
            assert violations(page) == [], (address, scheme)


def given(page: Page, folder: Path, form: str) -> tuple[str, Lesson]:
    """The address of an item in *form* that the learner of *page* is given, and what it asks."""
    page.goto("/practice")
    asked = ((item, FORMS[form](item, "fork", "") if form in FORMS else item.fragment) for item in curated(2))
    item, fragment = next((item, fragment) for item, fragment in asked if fragment)
    row = columns_of(item) | {"form": form, "fragment": fragment, "proved_at": "2026-03-02 18:00:00"}
    names, values = ", ".join(row), ", ".join(f":{key}" for key in row)
    once = f"insert into practice_item ({names}) values ({values}) on conflict do update set form = form returning id"
    mine = "insert into practice_attempt (learner_id, item_id, family, slip, given_at, hints) values (?, ?, ?, ?, ?, ?)"
    with sqlite3.connect(folder / "backhand.db") as db:
        (number,) = db.execute(once, row).fetchone()
        (learner,) = db.execute("select max(id) from learner").fetchone()
        db.execute(mine, (learner, number, "fork", "", "2026-03-02 18:00:00", 0))
    return f"/practice/{number}", item.lesson_of(fragment)


def fill_in(page: Page, lesson: Lesson, one: Exercise) -> None:
    """The right answer, key by key."""
    match one:
        case Order():
            answer = as_values(one, range(len(one.lines)))
            places = dict(zip(answer[::2], answer[1::2], strict=True))
            for number, field in enumerate(page.locator("[data-place]").all(), start=1):
                field.press("ControlOrMeta+a")
                page.keyboard.type(places[str(number)])
        case Axes():
            for axis in right_answer(lesson, one):
                page.locator(f"#{one.name} input[value='{axis}']").press("Space")
        case Shape():
            page.locator(f"#{one.name}-answer").focus()
            page.keyboard.type(right_answer(lesson, one)[0])
        case CodeExercise():
            if isinstance(one, Bug):
                page.locator(f"#{one.name}-line-{one.line}").press("Space")
            page.locator(f"#{one.name}-code").press("ControlOrMeta+a")
            page.keyboard.insert_text(one.solution.source)


@pytest.mark.own_context
@pytest.mark.parametrize("form", ["write", "bug", "order", "shapes"])
@pytest.mark.browser_options(java_script_enabled=False, viewport={"width": 320, "height": 640})
def test_every_form_is_answered_by_keyboard_without_scripts_on_a_phone(
    page: Page, server_folder: Path, form: str
) -> None:
    page.goto(LESSON)
    address, lesson = given(page, server_folder, form)
    page.goto(address)
    for one in lesson.exercises:
        fill_in(page, lesson, one)

    page.get_by_role("button", name=re.compile("^Check")).press("Enter")

    expect(page.locator("#complete")).to_have_attribute("data-complete", "true")
    assert not scrolls_sideways(page)


@pytest.mark.browser_options(viewport={"width": 320, "height": 640})
def test_every_form_is_sound_on_a_phone_in_the_dark_and_in_the_light(
    page_with_errors: Page, server_folder: Path
) -> None:
    page = page_with_errors
    page.goto(LESSON)
    for form in ("write", *FORMS):
        address, _ = given(page, server_folder, form)
        open_page(page, address)
        assert not scrolls_sideways(page), form
        for scheme in SCHEMES:
            paint_in(page, scheme)
            assert violations(page) == [], (form, scheme)
