"""A lesson can be taken away with what its reader wrote in it."""

import json

import pytest
from starlette.testclient import TestClient

URL = "/lessons/linear/export"
OWN = "dX = dY @ W.T  # mine\n"


@pytest.mark.parametrize(
    ("form", "kind"), [("ipynb", "application/x-ipynb+json"), ("py", "text/x-python"), ("md", "text/markdown")]
)
def test_each_form_is_a_file_to_keep(client: TestClient, form: str, kind: str) -> None:
    response = client.get(f"{URL}.{form}")

    assert response.status_code == 200
    assert response.headers["content-type"].startswith(kind)
    assert response.headers["content-disposition"] == f'attachment; filename="linear.{form}"'
    assert "dX = ____" in response.text


def test_own_code_and_answers_are_in_it(client: TestClient) -> None:
    client.post("/lessons/linear/code/linear-backward/draft", data={"code": OWN, "revision": 0})
    client.post("/lessons/linear/quiz/dw-shape", data={"answer": "(4, 2)"})

    text = client.get(f"{URL}.md").text

    assert "dX = dY @ W.T  # mine" in text
    assert "Your answer: `(4, 2)`" in text


def test_what_was_right_is_taken_away_and_not_what_was_tried_after_it(client: TestClient) -> None:
    right = "dX = dY @ W.T\ndW = X.T @ dY\ndb = dY.sum(0)\n"
    for revision, code in enumerate((right, "dX = -dY @ W.T  # mine\n")):
        client.post("/lessons/linear/code/linear-backward/check", data={"code": code, "revision": revision})
    for answer in ("(4, 2)", "(3, 2)", "(2, 3)"):
        client.post("/lessons/linear/quiz/dw-shape", data={"answer": answer})

    text = client.get(f"{URL}.md").text

    assert right in text
    assert "# mine" not in text
    assert "Your answer: `(3, 2)`" in text


def test_a_product_is_answered_as_it_was_built(client: TestClient) -> None:
    client.post("/lessons/linear/quiz/dw-product", data={"left": "X", "left_transposed": "T", "right": "dY"})

    assert "Your answer: `X.T @ dY`" in client.get(f"{URL}.md").text


def test_only_answers_and_hints_that_were_reached_are_in_it(client: TestClient, other: TestClient) -> None:
    client.post("/lessons/linear/quiz/dw-shape", data={"answer": "(4, 2)"})
    tried = client.get(f"{URL}.md").text
    client.post("/lessons/linear/quiz/dw-shape", data={"answer": "(3, 2)"})
    client.post("/lessons/linear/code/linear-backward/hint", data={"code": OWN, "revision": 0})
    reached = client.get(f"{URL}.md").text

    for form in ("ipynb", "py", "md"):
        assert "<summary>" not in other.get(f"{URL}.{form}").text
    assert "<summary>" not in tried
    assert reached.count("<summary>Answer</summary>") == 1
    assert "= `(3, 2)`**" in reached
    assert reached.count("<summary>Hint") == 1
    assert "<summary>" not in client.get(f"{URL}.md?blank=1").text


def test_blank_asks_for_the_lesson_as_it_was(client: TestClient) -> None:
    client.post("/lessons/linear/code/linear-backward/draft", data={"code": OWN, "revision": 0})

    text = client.get(f"{URL}.md?blank=1").text

    assert "mine" not in text
    assert "dX = ____" in text


def test_nobody_gets_what_another_wrote(client: TestClient, other: TestClient) -> None:
    client.post("/lessons/linear/code/linear-backward/draft", data={"code": OWN, "revision": 0})

    response = other.get(f"{URL}.py")

    assert "# mine" not in response.text
    assert "no-store" in response.headers["cache-control"]
    assert "set-cookie" not in response.headers


@pytest.mark.parametrize(
    "path", ["/lessons/linear/export.pdf", "/lessons/draft/export.py", "/lessons/nothing/export.md"]
)
def test_what_is_not_there_is_not_found(client: TestClient, path: str) -> None:
    assert client.get(path).status_code == 404


def test_solutions_never_leave_with_it(client: TestClient) -> None:
    assert "dX = dY @ W.T" not in client.get(f"{URL}.py").text


def test_code_with_half_a_letter_is_no_reason_to_fail(client: TestClient) -> None:
    client.post("/lessons/linear/code/linear-backward/draft", data={"code": "dX = '\ud7ff\ufffe'\n", "revision": 0})

    assert json.loads(client.get(f"{URL}.ipynb").text)["nbformat"] == 4


def test_a_lesson_page_offers_it(client: TestClient) -> None:
    text = client.get("/lessons/linear").text

    for form in ("ipynb", "py", "md"):
        assert f'href="{URL}.{form}"' in text
    assert f'href="{URL}.ipynb?blank=1"' in text


def test_pictures_go_along_and_lessons_that_train_nothing_bring_no_names(client: TestClient) -> None:
    cells = json.loads(client.get(f"{URL}.ipynb").text)["cells"]

    assert any("attachments" in cell for cell in cells)
    assert not any("LIST" in "".join(cell["source"]) for cell in cells)


def test_what_a_learner_wrote_is_read_by_a_grader_and_never_here(
    client: TestClient, grader, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = "try:a\nfinally:\n try:a\n finally:\n  a"
    client.post("/lessons/linear/code/linear-backward/draft", data={"code": code, "revision": 0})
    asked: list[str] = []

    async def unfit(texts: list[str]) -> tuple[str, ...]:
        asked.extend(texts)
        return ("to read it takes too long",) * len(texts)

    monkeypatch.setattr(grader, "export_problems", unfit)
    text = client.get(f"{URL}.py").text

    assert code in asked
    assert "    # This is not Python yet: to read it takes too long." in text
    assert "    # finally:" in text
