"""Where things stand: rows that are read downwards are alike, and no button moves from under a pointer."""

import re
from contextlib import nullcontext

import pytest
from playwright.sync_api import Page, Route, expect

from app.content.blocks import CodeBox, Grad
from tests.browser.answers import ADDRESS as EXAMPLE
from tests.browser.answers import SLUG, read_lesson
from tests.browser.answers import SMALL_ADDRESS as SMALL
from tests.browser.steps import (
    code_boxes,
    drawn,
    expect_verdict,
    open_page,
    scrolls_sideways,
    stands_still,
    upgrade,
    write,
)
from tests.courses import LESSONS, course_in

LESSON = read_lesson("first-layer-and-exam")
EXAM = max((one for one in LESSON.exercises if isinstance(one, Grad)), key=lambda box: len(box.require))
BOX = next(one for one in LESSON.exercises if isinstance(one, Grad) and one.hints and one.reveal != "never")
ADDRESS = f"/lessons/{LESSON.slug}"
HUNT = "/lessons/batch-norm-in-one-line"
WIDTHS = (320, 520, 1280)

# What is seen of each head of a row: its kind, its height, and where the word begins.
HEADS = """rows => rows.map(row => {
  const head = row.querySelector(".verdict-head");
  const [height, word] = [head.getBoundingClientRect().height, head.querySelector(".standing").getBoundingClientRect()];
  return [row.dataset.verdict, Math.round(height), Math.round(word.left), Math.round(word.height)];
})"""


def fail_the_exam(page: Page) -> None:
    """All names after `dlogits` follow from it."""
    code = EXAM.solution.source.replace("dlogits = dnorm_logits.clone()", "dlogits = dnorm_logits * 2", 1)
    assert code != EXAM.solution.source
    answer = page.request.post(
        f"{ADDRESS}/code/{EXAM.name}/check",
        form={"code": code, "revision": page.locator(f"#{EXAM.name}-revision").input_value()},
        headers={"sec-fetch-site": "same-origin"},
    )
    assert answer.ok
    page.reload()
    expect_verdict(page, EXAM, passed="false")


@pytest.mark.browser_options(color_scheme="light")
def test_the_rows_of_a_long_verdict_are_alike_at_every_width(page: Page) -> None:
    open_page(page, ADDRESS)
    fail_the_exam(page)
    page.locator(f"#{EXAM.name}-verdict .rest > summary").click()

    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        heads = page.locator(f"#{EXAM.name}-verdict .verdict-row").evaluate_all(HEADS)

        assert sum(head[0] == "follows" for head in heads) > 10
        for verdict in ("right", "follows"):
            alike = {tuple(head) for head in heads if head[0] == verdict}
            assert len(alike) == 1, f"{width} px: {alike}"


BOXES = """boxes => boxes.map(box => [
  box.textarea.id, "upgraded" in box.dataset, Math.round(box.getBoundingClientRect().height)
])"""


# On a phone the editor hangs the rows of a broken line by two letters, which no text field can do: without those two
# letters a line of this box takes a row more.
TALLER_ON_A_PHONE = ("no-clone-code",)


@pytest.mark.parametrize("width", [1280, 360])
@pytest.mark.parametrize(
    "slug",
    ["first-layer-and-exam", *(pytest.param(one, marks=pytest.mark.prove) for one in ("batch-norm-in-pieces", SLUG))],
)
def test_the_editor_takes_exactly_the_place_of_the_text_field(page: Page, slug: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    open_page(page, f"/lessons/{slug}")
    boxes = code_boxes(page)
    before = boxes.evaluate_all(BOXES)

    upgrade(page)

    hanging = TALLER_ON_A_PHONE if width == 360 else ()
    plain = [(name, height) for name, upgraded, height in before if not upgraded and name not in hanging]
    after = {name: height for name, upgraded, height in boxes.evaluate_all(BOXES) if upgraded}
    assert len(plain) > 1
    assert plain == [(name, after[name]) for name, _ in plain]


# Of all that moves while nobody has asked for it, how far, and what it was.
SHIFTS = """() => {
  window.moved = [];
  new PerformanceObserver((list) => list.getEntries().forEach((one) => one.hadRecentInput
    || moved.push([one.value, ...one.sources.map(({ node }) => node?.className ?? "")])))
    .observe({ type: "layout-shift", buffered: true });
}"""


LEFT = "all => all.map(one => [one.textContent.trim(), one.getBoundingClientRect().left])"


@pytest.mark.browser_options(viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True)
def test_nothing_moves_while_a_lesson_is_scrolled_through_on_a_phone(page: Page) -> None:
    open_page(page, SMALL)  # fonts that come at first sight move what they are wider than
    page.add_init_script(f"({SHIFTS})()")
    page.reload()
    stands_still(page)
    boxes, buttons = page.locator("code-box"), page.locator(".actions button:visible")
    before = buttons.evaluate_all(LEFT)

    for box in boxes.all():
        box.scroll_into_view_if_needed()
        expect(box).to_have_attribute("data-measured", "")
    drawn(page)

    assert boxes.count() > 0
    assert page.evaluate("moved") == []
    assert buttons.evaluate_all(LEFT) == before


def test_a_very_long_text_scrolls_and_its_length_is_told_before_checks(page: Page) -> None:
    open_page(page, ADDRESS)
    notice = page.locator(f"#{BOX.name}-notice")

    write(page, BOX, "dC = 1\n" * 8000)
    height = page.locator(f"#{BOX.name} code-box").evaluate("box => box.getBoundingClientRect().height")
    scrolled = page.locator(f"#{BOX.name} .cm-scroller").evaluate("one => one.scrollHeight > 2 * one.clientHeight")

    assert height < 1200
    assert scrolled
    expect(notice).to_have_text("The text has 56,000 characters; a box takes 50,000. Shorten it before you check.")
    write(page, BOX, "dC = 1\n")
    expect(notice).to_be_hidden()


def test_a_shape_in_a_table_is_never_broken(page: Page) -> None:
    open_page(page, EXAMPLE)
    shapes = page.locator(".prose td > code")

    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        lines = shapes.evaluate_all("all => all.map(one => one.getClientRects().length)")

        assert len(lines) > 4
        assert set(lines) == {1}, f"{width} px"


WIDE = """() => {
  const math = `<math display="block"><mrow>${"<mi>x</mi><mo>+</mo>".repeat(80)}</mrow></math>`;
  document.querySelector(".prose").innerHTML = `<div class="math">${math}<span class="number">(1)</span></div>`;
}"""


def test_the_number_of_a_formula_that_scrolls_is_in_sight(page: Page) -> None:
    page.set_viewport_size({"width": 320, "height": 800})
    open_page(page, SMALL)
    page.evaluate(WIDE)
    box = page.locator(".prose > .math").first

    assert box.evaluate("one => one.scrollWidth > one.clientWidth")
    assert box.evaluate("one => one.lastChild.getBoundingClientRect().right <= one.getBoundingClientRect().right + 1")


LEFT_EDGES = """line => {
  const range = document.createRange(), edges = new Map();
  const texts = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
  range.selectNodeContents(line);
  while (texts.nextNode() && !texts.currentNode.data.trim());
  range.setStart(texts.currentNode, texts.currentNode.data.search(/\\S/));
  for (const { top, left } of range.getClientRects()) {
    const row = Math.round(top);
    edges.set(row, Math.min(left, edges.get(row) ?? left));
  }
  return [...edges.values()];
}"""


@pytest.mark.parametrize("spaces", ["", "        "])
def test_what_is_wrapped_of_a_line_hangs_right_of_where_it_begins(page: Page, spaces: str) -> None:
    open_page(page, ADDRESS)
    write(page, BOX, f"{spaces}dC = " + " + ".join(["demb"] * 60))

    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        drawn(page)
        left = page.locator(f"#{BOX.name} .cm-line").first.evaluate(LEFT_EDGES)

        assert len(left) > 1
        assert all(one > left[0] + 10 for one in left[1:]), f"{width} px: {left}"


@pytest.mark.browser_options(viewport={"width": 320, "height": 640})
@pytest.mark.parametrize(("address", "code"), [(HUNT, ".suspect code"), ("/lessons/puzzles", ".line > code")])
def test_a_given_line_that_is_wrapped_hangs_right_of_where_it_begins(page: Page, address: str, code: str) -> None:
    open_page(page, address)
    line = page.locator(code).last
    line.evaluate("line => { (line.lastElementChild ?? line).textContent = 'dC = ' + 'demb + '.repeat(20); }")
    left = line.evaluate(LEFT_EDGES)

    assert len(left) > 1
    assert all(one > left[0] + 10 for one in left[1:])


# Of what can be moved sideways, whether its beginning and its end fade: first as it is, then moved to its end.
FADES = """async () => {
  const cut = (box) => box.scrollWidth > box.clientWidth + 1 && getComputedStyle(box).overflowX === "auto";
  const boxes = [...document.querySelectorAll("main :not(.frames)")].filter(cut);
  const length = (box, name) => parseFloat(getComputedStyle(box).getPropertyValue(name));
  const fades = () => boxes.map((box) => ["--more-before", "--more-behind"].map((name) => length(box, name) > 0));
  const drawn = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  await drawn();
  const before = fades();
  for (const box of boxes) box.scrollTo(box.scrollWidth, 0);
  await drawn();
  return [before, fades()];
}"""


@pytest.mark.browser_options(viewport={"width": 320, "height": 640})
def test_what_can_be_moved_sideways_fades_where_there_is_more(page: Page) -> None:
    open_page(page, EXAMPLE)
    page.locator("main details").evaluate_all("all => all.forEach(one => { one.open = true; })")

    assert not scrolls_sideways(page)
    before, after = page.evaluate(FADES)
    assert len(before) > 3
    assert before == [[False, True]] * len(before)
    assert after == [[True, False]] * len(after)


@pytest.mark.browser_options(viewport={"width": 900, "height": 800})
def test_the_exam_is_as_wide_as_there_is_room(page: Page) -> None:
    open_page(page, ADDRESS)

    beside = page.locator(f"#{EXAM.name}").evaluate("box => innerWidth - box.getBoundingClientRect().right")
    assert 0 < beside < 60
    assert not scrolls_sideways(page)


# Of each row of a line that is wrapped, the sign it begins with.
FIRST_SIGNS = """line => {
  const range = document.createRange(), texts = document.createTreeWalker(line, NodeFilter.SHOW_TEXT), found = [];
  let row = null;
  for (let text = texts.nextNode(); text; text = texts.nextNode()) {
    for (let at = 0; at < text.length; at += 1) {
      range.setStart(text, at);
      range.setEnd(text, at + 1);
      const { top, width } = range.getBoundingClientRect();
      if (!width || !text.data[at].trim() || (row !== null && top < row + 5)) continue;
      row = top;
      found.push(text.data[at]);
    }
  }
  return found;
}"""


def test_no_row_of_a_wrapped_line_begins_with_a_comma_or_a_closing_bracket(page: Page) -> None:
    open_page(page, ADDRESS)
    write(page, BOX, "dlogprobs[torch.arange(n), Yb] = (-dlogits[torch.arange(n), Yb]).sum((0, 1), keepdim=True)")
    line = page.locator(f"#{BOX.name} .cm-line").first

    for width in range(320, 440, 10):
        page.set_viewport_size({"width": width, "height": 800})
        drawn(page)
        rows = line.evaluate(FIRST_SIGNS)

        assert len(rows) > 1
        assert set(rows).isdisjoint(",)]"), f"{width} px: {rows}"


def test_more_than_two_axes_are_listed_as_in_a_sentence(page: Page) -> None:
    open_page(page, EXAMPLE)
    picker = page.locator("#dg-axes .axes")

    for axis in (0, 1, 3):
        picker.locator(f"input[value='{axis}']").check()

    expect(picker.locator("[data-result]")).to_have_text("Summed over axes 0, 1 and 3, the shape is (4,).")


TOPS = """form => new Set([..."history reset".split(" ")].map(
  name => form.querySelector(`[data-action=${name}], [data-${name}]`).offsetTop)).size"""


@pytest.mark.browser_options(viewport={"width": 390, "height": 800}, has_touch=True, is_mobile=True)
def test_no_button_of_a_box_is_alone_in_a_row_on_a_phone(page: Page) -> None:
    open_page(page, SMALL)
    upgrade(page)
    forms = page.locator(".code-form")

    assert forms.count() > 0
    for hint in ("", "Hint 1 of 2", "All hints open"):
        forms.locator("[data-action=hint]").evaluate_all(
            "(all, hint) => all.forEach(one => one.textContent = hint)", hint
        )
        assert {form.evaluate(TOPS) for form in forms.all()} == {1}, hint


ROWS = """() => [...document.querySelectorAll(".masthead, .code-form .actions")].map(row => {
  const shown = [...row.children].filter(one => one.offsetWidth && getComputedStyle(one).position !== "absolute");
  const middles = shown.map(one => one.getBoundingClientRect()).map(({ top, bottom }) => (top + bottom) / 2);
  return [row.textContent, Math.max(...middles) - Math.min(...middles) < 14];
})"""


@pytest.mark.parametrize("slug", [pytest.param(LESSON.slug, marks=pytest.mark.prove), "from-the-loss-to-the-logits"])
def test_the_head_of_the_page_and_the_buttons_of_a_box_stand_in_one_row(page: Page, slug: str) -> None:
    lesson = read_lesson(slug)
    page.goto(f"/lessons/{slug}")
    for exercise in lesson.exercises:
        kind = "code" if isinstance(exercise, CodeBox) else "quiz"
        for _ in exercise.hints:
            address = f"/lessons/{slug}/{kind}/{exercise.name}/hint"
            assert page.request.post(address, headers={"sec-fetch-site": "same-origin"}).ok
    open_page(page, f"/lessons/{slug}")

    assert [one for one, fits in page.evaluate(ROWS) if not fits] == []


PLACES = """form => Object.fromEntries([...form.querySelectorAll(".actions button:not([hidden])")].map(button => {
  const { x, y, width, height } = button.getBoundingClientRect();
  return [button.id || button.textContent, [x, y + scrollY, width, height].map(Math.round)];
}))"""


@pytest.mark.parametrize(
    ("action", "checked"),
    [
        pytest.param("check", False, id="first check", marks=pytest.mark.prove),
        pytest.param("check", True, id="another check", marks=pytest.mark.prove),
        pytest.param("run", False, id="first run"),
        pytest.param("run", True, id="another run", marks=pytest.mark.prove),
    ],
)
def test_every_button_stays_where_it_is_while_an_answer_is_waited_for(page: Page, action: str, checked: bool) -> None:
    open_page(page, ADDRESS)
    form = page.locator(f"#{BOX.name}-form")
    if checked:
        page.locator(f"#{BOX.name}-check").click()
        expect_verdict(page, BOX, outcome="graded")
    held: list[Route] = []
    page.route(re.compile(rf"/code/{BOX.name}/(?!shapes)"), lambda route: held.append(route))

    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        button = page.locator(f"#{BOX.name}-{action}")
        button.scroll_into_view_if_needed()
        # Whoever points at the text gets the shapes of its lines, below them where there is no room: that comes first.
        with page.expect_response(re.compile("/shapes$")) if width == WIDTHS[0] else nullcontext():
            form.locator(".cm-editor").hover()
        drawn(page)
        before = form.evaluate(PLACES)
        button.dblclick()
        stop = form.locator("[data-action=stop]")
        expect(stop).to_be_visible()

        assert form.evaluate(PLACES) == before, f"{width} px"
        assert page.locator(f"#{BOX.name}-solution").is_hidden()
        stop.click()
        expect(stop).to_be_hidden()
        assert form.evaluate(PLACES) == before, f"{width} px"
    for route in held:
        route.abort("aborted")  # as of a page that is left: nobody complains
    assert {route.request.url.rsplit("/")[-1] for route in held} <= {action, "draft"}
    # What is stopped was asked, or waits for what was stopped before it, such as a text to be stored; no two overlap.
    assert held
    assert sum(route.request.url.endswith(f"/{action}") for route in held) <= 2 * len(WIDTHS)


@pytest.mark.prove
def test_no_page_on_tensors_is_longer_than_seven_screens(page: Page) -> None:
    screens = {}
    for unit in (one for one in course_in(LESSONS).units if one.slug == "tensors"):
        for lesson in unit.lessons:
            open_page(page, f"/lessons/{lesson.slug}")
            screens[lesson.slug] = page.evaluate("document.documentElement.scrollHeight / innerHeight")

    assert len(screens) == 10
    assert {slug: height for slug, height in screens.items() if height > 7} == {}


def test_the_contents_follow_the_text_in_the_margin_and_count_what_is_done(page: Page) -> None:
    open_page(page, "/lessons/the-matrix-product")
    rail = page.locator(".rail")
    current = rail.locator("[aria-current=location]")
    dot = rail.locator(".stop[href='#dw-shape']")
    expect(current).to_have_text("The matrix product")

    page.locator("#dw-shape-answer").fill("27")
    page.locator("#dw-shape-answer").press("Enter")

    page.locator("#dw-shape").evaluate("card => card.scrollIntoView()")
    expect(current).to_have_text("Found by shape")
    expect(dot).to_have_attribute("data-done", "true")
    expect(dot).to_have_accessible_name("a shape: dw-shape, done")
    expect(rail.locator(".program-shapes:visible")).to_contain_text("(100, 27)")
    text, margin = (page.locator(one).bounding_box() for one in (".lesson > .prose >> nth=0", ".rail"))
    assert text is not None
    assert margin is not None
    assert margin["x"] >= 0
    assert margin["x"] + margin["width"] <= text["x"], "the margin stays a margin"


@pytest.mark.browser_options(viewport={"width": 320, "height": 640})
def test_on_a_phone_the_contents_are_one_line_above_the_text(page: Page) -> None:
    open_page(page, "/lessons/the-matrix-product")
    rail = page.locator(".rail")

    expect(rail.get_by_text("In this lesson")).to_be_visible()
    expect(rail.get_by_role("link", name="Found by shape")).to_be_hidden()
    expect(rail.locator(".program-shapes:visible")).to_have_count(0)
    rail.get_by_text("In this lesson").click()
    rail.get_by_role("link", name="Found by shape").click()

    expect(page.locator("#found-by-shape")).to_be_in_viewport()


# What is pressed and less high than a finger is wide; a tick is pressed by its label.
SMALL_TARGETS = """() => [...document.querySelectorAll(
  "button, .button, summary, select, nav a, .papers a, .steps > a, .whoami, label.transpose, .grid label, " +
  "td > input, input[type=text], .facts a, .all-cards a, .takeaway a, .requires a, .anchor, h2 > a")]
  .filter(one => one.checkVisibility() && one.getBoundingClientRect().height)
  .filter(one => ["width", "height"].some(side => one.getBoundingClientRect()[side] < 43.5))
  .map(one => one.outerHTML.slice(0, 120))"""


@pytest.mark.browser_options(viewport={"width": 390, "height": 800}, has_touch=True, is_mobile=True)
def test_a_finger_hits_every_key_and_button_and_types_the_names_of_a_box(page: Page) -> None:
    for address in ("/lessons/puzzles", "/practice/map", "/torch"):
        open_page(page, address)
        assert page.evaluate(SMALL_TARGETS) == [], address
    open_page(page, SMALL)
    upgrade(page)
    box = page.locator("#linear-backward")

    assert page.evaluate(SMALL_TARGETS) == []
    box.locator(".cm-content").click()
    page.keyboard.press("ControlOrMeta+a")
    for key in ("dY", "*", "W", ","):
        box.get_by_role("button", name=f"Type {key}", exact=True).tap()

    expect(page.locator("#linear-backward-code")).to_have_value("dY*W,")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


UNDER_A_LINK = """() => [...document.querySelectorAll(".report-link")].filter((link) => {
  const kind = document.createRange(), there = link.getBoundingClientRect();
  kind.selectNodeContents(link.parentElement.querySelector(".eyebrow"));
  const meets = (one) => one.right > there.left && one.bottom > there.top && one.top < there.bottom;
  return [...kind.getClientRects()].some(meets);
}).map((link) => link.parentElement.id)"""


@pytest.mark.browser_options(viewport={"width": 390, "height": 800}, has_touch=True, is_mobile=True)
def test_what_a_card_is_called_keeps_clear_of_the_link_to_report(page: Page) -> None:
    open_page(page, SMALL)

    assert page.locator(".report-link").count() > 0
    assert page.evaluate(UNDER_A_LINK) == []


@pytest.mark.browser_options(viewport={"width": 390, "height": 800}, has_touch=True, is_mobile=True)
def test_the_keys_below_the_line_of_the_title_page_make_it_no_wider(page: Page) -> None:
    open_page(page, "/")
    page.locator(".tried textarea").tap()
    keys = page.locator(".tried .keyrow > div")
    expect(keys.last).to_be_visible()

    assert keys.evaluate_all("rows => rows.some(row => row.scrollWidth > row.clientWidth)"), "they are moved sideways"
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.browser_options(color_scheme="light")
def test_the_number_of_a_unit_is_one_row_however_many_there_are(page: Page) -> None:
    page.goto("/")

    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        heights = page.locator(".unit .number").evaluate_all("all => all.map(one => one.offsetHeight)")

        assert len(heights) > 9
        assert len(set(heights)) == 1, f"{width} px: {heights}"


@pytest.mark.browser_options(viewport={"width": 390, "height": 800})
def test_the_line_beside_lessons_has_no_gap_between_rows(page: Page) -> None:
    open_page(page, "/units/character-model")

    gaps = page.evaluate("""() => {
      const ways = [...document.querySelectorAll(".lesson-entry .course-way")].map(way => way.getBoundingClientRect());
      return ways.slice(1).map((way, at) => way.top - ways[at].bottom);
    }""")

    assert len(gaps) > 3
    assert max(gaps) <= -0.5


# Where the words of an element begin, row by row.
ROW_STARTS = """element => {
  const words = new Range();
  words.selectNodeContents(element);
  return [...words.getClientRects()].map(row => Math.round(row.left));
}"""


@pytest.mark.browser_options(viewport={"width": 390, "height": 844})
def test_an_offer_that_begins_a_row_is_flush_with_its_sentence(page: Page) -> None:
    open_page(page, SMALL)
    offer = page.locator("form.more > p")
    offer.evaluate("offer => { offer.style.width = '10rem'; }")  # narrow, so that the button has a row of its own

    assert offer.get_by_role("button").evaluate(ROW_STARTS)[0] == offer.evaluate(ROW_STARTS)[0]


def test_the_rows_of_a_sentence_behind_a_mark_are_flush(page: Page) -> None:
    open_page(page, SMALL)
    page.locator("#lesson").evaluate(
        """lesson => lesson.insertAdjacentHTML("beforeend",
          "<ul class=cards><li><span class=mark data-mark=wrong></span><b>first</b><br><b>second</b></li></ul>")"""
    )

    first, second = (word.bounding_box() for word in page.locator(".cards b").all())

    assert first
    assert second
    assert abs(first["x"] - second["x"]) < 0.5


@pytest.mark.browser_options(viewport={"width": 390, "height": 844})
def test_the_gradients_of_the_exam_stand_in_two_columns_on_a_phone(page: Page) -> None:
    open_page(page, "/finish")

    first, second = (page.locator(".gradients > li").nth(number).bounding_box() for number in (0, 1))

    assert first
    assert second
    assert (first["y"], first["x"] < second["x"]) == (second["y"], True)
