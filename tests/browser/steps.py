"""What a reader does with a page: answer a quiz, write code, by mouse or by keyboard alone."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from playwright.sync_api import Locator, Page, expect

from app.content.blocks import Exercise, Quiz
from app.kinds.axes.block import AxesQuestion
from app.kinds.choice.block import ChoiceQuestion
from app.kinds.matmul.block import MatmulQuestion

AXE = Path(__file__).resolve().parents[2] / "node_modules/axe-core/axe.min.js"
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
CONTRAST = ["color-contrast"]
MOST_TABS = 60
LOOKS = 3
Scheme = Literal["light", "dark"]
SCHEMES: tuple[Scheme, ...] = ("dark", "light")


# Questions that the script of their kind has not made its own yet: it is fetched by pages that have such a question.
PLAIN = ".product:not(:has(.tile)), [data-sums]:not([data-rank]), .lines .moves[hidden]"
# An idle network tells as much only where no stream is open and no answer was lost. Who asks at every frame has all of
# them drawn: a tenth of what it costs to open a page.
STILL = f"""async () => {{
  if (!matchMedia("(scripting: none)").matches) {{
    if (document.querySelector("meta[name=editor]:not([data-touched])")) await customElements.whenDefined("code-box");
    await new Promise((made) => {{
      const look = () => document.querySelector("{PLAIN}") || made(observer.disconnect());
      const observer = new MutationObserver(look);
      observer.observe(document, {{ subtree: true, childList: true, attributes: true }});
      look();
    }});
  }}
  await document.fonts.ready;
}}"""


def open_page(page: Page, address: str) -> None:
    """Go to *address* and wait until it stands still: fonts change what is wide, and an editor comes a little later."""
    page.goto(address)
    stands_still(page)


def close_unheard(page: Page) -> None:
    """Close *page*, which saves nothing as it is left."""
    page.evaluate("void (window.fetch = () => new Promise(() => null))")
    page.close()


def stands_still(page: Page) -> None:
    page.evaluate(STILL)


def code_boxes(page: Page) -> Locator:
    """All code boxes; the editor, which is fetched when a page has nothing else to do, has come."""
    page.evaluate("customElements.whenDefined('code-box').then(() => null)")
    return page.locator("code-box")


def upgrade(page: Page) -> None:
    """Have each code box take up its editor, in the fonts of the editor."""
    code_boxes(page).evaluate_all("boxes => boxes.forEach(box => box.upgrade())")
    page.evaluate("document.fonts.ready.then(() => null)")
    drawn(page)


def violations(page: Page, scope: str = "html", rules: list[str] | None = None) -> list[str]:
    """What axe-core finds wrong in the element *scope*: by all *rules*, where none are named."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.read_text("utf-8"))
    # Again: of a page that has just changed its colours, some elements may have the others for a moment.
    for _ in range(LOOKS - 1):
        if not _found(page, scope, rules or RULES):
            return []
    return _found(page, scope, rules or RULES)


def violations_in_both(page: Page, scope: str = "html") -> list[str]:
    """By all rules in one scheme, and in the other by the one that its colours can break."""
    found = []
    for scheme, rules in zip(SCHEMES, (RULES, CONTRAST), strict=True):
        paint_in(page, scheme)
        found += [f"{scheme}: {one}" for one in violations(page, scope, rules)]
    return found


def _found(page: Page, scope: str, rules: list[str]) -> list[str]:
    found: dict[str, Any] = page.evaluate(
        "([scope, tags]) => axe.run(scope, {runOnly: tags, resultTypes: ['violations']})",
        [scope, rules],
    )
    return [f"{one['id']}: {one['help']}: {node['html'][:200]}" for one in found["violations"] for node in one["nodes"]]


def paint_in(page: Page, scheme: Scheme) -> None:
    """Have *page* drawn in the colours of *scheme*; until a frame was drawn, some elements still have the others."""
    page.emulate_media(color_scheme=scheme)
    page.wait_for_function("scheme => matchMedia(`(prefers-color-scheme: ${scheme})`).matches", arg=scheme)
    drawn(page)


def drawn(page: Page) -> None:
    """Wait until what has changed was drawn."""
    page.evaluate("() => new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn)))")


@contextmanager
def focus_stays(page: Page) -> Iterator[None]:
    """What had the focus still has it, and it is the same node."""
    before = page.evaluate_handle("document.activeElement")
    yield
    now = page.evaluate("document.activeElement.outerHTML.slice(0, 120)")
    assert page.evaluate("old => old === document.activeElement", before), f"the focus went to {now}"


def section(page: Page, exercise: Exercise) -> Locator:
    return page.locator(f"#{exercise.name}")


def expect_feedback(page: Page, quiz: Quiz, correct: str) -> None:
    expect(page.locator(f"#{quiz.name}-feedback")).to_have_attribute("data-correct", correct)


def expect_verdict(page: Page, exercise: Exercise, **data: str) -> None:
    verdict = page.locator(f"#{exercise.name}-verdict")
    for name, value in data.items():
        expect(verdict).to_have_attribute(f"data-{name}", value)


def fill_in(page: Page, quiz: Quiz, answer: list[str]) -> None:
    """Put *answer* into the controls of *quiz*."""
    form = page.locator(f"#{quiz.name}-form")
    match quiz:
        case ChoiceQuestion(multiple=False):
            form.locator(f'input[name=answer][value="{answer[0]}"]').check()
        case ChoiceQuestion() | AxesQuestion():
            for box in form.locator("input[name=answer]").all():
                box.set_checked(box.get_attribute("value") in answer)
        case MatmulQuestion() if page.evaluate("matchMedia('(scripting: none)').matches"):
            for side, factor in zip(("left", "right"), answer, strict=True):
                form.locator(f"select[name={side}]").select_option(factor.removesuffix(".T"))
                form.locator(f"input[name={side}_transposed]").set_checked(factor.endswith(".T"))
        case MatmulQuestion():
            form.locator(".tile").first.wait_for()  # the script of the question comes after the page
            while form.locator(".place-for[data-filled]").count():
                form.locator(".place-for[data-filled]").first.click()
            for factor in answer:
                form.locator(f'.tile[data-factor="{factor}"]').click()
        case _:
            form.locator("input[name=answer]").fill(answer[0])


def answer_by_mouse(page: Page, quiz: Quiz, answer: list[str]) -> None:
    fill_in(page, quiz, answer)
    page.locator(f"#{quiz.name}-form [data-action=answer]").click()


def editor(page: Page, exercise: Exercise) -> Locator:
    section(page, exercise).scroll_into_view_if_needed()
    found = section(page, exercise).locator(".cm-content")
    expect(found).to_be_visible()
    return found


def write(page: Page, exercise: Exercise, code: str) -> None:
    """Replace what stands in the editor, as one paste would."""
    editor(page, exercise).click()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.insert_text(code)
    page.keyboard.press("Escape")  # the list of names would open over the buttons, under the next click
    expect(page.locator(f"#{exercise.name}-code")).to_have_value(code)


def tab_to(page: Page, selector: str, key: Literal["Tab", "Shift+Tab"] = "Tab") -> None:
    """Press *key* until the focus is on an element of *selector*."""
    for _ in range(MOST_TABS):
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
        if page.evaluate("document.activeElement.matches('.cm-content')"):
            page.keyboard.press("Escape")  # in an editor Tab indents, after Esc it leaves
        page.keyboard.press(key)
    where = page.evaluate("document.activeElement.outerHTML.slice(0, 120)")
    raise AssertionError(f"{selector} was not reached with {MOST_TABS} tabs; the focus is on {where}")


def answer_by_keyboard(page: Page, quiz: Quiz, answer: list[str]) -> None:
    form = f"#{quiz.name}-form"
    match quiz:
        case ChoiceQuestion(multiple=False):
            tab_to(page, f"{form} input[type=radio]")
            page.keyboard.press("Space")
            while not page.evaluate("value => document.activeElement.value === value", answer[0]):
                page.keyboard.press("ArrowDown")
        case ChoiceQuestion() | AxesQuestion():
            for value in sorted(answer, key=int):
                tab_to(page, f'{form} input[name=answer][value="{value}"]')
                page.keyboard.press("Space")
        case MatmulQuestion():
            for factor in answer:
                tab_to(page, f"{form} .place-for")
                tab_to(page, f'{form} .tile[data-factor="{factor}"]', "Shift+Tab")
                page.keyboard.press("Enter")
        case _:
            tab_to(page, f"{form} input[name=answer]")
            page.keyboard.type(answer[0])
    tab_to(page, f"{form} [data-action=answer]")
    page.keyboard.press("Enter")


def write_by_keyboard(page: Page, exercise: Exercise, code: str) -> None:
    """Type *code*; at the end the focus is in the editor."""
    tab_to(page, f"#{exercise.name} .cm-content, #{exercise.name} textarea")
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type(code)
    typed = page.locator(f"#{exercise.name}-code").input_value()
    assert re.sub(r"\s+", " ", typed).strip() == re.sub(r"\s+", " ", code).strip()


def scrolls_sideways(page: Page) -> bool:
    page.wait_for_load_state()  # after a click that leads to it, its style sheets may not be there yet
    return bool(page.evaluate("document.documentElement.scrollWidth > innerWidth"))
