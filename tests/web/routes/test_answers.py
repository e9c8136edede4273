import json
import sqlite3
from itertools import product
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from tests.turns import PAGES

LESSON = "/lessons/linear"
HTMX = {"hx-request": "true"}

RIGHT = {
    "dw-shape": {"answer": "(3, 2)"},
    "half": {"answer": "0.5"},
    "pick": {"answer": "1"},
    "both": {"answer": ["0", "1"]},
    "db-axes": {"answer": "0"},
    "dw-product": {"left": "X", "left_transposed": "T", "right": "dY"},
}
WRONG = {
    "dw-shape": {"answer": "(4, 2)"},
    "half": {"answer": "2"},
    "pick": {"answer": "0"},
    "both": {"answer": ["0", "2"]},
    "db-axes": {"answer": "1"},
    "dw-product": {"left": "dY", "right": "X", "right_transposed": "T"},
}
HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "'; DROP TABLE attempt; --",
    "{{ 'q' * 9 }}",
    "`<b>x</b>`",
    "\0\x1b[31m",
    "‮(3,2)",
    "9" * 5000,
    "((((" * 400,
    "\ud83c\udf88".encode("utf-16", "surrogatepass").decode("utf-16"),
]


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_answer_is_right_by_htmx(client: TestClient, page, name: str) -> None:
    response = client.post(f"{LESSON}/quiz/{name}", data=RIGHT[name], headers=HTMX)
    found = page(response.text)

    assert response.status_code == 200
    assert found.attributes[f"{name}-feedback"]["data-correct"] == "true"
    assert "1 of 8 exercises done" in found.text("progress")
    assert "<html" not in response.text


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_answer_is_right_by_a_plain_form_and_stands_on_the_page(client: TestClient, page, name: str) -> None:
    response = client.post(f"{LESSON}/quiz/{name}", data=RIGHT[name])
    found = page(response.text)

    assert response.history[0].status_code == 303
    assert response.history[0].headers["location"] == f"{LESSON}#{name}"
    assert found.attributes[f"{name}-feedback"]["data-correct"] == "true"
    assert found.attributes[name]["data-state"] == "right"
    assert found.attributes[name]["data-solved"] == "true"


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_answer_says_why(client: TestClient, page, name: str) -> None:
    response = client.post(f"{LESSON}/quiz/{name}", data=WRONG[name], headers=HTMX)
    found = page(response.text)

    assert found.attributes[f"{name}-feedback"]["data-correct"] == "false"
    assert len(found.text(f"{name}-feedback")) > len("Not right")
    assert "0 of 8" in found.text("progress")


@pytest.mark.parametrize("name", RIGHT)
def test_no_answer_is_neither_right_nor_wrong(client: TestClient, page, name: str) -> None:
    found = page(client.post(f"{LESSON}/quiz/{name}", data={}, headers=HTMX).text)

    assert found.attributes[f"{name}-feedback"]["data-correct"] == "none"
    assert "Not marked" in found.text(f"{name}-feedback")


def test_a_tempting_answer_gets_the_authors_sentence(client: TestClient) -> None:
    text = client.post(f"{LESSON}/quiz/half", data={"answer": "2"}, headers=HTMX).text

    assert "the other way round" in text


def test_the_fragment_is_the_one_that_the_page_includes(client: TestClient) -> None:
    fragment = client.post(f"{LESSON}/quiz/half", data={"answer": "2"}, headers=HTMX).text
    feedback = fragment.partition("<p hx-swap-oob")[0].strip()

    assert feedback in client.get(LESSON).text


def test_the_sentence_for_the_status_line_is_swapped_out_of_band(client: TestClient) -> None:
    text = client.post(f"{LESSON}/quiz/half", data={"answer": "0.5"}, headers=HTMX).text

    assert 'hx-swap-oob="innerHTML:#half-status">Right.' in text


def test_the_given_answer_stands_in_the_form_again(client: TestClient, page) -> None:
    client.post(f"{LESSON}/quiz/half", data={"answer": "7"})
    client.post(f"{LESSON}/quiz/pick", data={"answer": "0"})
    client.post(f"{LESSON}/quiz/dw-product", data=WRONG["dw-product"])
    text = client.get(LESSON).text
    found = page(text)

    assert found.attributes["half-answer"]["value"] == "7"
    assert found.attributes["half-answer"]["aria-invalid"] == "true"
    assert found.attributes["half-answer"]["aria-describedby"] == "half-feedback"
    assert "checked" in found.attributes["pick-0"]
    assert "checked" not in found.attributes["pick-1"]
    assert '<option value="dY"' in text
    assert text.count(" selected>") == 2


def test_a_later_wrong_answer_takes_nothing_away(client: TestClient, page) -> None:
    client.post(f"{LESSON}/quiz/half", data={"answer": "0.5"})
    found = page(client.post(f"{LESSON}/quiz/half", data={"answer": "7"}).text)

    assert found.attributes["half"]["data-state"] == "wrong"
    assert found.attributes["half"]["data-solved"] == "true"
    assert "1 of 8" in found.text("progress")


def test_the_last_right_answer_completes_the_lesson(client: TestClient, page) -> None:
    for name, data in RIGHT.items():
        client.post(f"{LESSON}/quiz/{name}", data=data)
    code = "dX = dY @ W.T\ndW = X.T @ dY\ndb = dY.sum(0)"
    client.post(f"{LESSON}/code/linear-backward/check", data={"code": code, "revision": 0})
    data = {"code": "db = dY.sum(0)", "revision": 0}
    found = page(client.post(f"{LESSON}/code/bias-backward/check", data=data, headers=HTMX).text)

    assert found.attributes["complete"]["data-complete"] == "true"
    assert "Lesson complete" in found.text("complete")
    assert "Only to read" in found.text("complete")
    assert "8/8" in client.get("/").text


@pytest.mark.in_turn(turns=4, places=PAGES)
@pytest.mark.parametrize("name", RIGHT)
def test_no_answer_breaks_the_page_or_gets_out_of_its_place(client: TestClient, name: str) -> None:
    fields = ("left", "right") if name == "dw-product" else ("answer",)
    for hostile, headers in product(HOSTILE, ({}, HTMX)):
        response = client.post(f"{LESSON}/quiz/{name}", data=dict.fromkeys(fields, hostile), headers=headers)

        assert response.status_code == 200
        for live in ("<script>alert", "<img src=x", "<b>x</b>", "qqqqqqqqq"):
            assert live not in response.text, hostile


def test_too_many_values_are_refused_with_a_page(client: TestClient) -> None:
    response = client.post(f"{LESSON}/quiz/both", data={"answer": ["1"] * 100})

    assert response.status_code == 422
    assert "could not be read" in response.text


def test_an_uploaded_file_is_no_answer(client: TestClient) -> None:
    response = client.post(f"{LESSON}/quiz/half", files={"answer": ("x.txt", b"0.5")})

    assert response.status_code == 422


@pytest.mark.alone
def test_every_answer_is_kept(client: TestClient, tmp_path: Path) -> None:
    for value in ("3", "0.5"):
        client.post(f"{LESSON}/quiz/half", data={"answer": value})

    with sqlite3.connect(tmp_path / "data" / "backhand.db") as db:
        rows = db.execute("SELECT lesson, exercise, kind, text, correct FROM attempt ORDER BY id").fetchall()
    db.close()
    assert rows == [
        ("linear-layer", "half", "quiz", '["3"]', 0),
        ("linear-layer", "half", "quiz", '["0.5"]', 1),
    ]
    assert json.loads(rows[1][3]) == ["0.5"]


@pytest.mark.in_turn(turns=4, places=PAGES)
@pytest.mark.parametrize("name", RIGHT)
def test_the_label_of_an_exercise_and_the_counter_say_the_same(client: TestClient, page, name: str) -> None:
    labels = []
    for given in (WRONG[name], RIGHT[name], WRONG[name], RIGHT[name]):
        answered = page(client.post(f"{LESSON}/quiz/{name}", data=given, headers=HTMX).text)
        whole = page(client.get(LESSON).text)
        labels.append((answered.text(f"{name}-solved"), answered.text("progress")[0]))

        assert (whole.text(f"{name}-solved"), whole.text("progress")[0]) == labels[-1]

    assert labels == [("", "0"), ("· solved", "1"), ("· solved before", "1"), ("· solved", "1")]


def test_a_wrong_answer_offers_the_next_hint_in_its_box_until_all_are_open(client: TestClient, page) -> None:
    def offered(data: dict[str, str]) -> str:
        return page(client.post(f"{LESSON}/quiz/dw-shape", data=data, headers=HTMX).text).text("dw-shape-feedback")

    offers = []
    for _ in range(3):
        said = offered(WRONG["dw-shape"])
        offers.append(said.rpartition("That is the shape of Y.")[2].strip())
        client.post(f"{LESSON}/quiz/dw-shape/hint", headers=HTMX)

    assert offers == ["Take a hint", "Take the next hint", ""]
    assert "hint" not in offered(RIGHT["dw-shape"])


def test_learners_do_not_see_each_other(client: TestClient, other: TestClient, page) -> None:
    client.post(f"{LESSON}/quiz/half", data={"answer": "0.5"})

    found = page(other.get(LESSON).text)
    assert found.attributes["half"]["data-solved"] == "false"
    assert found.attributes["half-answer"]["value"] == ""


def test_an_old_name_still_takes_answers(client: TestClient, page) -> None:
    response = client.post(f"{LESSON}/quiz/old-shape", data={"answer": "(3, 2)"})

    assert page(response.text).attributes["dw-shape"]["data-solved"] == "true"


def test_quiz_hints_open_one_by_one_and_stay(client: TestClient, page) -> None:
    first = client.post(f"{LESSON}/quiz/dw-shape/hint", headers=HTMX).text
    second = client.post(f"{LESSON}/quiz/dw-shape/hint", headers=HTMX).text

    assert "Hint 1 of 2" in first
    assert "same shape" not in first
    assert "Hint 1 of 2" in second
    assert "Hint 2 of 2" in second
    assert "All hints open" in page(second).text("dw-shape-hint")
    assert "Hint 2 of 2" in page(client.get(LESSON).text).text("dw-shape-hints")


def test_an_exercise_without_hints_has_none_to_open(client: TestClient) -> None:
    assert client.post(f"{LESSON}/quiz/half/hint").status_code == 404
    assert client.post(f"{LESSON}/code/dw-shape/hint").status_code == 404
