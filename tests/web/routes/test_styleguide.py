"""The styleguide is made of the pages' own templates, and is not for learners."""

import re
from collections import Counter
from pathlib import Path

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from app.content.blocks import Course
from app.installation import KINDS, TEMPLATES
from app.settings import Settings
from app.web.render import _environment
from tests.styleguide.page import styleguide_app, tokens
from tests.web.asking import Elements
from tests.web.conftest import started

CSS = Path(__file__).resolve().parents[3] / "static" / "css"


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory, course: Course) -> str:
    settings = Settings(data_dir=tmp_path_factory.mktemp("styleguide"), database_url="")
    _environment.cache_clear()  # so that it holds what this page is made of, and nothing else
    app: FastAPI = styleguide_app(settings, course)
    with started(app) as client:
        return client.get("/styleguide").text


def test_learners_find_no_styleguide(client: TestClient) -> None:
    assert client.get("/styleguide").status_code == 404


def test_every_question_stands_there_empty_wrong_and_right(text: str) -> None:
    said = dict(re.findall(r'id="([\w-]+)-feedback"(?: data-correct="(\w+)")?', text))

    assert len(said) > 24
    for name, correct in said.items():
        word = name.rpartition("-")[2]
        assert correct == {"empty": "", "wrong": "false", "right": "true", "revealed": "true"}[word], name


@pytest.mark.parametrize("outcome", ["graded", "refused", "error", "timeout", "busy", "run"])
def test_a_code_box_stands_there_with_every_end_of_a_check(text: str, outcome: str) -> None:
    assert f'data-outcome="{outcome}"' in text


def test_no_id_stands_there_twice_and_nothing_of_it_is_foreign(text: str, page) -> None:
    ids = page(text).ids

    assert [one for one, count in Counter(ids).items() if count > 1] == []
    assert Elements(text).foreign == []


ELSEWHERE = {
    "an answer, put together from parts that stand here": (
        "_answered", "_checked", "_hinted", "_nudged", "_opened", "_sheet_answered", "_status", "_tally", "_trained",
        "_written_all",
    ),
    "of a lesson or a unit at its occasion, which test_occasions opens": ("_measure", "_ready", "_recall"),
    "a question after a box is right, which test_principles asks": ("_principle", "_principle_told"),
    "of a whole lesson or course, which test_every_page opens": (
        "_items_head", "_practised", "_rail", "_section",
    ),
    "a frame around exercises or panels that stand here": ("_reveal", "_sheet", "kinds/train"),
    "needs the list of names, which /names shows": ("_name", "_names", "_visual_names"),
    "of a page in a frame, which the browser's test_lti opens": ("_lti_stay",),
    "a part of a form, which test_every_page and test_lti_setup open": ("_lti_platforms", "_term_dates"),
    "of a sitting, which the browser's test_sittings opens": (
        "_sitting_about", "_sitting_answers", "_sitting_box", "_sitting_fields", "_sitting_told",
    ),
    "asks for more twice a second; test_preview looks at it": ("_told",),
}  # fmt: skip
"""Parts of pages that do not stand in the styleguide, by the reason."""


def test_every_part_of_a_page_stands_there_or_has_a_reason_not_to(text: str) -> None:
    assert text
    shown = {name for _, name in _environment(TEMPLATES).cache or ()}
    parts = {file.name for file in TEMPLATES.glob("_*.html")} | {
        f"kinds/{file.name}" for file in KINDS.glob("*/*.html")
    }

    assert sorted(parts - shown) == sorted(f"{name}.html" for names in ELSEWHERE.values() for name in names)


def test_every_token_that_a_style_names_is_one_of_the_design(text: str) -> None:
    own = {name for name, _ in tokens()}
    named = {
        (file.name, name) for file in CSS.glob("*.css") for name in re.findall(r"var\(--([\w-]+)\)", file.read_text())
    }
    made = {name for file in CSS.glob("*.css") for name in re.findall(r"--([\w-]+):", file.read_text())}

    assert sorted((file, name) for file, name in named if name not in own | made) == []
    assert all(f"<code>--{name}</code>" in text for name in own)
