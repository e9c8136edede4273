"""A training run as it is watched: live with a script, step by step without one."""

import os
import re

import pytest
from playwright.sync_api import Page, expect

from app.content.blocks import Grad, Train
from tests.browser.answers import read_lesson
from tests.browser.steps import expect_verdict, open_page, violations, write

LESSON = read_lesson("training")
TRAIN = next(one for one in LESSON.exercises if isinstance(one, Train))
BOX = next(one for one in LESSON.exercises if isinstance(one, Grad) and one.name == TRAIN.uses)
ADDRESS = f"/lessons/{LESSON.slug}"

pytestmark = pytest.mark.skipif(
    LESSON.draft and "BACKHAND_TEST_SERVER" not in os.environ, reason="a draft is not served"
)


def check_the_box(page: Page, code: str) -> None:
    """Check *code* as a plain form would send it: how a box is typed into is tested elsewhere."""
    revision = page.locator(f"#{BOX.name}-revision").input_value()
    answer = page.request.post(
        f"{ADDRESS}/code/{BOX.name}/check",
        form={"code": code, "revision": revision},
        headers={"sec-fetch-site": "same-origin"},
    )
    assert answer.ok
    page.reload()


def pass_the_box(page: Page) -> None:
    check_the_box(page, BOX.solution.source)
    expect_verdict(page, BOX, passed="true")


def test_a_run_is_watched_to_its_end_and_survives_a_reload(page: Page) -> None:
    open_page(page, ADDRESS)
    pass_the_box(page)
    headline, start = page.locator(f"#{TRAIN.name}-headline"), page.locator(f"#{TRAIN.name}-start")

    start.click()
    status = page.locator(f"#{TRAIN.name}-status")
    # A quick machine has come to the end before anybody looks, here and after the reload.
    expect(headline).to_contain_text(re.compile(r"Step |steps are done"))
    expect(status).to_have_text(re.compile(r"Running\.|All 2,000 steps are done\."))
    expect(start).to_be_focused()
    assert violations(page, f"#{TRAIN.name}") == []
    page.reload()

    run = page.locator(f"#{TRAIN.name} .run")
    expect(run).to_have_attribute("data-phase", "finished")
    expect(status).to_have_text(re.compile(r"(All 2,000 steps are done\.)?"))
    expect(page.locator(f"#{TRAIN.name}")).to_have_attribute("data-solved", "true")
    expect(run).to_contain_text("At every step the loss is that of autograd")
    expect(page.locator(f"#{TRAIN.name}-stop")).to_have_count(0)
    assert violations(page, f"#{TRAIN.name}") == []
    expect(page.locator(f"#{TRAIN.name}-solved")).to_have_text("· solved")
    counted = page.locator("#complete").inner_text()
    page.reload()
    expect(page.locator("#complete")).to_have_text(counted, use_inner_text=True)


def test_a_check_brings_its_code_to_the_run_below(page: Page) -> None:
    open_page(page, ADDRESS)
    expect(page.locator(f"#{TRAIN.name}-start")).to_have_count(0)

    write(page, BOX, BOX.solution.source)
    page.locator(f"#{BOX.name}-check").click()
    expect_verdict(page, BOX, passed="true")
    medium = page.locator(f"#{TRAIN.name}-{TRAIN.presets[1].name}")
    medium.check()
    write(page, BOX, BOX.solution.source + "# again\n")
    page.locator(f"#{BOX.name}-check").click()

    attempt = page.locator(f"#{TRAIN.name}-attempt option:checked")
    expect(attempt).to_have_text("Check 2: all right, the latest")
    expect(medium).to_be_checked()


def test_a_run_is_stopped_and_the_focus_is_not_lost(page: Page) -> None:
    open_page(page, ADDRESS)
    pass_the_box(page)
    page.locator(f"#{TRAIN.name}-{TRAIN.presets[-1].name}").check()
    page.locator(f"#{TRAIN.name}-start").click()
    expect(page.locator(f"#{TRAIN.name}-headline")).to_contain_text("Step ")

    page.locator(f"#{TRAIN.name}-stop").click()

    expect(page.locator(f"#{TRAIN.name} .run")).to_have_attribute("data-phase", "stopped")
    expect(page.locator(f"#{TRAIN.name}-headline")).to_contain_text("Stopped at step")
    assert page.evaluate("document.activeElement !== document.body")


@pytest.mark.prove
def test_a_wrong_version_is_trained_with_and_told_apart(page: Page) -> None:
    open_page(page, ADDRESS)
    check_the_box(page, BOX.solution.source.replace("- dhpreact.sum(0) ", ""))
    pass_the_box(page)

    page.locator(f"#{TRAIN.name}-wrong").click()

    run = page.locator(f"#{TRAIN.name} .run")
    expect(run).to_have_attribute("data-phase", "finished")
    expect(run.locator(".feedback")).to_have_attribute("data-correct", "false")
    expect(run).to_contain_text("these gradients are not the same")
    expect(page.locator(f"#{TRAIN.name}")).to_have_attribute("data-solved", "false")
    expect(run.locator(".picture svg")).to_have_count(2)
    assert run.locator("figure details table").count() == 1


@pytest.mark.prove
@pytest.mark.browser_options(viewport={"width": 320, "height": 700})
def test_a_run_fits_on_a_phone(page: Page) -> None:
    open_page(page, ADDRESS)
    pass_the_box(page)
    page.locator(f"#{TRAIN.name}-start").click()
    expect(page.locator(f"#{TRAIN.name} .run")).to_have_attribute("data-phase", "finished")

    page.locator(f"#{TRAIN.name} .run figure details > summary").evaluate_all("all => all.forEach(one => one.click())")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    meanings = page.locator(f"#{TRAIN.name} .run").get_by_text(re.compile("^(your gradients|autograd, same start.*)$"))
    legend = [one.bounding_box() for one in meanings.all() if one.is_visible()][:2]
    assert len(legend) == 2
    assert all(place and place["x"] + place["width"] <= 320 for place in legend), "what the lines mean is cut"
    assert violations(page, f"#{TRAIN.name}") == []


@pytest.mark.prove
@pytest.mark.browser_options(java_script_enabled=False)
def test_without_scripts_a_run_is_started_and_looked_at(page: Page) -> None:
    page.goto(ADDRESS)
    pass_the_box(page)

    page.locator(f"#{TRAIN.name}-start").click()

    assert page.url.endswith(f"{ADDRESS}#{TRAIN.name}")
    run = page.locator(f"#{TRAIN.name} .run")
    for _ in range(1200):  # ten minutes, on a machine however busy
        if run.get_attribute("data-phase") == "finished":
            break
        page.get_by_role("link", name="Show how far it is").click()
        page.wait_for_timeout(500)
    expect(run).to_have_attribute("data-phase", "finished")
