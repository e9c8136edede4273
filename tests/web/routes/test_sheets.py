"""A sheet: several questions in one form, each row judged on its own."""

import sqlite3
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from tests.turns import PAGES

FOLDER = "held"
LESSON = "/lessons/sheets"
SHEET = f"{LESSON}/sheet/shapes"
HTMX = {"hx-request": "true"}
RIGHT = {
    "w-shape": "(1, 3)",
    "dw-shape": '"',
    "y-shape": "(N, D)",
    "terms": "3",
    "read-twice": "1",
    "dw-axes": "0",
}


def attempts(folder: Path) -> list[tuple[str, str]]:
    with sqlite3.connect(folder / "data" / "backhand.db") as db:
        return db.execute("select exercise, text from attempt order by id").fetchall()


@pytest.mark.parametrize("name", RIGHT)
def test_each_row_is_judged_on_its_own(client: TestClient, page, name: str) -> None:
    given = {**RIGHT, name: "7"}
    found = page(client.post(SHEET, data=given, headers=HTMX).text)

    judged = {row: found.attributes[f"{row}-feedback"]["data-correct"] for row in RIGHT}
    follows = {"dw-shape"} if name == "w-shape" else set()
    assert {row for row, correct in judged.items() if correct != "true"} == {name} | follows


@pytest.mark.parametrize(
    ("given", "words"),
    [({}, "6 of 6 are not answered yet."), (dict(list(RIGHT.items())[:5]), "1 of 6 is not answered yet."), (RIGHT, "")],
)
def test_a_press_on_check_all_says_what_is_empty(client: TestClient, given: dict[str, str], words: str) -> None:
    pressed = client.post(SHEET, data={**given, "all": "1"}, headers=HTMX).text
    left = client.post(SHEET, data=given, headers=HTMX).text

    assert ("not answered yet" in pressed) == bool(words)
    assert words in pressed
    assert "not answered yet" not in left


def test_all_rows_right_make_one_exercise_done(client: TestClient, page) -> None:
    before = page(client.get(LESSON).text).text("progress")
    found = page(client.post(SHEET, data=RIGHT, headers=HTMX).text)

    assert "0 of 1 exercises done" in before
    assert "1 of 1 exercises done" in found.text("progress")


def test_rows_keep_their_answers_and_the_sheet_counts_them(client: TestClient, page) -> None:
    client.post(SHEET, data={"w-shape": "(1, 3)", "terms": "4"})
    found = page(client.get(LESSON).text)

    assert "1 of 6 right" in found.text("shapes-tally")
    assert found.attributes["w-shape"]["data-state"] == "right"
    assert found.attributes["terms"]["data-state"] == "wrong"
    assert found.attributes["terms-answer"]["value"] == "4"
    assert "0 of 1 exercises done" in found.text("progress")


@pytest.mark.parametrize("later", ["(4, 3)", "KxQ"])
def test_a_row_that_was_right_and_is_not_now_does_not_count(client: TestClient, page, later: str) -> None:
    client.post(SHEET, data=RIGHT, headers=HTMX)
    told = client.post(SHEET, data={**RIGHT, "w-shape": later, "dw-shape": "(1, 3)"}, headers=HTMX).text

    assert told.strip().startswith("5 of 6 right")
    assert "5 of 6 right" in page(client.get(LESSON).text).text("shapes-tally")


def test_a_plain_form_comes_back_to_the_first_row_that_was_new(client: TestClient) -> None:
    client.post(SHEET, data={"w-shape": "(1, 3)"})
    response = client.post(SHEET, data={"w-shape": "(1, 3)", "y-shape": "(4, 3)"}, follow_redirects=False)

    assert response.status_code == 303
    assert response.headers["location"] == f"{LESSON}#y-shape"


@pytest.mark.alone
def test_only_rows_with_a_new_answer_are_kept_and_spoken_about(client: TestClient, tmp_path: Path) -> None:
    client.post(SHEET, data={"w-shape": "(1, 3)", "terms": ""}, headers=HTMX)
    text = client.post(SHEET, data={"w-shape": "(1, 3)", "terms": "4"}, headers=HTMX).text

    assert [name for name, _ in attempts(tmp_path)] == ["w-shape", "terms"]
    assert 'id="terms-feedback"' in text
    assert 'id="w-shape-feedback"' not in text


@pytest.mark.in_turn(turns=4, places=PAGES)
@pytest.mark.alone
@pytest.mark.parametrize("mark", ['"', "''", "″", "〃", ' " ', "“", "”", "’’"])
def test_a_ditto_mark_repeats_the_answer_above(client: TestClient, tmp_path: Path, mark: str) -> None:
    client.post(SHEET, data={"w-shape": "(1, 3)", "dw-shape": mark, "y-shape": mark})

    assert [text for _, text in attempts(tmp_path)] == ['["(1, 3)"]'] * 3


def test_a_ditto_mark_with_nothing_above_is_no_answer_to_repeat(client: TestClient, page) -> None:
    found = page(client.post(SHEET, data={"w-shape": '"'}, headers=HTMX).text)

    assert found.attributes["w-shape-feedback"]["data-correct"] == "none"


def test_a_row_shows_the_line_that_makes_its_tensor(client: TestClient) -> None:
    text = client.get(LESSON).text

    assert "<code>y = X * w</code>" in text
    assert "<code>w</code>" in text


def test_a_hint_of_a_row_opens_alone(client: TestClient, page) -> None:
    found = page(client.post(f"{LESSON}/quiz/w-shape/hint", data={"terms": "4"}, headers=HTMX).text)

    assert "Look at the inputs." in found.text("w-shape-hints")


def test_there_is_no_sheet_by_the_name_of_a_row(client: TestClient) -> None:
    assert client.post(f"{LESSON}/sheet/w-shape", data=RIGHT).status_code == 404
    assert client.post("/lessons/linear/sheet/shapes", data=RIGHT).status_code == 404


@pytest.mark.parametrize("hostile", ["<script>", '"><b>', "\0", "9" * 5000, "`<i>`"])
def test_what_somebody_writes_stays_text(client: TestClient, hostile: str) -> None:
    text = client.post(SHEET, data=dict.fromkeys(RIGHT, hostile)).text

    assert hostile not in text or "<" not in hostile
