"""What is typed into a box is saved, put back and looked at again."""

import re

import pytest
from starlette.testclient import TestClient

from app.store import drafts
from app.web.checks import CheckService
from app.web.middleware.visitor import RetryLaterError
from tests.web.routes.test_code_boxes import BOX, HTMX, LESSON, RIGHT, WRONG, send


def test_a_draft_is_saved_and_restored_and_is_no_attempt(client: TestClient, page) -> None:
    answer = send(client, "draft", "dX = 1").json()

    assert answer["revision"] == 1
    assert not answer["other"]
    assert answer["saved"].endswith("+00:00")
    found = page(client.get(LESSON).text)
    assert found.raw("linear-backward-code").strip() == "dX = 1"
    assert found.attributes["linear-backward-revision"]["value"] == "1"
    assert found.text("linear-backward-saved").startswith("Saved ")
    assert found.text("linear-backward-verdict") == ""


def test_a_form_without_a_revision_does_not_empty_the_box(client: TestClient, page) -> None:
    send(client, "draft", "my work")
    response = client.post(f"{BOX}/draft", data={})

    assert response.status_code == 422
    assert page(client.get(LESSON).text).raw("linear-backward-code").strip() == "my work"


def test_an_emptied_box_stays_empty(client: TestClient, page) -> None:
    send(client, "draft", "my work")
    send(client, "draft", "", 1)

    assert page(client.get(LESSON).text).raw("linear-backward-code").strip() == ""


def test_two_tabs_keep_both_texts(client: TestClient) -> None:
    send(client, "draft", "common")
    send(client, "draft", "first tab", 1)
    answer = send(client, "draft", "second tab", 1).json()

    assert answer["other"] == 1
    assert "both are saved" in answer["message"]
    past = client.get(f"{BOX}/history").text
    assert "first tab" in past
    assert "Written in another tab or on another device" in past


@pytest.mark.parametrize("action", ["check", "run"])
@pytest.mark.parametrize("htmx", [True, False])
def test_whoever_writes_over_another_tab_is_asked_which_text_they_want(
    client: TestClient, page, action: str, htmx: bool
) -> None:
    send(client, "draft", "first tab")
    send(client, "draft", "first tab, later", 1)
    asked = page(send(client, action, WRONG, 1, htmx=htmx).text)

    assert "hidden" not in asked.attributes["linear-backward-both"]
    taken = asked.attributes["linear-backward-other"]["value"]
    text = send(client, "restore", WRONG, 3, htmx=htmx, at=taken).text
    assert page(text).raw("linear-backward-code").strip() == "first tab, later"
    assert "hidden" in page(text).attributes["linear-backward-both"]
    assert "X = W @ dY" in client.get(f"{BOX}/history").text


@pytest.mark.parametrize("busy", [False, True])
@pytest.mark.parametrize("action", ["check", "run", "nudge"])
def test_what_another_tab_saves_during_a_check_is_not_written_over(
    client: TestClient, page, monkeypatch, action: str, busy: bool
) -> None:
    site = client.app.state.site
    asked = getattr(CheckService, action)

    async def meanwhile(checks, learner, lesson, exercise, *more, **named):
        async with site.database.write() as db:
            await drafts.save_draft(db, learner, lesson.name, exercise.name, "the other tab", base=1)
        if busy:
            raise RetryLaterError("Later.", 1)
        return await asked(checks, learner, lesson, exercise, *more, **named)

    monkeypatch.setattr(CheckService, action, meanwhile)
    answer = send(client, action, WRONG, **({"nudge": "dX"} if action == "nudge" else {}))
    found = page(answer.text)
    assert answer.headers["revision"] == "1"
    assert found.attributes.get("linear-backward-revision", {"value": "1"})["value"] == "1"

    saved = send(client, "draft", "mine, later", int(answer.headers["revision"])).json()
    assert "both are saved" in saved["message"]
    assert "the other tab" in client.get(f"{BOX}/history").text


def test_what_a_run_showed_is_not_shown_below_the_text_of_another_tab(client: TestClient, monkeypatch) -> None:
    site = client.app.state.site
    asked = CheckService.run

    async def meanwhile(checks, learner, lesson, exercise, code):
        async with site.database.write() as db:
            await drafts.save_draft(db, learner, lesson.name, exercise.name, "the other tab", base=1)
        return await asked(checks, learner, lesson, exercise, code)

    monkeypatch.setattr(CheckService, "run", meanwhile)

    assert "Ran, without a verdict" in send(client, "run").text
    assert "Ran, without a verdict" not in client.get(LESSON).text


def test_nobody_is_asked_where_nothing_was_in_the_way(client: TestClient, page) -> None:
    send(client, "draft", "mine")
    send(client, "draft", "", 1)
    asked = [page(send(client, "check", "mine, later", revision).text) for revision in (1, 3)]

    assert all("hidden" in one.attributes["linear-backward-both"] for one in asked)


@pytest.mark.parametrize("htmx", [True, False])
def test_a_text_of_the_history_is_compared_with_its_neighbours(client: TestClient, htmx: bool) -> None:
    for revision, code in enumerate(("a = 1\nb = 2", "a = 1\nb = 3")):
        send(client, "check", code, revision)
    send(client, "draft", "a = 1\nb = 3\nc = <4>", 2)

    def shown(query: str) -> list[str]:
        text = client.get(f"{BOX}/history?{query}", headers=HTMX if htmx else {}).text
        return re.findall("<(?:ins|del)>(.*?)</(?:ins|del)>", text)

    assert shown("at=2") == []
    assert shown("at=2&against=before") == ["− b = 2", "+ b = 3"]
    assert shown("at=2&against=box") == ["+ c = &lt;4&gt;"]
    assert "− dX = ____" in shown("at=1&against=before")


def test_a_comparison_follows_the_texts_and_says_where_nothing_changed(
    client: TestClient,
) -> None:
    for revision, code in enumerate(("a = 1", "a = 2")):
        send(client, "check", code, revision)

    text = client.get(f"{BOX}/history?at=2&against=box", headers=HTMX).text

    assert "They are the same." in text
    assert f"{BOX}/history?at=1&amp;against=box" in text


def test_reset_asks_first(client: TestClient, page) -> None:
    response = send(client, "reset", "my work", htmx=False)

    assert response.history[0].headers["location"] == f"{LESSON}?ask=linear-backward#linear-backward"
    assert "Put the starter back?" in response.text
    assert page(response.text).raw("linear-backward-code").strip() == "my work"


@pytest.mark.parametrize("htmx", [True, False])
def test_after_a_reset_the_old_text_is_one_click_away(client: TestClient, page, htmx: bool) -> None:
    send(client, "check", WRONG)
    send(client, "draft", "my work", 1)
    text = send(client, "reset", "my work, later", 2, htmx=htmx, confirm="yes").text

    assert "dX = ____" in page(text).raw("linear-backward-code")
    assert "Put my text back" in text
    past = client.get(f"{BOX}/history").text
    assert "my work, later" in past
    assert "Before a reset" in past
    back = send(client, "restore", "starter", 3, at=0).text
    assert page(back).raw("linear-backward-code").strip() == "my work, later"


def test_a_swapped_box_asks_nothing_and_leaves_no_stray_parts(client: TestClient, page) -> None:
    text = send(client, "reset", "my work", confirm="yes").text
    found = page(text)

    assert text.strip().startswith('<form class="code-form" id="linear-backward-form"')
    assert "hx-swap-oob" not in text.partition("</form>")[0]
    assert found.attributes["linear-backward-revision"]["value"] == "2"


def test_history_steps_through_every_check(client: TestClient) -> None:
    for revision, code in enumerate(("one = 1", "two = 2", "three = 3")):
        send(client, "check", code, revision)

    newest = client.post(f"{BOX}/history", data={"code": "three = 3", "revision": 3}, headers=HTMX).text
    first = client.get(f"{BOX}/history?at=1", headers=HTMX).text
    assert "3 of 3" in newest
    assert "three = 3" in newest
    assert "one = 1" in first
    assert "0 of 3 right" in first
    assert "history?at=2" in first
    assert "Earlier" not in first
    assert "<html" not in first


@pytest.mark.parametrize("at", ["0", "-1", "99"])
def test_history_beyond_its_ends_is_the_newest(client: TestClient, at: str) -> None:
    send(client, "check", "one = 1")

    assert "one = 1" in client.get(f"{BOX}/history?at={at}").text


def test_history_without_a_script_is_a_page_of_its_own(client: TestClient) -> None:
    send(client, "check", "one = 1")
    response = client.post(f"{BOX}/history", data={"code": "two = 2", "revision": 1})

    assert response.url.path == f"{BOX}/history"
    assert "one = 1" in response.text
    assert "Back to the exercise" in response.text


def test_history_of_a_newcomer_is_empty(client: TestClient) -> None:
    assert "Nothing was checked here yet" in client.get(f"{BOX}/history").text


@pytest.mark.parametrize("htmx", [True, False])
def test_a_checked_text_can_be_put_back_and_the_present_one_is_kept(client: TestClient, page, htmx: bool) -> None:
    send(client, "check", "one = 1")
    text = send(client, "restore", "two = 2", 1, htmx=htmx, at=1).text

    assert page(text).raw("linear-backward-code").strip() == "one = 1"
    assert "two = 2" in client.get(f"{BOX}/history").text


def test_what_is_not_in_the_history_cannot_be_put_back(client: TestClient, other: TestClient) -> None:
    send(client, "check", "one = 1")

    assert send(client, "restore", at=2).status_code == 404
    assert send(other, "restore", at=0).status_code == 404
    assert send(other, "restore", at=1).status_code == 404


def test_a_reset_leaves_the_label_as_it_leaves_the_counter(client: TestClient, page) -> None:
    checked = page(send(client, "check", RIGHT).text)
    wrong = page(send(client, "check", WRONG, 1).text)
    send(client, "reset", WRONG, 2, confirm="yes")

    assert checked.text("linear-backward-solved") == "· solved"
    assert wrong.text("linear-backward-solved") == "· solved before"
    found = page(client.get(LESSON).text)
    assert (found.text("linear-backward-solved"), found.text("progress")) == (
        "· solved before",
        "1 of 8 exercises done",
    )
