"""What pages show and do: the chosen colours from the first paint, formulas, figures, questions that are built."""

import json

import pytest
from playwright.sync_api import Page, expect

from app.content.text.mathml import render_mathml
from app.kinds.axes.block import AxesQuestion
from app.kinds.matmul.block import MatmulQuestion
from tests.browser.answers import SMALL_ADDRESS as ADDRESS
from tests.browser.answers import SMALL_SLUG as SLUG
from tests.browser.answers import read_lesson, right_answer
from tests.browser.steps import fill_in, scrolls_sideways, section, violations

LESSON = read_lesson(SLUG)


@pytest.mark.browser_options(color_scheme="light")
def test_the_chosen_theme_is_there_before_any_script(page: Page) -> None:
    page.goto(ADDRESS)
    with page.expect_response(lambda answer: answer.request.method == "POST"):
        page.get_by_role("button", name="Dark").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")

    answer = page.request.get(ADDRESS)

    assert 'data-theme="dark"' in answer.text()
    page.reload()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(23, 24, 27)"


# How far a sign stands from the middle of the formula it belongs to, in pixels.
LINES_APART = """found => found.flatMap(one => {
  const set = one.querySelector("math").getBoundingClientRect();
  return [...one.childNodes].filter(node => node instanceof Text && node.data).map(sign => {
    const range = document.createRange();
    range.selectNode(sign);
    const { top, bottom } = range.getBoundingClientRect();
    return Math.abs((top + bottom) / 2 - (set.top + set.bottom) / 2);
  });
})"""


@pytest.mark.browser_options(viewport={"width": 320, "height": 700})
def test_no_line_begins_with_the_full_stop_of_a_formula(page: Page) -> None:
    page.goto("/lessons/batch-norm-in-one-line")

    apart = page.locator(".together").evaluate_all(LINES_APART)

    assert len(apart) > 10
    assert max(apart) < 12, "a sign stands in another line than its formula"


def test_an_axis_picker_shows_the_shape_of_every_choice(page: Page) -> None:
    page.goto(ADDRESS)
    quiz = next(one for one in LESSON.exercises if isinstance(one, AxesQuestion))
    result = section(page, quiz).locator("[data-result]")
    expect(result).to_contain_text("Not summed")

    fill_in(page, quiz, ["0"])

    expect(result).to_contain_text("Summed over axis 0")


def test_a_product_shows_its_shape_while_it_is_built(page: Page) -> None:
    page.goto(ADDRESS)
    quiz = next(one for one in LESSON.exercises if isinstance(one, MatmulQuestion))

    fill_in(page, quiz, right_answer(LESSON, quiz))

    expect(section(page, quiz).locator("[data-result]")).to_have_attribute("data-fits", "yes")


# How many pixels are between what stands in a place and the sign that empties it.
FREE = """places => places.map(place => {
  const [name, sign] = ["code", ".taken-away"].map(one => place.querySelector(one).getBoundingClientRect());
  return sign.left - name.right;
})"""


@pytest.mark.browser_options(viewport={"width": 390, "height": 800}, has_touch=True, is_mobile=True)
def test_on_a_phone_the_sign_that_empties_a_place_covers_no_letter(page: Page) -> None:
    page.goto(ADDRESS)
    quiz = next(one for one in LESSON.exercises if isinstance(one, MatmulQuestion))

    fill_in(page, quiz, right_answer(LESSON, quiz))

    places = section(page, quiz).locator(".place-for[data-filled]")
    expect(places).to_have_count(2)
    assert min(places.evaluate_all(FREE)) >= 0


@pytest.mark.browser_options(viewport={"width": 320, "height": 640}, has_touch=True)
def test_tiles_build_a_product_on_a_phone_and_a_tap_empties_a_place(page: Page) -> None:
    quiz = next(one for one in LESSON.exercises if isinstance(one, MatmulQuestion))
    page.goto(ADDRESS)
    form = section(page, quiz)
    form.scroll_into_view_if_needed()
    left, right = (form.locator(".place-for").nth(at) for at in range(2))

    form.locator('.tile[data-factor="X.T"]').drag_to(left)
    form.locator('.tile[data-factor="dY"]').drag_to(right)

    expect(left).to_have_accessible_name("Left factor: X.T. Take it away")
    expect(form.locator("[data-result]")).to_contain_text("(3, 4) @ (4, 2) → (3, 2)")
    assert form.locator("select[name=right]").input_value() == "dY", "the fields underneath say the same"
    expect(left.locator(".taken-away")).to_be_visible()
    form.locator('.tile[data-factor="dY.T"]').tap()
    expect(left).to_have_accessible_name("Left factor: dY.T. Take it away")
    expect(right).to_have_accessible_name("Right factor: empty")
    left.tap()
    expect(left).to_have_accessible_name("Left factor: empty")
    assert not scrolls_sideways(page)
    assert violations(page, f"#{quiz.name}") == []


def test_the_cells_of_a_summed_axis_collapse_whatever_the_rank(page: Page) -> None:
    page.goto("/lessons/from-scalars-to-tensors")
    picker = page.locator("#dg-axes .axes")
    drawn = """cells => [...cells.querySelectorAll("i")].filter(one => one.getBoundingClientRect().width > 2
      && one.getBoundingClientRect().height > 2).length"""
    cells = picker.locator(".cells")
    whole = cells.evaluate(drawn)

    picker.locator("input[value='3']").check()

    page.wait_for_function(f"cells => ({drawn})(cells) < {whole}", arg=cells.element_handle())
    assert cells.evaluate(drawn) * 4 == whole, "of four columns one is left"


@pytest.mark.browser_options(viewport={"width": 320, "height": 640})
def test_a_figure_lights_the_path_of_an_entry_by_keys_and_by_the_pointer(page: Page) -> None:
    page.goto("/lessons/the-matrix-product")
    page.locator("#where-it-goes").get_by_role("button", name="Show it now").click()
    figure = page.locator("#one-cell > .picture")
    said = page.locator("#one-cell > .path-said")

    figure.press("ArrowRight")
    expect(said).to_have_text("da₁₁ = b₁₁·do₁₁ + b₁₂·do₁₂")
    assert figure.locator(".on").count() == 5
    figure.press("Escape")
    expect(said).to_be_empty()
    figure.locator("[data-entry='2-1-1']").hover()
    expect(said).to_have_text("o₂₂ = a₂₁·b₁₂ + a₂₂·b₂₂")

    letters = figure.locator("text").evaluate_all("all => all.map(one => one.getBoundingClientRect().height)")
    assert min(letters) > 11, "labels can be read on a phone"
    assert violations(page, "#one-cell") == []


@pytest.mark.browser_options(viewport={"width": 320, "height": 640})
def test_a_wide_formula_scrolls_in_its_box_and_keys_reach_it(page: Page) -> None:
    page.goto(ADDRESS)
    wide = render_mathml(" + ".join(["x"] * 14), display=True)
    html = f'<p><button type="button" id="before">Before</button></p><div class="math" id="wide">{wide}</div>'
    page.evaluate(
        """html => {
          document.querySelector("main").insertAdjacentHTML("afterbegin", html);
          document.dispatchEvent(new Event("htmx:after:swap"));
        }""",
        html,
    )
    box = page.locator("#wide")

    expect(box).to_have_role("region")
    page.locator("#before").press("Tab")
    expect(box).to_be_focused()
    assert box.evaluate("one => one.scrollWidth > one.clientWidth")
    assert not scrolls_sideways(page)
    page.set_viewport_size({"width": 1280, "height": 640})
    expect(box).not_to_have_attribute("tabindex", "0")


def test_an_earlier_place_is_offered_again(page: Page) -> None:
    page.goto(ADDRESS)
    page.goto("/")

    expect(page.get_by_role("link", name="Continue where you left off")).to_be_visible()


def test_a_lesson_can_be_taken_away(page: Page) -> None:
    page.goto(ADDRESS)

    with page.expect_download() as begun:
        page.locator(".takeaway").get_by_role("link", name="notebook", exact=True).click()

    notebook = json.loads(begun.value.path().read_text("utf-8"))
    assert begun.value.suggested_filename == f"{SLUG}.ipynb"
    assert "____" in "".join("".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code")


def test_an_imprint_that_is_written_is_led_to_from_the_foot_of_a_page(page: Page) -> None:
    page.goto(ADDRESS)
    page.get_by_role("contentinfo").get_by_role("link", name="Imprint").click()

    expect(page.get_by_role("heading", name="Imprint", level=1)).to_be_visible()
    expect(page.get_by_text("Main Street 1, Göttingen")).to_be_visible()
    assert not scrolls_sideways(page)
