import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.testclient import TestClient

from app.content.blocks import Course, Lesson
from app.content.parse import parse_lesson
from app.settings import Settings
from app.store.progress import Place
from app.web.application import create_app
from app.web.routes.contents import _resume

QUIZ = "---\ntitle: {name}\nid: {name}\nestimate: 1 min\n---\n\n:::{{number}} half\n:answer: 1/2\n\nHalf?\n:::\n"


def lesson(name: str) -> Lesson:
    found, errors = parse_lesson(QUIZ.format(name=name), f"01-{name}.md")
    assert found is not None, errors
    return found


LESSONS = [lesson(name) for name in ("first", "second", "third")]


def site() -> Any:
    def neighbours(one: Lesson) -> tuple[Lesson | None, Lesson | None]:
        at = LESSONS.index(one)
        return None, LESSONS[at + 1] if at + 1 < len(LESSONS) else None

    return SimpleNamespace(course=SimpleNamespace(lessons=LESSONS), neighbours=neighbours)


@pytest.mark.parametrize(
    ("solved", "leads_to"),
    [
        ({}, ("first", "half")),
        ({"first": ["half"]}, ("second", None)),
        ({"first": ["half"], "second": ["half"]}, ("third", None)),
        ({"first": ["half"], "second": ["half"], "third": ["half"]}, ("first", "half")),
    ],
)
def test_one_continues_where_one_left_off_or_after_what_is_finished(
    solved: dict[str, list[str]], leads_to: tuple[str, str | None]
) -> None:
    resume = _resume(site(), Place("first", "half"), solved)

    assert resume is not None
    assert (resume.lesson.name, resume.exercise) == leads_to


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
