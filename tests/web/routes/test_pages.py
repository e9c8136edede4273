import re
import sqlite3
from pathlib import Path
from typing import get_args

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from app.content.blocks import Block, Exercise
from app.installation import TEMPLATES
from app.kinds.registry import KINDS
from app.web.render import _environment
from app.web.views.lesson_view import PageBlock

LESSON = "/lessons/linear"


def test_the_index_lists_lessons_with_done_and_total(client: TestClient) -> None:
    text = client.get("/").text

    assert "The linear layer" in text
    assert "0/8" in text
    assert "Begin: The linear layer" in text


@pytest.mark.parametrize("address", ["/", "/units/layers"])
def test_a_list_of_lessons_tells_what_is_next_needed_and_given(client: TestClient, address: str) -> None:
    before = client.get(address).text
    states = dict(re.findall(r'data-state="(\w+)">.*?href="/lessons/([^"]+)"', before, re.DOTALL))
    table = before.partition('class="course-map"')[2]

    assert [slug for state, slug in states.items() if state == "next"] == ["linear"]
    assert before.count('class="next-word"') == 1
    row = re.sub(r"\s*<[^>]+>\s*", "|", table.partition('<th scope="row">')[2].partition("</tr>")[0])
    assert (
        row.strip("|").replace("||", "|").replace("||", "|")
        == "The linear layer|nothing|write the backward pass of a layer|next"
    )


def test_the_ring_of_a_lesson_fills_with_what_is_done(client: TestClient) -> None:
    assert "ring-done" not in client.get("/").text
    client.post(f"{LESSON}/quiz/half", data={"answer": "1/2"})

    assert re.findall(r'stroke-dasharray="(\d+) 100"', client.get("/").text) == ["12"]


def test_a_draft_lesson_is_neither_listed_nor_served(client: TestClient) -> None:
    assert "Not finished" not in client.get("/").text
    assert client.get("/lessons/draft").status_code == 404


def test_a_unit_has_a_page_with_its_summary_and_lessons(client: TestClient) -> None:
    text = client.get("/units/layers").text

    assert "Products and sums" in text
    assert "Only to read" in text


def test_every_kind_of_block_has_a_template() -> None:
    kinds = {*get_args(Block), *(kind.block for kind in KINDS)} - {Exercise}
    made = (object.__new__(kind) for kind in kinds)

    assert {PageBlock(block, None).template for block in made} <= {*_environment(TEMPLATES).list_templates()}


def test_a_lesson_shows_every_block(client: TestClient, page) -> None:
    response = client.get(LESSON)
    found = page(response.text)

    exercises = ("dw-shape", "half", "pick", "both", "db-axes", "dw-product", "linear-backward", "bias-backward")
    assert all(name in found.ids for name in exercises)
    assert "linear" in found.ids
    assert "tug" in found.ids
    assert "<svg" in response.text
    assert "A note." in response.text


def test_the_contents_lead_to_all_sections_and_say_what_is_done(client: TestClient, page) -> None:
    client.post(f"{LESSON}/quiz/half", data={"answer": "1/2"})

    text = client.get(LESSON).text

    rail = text.partition('id="rail"')[2].partition("</nav>")[0]
    stops = dict(re.findall(r'class="stop" tabindex="-1" href="#([^"]+)"[^>]* data-done="(\w+)"', rail))
    assert stops == {
        **dict.fromkeys(
            ("dw-shape", "pick", "both", "db-axes", "dw-product", "linear-backward", "bias-backward"), "false"
        ),
        "half": "true",
    }
    places = set(re.findall(r'href="#([^"]+)"', rail))
    assert places <= set(page(text).ids), "every link of the contents leads somewhere"


def test_ids_are_unique_on_a_lesson(client: TestClient, page) -> None:
    ids = page(client.get(LESSON).text).ids

    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("name", ["dw-shape", "pick", "db-axes", "dw-product", "linear-backward"])
def test_each_exercise_has_one_empty_status_outside_of_what_is_swapped(client: TestClient, page, name: str) -> None:
    found = page(client.get(LESSON).text)

    assert found.attributes[f"{name}-status"]["role"] == "status"
    assert found.text(f"{name}-status") == ""


def test_what_controls_point_at_exists(client: TestClient, page) -> None:
    text = client.get(LESSON).text
    found = page(text)

    wanted = {
        name
        for own in found.attributes.values()
        for key in ("aria-describedby", "aria-labelledby", "for")
        for name in own.get(key, "").split()
    }
    targets = {own["hx-target"][1:] for own in found.attributes.values() if own.get("hx-target", "").startswith("#")}
    assert wanted | targets <= set(found.ids)


def test_the_editor_is_loaded_only_where_it_is_needed(client: TestClient) -> None:
    assert "editor" in client.get(LESSON).text
    assert "editor" not in client.get("/lessons/reading").text.partition("</head>")[0]


def test_formulas_come_set_with_the_page(client: TestClient) -> None:
    assert "<math><semantics>" in client.get(LESSON).text


def test_lessons_lead_to_their_neighbours_and_to_the_index(client: TestClient) -> None:
    first, last = client.get(LESSON).text, client.get("/lessons/reading").text

    assert 'rel="next" href="/lessons/reading"' in first
    assert 'rel="prev" href="/lessons/linear"' in last
    assert "Builds on" in last


def test_the_end_of_a_lesson_leads_to_each_place_once(client: TestClient) -> None:
    text = client.get(LESSON).text
    end = text.partition('id="complete"')[2]

    assert text.count('href="/lessons/reading"') == 1
    assert end.count('href="/"') == 1
    assert end.count("See what you have made") == 0
    assert (
        '<a class="button" data-primary href="/finish">See what you have made</a>'
        in client.get("/lessons/reading").text
    )


def test_a_lesson_without_exercises_is_complete_and_says_what_is_next(client: TestClient) -> None:
    text = client.get("/lessons/reading").text

    assert "Lesson complete" in text
    assert "This is the last lesson so far." in text


def test_the_index_leads_back_to_where_one_left_off(client: TestClient) -> None:
    client.get(LESSON)
    assert f'href="{LESSON}">Continue where you left off' in client.get("/").text

    client.post(f"{LESSON}/quiz/half", data={"answer": "3"})
    assert f'href="{LESSON}#half">Continue where you left off' in client.get("/").text


@pytest.mark.alone
def test_reading_by_a_robot_or_a_prefetch_leaves_no_rows(app: FastAPI, tmp_path: Path) -> None:
    with TestClient(app) as robot:
        robot.get(LESSON)
        robot.get(LESSON, headers={"sec-fetch-mode": "navigate", "sec-purpose": "prefetch;prerender"})
        robot.get("/")

        assert not robot.cookies

    with sqlite3.connect(tmp_path / "data" / "backhand.db") as db:
        assert db.execute("SELECT count(*) FROM learner").fetchone() == (0,)
    db.close()


@pytest.mark.parametrize("path", ["/nope", "/lessons/nope", "/units/nope", f"{LESSON}/code/half/history"])
def test_an_unknown_address_gets_a_page_with_a_way_back(client: TestClient, path: str) -> None:
    response = client.get(path)

    assert response.status_code == 404
    assert "There is no such page" in response.text
    assert 'href="/"' in response.text
    assert "join it with its code" not in response.text


def test_whoever_may_not_see_a_class_is_told_how_to_come_in(client: TestClient) -> None:
    assert "join it with its code" in client.get("/classes/1/board").text


@pytest.mark.parametrize(
    "path", [f"{LESSON}/quiz/nope", f"{LESSON}/quiz/linear-backward", f"{LESSON}/code/half/check", "/lessons/x/quiz/y"]
)
def test_a_post_to_an_unknown_exercise_is_a_404(client: TestClient, path: str) -> None:
    assert client.post(path, data={"answer": "1", "code": "x", "revision": 0}).status_code == 404


def test_a_wrong_method_is_explained(client: TestClient) -> None:
    response = client.get(f"{LESSON}/quiz/half")

    assert response.status_code == 405
    assert "buttons" in response.text
