"""Bug hunts and checkers on the page: they are code boxes, and a hunt names its line along with its text."""

import sqlite3
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from app.grading.judge.hunt_verdict import split_line

FOLDER = "hunts"
LESSON = "/lessons/hunts"
HTMX = {"hx-request": "true"}
GIVEN = "# the backward pass of a layer\ndW = X.T @ dY\ndb = (\n    dY.mean(0)\n)\n"
MENDED = "# the backward pass of a layer\ndW = X.T @ dY\ndb = dY.sum(0)\n"
CHECK = "def agree(mine, theirs):\n    return torch.equal(mine, theirs)\n"


def send(client: TestClient, action: str, code: str, name: str = "find", *, htmx: bool = True, **more: object):
    data = {"code": code, "revision": 0, **more}
    return client.post(f"{LESSON}/code/{name}/{action}", data=data, headers=HTMX if htmx else {})


def test_a_hunt_offers_the_lines_on_which_statements_begin(client: TestClient, page) -> None:
    shown = page(client.get(LESSON).text)

    assert shown.attributes["find"]["data-kind"] == "bug"
    assert [name for name in shown.ids if name.startswith("find-line-")] == ["find-line-2", "find-line-3"]
    assert shown.raw("find-code").removeprefix("\n") == GIVEN


def test_a_checker_names_its_function(client: TestClient, page) -> None:
    shown = page(client.get(LESSON).text)

    assert shown.attributes["agree"]["data-kind"] == "checker"
    assert shown.text("agree-legend") == "A check: agree(mine, theirs)"
    assert "mine|; theirs|; torch|module" in client.get(LESSON).text


def test_both_count_as_exercises(client: TestClient, page) -> None:
    send(client, "check", MENDED, line=3)
    text = send(client, "check", CHECK, "agree").text

    shown = page(client.get(LESSON).text)
    assert "2 of 2 exercises done" in page(text).text("progress")
    assert [shown.attributes[name]["data-solved"] for name in ("find", "agree")] == ["true", "true"]


@pytest.mark.alone
def test_the_named_line_is_part_of_what_is_graded(client: TestClient, grader) -> None:
    missed = send(client, "check", MENDED, line=2).text
    found = send(client, "check", MENDED, line=3).text

    assert [split_line(text) for text in grader.checked] == [(MENDED, 2), (MENDED, 3)]
    assert 'data-passed="false"' in missed
    assert 'data-passed="true"' in found


@pytest.mark.parametrize("action", ["check", "run", "draft", "hint"])
def test_the_named_line_and_the_text_come_back_as_they_were(client: TestClient, page, action: str) -> None:
    code = "\n\n dW = 1\n\n"
    send(client, action, code, line=2)

    shown = page(client.get(LESSON).text)
    assert "checked" in shown.attributes["find-line-2"]
    assert "checked" not in shown.attributes["find-line-3"]
    assert shown.raw("find-code").removeprefix("\n") == code


def test_a_plain_form_gets_the_same_verdict(client: TestClient) -> None:
    response = send(client, "check", MENDED, line=3, htmx=False)

    assert response.history[0].headers["location"] == f"{LESSON}#find"
    assert 'data-passed="true"' in response.text


def test_a_reset_takes_the_mark_away_and_the_history_brings_it_back(client: TestClient, page) -> None:
    send(client, "check", MENDED, line=3)
    emptied = page(send(client, "reset", MENDED, line=3, confirm="yes").text)
    restored = page(send(client, "restore", GIVEN, at=1).text)

    assert emptied.raw("find-code").removeprefix("\n") == GIVEN
    assert "checked" not in emptied.attributes["find-line-3"]
    assert restored.raw("find-code").removeprefix("\n") == MENDED
    assert "checked" in restored.attributes["find-line-3"]


@pytest.mark.parametrize("line", ["x", "0", "-1", "99999999", "1.5"])
def test_a_line_that_no_form_sends_is_refused(client: TestClient, grader, line: str) -> None:
    response = send(client, "check", MENDED, line=line)

    assert response.status_code in (400, 422)
    assert not grader.checked


@pytest.mark.alone
def test_other_boxes_know_no_lines(client: TestClient, grader) -> None:
    send(client, "check", CHECK, "agree", line=3)

    assert grader.checked == [CHECK]


def test_the_solution_shows_the_whole_mended_code_beside_the_own(client: TestClient) -> None:
    send(client, "check", MENDED, line=3)
    text = send(client, "solution", MENDED, line=3).text

    assert "The author’s solution" in text
    assert "Yours" in text


def test_a_checker_opens_its_solution_by_its_own_policy(client: TestClient) -> None:
    closed = send(client, "solution", CHECK + "#", "agree").text
    send(client, "check", CHECK + "#", "agree")
    opened = send(client, "solution", CHECK + "#", "agree").text

    assert "opens after 1 more check." in closed
    assert "equal" in opened
    assert "The author’s solution" in opened


@pytest.mark.alone
def test_the_line_is_stored_in_the_text(client: TestClient, tmp_path: Path) -> None:
    send(client, "check", MENDED, line=3)

    with sqlite3.connect(tmp_path / "data" / "backhand.db") as db:
        rows = db.execute("SELECT text, correct FROM attempt").fetchall()
    db.close()
    assert rows == [(f"{MENDED}\n# wrong line: 3", 1)]


def test_a_run_shows_values(client: TestClient) -> None:
    assert "Ran, without a verdict" in send(client, "run", GIVEN).text
    assert "Ran, without a verdict" in send(client, "run", CHECK, "agree").text


def test_gradients_of_a_hunt_can_be_nudged_and_checkers_have_none(client: TestClient, grader) -> None:
    hunt = send(client, "check", MENDED, line=3).text
    check = send(client, "check", CHECK, "agree").text
    send(client, "nudge", MENDED, line=3, nudge="db", **{"entry-db": "1"})

    assert hunt.count('data-action="nudge"') == 2
    assert 'data-action="nudge"' not in check
    assert [(split_line(code), name, entry) for code, name, entry in grader.nudged] == [((MENDED, 3), "db", "1")]
