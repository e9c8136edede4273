"""The shapes that stand behind the lines of a box while it is typed in, as the page asks for them."""

import re
from pathlib import Path

from starlette.testclient import TestClient

from app.web.checks import TYPED_A_MINUTE

TOLD = Path(__file__).resolve().parents[3] / "static/js/told.js"
LESSON = "/lessons/linear"
BOX = f"{LESSON}/code/linear-backward"


def ask(client: TestClient, code: str = "dW = X", **more: str):
    return client.post(f"{BOX}/shapes", data={"code": code, **more})


def test_lines_and_own_names_are_told_and_given_ones_on_request(client: TestClient) -> None:
    client.post(f"{BOX}/draft", data={"code": "", "revision": 0})

    own, every = ask(client).json(), ask(client, given="true").json()

    assert own["lines"] == [{"line": 1, "text": "(N, D), W is (D, H)", "fits": False, "start": None, "end": None}]
    assert [one["name"] for one in own["names"]] == ["dW"]
    assert [one["name"] for one in every["names"]] == ["X", "dW"]


def test_a_text_is_read_as_it_stands_and_neither_saved_nor_counted(client: TestClient, grader) -> None:
    client.post(f"{BOX}/draft", data={"code": "kept", "revision": 0})

    ask(client, "a = 1\r\nb = 2")

    assert grader.told_of == [("linear-backward", "a = 1\nb = 2")]
    assert grader.checked == []
    assert "kept" in client.get(LESSON).text


def test_whoever_has_no_session_is_told_too_and_begins_none(client: TestClient) -> None:
    answer = ask(client)

    assert [one["line"] for one in answer.json()["lines"]] == [1]
    assert "set-cookie" not in answer.headers


def test_a_text_that_no_box_takes_is_read_by_nobody(client: TestClient, grader) -> None:
    client.post(f"{BOX}/draft", data={"code": "", "revision": 0})

    assert ask(client, "x" * 50_001).json()["lines"] == []
    assert grader.told_of == []


def test_whoever_types_without_a_rest_never_meets_the_limit() -> None:
    (pause,) = re.findall(r"^const PAUSE = (\d+);", TOLD.read_text(), re.MULTILINE)

    assert 60_000 / int(pause) < TYPED_A_MINUTE


def test_a_page_with_code_names_the_editor_and_loads_it_later(client: TestClient) -> None:
    text = client.get(LESSON).text

    assert '<meta name="editor" content="/static/' in text
    assert '<script type="module" src="/static/editor' not in text
    assert f'data-shapes="{BOX}/shapes"' in text
