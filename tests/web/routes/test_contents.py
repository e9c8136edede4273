import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.testclient import TestClient

from app.content.blocks import Course, Lesson
from app.course.parse import parse_lesson
from app.settings import Settings
from app.store.progress import ResumePoint
from app.web.application import create_app
from app.web.site import RenderCache, Site
from app.web.views.home_view import due_text, minutes_left, minutes_to
from app.web.views.next_step import NextStep, next_step
from app.web.views.practice_view import CardView, PracticeView

FRONT = "---\ntitle: {name}\nid: {name}\nestimate: 1 min\n---\n"
QUIZ = "\n:::{{number}} {name}\n:was: was-{name}\n:answer: 1/2\n\nHalf?\n:::\n"
ALL = ["a", "b", "c"]


def lesson(name: str) -> Lesson:
    text = FRONT.format(name=name) + "".join(QUIZ.format(name=one) for one in ALL)
    found, errors = parse_lesson(text, f"01-{name}.md")
    assert found is not None, errors
    return found


SITE: Any = SimpleNamespace(
    course=SimpleNamespace(lessons=[lesson(name) for name in ("first", "second", "third")]), kept=RenderCache()
)
BOX = "\n:::{{grad}} {name}\n:forward: loss\n:require: {asked}\n{past}\nGo back.\n\n```{{solution}}\n{code}\n```\n:::\n"
STEPS = (
    FRONT.format(name="steps")
    + QUIZ.format(name="before")
    + "\n## Steps\n\n```{forward} loss\n:dims: {N: 4}\n:inputs: {x: [N]}\n:output: z\ny = 2 * x\nz = y ** 2\n```\n"
    + QUIZ.format(name="beside")
    + BOX.format(name="one", asked="dy", past="", code="dy = 2 * y * dz")
    + "\n## All at once\n"
    + BOX.format(name="all", asked="dy, dx", past=":past: one\n", code="dy = 2 * y * dz\ndx = 2 * dy")
    + QUIZ.format(name="after")
)


@pytest.mark.parametrize(
    ("place", "solved", "leads_to"),
    [
        (("first", None), {}, ("first", None)),
        (("first", "b"), {}, ("first", "b")),
        (("first", "was-b"), {}, ("first", "b")),
        (("first", "gone"), {}, ("first", "a")),
        (("first", "a"), {"first": ["a"]}, ("first", "b")),
        (("first", "c"), {"first": ["b", "c"]}, ("first", "a")),
        (("first", None), {"first": ["a"]}, ("first", "b")),
        (("first", "c"), {"first": ALL}, ("second", None)),
        (("first", "c"), {"first": ALL, "second": ["b"]}, ("second", "a")),
        (("first", "c"), {"first": ALL, "second": ALL}, ("third", None)),
        (("third", "c"), {"first": ["a"], "third": ALL}, ("first", "b")),
        (("first", "c"), {"first": ALL, "second": ALL, "third": ALL}, ("first", None)),
    ],
)
def test_one_continues_at_the_next_open_exercise(
    place: tuple[str, str | None], solved: dict[str, list[str]], leads_to: tuple[str, str | None]
) -> None:
    step = next_step(SITE, ResumePoint(*place), solved)

    assert step is not None
    assert (step.lesson.name, step.exercise) == leads_to


@pytest.mark.parametrize("place", [None, ResumePoint("gone", "a")])
def test_nobody_and_who_was_in_a_lesson_that_is_gone_begin_anew(place: ResumePoint | None) -> None:
    assert next_step(SITE, place, {}) == NextStep(SITE.course.lessons[0], None, begun=False)


@pytest.mark.parametrize(("place", "begun"), [("first", False), ("second", True)])
def test_a_lesson_that_was_never_opened_is_not_called_begun(place: str, begun: bool) -> None:
    step = next_step(SITE, ResumePoint(place, None), {"first": ALL})

    assert step == NextStep(SITE.course.lessons[1], None, begun=begun)


@pytest.mark.parametrize(
    ("solved", "leads_to", "minutes"),
    [
        ({"all"}, "after", 20),  # the box before the steps stays
        ({"all", "after"}, "before", 10),
        ({"before", "all", "after"}, "beside", 20),  # nothing else is left: of five, two
        ({"before", "one"}, "all", 30),
    ],
)
def test_steps_that_a_solved_box_leads_past_are_not_next(solved: set[str], leads_to: str, minutes: int) -> None:
    found, errors = parse_lesson(STEPS.replace("1 min", "50 min"), "01-steps.md")
    assert found is not None, errors
    site: Any = SimpleNamespace(course=SimpleNamespace(lessons=[found]), kept=RenderCache())
    site.progress = lambda *given: Site.progress(site, *given)
    site.neighbours = lambda _: (None, None)

    step = next_step(site, ResumePoint("steps", "all"), {"steps": solved})

    assert step is not None
    assert step.exercise == leads_to
    assert minutes_to(site, found, {"steps": solved}) == minutes


def test_units_are_numbered_by_their_place_and_not_by_their_folders(
    tmp_path: Path, course: Course, grader: Any
) -> None:
    unit = course.units[0]
    later = replace(unit, number=9, slug="later", lessons=unit.lessons[1:])
    gapped = Course(units=(replace(unit, number=4, lessons=unit.lessons[:1]), later))

    with TestClient(create_app(Settings(data_dir=tmp_path), gapped, grader)) as client:
        index, page = client.get("/").text, client.get("/units/later").text

    assert re.findall(r'class="number">([^<]*)<', index) == ["1", "2"]
    assert "Unit 2" in page


SAMPLES = """
:::{{visual}} names
:kind: samples
:given: {{steps: [1, 2], names: [[early], [{names}]], known: [quinn]}}

Names.
:::
"""


def index_of(tmp_path: Path, course: Course, grader: Any, text: str = "\nText.\n") -> str:
    found, errors = parse_lesson(FRONT.format(name="samples") + text, "02-samples.md")
    assert found is not None, errors
    unit = replace(course.units[0], lessons=(*course.units[0].lessons, found))
    with TestClient(create_app(Settings(data_dir=tmp_path), Course(units=(unit,)), grader)) as client:
        return client.get("/").text


def test_the_title_page_shows_two_invented_names_of_the_last_step(tmp_path: Path, course: Course, grader: Any) -> None:
    text = index_of(tmp_path, course, grader, SAMPLES.format(names="quinn, ab, kimri, '<b>ou', rahnen"))

    assert re.findall(r"<span>(\w[^<]*)</span>", text.split("<figcaption>")[0].split('class="invented"')[1]) == [
        "Kimri"
    ]
    assert "&lt;b&gt;ou" in text
    assert "Rahnen" not in text


def test_newcomers_try_a_line_on_the_title_page_and_others_continue(
    tmp_path: Path, course: Course, grader: Any
) -> None:
    box = "/lessons/linear/code/bias-backward"
    with TestClient(create_app(Settings(data_dir=tmp_path), course, grader)) as client:
        text = client.get("/").text
        answer = client.post(
            f"{box}/check", data={"code": "db = dY.sum(0)", "revision": 0}, headers={"hx-request": "true"}
        )
        after = client.get("/").text

    title = text.split('class="title-page"')[1].split("</header>")[0]
    assert f'action="{box}/check"' in title
    assert "Y = X @ W + b" in re.sub("<[^>]+>", "", title), "the program that it goes back through stands with it"
    assert "1 of 1 right" in answer.text
    assert "/check" not in after
    assert "Continue where you left off" in after
    assert 'href="/lessons/linear">Continue' in after, "the lesson begins at its top: nobody has read it"


def test_the_title_page_has_one_button_and_says_for_whom_and_why(tmp_path: Path, course: Course, grader: Any) -> None:
    text = index_of(tmp_path, course, grader)

    title = text.split('class="title-page"')[1].split("</header>")[0]
    assert title.count('class="button" data-primary') == 1
    assert re.findall(r"<dt>([^<]*)</dt>", title) == ["For whom", "Why", "How"]
    assert "invented" not in title, "a course without samples shows none"


def test_who_comes_back_sees_where_to_go_on_and_how_long_that_takes(client: TestClient) -> None:
    first = client.get("/").text
    client.post("/lessons/linear/quiz/half", data={"answer": "1/2"})

    text = client.get("/").text

    assert 'class="next-card"' not in first
    assert "Every gradient that you write is checked" not in text
    assert re.search(r'class="next-what"><a href="/lessons/linear[^"]*">', text)
    assert re.search(r"About \d+ min left", text)


@pytest.mark.parametrize(
    ("estimate", "done", "total", "left"),
    [
        ("10 min", 0, 4, 10),
        ("10 min", 3, 4, 2),
        ("1 h", 1, 2, 30),
        ("1 min", 9, 10, 1),
        ("10 min", 4, 4, 0),
        ("", 0, 4, 0),
    ],
)
def test_minutes_that_are_left_go_down_with_what_is_done(estimate: str, done: int, total: int, left: int) -> None:
    given: Any = SimpleNamespace(lesson=SimpleNamespace(estimate=estimate), done=done, total=total)

    assert minutes_left(given) == left


@pytest.mark.parametrize(
    ("due", "later", "said"),
    [
        (20, "", "20 due, 6 in a session"),
        (6, "", "6 due"),
        (0, "tomorrow", "Nothing is due. The next comes back tomorrow."),
        (0, "", "On what you have met so far."),
    ],
)
def test_practice_says_how_much_is_due_and_how_much_of_it_now(due: int, later: str, said: str) -> None:
    card = CardView("sums", "Sums", "", "due", "now")

    assert due_text(PracticeView(taught=True, due=(card,) * due, later=later)) == said
