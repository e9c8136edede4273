"""Practice in a real browser: from the end of a lesson through the first meeting of an operation."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from app.content.blocks import Bug, Exercise, Grad, Lesson
from app.content.blocks.code_exercises import CodeBox
from app.kinds.axes.block import AxesQuestion
from app.kinds.choice.block import ChoiceQuestion
from app.kinds.order.block import OrderQuestion
from app.kinds.order.mark import as_values
from app.kinds.shape.block import ShapeQuestion
from tests.browser.answers import SMALL_ADDRESS as LESSON
from tests.browser.answers import SMALL_SLUG, read_lesson, right_answer
from tests.browser.seeding import given, learner_of, set_long_ago
from tests.browser.steps import expect_verdict, scrolls_sideways, write
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


@pytest.mark.prove
@pytest.mark.browser_options(java_script_enabled=False, viewport={"width": 320, "height": 640})
def test_an_operation_is_met_by_keyboard_without_scripts_on_a_phone(page: Page) -> None:
    begin(page)
    expect(page.get_by_role("heading", level=1)).to_have_text("A worked example")
    choose_until_right(page)

    page.get_by_role("button", name="Next").press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("One line is missing")
    solution = told(page)
    page.locator("textarea[name=code]").fill(solution)
    page.get_by_role("button", name="Check").press("Enter")
    expect(page.locator("#complete")).to_have_attribute("data-complete", "true")

    page.get_by_role("button", name="Next").press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text(
        re.compile("Write the backward pass|Three lines are missing")
    )
    page.get_by_role("button", name="Leave this one").press("Enter")
    assert ITEM.search(page.url)


def fill_in(page: Page, lesson: Lesson, one: Exercise) -> None:
    """The right answer, key by key."""
    match one:
        case OrderQuestion():
            answer = as_values(one, range(len(one.lines)))
            places = dict(zip(answer[::2], answer[1::2], strict=True))
            for number, field in enumerate(page.locator("[data-place]").all(), start=1):
                field.press("ControlOrMeta+a")
                page.keyboard.type(places[str(number)])
        case AxesQuestion():
            for axis in right_answer(lesson, one):
                page.locator(f"#{one.name} input[value='{axis}']").press("Space")
        case ShapeQuestion():
            page.locator(f"#{one.name}-answer").focus()
            page.keyboard.type(right_answer(lesson, one)[0])
        case ChoiceQuestion():
            page.get_by_role("radio").nth([option.right for option in one.options].index(True)).press("Space")
        case CodeBox():
            if isinstance(one, Bug):
                page.locator(f"#{one.name}-line-{one.line}").press("Space")
            page.locator(f"#{one.name}-code").press("ControlOrMeta+a")
            page.keyboard.insert_text(one.solution.source)


def test_after_a_right_answer_one_press_goes_on(page: Page, server_folder: Path) -> None:
    page.goto(LESSON)
    page.goto("/practice")
    address, lesson = given(server_folder, learner_of(server_folder, page), "write")
    page.goto(address)
    (box,) = (one for one in lesson.exercises if isinstance(one, CodeBox))
    write(page, box, box.solution.source)

    page.keyboard.press("ControlOrMeta+Enter")
    expect_verdict(page, box, passed="true")
    expect(page.locator("#complete")).to_have_attribute("data-complete", "true")
    expect(page.locator("main").get_by_text(re.compile("^(Next|Go on)")).filter(visible=True)).to_have_count(1)
    page.keyboard.press("ControlOrMeta+Enter")

    expect(page).not_to_have_url(re.compile(f"{address}(#.*)?$"))
    expect(page).to_have_url(re.compile("/practice"))


def test_to_leave_an_exercise_begins_where_its_heading_does(page: Page, server_folder: Path) -> None:
    page.goto(LESSON)
    page.goto("/practice")
    page.goto(given(server_folder, learner_of(server_folder, page), "write")[0])
    left = """element => {
      const words = new Range();
      words.selectNodeContents(element);
      return Math.round(words.getBoundingClientRect().left);
    }"""

    leave, heading = (
        page.get_by_role(role, name=name) for role, name in (("button", "Leave"), ("heading", "Not now?"))
    )

    assert leave.evaluate(left) == heading.evaluate(left)


def test_a_sheet_that_is_right_leads_on(page: Page, server_folder: Path) -> None:
    page.goto(LESSON)
    page.goto("/practice")
    address, lesson = given(server_folder, learner_of(server_folder, page), "shapes")
    page.goto(address)
    check, on = (page.get_by_role("button", name=name, exact=True) for name in ("Check all", "Next"))
    leading: str = check.evaluate("button => getComputedStyle(button).backgroundColor")
    for one in lesson.exercises:
        fill_in(page, lesson, one)

    check.press("Enter")

    expect(on).to_have_css("background-color", leading)
    expect(check).not_to_have_css("background-color", leading)


@pytest.mark.own_context
@pytest.mark.parametrize("form", ["write", "bug", "order", "shapes", "which"])
@pytest.mark.browser_options(java_script_enabled=False, viewport={"width": 320, "height": 640})
def test_every_form_is_answered_by_keyboard_without_scripts_on_a_phone(
    page: Page, server_folder: Path, form: str
) -> None:
    page.goto(LESSON)
    page.goto("/practice")
    address, lesson = given(server_folder, learner_of(server_folder, page), form)
    page.goto(address)
    for one in lesson.exercises:
        fill_in(page, lesson, one)

    page.get_by_role("button", name=re.compile("^Check")).press("Enter")

    expect(page.locator("#complete")).to_have_attribute("data-complete", "true")
    assert not scrolls_sideways(page)


def test_esc_skips_what_a_lesson_recalls_and_the_page_stays(page: Page, server_folder: Path) -> None:
    page.goto("/lessons/the-matrix-product")
    page.get_by_role("radio").first.check()
    page.locator("button[data-action=answer]").first.click()
    expect(page.locator(".feedback .word").first).to_be_visible()
    set_long_ago(server_folder, learner_of(server_folder, page))
    page.goto("/lessons/copies-add-up")
    expect(page.locator("#recall")).to_be_visible()

    page.keyboard.press("Escape")

    expect(page.locator("#recall")).to_have_count(0)
    page.reload()
    expect(page.get_by_role("heading", level=1)).to_have_text("Copies add up")
    expect(page.locator("#recall")).to_have_count(0)


def test_praise_waits_until_the_question_for_a_principle_is_put_away(page: Page) -> None:
    page.goto(LESSON)
    exercise = next(box for box in read_lesson(SMALL_SLUG).exercises if isinstance(box, Grad))
    box = page.locator(f"#{exercise.name}")
    write(page, exercise, exercise.solution.source)
    box.locator("[data-action=check]").click()
    question = box.locator("form.principle")
    expect(question).to_be_visible(timeout=DRAWN_MS)
    praise = box.get_by_text("Each factor carries")
    expect(praise).to_be_hidden()
    question.scroll_into_view_if_needed()
    question.get_by_role("radio").first.check()
    expect(box.locator("[data-next]")).to_be_visible()  # to answer changes nothing of what is right
    page.evaluate("document.activeElement.blur()")

    page.keyboard.press("Escape")

    expect(question).to_have_count(0)
    expect(praise).to_be_visible()
