"""What one learner may ask of the graders: a bounded number, and whatever is put off is saved and says when to come."""

import asyncio
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fastapi import FastAPI
from starlette.requests import ClientDisconnect, Request
from starlette.testclient import TestClient

from app.content.blocks import Course
from app.engine.grader import Readiness
from app.grading.judge.verdict import Verdict
from app.settings import Settings
from app.web.application import create_app
from app.web.middleware.visitor import (
    REMEMBERED,
    Quarantine,
    RateLimit,
    RetryLaterError,
    client_network,
    run_until_disconnect,
)
from tests.waiting import SECONDS
from tests.web.conftest import BROWSER

pytestmark = pytest.mark.alone

LESSON = "/lessons/linear"
BOX = f"{LESSON}/code/linear-backward"
HTMX = {"hx-request": "true"}
A_MINUTE = 3


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0
        self.looks = 0

    def __call__(self) -> float:
        self.looks += 1
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def app(settings: Settings, course: Course, grader, clock: Clock) -> FastAPI:
    app = create_app(settings.model_copy(update={"checks_per_minute": A_MINUTE}), course, grader)
    app.state.site.checks._allowance = RateLimit(A_MINUTE, clock)
    return app


@pytest.fixture
def spent(client: TestClient) -> TestClient:
    """A learner who has checked as often as a minute allows."""
    for number in range(A_MINUTE):
        assert send(client, "check", f"dX = {number}").status_code == 200
    return client


def send(client: TestClient, action: str, code: str, *, htmx: bool = True, **more: object):
    data = {"code": code, "revision": 0, **more}
    return client.post(f"{BOX}/{action}", data=data, headers=HTMX if htmx else {}, follow_redirects=False)


def attempts(folder: Path) -> list[str]:
    db = sqlite3.connect(folder / "data" / "backhand.db")
    found = [text for (text,) in db.execute("SELECT text FROM attempt ORDER BY id")]
    db.close()
    return found


# The bucket.


def spend(allowance: RateLimit, learner: int) -> float:
    """Seconds until there is something left to spend; 0 where it was spent."""
    try:
        allowance.consume(learner)
    except RetryLaterError as later:
        return float((later.headers or {})["retry-after"])
    return 0.0


def test_a_minute_of_tokens_may_be_spent_at_once_and_comes_back_evenly(clock: Clock) -> None:
    allowance = RateLimit(30, clock)

    assert [spend(allowance, 1) for _ in range(31)] == [0.0] * 30 + [2.0]
    clock.now += 2.0
    assert [spend(allowance, 1) for _ in range(2)] == [0.0, 2.0]
    clock.now += 3600.0
    assert [spend(allowance, 1) for _ in range(31)] == [0.0] * 30 + [2.0]


def test_a_question_that_was_put_off_costs_nothing(clock: Clock) -> None:
    allowance = RateLimit(30, clock)
    found = [spend(allowance, 1) for _ in range(100)]

    assert found[-1] == 2.0


def test_one_learner_does_not_spend_what_another_has(clock: Clock) -> None:
    allowance = RateLimit(1, clock)

    assert (spend(allowance, 1), spend(allowance, 1), spend(allowance, 2)) == (0.0, 60.0, 0.0)


def test_nought_is_no_limit(clock: Clock) -> None:
    allowance = RateLimit(0, clock)

    assert {spend(allowance, 1) for _ in range(1000)} == {0.0}


def test_learners_who_went_away_are_forgotten(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.web.middleware.visitor.REMEMBERED", 10)
    allowance = RateLimit(30, clock)
    for learner in range(1000):
        clock.now += 1.0
        spend(allowance, learner)

    assert len(allowance._full_at) <= 11


class Key:
    """A network that counts how often a table looks for it."""

    looks = 0

    def __hash__(self) -> int:
        Key.looks += 1
        return id(self)


def test_many_networks_at_once_cost_each_request_no_more_than_few(clock: Clock) -> None:
    allowance = RateLimit(10, clock)
    networks = [Key() for _ in range(REMEMBERED + 500)]
    Key.looks = 0

    for network in networks:
        allowance.consume(network)

    assert Key.looks < 10 * len(networks)


def test_many_texts_at_once_that_end_graders_are_each_noted_once(clock: Clock) -> None:
    faults = Quarantine(clock)
    for text in range(REMEMBERED):
        faults.note(str(text))

    clock.looks = 0
    faults.note("one more")
    faults.note("and another")

    assert clock.looks < REMEMBERED + 10


def refused(faults: Quarantine, text: str) -> float:
    """Seconds for which *text* is left alone; 0 where it is tried."""
    try:
        faults.refuse(text)
    except RetryLaterError as later:
        return float((later.headers or {})["retry-after"])
    return 0.0


def test_a_text_over_which_graders_ended_twice_is_left_alone_for_a_while(clock: Clock) -> None:
    faults = Quarantine(clock)

    faults.note("bomb")
    assert refused(faults, "bomb") == 0.0
    faults.note("bomb")
    assert refused(faults, "bomb") == 600.0
    assert refused(faults, "another") == 0.0
    clock.now += 601.0
    assert refused(faults, "bomb") == 0.0


# What a learner sees of it.


def test_a_fault_counts_as_more_than_one_check(client: TestClient, other: TestClient) -> None:
    assert send(client, "check", "fault").status_code == 200

    assert send(client, "check", "dX = 1").status_code == 429
    assert send(other, "check", "fault").status_code == 200


def test_a_text_that_ended_graders_is_not_given_to_them_again(
    client: TestClient, other: TestClient, app: FastAPI, grader
) -> None:
    for one in (client, other):
        send(one, "check", "fault")
    app.state.site.checks._allowance = RateLimit(0)

    response = send(client, "check", "fault")

    assert response.status_code == 429
    assert "This code stopped the grader more than once" in response.text
    assert grader.checked.count("fault") == 2
    assert send(client, "check", "dX = 1").status_code == 200


@pytest.mark.parametrize(("action", "more"), [("check", {}), ("run", {}), ("nudge", {"nudge": "dX", "entry-dX": "0"})])
def test_too_many_within_a_minute_are_put_off_in_the_box(
    spent: TestClient, grader, action: str, more: dict[str, str]
) -> None:
    asked = len(grader.checked)
    response = send(spent, action, "dX = 99", **more)

    assert response.status_code == 429
    assert response.headers["retry-after"] == "20"
    said = "You made more than 3 checks and runs within a minute. Your text is saved; try again in 20 s."
    assert said in response.text
    title = {"check": "Not checked yet", "run": "Not run yet", "nudge": "Not nudged yet"}[action]
    assert f'hx-swap-oob="innerHTML:#linear-backward-status">{title}' in response.text
    assert "<html" not in response.text
    assert len(grader.checked) == asked


def test_a_check_put_off_replaces_the_verdict_only_on_the_screen(spent: TestClient, page, tmp_path: Path) -> None:
    shown = page(send(spent, "check", "dX = 99").text)
    later = page(spent.get(LESSON).text)

    assert shown.attributes["linear-backward-verdict"]["data-outcome"] == "busy"
    assert later.attributes["linear-backward-verdict"]["data-outcome"] == "graded"
    assert later.raw("linear-backward-code").strip() == "dX = 99"
    assert attempts(tmp_path) == [f"dX = {number}" for number in range(A_MINUTE)]


@pytest.mark.parametrize("action", ["check", "run"])
def test_a_plain_form_gets_a_page_that_leads_back(spent: TestClient, page, action: str) -> None:
    response = send(spent, action, "dX = 99", htmx=False)

    assert response.status_code == 429
    assert response.headers["retry-after"] == "20"
    assert "<h1>Not just now</h1>" in response.text
    assert "Your text is saved" in response.text
    assert f'href="{LESSON}#linear-backward"' in response.text
    assert page(spent.get(LESSON).text).raw("linear-backward-code").strip() == "dX = 99"


def test_a_plain_nudge_that_is_put_off_is_a_page_too(spent: TestClient) -> None:
    response = send(spent, "nudge", "dX = 99", htmx=False, nudge="dX")

    assert (response.status_code, response.headers["retry-after"]) == (429, "20")
    assert "try again in 20 s" in response.text


def test_a_nudge_that_is_put_off_says_so_of_the_nudge_and_not_of_a_check(spent: TestClient) -> None:
    response = send(spent, "nudge", "dX = 99", nudge="dX")

    assert response.status_code == 429
    assert '<p class="word">Not nudged yet</p>' in response.text
    assert '-status">Not nudged yet.' in response.text
    assert "Not checked" not in response.text


def test_time_lets_the_next_check_through(spent: TestClient, clock: Clock) -> None:
    clock.now += 20.0

    assert send(spent, "check", "dX = 99").status_code == 200
    assert send(spent, "check", "dX = 98").status_code == 429


def test_the_same_text_is_answered_from_the_store_all_the_same(spent: TestClient) -> None:
    response = send(spent, "check", "dX = 0")

    assert response.status_code == 200
    assert "0 of 3 right" in response.text


def test_drafts_quizzes_and_pages_are_not_limited(spent: TestClient) -> None:
    assert send(spent, "draft", "dX = 99").status_code == 200
    assert spent.get(LESSON).status_code == 200
    assert spent.post(f"{LESSON}/quiz/half", data={"answer": "0.5"}, headers=HTMX).status_code == 200


def test_another_learner_goes_on(spent: TestClient, other: TestClient) -> None:
    assert spent
    assert send(other, "check", "dX = 99").status_code == 200


def test_a_third_check_at_once_is_put_off(app: FastAPI, client: TestClient) -> None:
    client.get(LESSON)
    app.state.site.checks._running[1] = 2
    response = send(client, "check", "dX = 1")

    assert (response.status_code, response.headers["retry-after"]) == (429, "2")
    assert "Your earlier checks are still running" in response.text


def test_a_third_question_while_typing_is_to_be_asked_again(app: FastAPI, client: TestClient) -> None:
    client.get(LESSON)
    app.state.site.checks._typing[1] = 2
    response = send(client, "shapes", "dX = 1")

    assert (response.status_code, response.json()) == (200, {"later": True})


@pytest.mark.parametrize(("state", "seconds"), [("ready", "5"), ("stopped", "30")])
@pytest.mark.parametrize("htmx", [True, False])
def test_graders_that_are_busy_put_off_and_keep_no_attempt(
    client: TestClient, grader, tmp_path: Path, state, seconds: str, htmx: bool
) -> None:
    grader.readiness = Readiness(state=state)
    grader.outcome = Verdict(outcome="busy", message="Too many checks are waiting just now. Your text is saved.")
    response = send(client, "check", "dX = 1", htmx=htmx)

    assert (response.status_code, response.headers["retry-after"]) == (429, seconds)
    assert "Too many checks are waiting" in response.text
    assert attempts(tmp_path) == []


# Nobody waits any more.


class Patient:
    """A grader that answers when it is told to."""

    def __init__(self, inner) -> None:
        self._inner = inner
        self.begun = asyncio.Event()
        self.stopped = asyncio.Event()

    def __getattr__(self, name: str):
        return getattr(self._inner, name)

    async def check(self, _task, _code) -> Verdict:
        self.begun.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.stopped.set()
            raise
        raise AssertionError


def test_a_connection_that_closes_stops_its_check_and_the_text_is_saved(
    settings: Settings, course: Course, grader, tmp_path: Path
) -> None:
    async def main() -> list[dict[str, object]]:
        patient = Patient(grader)
        app = create_app(settings, course, patient)
        sent: list[dict[str, object]] = []
        body = iter([{"type": "http.request", "body": b"revision=0&code=dX+%3D+7", "more_body": False}])

        async def receive():
            message = next(body, None)
            if message is None:
                await patient.begun.wait()
                return {"type": "http.disconnect"}
            return message

        async def send_(message) -> None:
            sent.append(message)

        async with app.router.lifespan_context(app):
            await asyncio.wait_for(app(scope_of(f"{BOX}/check"), receive, send_), SECONDS)
            assert patient.stopped.is_set()
            assert not app.state.site.checks._running
        return sent

    assert asyncio.run(main()) == []
    db = sqlite3.connect(tmp_path / "data" / "backhand.db")
    assert db.execute("SELECT text FROM draft").fetchall() == [("dX = 7",)]
    db.close()
    assert attempts(tmp_path) == []


def scope_of(path: str) -> dict[str, object]:
    headers = {**BROWSER, "host": "testserver", "content-type": "application/x-www-form-urlencoded"}
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "root_path": "",
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
        "client": ("127.0.0.1", 1),
        "server": ("testserver", 80),
    }


async def _never() -> dict[str, object]:
    await asyncio.Event().wait()
    raise AssertionError


@pytest.mark.anyio
async def test_work_that_somebody_waits_for_is_done() -> None:
    async def work() -> int:
        await asyncio.sleep(0)
        return 7

    assert await run_until_disconnect(Request({"type": "http"}, _never), work()) == 7


@pytest.mark.anyio
async def test_an_error_of_the_work_comes_out_of_it() -> None:
    async def work() -> int:
        raise RetryLaterError("later", 1)

    with pytest.raises(RetryLaterError):
        await run_until_disconnect(Request({"type": "http"}, _never), work())


@pytest.mark.anyio
async def test_what_is_left_of_a_body_is_not_taken_for_the_end() -> None:
    messages: Iterator[dict[str, object]] = iter([{"type": "http.request"}, {"type": "http.disconnect"}])
    ended: list[Callable[[], None]] = []

    async def receive() -> dict[str, object]:
        return next(messages)

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(work)

    with pytest.raises(ClientDisconnect):
        await run_until_disconnect(Request({"type": "http"}, receive), work())
    assert ended
    assert next(messages, None) is None


@pytest.fixture
def narrow(settings: Settings, course: Course, grader) -> FastAPI:
    """An application that lets a learner change three things in a minute, and two begin from one network."""
    limits = {"changes_per_minute": 3, "new_learners_per_minute": 2}
    return create_app(settings.model_copy(update=limits), course, grader)


def test_changes_without_end_are_put_off_and_told_as_not_saved(narrow: FastAPI) -> None:
    with TestClient(narrow, headers=BROWSER) as client:
        answers = [client.post("/lessons/linear/quiz/half", data={"answer": "1"}) for _ in range(6)]
        draft = client.post(f"{BOX}/draft", data={"code": "later", "revision": 0})
        page = client.get("/lessons/linear")

    # The first one made the learner.
    assert [one.status_code for one in answers] == [200] * 4 + [429] * 2
    for refused in (answers[-1], draft):
        assert refused.status_code == 429
        assert int(refused.headers["retry-after"]) <= 20
        assert refused.headers["not-saved"] == "1"
        assert "was not saved" in refused.text
    assert page.status_code == 200


def test_new_learners_without_end_are_put_off_and_lessons_can_be_read(narrow: FastAPI) -> None:
    with TestClient(narrow, headers=BROWSER, client=("192.0.2.7", 1)) as client:
        found = []
        for _ in range(4):
            client.cookies.clear()
            found.append(client.post("/lessons/linear/quiz/half", data={"answer": "1"}).status_code)
        client.cookies.clear()
        page = client.get("/lessons/linear")
        elsewhere = TestClient(narrow, headers=BROWSER, client=("192.0.2.8", 1))
        other = elsewhere.post("/lessons/linear/quiz/half", data={"answer": "1"})

    assert found == [200, 200, 429, 429]
    assert (page.status_code, page.cookies) == (200, {})
    assert other.status_code == 200


@pytest.mark.parametrize(
    ("one", "other", "together"),
    [
        ("192.0.2.1", "192.0.2.1", True),
        ("192.0.2.1", "192.0.2.2", False),
        ("2001:db8:1:2::1", "2001:db8:1:2:ffff:ffff:ffff:ffff", True),
        ("2001:db8:1:2::1", "2001:db8:1:3::1", False),
        ("unix", "unix", True),
    ],
)
def test_a_network_is_an_address_or_what_one_machine_has_of_them(one: str, other: str, together: bool) -> None:
    assert (client_network({"client": (one, 1)}) == client_network({"client": (other, 2)})) == together
