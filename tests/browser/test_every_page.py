"""Every page that there is, as everybody finds it who may: axe-core finds nothing, and a phone shows it whole.

Whoever adds a route adds a row, or says why nobody looks at it. What an exercise can come to stands in the styleguide.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from app.content.blocks import Course, Grad, Lesson, Quiz
from app.practice.item_lessons import TITLES
from app.settings import Settings
from app.web.application import create_app
from tests.browser.answers import SLUG, SMALL_ADDRESS, SMALL_SLUG, read_lesson, right_answer, wrong_answer
from tests.browser.conftest import Contexts, Watched
from tests.browser.seeding import (
    Visitor,
    asked,
    beside,
    database_in,
    given,
    seat_word_in,
    sitting_in,
    teacher_word_in,
    trained,
)
from tests.browser.steps import AXE, expect_verdict, open_page, scrolls_sideways, violations
from tests.courses import LESSONS, course_in
from tests.turns import PAGES
from tests.waiting import SECONDS
from tests.web.asking import routes_of
from tests.web.classroom import seated
from tests.web.conftest import FakeGrader

COURSE = course_in(LESSONS)
LONGEST = max(COURSE.lessons, key=lambda one: len(one.source)).slug
SMALL = read_lesson(SMALL_SLUG)
QUIZZES = [one for one in SMALL.exercises if isinstance(one, Quiz)]
BOX = next(one for one in SMALL.exercises if isinstance(one, Grad))
BOX_PATH = "/lessons/{slug}/code/{name}"
CLASS = "/classes/{class_id}"
SITTING = CLASS + "/sittings/{sitting_id}"
PASSWORD = "seven times eight"


def keys_of_a_box(page: Page) -> None:
    page.locator("[data-opens=keys]").first.click()
    expect(page.locator("#keys")).to_be_visible()


def history_of_a_box(page: Page) -> None:
    page.locator(f"#{BOX.name}-history-button").click()
    expect(page.locator(f"#{BOX.name}-history .past")).to_be_visible()


def a_run(page: Page) -> None:
    page.locator(f"#{BOX.name}-run").click()
    expect_verdict(page, BOX, outcome="run")


def all_that_was_said(page: Page) -> None:
    expect(page.locator(".verdict[data-outcome]")).to_have_count(1)
    expect(page.locator("[id$=-feedback][data-correct]")).to_have_count(len(QUIZZES))


def a_run_of_training(page: Page) -> None:
    for one in page.locator(".run details").all():
        one.locator("summary").click()
    expect(page.locator(".run")).to_have_attribute("data-phase", "finished")


def reports_that_wait(page: Page) -> None:
    for one in page.locator(".reported details").all():
        one.locator("summary").click()
    expect(page.locator(".reported .said")).to_have_text(["The hint is about another line."])
    expect(page.locator(".class-list blockquote")).to_have_text(["It is mended."])


def answers_counted(page: Page) -> None:
    """The page looks again by itself until the first count is there."""
    expect(page.locator(".board-part").first).to_be_visible(timeout=1000 * SECONDS)
    for one in page.locator(".board-part details").all():
        one.locator("summary").first.click()


def all_that_opens(page: Page) -> None:
    page.locator("main details").evaluate_all("all => all.forEach(one => { one.open = true; })")


def nothing(page: Page) -> None:
    assert page


@dataclass(frozen=True, slots=True)
class Look:
    """The page of *route* at *address*, for somebody, once they have done something there.

    Where another row has the rest of the page, axe-core looks at *scope* alone.
    """

    route: str
    address: str = ""
    who: str = "nobody"
    then: Callable[[Page], None] = nothing
    scope: str = "html"

    def __str__(self) -> str:
        return f"{self.who} {self.address or self.route} {self.then.__name__.removeprefix('nothing')}".strip()


RIGHT = BOX.solution.source
STRANGE = f"{RIGHT}\ndW = dW.cos() + dW.exp()\n"
"""Comes to numbers that nothing names."""
SLIP = f"{BOX.require[0]}:mean"
OF_SLIP = f"exercise={BOX.name}&about={SLIP}"
OF_MISTAKE = "?lesson={slug}&exercise={box}&mistake={mistake}"
ENDS: dict[str, tuple[str, Callable[[Lesson, Quiz], list[str]]]] = {
    "is right": (RIGHT, right_answer),
    "is wrong": (f"{RIGHT}\ndW = 2 * dW\n", wrong_answer),
    "errs": ("dW = undefined", wrong_answer),
}
"""What somebody sends to the box, and answers to each question."""

LOOKS = (
    Look("/"),
    Look("/", who="pupil"),
    Look("/no-such-page"),
    Look("/finish", who="pupil"),
    Look("/names"),
    Look("/torch"),
    Look("/units/{slug}", "/units/scalars"),
    Look("/lessons/{slug}", SMALL_ADDRESS),
    Look("/lessons/{slug}", SMALL_ADDRESS, "pupil", keys_of_a_box, "#keys"),
    Look("/lessons/{slug}", SMALL_ADDRESS, "pupil", history_of_a_box, f"#{BOX.name}"),
    Look("/lessons/{slug}", SMALL_ADDRESS, "pupil", a_run, f"#{BOX.name}"),
    Look("/lessons/{slug}", SMALL_ADDRESS, "pupil who is wrong", all_that_was_said),
    Look("/lessons/{slug}", f"{SMALL_ADDRESS}?ask={BOX.name}", "pupil", scope=f"#{BOX.name}"),
    Look("/lessons/{slug}", "/lessons/training", "pupil", a_run_of_training),
    Look(f"{BOX_PATH}/history", f"{SMALL_ADDRESS}/code/{BOX.name}/history", "pupil"),
    Look("/lessons/{slug}/report/{name}", f"{SMALL_ADDRESS}/report/{BOX.name}", "pupil"),
    Look("/reports", who="instructor", then=reports_that_wait),
    Look("/authors/items", who="instructor", then=answers_counted),
    Look("/authors/items/{slug}", who="instructor", then=answers_counted),
    Look("/authors/sentences", who="instructor"),
    Look("/authors/sentences/new", f"/authors/sentences/new{OF_MISTAKE}", "instructor"),
    Look("/authors/sentences/{number}", "/authors/sentences/{sentence}", "instructor"),
    Look("/me", who="pupil"),
    Look("/me", who="somebody with an account"),
    Look("/me/merge", who="somebody with two accounts"),
    Look("/privacy"),
    Look("/accessibility"),
    Look("/imprint"),
    Look("/sign-in"),
    Look("/sign-in/code"),
    Look("/sign-in/reset", "/sign-in/reset?token=none"),
    Look("/join"),
    Look("/join/{code}", "/join/{code}"),
    Look("/join/{code}", "/join/{word}"),
    Look("/join/{code}", "/join/{seat}"),
    Look("/practice", who="pupil"),
    Look("/practice/map", who="pupil"),
    Look("/practice/drill/{family}", "/practice/drill/matmul"),
    Look("/practice/set/{key}", "/practice/set/matmul", "pupil"),
    Look("/practice/{item}", "item in the form bug", "pupil"),
    Look("/classes"),
    Look("/classes", who="pupil"),
    Look("/classes/new", who="instructor"),
    Look("/classes/{class_id}/next", who="instructor"),
    Look("/classes/{class_id}/attempts", who="instructor"),
    Look(f"{CLASS}/comparisons", who="instructor"),
    Look(f"{CLASS}/comparisons/new", f"{CLASS}/comparisons/new?lesson={{slug}}&{OF_SLIP}", "instructor"),
    Look(CLASS, who="pupil"),
    Look(CLASS + "/leave", who="pupil"),
    *(
        Look(CLASS + end, who="instructor")
        for end in ("", "/roster", "/roster/{learner_id}", "/assignments", "/assignments/{assignment_id}", "/board",
                    "/slips", "/lessons", "/lessons/{slug}", "/gradebook", "/settings")
    ),
    Look(f"{CLASS}/board", CLASS + "/board?place={slug}/half", "instructor"),
    Look(f"{CLASS}/board", CLASS + "/board?place={slug}/half&project=1", "instructor"),
    Look(f"{CLASS}/learners/{{learner_id}}", CLASS + "/learners/{learner_id}?lesson={slug}", "instructor"),
    *(Look(SITTING, who=who) for who in ("pupil", "pupil who is right", "pupil who errs", "instructor")),
    Look(SITTING + "/specimen", who="instructor"),
    Look(SITTING + "/results/{learner_id}", SITTING + "/results/{sitter_id}", "instructor"),
    Look(CLASS + "/sittings/new", who="instructor"),
)  # fmt: skip

AGAIN = (
    Look("/finish"),
    *(Look("/lessons/{slug}", SMALL_ADDRESS, f"pupil who {has}", all_that_was_said) for has in ("is right", "errs")),
    Look("/lessons/{slug}", f"/lessons/{LONGEST}"),
    Look("/me"),
    Look("/sign-in", who="somebody with an account"),
    Look("/join/{code}", "/join/none"),
    Look("/practice"),
    *(Look("/practice/{item}", f"item in the form {form}", "pupil") for form in TITLES if form != "bug"),
)
"""Templates that are in the table already, with other parts of the styleguide in them."""

UNSEEN = {
    "/authors/sentences/export.json": "a file",
    "/lessons/{slug}/sentences/events": "a stream, of what stands beside verdicts and answers",
    "/classes/{class_id}/board/events": "a stream, of what stands on the board",
    "/classes/{class_id}/attempts.jsonl": "a file",
    "/classes/{class_id}/gradebook.csv": "a file",
    "/classes/{class_id}/gradebook.json": "a file",
    "/classes/{class_id}/roster.csv": "a file",
    "/healthz": "for machines",
    "/lessons/{slug}/export.{form}": "a file",
    "/lessons/{slug}/readiness": "one line of a page",
    "/lessons/{slug}/reveal/{name}": "a part of a page; without a script the page itself",
    "/lessons/{slug}/train/{name}": "a part of a page; without a script the page itself",
    "/lessons/{slug}/train/{name}/events": "a stream, of what stands in the styleguide",
    "/classes/{class_id}/take-over": "of a course that was copied, in test_lti_choice",
    "/lti/enter": "leads elsewhere",
    "/lti/jwks": "for machines",
    "/lti/launch": "a sentence, as /lti/login has it",
    "/lti/login": "leads elsewhere, and is looked at in test_lti",
    "/lti/register": "of a platform, in test_lti_register",
    "/lti/setup": "as other forms, in test_lti_setup",
    "/lti/own-tab": "in the frame of another site, in test_lti",
    "/me/export.zip": "a file",
    "/metrics": "for machines",
    "/pictures/{path:path}": "a file",
    "/practice/next": "leads elsewhere",
    "/practice/{item}/code/{name}/history": "as that of a lesson",
    "/practice/{item}/readiness": "one line of a page",
    "/practice/{item}/reveal/{name}": "no item has one",
    "/readyz": "for machines",
    "/sign-in/{provider}": "leads elsewhere",
    "/sign-in/{provider}/back": "leads elsewhere",
}
"""Of what is not in the table, why."""


def test_every_page_is_looked_at_or_has_a_reason_not_to_be() -> None:
    app = create_app(Settings(database_url="sqlite+aiosqlite://"), Course(units=()), FakeGrader())
    routes = {path for method, path in routes_of(app) if method == "GET"}

    looked_at = {one.route for one in LOOKS} - {"/no-such-page"}
    assert sorted(routes - looked_at - UNSEEN.keys()) == []
    assert sorted((looked_at | UNSEEN.keys()) - routes) == []


@dataclass(frozen=True, slots=True)
class Room:
    """A class with people who have done something, and the cookies of everybody who looks."""

    values: dict[str, Any]
    cookies: dict[str, list[dict[str, Any]]]
    items: dict[str, str]

    def address(self, look: Look) -> str:
        return self.items.get(look.address) or (look.address or look.route).format_map(self.values)


@pytest.fixture(scope="module")
def room(server: str, server_folder: Path) -> Room:
    made = beside(seated(database_in(server_folder), 4, SMALL.name))
    pupils = [Visitor(server, one) for one in made.pupils]
    for one, (code, answer) in zip(pupils[1:], ENDS.values(), strict=True):
        for quiz in QUIZZES:
            one.post(f"{SMALL_ADDRESS}/quiz/{quiz.name}", answer=answer(SMALL, quiz))
        one.post(f"{SMALL_ADDRESS}/code/{BOX.name}/check", code=code, revision="0")
    pupils[0].post(f"{SMALL_ADDRESS}/quiz/half", answer="7")
    pupils[0].post(f"{SMALL_ADDRESS}/code/{BOX.name}/check", code="dW = undefined", revision="0")
    pupils[0].post(f"{SMALL_ADDRESS}/code/{BOX.name}/check", code=STRANGE, revision="1")
    mistake = asked(server_folder, "select code from attempt where text = ? limit 1", STRANGE)
    pupils[0].post(f"{SMALL_ADDRESS}/code/{BOX.name}/check", code=BOX.solution.source, revision="2")
    teacher = Visitor(server, made.instructor)
    for said in ("It says dX.", "The hint is about another line."):
        pupils[0].post(f"{SMALL_ADDRESS}/report/{BOX.name}", said=said)
    first = asked(server_folder, "select min(id) from problem_report where settled_at is null")
    teacher.post("/reports", chosen=str(first), answer="It is mended.")
    two = {"first": "Halve it.", "second": "What is half of `x`?"}
    teacher.post(f"/classes/{made.group}/comparisons", lesson=SMALL_SLUG, exercise=BOX.name, about=SLIP, **two)
    said = {"said": "Nothing bends in this line, so no `cos` comes back.", "example": STRANGE}
    teacher.post("/authors/sentences", lesson=SMALL_SLUG, exercise=BOX.name, mistake=mistake, **said)
    pupil = asked(
        server_folder, "select min(learner_id) from membership where class_id = ? and role = 'learner'", made.group
    )
    trained(server_folder, pupil, "training", "run")
    sitting, sitter = beside(sitting_in(server_folder, made.group, *made.pupils[:2]))
    accounts = Visitor(server)
    accounts.post("/sign-in/name", name=f"Ada Lovelace of a rather long name {made.group}", password=PASSWORD)
    return Room(
        values={
            "class_id": made.group,
            "learner_id": pupil,
            "assignment_id": asked(server_folder, "select min(id) from assignment where class_id = ?", made.group),
            "code": asked(server_folder, "select join_code from class where id = ?", made.group),
            "word": beside(teacher_word_in(server_folder)),
            "seat": beside(seat_word_in(server_folder, made.group, pupil)),
            "slug": SMALL_SLUG,
            "box": BOX.name,
            "mistake": mistake,
            "sentence": asked(server_folder, "select max(id) from written_sentence where class_id is null"),
            "sitting_id": sitting,
            "sitter_id": sitter,
        },
        cookies={
            "nobody": [],
            "pupil": pupils[0].cookies,
            **{f"pupil who {has}": one.cookies for has, one in zip(ENDS, pupils[1:], strict=True)},
            "instructor": teacher.cookies,
            "somebody with an account": accounts.cookies,
            "somebody with two accounts": _two(server, made.group).cookies,
        },
        items={f"item in the form {form}": given(server_folder, pupil, form)[0] for form in TITLES},
    )


def _two(server: str, number: int) -> Visitor:
    """Somebody who has done something with each of two accounts, one after the other."""
    visitor, first = Visitor(server), f"Grace {number}"
    for name in (first, f"Emmy {number}"):
        visitor.post("/sign-in/name", name=name, password=PASSWORD)
        visitor.post(f"{SMALL_ADDRESS}/code/{BOX.name}/draft", code=name, revision="0")
    visitor.post("/sign-in/password", name=first, password=PASSWORD)
    return visitor


PROVED = [
    pytest.param(one, marks=pytest.mark.prove)
    for one in (
        *AGAIN,
        *(Look("/units/{slug}", f"/units/{slug}") for slug in (*(unit.slug for unit in COURSE.units), "example")),
        *(
            Look("/lessons/{slug}", f"/lessons/{lesson.slug}", then=all_that_opens)
            for lesson in COURSE.lessons
            if not lesson.draft
        ),
        *(Look("/lessons/{slug}", f"/lessons/{slug}") for slug in (SLUG, "puzzles")),
    )
]


@pytest.fixture(scope="module")
def opened(contexts: Contexts) -> Iterator[Page]:
    """One page for all: to open one and to send axe-core there costs as much as to look at it."""
    context = contexts.new(
        {"viewport": {"width": 320, "height": 640}, "color_scheme": "dark", "reduced_motion": "reduce"}
    )
    context.add_init_script(path=AXE)
    yield context.new_page()
    context.close()


@pytest.fixture
def phone(opened: Page) -> Iterator[Page]:
    """Knows nobody yet, and must not violate the content policy."""
    opened.context.clear_cookies()
    watched = Watched(opened)
    yield opened
    opened.evaluate("localStorage.clear()")
    assert [one for one in watched.complaints if "status of 404" not in one] == []


@pytest.mark.in_turn(turns=4, places=PAGES)
@pytest.mark.parametrize("look", [*LOOKS, *PROVED], ids=str)
def test_a_page_is_sound_on_a_phone_in_the_dark(phone: Page, room: Room, look: Look) -> None:
    phone.context.add_cookies(room.cookies[look.who])
    address = room.address(look)
    open_page(phone, address)
    assert phone.url.endswith(address), "it led elsewhere"
    look.then(phone)

    assert not scrolls_sideways(phone)
    assert violations(phone, look.scope) == []


@pytest.mark.prove
@pytest.mark.parametrize("look", [*LOOKS, *AGAIN], ids=str)
@pytest.mark.browser_options(color_scheme="light")
def test_axe_finds_nothing_on_a_desk_in_the_light(
    page_with_errors: Page, context: BrowserContext, room: Room, look: Look
) -> None:
    context.add_cookies(room.cookies[look.who])
    open_page(page_with_errors, room.address(look))
    look.then(page_with_errors)

    assert violations(page_with_errors) == []
