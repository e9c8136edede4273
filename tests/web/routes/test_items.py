"""What answers tell: for whoever makes classes, counted off the request, with file and line and without names."""

import asyncio
import json
from collections.abc import Callable

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from app.insight.renewal import renew_reports
from app.settings import Settings
from app.store import item_reports, progress
from app.store.progress import NewAttempt
from tests.web.classroom import Classroom

LESSON, PAGE, OVERVIEW = "linear-layer", "/authors/items/linear", "/authors/items"
pytestmark = pytest.mark.alone
Fill = Callable[[int, str], None]


@pytest.fixture
def answered(room: Classroom) -> Fill:
    """Let so many learners choose the wrong option, and be right after it; each is called *name*."""

    def answer(people: int, name: str = "Grace") -> None:
        for number in range(people):
            called = f"{name} {number}"
            room.browser(called)

            async def choose(db, learner=room.ids[called]) -> None:
                for option, right in (("0", False), ("1", True)):
                    verdict = json.dumps({"correct": right, "echo": ""})
                    attempt = NewAttempt(kind="quiz", text=json.dumps([option]), verdict=verdict, correct=right)
                    await progress.record_attempt(db, learner, LESSON, "pick", attempt)
                await progress.mark_solved(db, learner, LESSON, "pick")

            room.write(choose)

    return answer


def count(app: FastAPI) -> bool:
    """Do what the server does every few seconds."""
    settings: Settings = app.state.settings
    site = app.state.site
    return asyncio.run(renew_reports(site.database, settings.resolved_database_url, site.whole, settings.shared_by))


def test_the_first_look_asks_for_a_count_and_the_next_one_shows_it(
    app: FastAPI, ada: TestClient, answered: Fill
) -> None:
    answered(12)
    assert "counted for the first time" in ada.get(OVERVIEW).text

    assert count(app)

    page = ada.get(OVERVIEW).text
    assert "What undoes a broadcast?: 0 % right at first, 100 % in the end" in page
    assert "counted for the first time" not in page
    assert not count(app)


def test_a_lesson_shows_mistakes_with_the_line_of_their_sentence(app: FastAPI, ada: TestClient, answered: Fill) -> None:
    answered(12)
    ada.get(OVERVIEW)
    count(app)

    page = ada.get(PAGE).text

    assert "a mean" in page
    assert "100 % were right at the next try" in page
    assert "01-linear.md:45" in page
    assert "line 48" in page
    assert "right within five tries" in page


def test_no_name_is_on_any_of_its_pages(app: FastAPI, ada: TestClient, answered: Fill) -> None:
    answered(5, "Hopper")
    ada.get(OVERVIEW)
    count(app)

    assert "Hopper" not in ada.get(OVERVIEW).text + ada.get(PAGE).text


def test_a_few_learners_are_not_told_of(app: FastAPI, ada: TestClient, answered: Fill) -> None:
    answered(2)
    ada.get(OVERVIEW)
    count(app)

    assert "fewer than 3 learners tried" in ada.get(OVERVIEW).text
    assert "Fewer than 3 learners tried any exercise" in ada.get(PAGE).text


def test_an_instructor_is_no_learner(app: FastAPI, ada: TestClient, answered: Fill) -> None:
    answered(3)
    ada.post("/lessons/linear/quiz/pick", data={"answer": "1"})
    ada.get(OVERVIEW)
    count(app)

    assert "3 tried it" in ada.get(PAGE).text


def test_a_report_of_another_version_is_counted_anew(app: FastAPI, room: Classroom, ada: TestClient) -> None:
    ada.get(OVERVIEW)
    room.write(lambda db: item_reports.store_report(db, '{"form": "of another version"}'))

    assert "counted for the first time" in ada.get(OVERVIEW).text

    assert count(app)
    assert "No exercise stands out." in ada.get(OVERVIEW).text


def test_learners_and_strangers_are_shown_nothing(bob: TestClient, app: FastAPI) -> None:
    for browser in (bob, TestClient(app)):
        assert [browser.get(path).status_code for path in (OVERVIEW, PAGE)] == [404, 404]


def test_the_pages_of_a_class_tell_of_its_learners_alone(
    app: FastAPI, room: Classroom, ada: TestClient, answered: Fill
) -> None:
    group = room.found("Algebra", "Ada")
    room.assign(group, LESSON)
    answered(5, "Hopper")
    for number in range(4):
        room.join(group, f"Hopper {number}")
    ada.get(f"{OVERVIEW}?class={group.id}")
    assert count(app)

    page = ada.get(f"{PAGE}?class={group.id}").text

    assert "over the learners of Algebra, at what is assigned to them" in page
    assert "4 tried it" in page
    assert "Hopper" not in page
    assert f'href="{PAGE}?class={group.id}"' in ada.get(f"{OVERVIEW}?class={group.id}").text
    assert "counted for the first time" in ada.get(OVERVIEW).text
    assert f'href="{OVERVIEW}?class={group.id}"' in ada.get(f"/classes/{group.id}").text


def test_a_class_is_narrowed_to_by_those_who_watch_over_it(room: Classroom, ada: TestClient) -> None:
    group = room.found("Algebra", "Ada")
    browsers = {
        "Ada": ada,
        "Max": room.browser("Max", teaches=True),
        **{name: room.browser(name) for name in ("Bob", "Tom")},
    }
    room.join(group, "Bob")
    room.join(group, "Tom", "assistant")

    status = {name: browser.get(f"{OVERVIEW}?class={group.id}").status_code for name, browser in browsers.items()}

    assert status == {"Ada": 200, "Max": 404, "Bob": 404, "Tom": 200}
    assert [ada.get(f"{OVERVIEW}?class={said}").status_code for said in ("0", "x", "99999", "-1")] == [404] * 4


def test_who_makes_classes_finds_the_way(ada: TestClient, bob: TestClient) -> None:
    assert f'href="{OVERVIEW}"' in ada.get("/classes").text
    assert OVERVIEW not in bob.get("/classes").text
