"""The cards of torch: closed in the lesson, and all of them on a page of their own."""

from starlette.testclient import TestClient


def test_a_card_is_closed_in_its_lesson_and_open_on_the_page_of_all(client: TestClient) -> None:
    lesson, cards = client.get("/lessons/reading").text, client.get("/torch").text

    assert '<details class="callout" data-kind="card">' in lesson
    assert "turns a table" in lesson
    assert "Rows become columns." in cards
    assert "<details" not in cards
    assert 'href="/lessons/reading"' in cards
