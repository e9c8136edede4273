"""Questions with other numbers for each learner: the same on every reload, marked as they were shown."""

import re
from fractions import Fraction

import pytest
from starlette.testclient import TestClient

FOLDER = "numbers"
LESSON = "/lessons/numbers"
HTMX = {"hx-request": "true"}


def shown(text: str, name: str = "spread") -> tuple[str, str]:
    """The number in the question *name*, and the draw in its form."""
    at = text.index(f'id="{name}-prompt"')
    number, draw = re.search(r"\b\d+\b", text[at + 30 :]), re.search(r'draw" value="(\d+)"', text[at:])
    assert number
    assert draw
    return number[0], draw[1]


def test_a_learner_sees_the_same_numbers_again_and_another_one_others(client: TestClient, other: TestClient) -> None:
    mine = shown(client.get(LESSON).text)
    drawn = set()
    for _ in range(8):
        other.cookies.clear()
        drawn.add(shown(other.get(LESSON).text))

    assert shown(client.get(LESSON).text) == mine
    assert len(drawn) > 2


def test_an_answer_is_marked_with_the_numbers_that_were_shown(client: TestClient, page) -> None:
    number, draw = shown(client.get(LESSON, headers={"sec-fetch-mode": "cors"}).text)
    found = page(client.post(f"{LESSON}/quiz/spread", data={"answer": f"1/{int(number) - 1}", "draw": draw}).text)

    assert found.attributes["spread"]["data-solved"] == "true"
    assert f"One of {number} is taken away." in found.text("spread-feedback")
    assert shown(client.get(LESSON).text) == (number, draw)


def test_a_tempting_answer_is_a_sum_of_the_numbers(client: TestClient, page) -> None:
    number, draw = shown(client.get(LESSON).text)
    given = {"answer": f"{float(Fraction(1, int(number))):.5g}", "draw": draw}
    found = page(client.post(f"{LESSON}/quiz/spread", data=given, headers=HTMX).text)

    assert f"That is one of {number}." in found.text("spread-feedback")


def test_a_hint_speaks_of_the_same_numbers(client: TestClient) -> None:
    number, draw = shown(client.get(LESSON).text)

    assert f"One less than {number}." in client.post(f"{LESSON}/quiz/spread/hint", data={"draw": draw}).text


def test_an_answered_question_comes_with_other_numbers_and_stays_done(client: TestClient, page) -> None:
    number, draw = shown(client.get(LESSON).text)
    answered = client.post(f"{LESSON}/quiz/spread", data={"answer": f"1/{int(number) - 1}", "draw": draw}).text
    again = re.search(r'href="([^"]*\?again=spread[^"]*)"', answered)
    assert again
    text = client.get(again[1]).text

    assert shown(text) != (number, draw)
    assert page(text).attributes["spread"]["data-solved"] == "true"
    assert "data-correct" not in page(text).attributes["spread-feedback"]
    assert shown(client.get(LESSON).text) == (number, draw)


@pytest.mark.parametrize("again", ["spread", "spread.", "spread.-1", "spread.x", "nobody.3", "spread.9999", ".", "²"])
def test_an_address_that_asks_for_nothing_sensible_shows_the_lesson(client: TestClient, again: str) -> None:
    assert client.get(LESSON, params={"again": again}).status_code == 200


def test_options_sizes_and_axes_vary_with_the_draw(client: TestClient, page) -> None:
    text = client.get(LESSON).text
    number, draw = shown(text, "entries")
    size, draw_of_size = shown(text, "w-shape")
    height = re.search(r">H = (\d+)</code>", text)
    assert height
    rows = {"w-shape": f"({size}, {height[1]})", "w-shape-draw": draw_of_size, "b-axes": "0"}
    rows["b-axes-draw"] = shown(text, "b-axes")[1]

    assert f">{int(number) * (int(number) + 1)}</label>" in text
    chosen = client.post(f"{LESSON}/quiz/entries", data={"answer": "1", "draw": draw}, headers=HTMX).text
    assert page(chosen).attributes["entries-feedback"]["data-correct"] == "true"
    found = page(client.post(f"{LESSON}/sheet/sizes", data=rows, headers=HTMX).text)
    assert found.attributes["w-shape-feedback"]["data-correct"] == "true"
    assert found.attributes["b-axes-feedback"]["data-correct"] == "true"


def test_a_product_of_other_sizes_is_marked(client: TestClient, page) -> None:
    draw = shown(client.get(LESSON).text, "product")[1]
    given = {"left": "X", "left_transposed": "T", "right": "dY", "draw": draw}

    found = page(client.post(f"{LESSON}/quiz/product", data=given, headers=HTMX).text)

    assert found.attributes["product-feedback"]["data-correct"] == "true"


def test_a_lesson_that_is_taken_away_has_the_numbers_of_its_reader(client: TestClient) -> None:
    text = client.get(LESSON).text
    number, draw = shown(text)
    size = shown(text, "w-shape")[0]
    client.post(f"{LESSON}/quiz/spread", data={"answer": f"1/{int(number) - 1}", "draw": draw})
    taken = client.get(f"{LESSON}/export.md").text

    assert f"one of {number} numbers" in taken
    assert f"Your answer: `1/{int(number) - 1}`" in taken
    assert f"= {1 / (int(number) - 1):.6g}**" in taken
    assert f"`D = {size}`" in taken
    assert "{{" not in taken
