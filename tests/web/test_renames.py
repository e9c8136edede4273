from collections.abc import Callable
from dataclasses import replace

import pytest
from starlette.testclient import TestClient

from app.content.blocks import Course
from app.settings import Settings
from app.store.progress import ResumePoint
from app.web.application import create_app, renames_of
from tests.web.conftest import BROWSER

LESSON = "/lessons/linear"


def test_progress_text_and_history_survive_a_rename(
    client: TestClient, settings: Settings, grader, renamed: Callable[[str, str], Course], page
) -> None:
    client.post(f"{LESSON}/code/linear-backward/check", data={"code": "one = 1", "revision": 0})
    client.post(f"{LESSON}/quiz/half", data={"answer": "0.5"})

    course = renamed("linear-backward", "layer-backward")
    with TestClient(create_app(settings, course, grader), headers=BROWSER, cookies=dict(client.cookies)) as later:
        assert "1/8" in later.get("/").text
        found = page(later.get(LESSON).text)
        past = later.get(f"{LESSON}/code/layer-backward/history").text

    assert found.raw("layer-backward-code").strip() == "one = 1"
    assert "0 of 3 right" in found.text("layer-backward-verdict")
    assert "one = 1" in past


@pytest.mark.parametrize("name", ["half", "dw-shape"])
def test_what_was_solved_counts_before_the_lesson_is_opened_again(
    client: TestClient, settings: Settings, grader, renamed: Callable[[str, str], Course], name: str
) -> None:
    answers = {"half": "0.5", "dw-shape": "(3, 2)"}
    client.post(f"{LESSON}/quiz/{name}", data={"answer": answers[name]})

    course = renamed(name, "another-name")
    with TestClient(create_app(settings, course, grader), headers=BROWSER, cookies=dict(client.cookies)) as later:
        assert "1/8" in later.get("/").text


def test_a_name_that_is_in_use_again_is_nobodys_old_name(course: Course) -> None:
    assert renames_of(course) == {
        ResumePoint("linear-layer", "old-shape"): ResumePoint("linear-layer", "dw-shape"),
        ResumePoint("linear-layer", "old-box"): ResumePoint("linear-layer", "linear-backward"),
    }


def test_exercises_of_a_former_lesson_are_found_where_they_went(course: Course) -> None:
    unit = course.units[0]
    linear = unit.lessons[0]
    box = replace(linear.exercises[-1], was=("former#its-box",))
    moved = replace(linear, was=("older",), blocks=(*linear.blocks[:-1], box))
    course = replace(course, units=(replace(unit, lessons=(moved, *unit.lessons[1:])), *course.units[1:]))

    found = renames_of(course)

    assert found[ResumePoint("older", "")] == ResumePoint("linear-layer", "")
    assert found[ResumePoint("former", "its-box")] == ResumePoint("linear-layer", box.name)
    assert found[ResumePoint("older", "half")] == ResumePoint("linear-layer", "half")


def test_a_former_address_leads_to_where_the_lesson_stands_now(settings: Settings, grader, course: Course) -> None:
    unit = course.units[0]
    moved = replace(unit, lessons=(replace(unit.lessons[0], was=("former",)), *unit.lessons[1:]))
    course = replace(course, units=(moved, *course.units[1:]))

    with TestClient(create_app(settings, course, grader), headers=BROWSER) as client:
        answer = client.get("/lessons/former", follow_redirects=False)

    assert (answer.status_code, answer.headers["location"]) == (308, "/lessons/linear")
