"""What a code box tells while it is typed in, and what a run shows."""

import pytest
from playwright.sync_api import Page, Route, expect

from app.content.blocks import Grad
from tests.browser.answers import SMALL_ADDRESS as ADDRESS
from tests.browser.answers import SMALL_SLUG, read_lesson
from tests.browser.steps import editor, open_page, scrolls_sideways, section, violations, write
from tests.waiting import until

LESSON = read_lesson(SMALL_SLUG)
BOX = next(one for one in LESSON.exercises if isinstance(one, Grad))
CODE = "dX = dY @ W.T\ndW = dY.T @ X\n\nt = X @ dY"
TOLD = ["(N, D) like X", "(H, D), W is (D, H)", "(N, D) @ (N, H): D is not N"]


def told(page: Page):
    return section(page, BOX).locator(".cm-told > span")


@pytest.mark.parametrize("width", [1280, 320])
def test_shapes_stand_behind_the_lines_and_move_no_text(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(ADDRESS)
    write(page, BOX, CODE)
    expect(told(page)).to_have_text(TOLD)
    lines = section(page, BOX).locator(".cm-line")
    places = [lines.nth(at).bounding_box() for at in range(3)]

    page.keyboard.press("ControlOrMeta+Home")
    page.keyboard.press("End")
    page.keyboard.type(".T")
    expect(told(page).first).to_have_text("(N, H) @ (D, H): H is not D")

    now = [lines.nth(at).bounding_box() for at in range(3)]
    assert [one["x"] for one in now] == [one["x"] for one in places]
    if width == 1280:
        assert now == places
    assert section(page, BOX).locator(".cm-collides").all_text_contents()[-1] == "X @ dY"
    assert not scrolls_sideways(page)
    assert violations(page, f"#{BOX.name}") == []


def test_a_question_that_came_too_early_is_asked_again_without_a_key(page: Page) -> None:
    early: list[Route] = []

    def once(route: Route) -> None:
        if early or "dW+%3D" not in (route.request.post_data or ""):
            route.continue_()
        else:
            early.append(route)
            route.fulfill(json={"later": True})

    page.route("**/shapes", once)
    page.goto(ADDRESS)
    write(page, BOX, CODE)

    expect(told(page)).to_have_text(TOLD)
    assert early


@pytest.mark.browser_options(viewport={"width": 320, "height": 640}, has_touch=True, is_mobile=True)
def test_a_press_that_ends_the_typing_is_not_lost_to_the_editor_that_comes(page: Page) -> None:
    held: list[Route] = []
    page.route("**/editor-*.js", lambda route: held.append(route))
    box = section(page, BOX)
    with page.expect_request("**/editor-*.js"):
        page.goto(ADDRESS, wait_until="domcontentloaded")
        box.locator("textarea").fill("dX = dY")
    until(lambda: page.evaluate("0") or held)
    for one in held:
        one.continue_()
    expect(box.locator("code-box:defined")).to_be_attached()

    box.get_by_role("button", name="Check").tap()

    expect(box.locator(".verdict")).to_be_visible()
    expect(box.locator(".cm-content")).to_be_visible()


def test_the_line_of_the_title_page_answers_as_any_box_once_it_is_touched(page: Page) -> None:
    page.set_viewport_size({"width": 320, "height": 800})
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    open_page(page, "/")
    box = page.locator(".tried code-box")
    high = box.bounding_box()["height"]
    assert not [url for url in asked if "editor" in url], "it is not fetched for those who only read"

    box.locator("textarea").focus()

    expect(box.locator(".cm-content")).to_be_focused()
    assert abs(box.bounding_box()["height"] - high) < 2
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.insert_text("dx = torch.ones(2, 3)")
    expect(box.locator(".cm-told")).to_have_text("(2, 3), x is ()")


def test_a_button_that_is_pressed_stays_under_the_pointer(page: Page) -> None:
    page.goto(ADDRESS)
    held: list[Route] | None = []
    page.route("**/shapes", lambda route: route.continue_() if held is None else held.append(route))
    write(page, BOX, f"dX = dY @ W.T  # {'a long line ' * 3}")
    check = section(page, BOX).locator("[data-action=check]")
    check.hover()
    box = section(page, BOX).locator(".cm-editor").bounding_box()
    page.mouse.down()
    with page.expect_response("**/shapes"):
        asked, held = held, None
        for route in asked:  # all but the last are given up
            route.continue_()
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert section(page, BOX).locator(".cm-editor").bounding_box() == box

    page.mouse.up()

    expect(section(page, BOX).locator(".verdict")).to_have_attribute("data-passed", "false")
    expect(section(page, BOX).locator(".cm-told-below").first).to_be_visible()


def test_a_key_tells_the_name_at_the_cursor_and_tab_still_leaves(page: Page) -> None:
    page.goto(ADDRESS)
    write(page, BOX, CODE)
    expect(told(page)).to_have_text(TOLD)
    page.keyboard.press("ControlOrMeta+Home")

    page.keyboard.press("ControlOrMeta+i")
    expect(section(page, BOX).locator('[role="status"]')).to_contain_text("made in line 1.")
    expect(page.locator(".cm-name")).to_contain_text("dX (N, D)")
    page.keyboard.press("Escape")
    expect(page.locator(".cm-name")).to_have_count(0)
    page.keyboard.press("Tab")

    assert not page.evaluate("document.activeElement.matches('.cm-content')")


def test_names_come_with_shapes_and_methods_with_what_they_do(page: Page) -> None:
    page.goto(ADDRESS)
    write(page, BOX, CODE)
    expect(told(page)).to_have_text(TOLD)
    page.keyboard.press("ControlOrMeta+End")

    page.keyboard.type("\nd")
    expect(page.locator(".cm-tooltip-autocomplete")).to_contain_text("dX(N, D)")
    page.keyboard.type("X.")
    expect(page.locator(".cm-tooltip-autocomplete")).to_contain_text("sumadd along axes")


def test_arrow_keys_go_through_a_gradient_and_tell_its_origins(page: Page) -> None:
    page.goto(ADDRESS)
    write(page, BOX, "dW = X.T @ dY")
    editor(page, BOX)
    page.keyboard.press("Shift+Enter")
    seen = section(page, BOX).locator('.seen[data-name="dW"]')
    expect(seen.locator(".came")).to_have_text("dW[0, 0] came from X[:, 0] and dY[:, 0].")

    seen.locator("td[data-came]").first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")

    expect(seen.locator(".came")).to_have_text("dW[1, 1] came from X[:, 1] and dY[:, 1].")
    assert seen.locator('.operand[data-tensor="X"] .lit').evaluate("lit => lit.getBBox().width") > 0
    assert violations(page, f"#{BOX.name}-verdict") == []


def test_the_editor_is_fetched_after_first_paint_and_only_for_boxes(page: Page) -> None:
    page.goto(ADDRESS)
    editor(page, BOX)
    fetched = "performance.getEntriesByType('resource').filter(one => one.name.includes('/editor-'))"
    painted = "performance.getEntriesByName('first-contentful-paint')[0].startTime"

    assert page.evaluate(f"{fetched}.length === 1 && {fetched}[0].startTime > {painted}")
    page.goto("/")
    page.wait_for_load_state("networkidle")
    assert page.evaluate(f"{fetched}.length") == 0
