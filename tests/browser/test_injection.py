"""Hostile text in a real browser: whatever is typed, printed or raised, nothing of it runs, and nothing tries to.

A script that ran would set `window.x`; one that was merely tried would be a complaint about the content policy, which
the page fixtures do not forgive.
"""

from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from app.content.blocks import Grad
from app.kinds.number.block import NumberQuestion
from app.kinds.shape.block import ShapeQuestion as ShapeQuiz
from tests.browser.answers import SMALL_ADDRESS as ADDRESS
from tests.browser.answers import SMALL_SLUG, read_lesson
from tests.browser.steps import expect_verdict, fill_in, write

LESSON = read_lesson(SMALL_SLUG)
BOX = next(one for one in LESSON.exercises if isinstance(one, Grad))
QUIZZES = [one for one in LESSON.exercises if isinstance(one, NumberQuestion | ShapeQuiz)]
PAYLOADS = [
    "<img src=x onerror=window.x=1>",
    "</script><script>window.x=1</script>",
    "</textarea></pre></code><svg onload=window.x=1>",
    '" autofocus onfocus="window.x=1" x="',
    "' onmouseover='window.x=1",
    "<iframe srcdoc='<script>parent.x=1</script>'></iframe>",
    '<a href="javascript:window.x=1">a</a><form action=javascript:window.x=1>',
    "`<b onclick=window.x=1>`[a](javascript:window.x=1)",
    "$\\href{javascript:window.x=1}{a}$<details open ontoggle=window.x=1>",
    '<div hx-get="/" hx-trigger="load" hx-on:load="window.x=1"></div>',
    "<style>@import '//evil.example/x.css';</style><link rel=stylesheet href=//evil.example/>",
    "<math><mtext></form><form><mglyph><style></math><img src onerror=window.x=1>",
    "{{constructor.constructor('window.x=1')()}}",
]
TOGETHER = " ".join(PAYLOADS)
PROGRAMS = {
    "printed, and a text for a tensor": f"print({TOGETHER!r})\ndX = {TOGETHER!r}",
    "raised": f"assert False, {TOGETHER!r}",
    "a key": f"dX = {{}}[{TOGETHER!r}]",
    "a comment": f"# {TOGETHER}\ndX = dW = 0",
    "no program": TOGETHER,
}
OFTEN = ("printed, and a text for a tensor",)
"""The two ways of showing that differ for a browser; that each view escapes what it shows, `tests/web` proves."""


def untouched(page: Page) -> None:
    """Nothing ran, and no element came out of a text."""
    assert page.evaluate("window.x") is None
    assert (
        page.locator("iframe, [onerror], [onload], [onfocus], [onclick], [ontoggle], [srcdoc], object, embed").count()
        == 0
    )
    assert (
        page.locator("a[href^='javascript:'], form[action^='javascript:'], link[href*=evil], [hx-on\\:load]").count()
        == 0
    )


@pytest.mark.parametrize(
    "program", [one if one in OFTEN else pytest.param(one, marks=pytest.mark.prove) for one in PROGRAMS]
)
def test_what_code_prints_raises_or_is_called_does_not_run(page: Page, program: str) -> None:
    page.goto(ADDRESS)
    write(page, BOX, PROGRAMS[program])

    page.locator(f"#{BOX.name}-check").click()
    expect(page.locator(f"#{BOX.name}-verdict[data-outcome]")).to_be_visible()
    untouched(page)
    page.locator(f"#{BOX.name}-run").click()
    expect_verdict(page, BOX, outcome="run")
    untouched(page)
    for place in (ADDRESS, f"{ADDRESS}/code/{BOX.name}/history", f"{ADDRESS}?ask={BOX.name}"):
        page.goto(place)
        untouched(page)
    assert "window.x=1" in page.locator("body").inner_text() or page.locator("textarea").count()


@pytest.mark.parametrize("payloads", [[TOGETHER], pytest.param(PAYLOADS, marks=pytest.mark.prove)], ids=len)
def test_an_answer_that_is_repeated_does_not_run(page: Page, payloads: list[str]) -> None:
    page.goto(ADDRESS)
    for payload in payloads:
        for quiz in QUIZZES[:2]:
            fill_in(page, quiz, [payload])
            with page.expect_response(lambda response: response.request.method == "POST"):
                page.locator(f"#{quiz.name}-form [data-action=answer]").click()
            expect(page.locator(f"#{quiz.name}-feedback")).to_have_attribute("data-correct", "none")
        untouched(page)
        page.reload()
        untouched(page)


@pytest.mark.parametrize("payloads", [[TOGETHER], pytest.param(PAYLOADS, marks=pytest.mark.prove)], ids=len)
def test_an_address_does_not_run(page_with_errors: Page, payloads: list[str]) -> None:
    hidden = [quote(payload, safe="") for payload in payloads]
    together = quote(TOGETHER, safe="")
    for address in (
        *(f"/{one}" for one in hidden),
        *(f"/lessons/{one}" for one in hidden),
        *(f"{ADDRESS}?ask={one}&emptied={one}#{one}" for one in (together, *hidden[:2])),
    ):
        page_with_errors.goto(address)
        untouched(page_with_errors)
