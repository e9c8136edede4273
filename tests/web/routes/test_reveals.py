"""What stays closed until an answer was given, whatever it was."""

import re

import pytest
from starlette.testclient import TestClient

FOLDER = "held"
LESSON = "/lessons/reveals"
HTMX = {"hx-request": "true"}
CLOSED = ("one straight on", "Inside of what is closed.", "The map.")


def open_ones(client: TestClient, page) -> set[str]:
    attributes = page(client.get(LESSON).text).attributes
    names = ("seven", "after-all-rows", "after-a-check", "after-the-first")
    return {name for name in names if attributes[name]["data-open"] == "true"}


def test_nothing_of_what_is_closed_is_on_the_page(client: TestClient, page) -> None:
    text = client.get(LESSON).text

    assert open_ones(client, page) == set()
    assert not [one for one in CLOSED if one in text]
    assert "Predict <em>first</em>" in text


@pytest.mark.parametrize("answer", ["7", "6"])
def test_any_answer_opens_what_comes_after_it_and_it_stays_open(client: TestClient, page, answer: str) -> None:
    client.post(f"{LESSON}/quiz/predicted", data={"answer": answer})

    assert open_ones(client, page) == {"seven", "after-the-first"}
    assert all(one in client.get(LESSON).text for one in CLOSED)


@pytest.mark.parametrize("answer", ["", "what?"])
def test_what_cannot_be_judged_opens_nothing(client: TestClient, page, answer: str) -> None:
    client.post(f"{LESSON}/quiz/predicted", data={"answer": answer})

    assert open_ones(client, page) == set()


def test_an_answer_is_not_taken_back_by_one_that_cannot_be_judged(client: TestClient, page) -> None:
    for answer in ("6", ""):
        client.post(f"{LESSON}/quiz/predicted", data={"answer": answer})

    assert "seven" in open_ones(client, page)


def test_a_sheet_is_answered_when_all_of_its_rows_are(client: TestClient, page) -> None:
    client.post(f"{LESSON}/sheet/shapes", data={"x-shape": "(4, 3)"})
    before = open_ones(client, page)
    client.post(f"{LESSON}/sheet/shapes", data={"y-shape": "(9, 9)"})

    assert before == set()
    assert open_ones(client, page) == {"after-all-rows"}


def test_a_check_opens_what_comes_after_a_box(client: TestClient, page) -> None:
    client.post(f"{LESSON}/code/layer-backward/check", data={"code": "dW = X @ dY\n", "revision": 0})

    assert open_ones(client, page) == {"after-a-check"}


def test_who_wants_to_see_it_without_an_answer_may_and_it_is_remembered(client: TestClient, page) -> None:
    response = client.post(f"{LESSON}/reveal/seven", follow_redirects=False)

    assert response.status_code == 303
    assert response.headers["location"] == f"{LESSON}#seven"
    assert open_ones(client, page) == {"seven"}


def test_an_answer_by_script_has_what_it_opens_ask_for_itself(client: TestClient) -> None:
    answer = client.post(f"{LESSON}/quiz/predicted", data={"answer": "6"}, headers=HTMX).text
    shown = client.get(f"{LESSON}/reveal/seven", headers=HTMX).text

    assert f'id="seven-closed" hx-swap-oob="true" hx-get="{LESSON}/reveal/seven"' in answer
    assert "after-a-check" not in answer
    assert all(one in shown for one in CLOSED)
    assert "<html" not in shown


def test_asking_for_it_opens_nothing(client: TestClient) -> None:
    shown = client.get(f"{LESSON}/reveal/seven", headers=HTMX).text

    assert not [one for one in CLOSED if one in shown]


def test_there_is_nothing_to_open_by_another_name(client: TestClient) -> None:
    assert client.post(f"{LESSON}/reveal/predicted").status_code == 404
    assert client.get(f"{LESSON}/reveal/predicted").status_code == 404


def test_no_margin_tells_a_shape_that_is_asked_before_it_is_answered(client: TestClient) -> None:
    def told() -> list[str]:
        rail = client.get("/lessons/asked-shapes").text.partition('id="rail"')[2].partition("</nav>")[0]
        return re.findall(r"<li><code>(\w+)</code> <span>[^<]*</span>", rail)

    assert told() == ["A"]
    client.post("/lessons/asked-shapes/quiz/shape-of-p", data={"answer": "(4, 3)"})
    assert told() == ["A", "P"], "an input that is asked is not told either"


def test_a_box_has_the_program_in_its_head_unless_that_stands_right_above(client: TestClient) -> None:
    first, second = client.get("/lessons/asked-shapes").text.split('class="exercise code-sheet"')[1:]

    assert 'class="program"' not in first
    head = re.sub("<[^>]+>", "", second.partition('class="program"')[2].partition("</ol>")[0])
    assert "P = A * B" in head
    assert "(4, 3)" not in head, "its shape is asked further down"


def test_a_program_that_opens_the_lesson_stands_right_above_the_first_box(client: TestClient) -> None:
    first = client.get("/lessons/predictions").text.split('class="exercise code-sheet"')[1]

    assert 'class="program"' not in first
