"""Two servers of one PostgreSQL: whichever a browser reaches, it finds the same learner, run and limits."""

import asyncio
import threading

import pytest
from starlette.testclient import TestClient

from app.store import trainings
from app.web.application import create_app
from app.web.middleware.visitor import RetryLaterError
from tests.engine.train.load import COURSE, SOLUTION
from tests.store import postgres
from tests.waiting import until
from tests.web.conftest import BROWSER
from tests.web.routes.test_training import PAGE, RUN, TrainingGrader, after_first, check, ended, phase, start

pytestmark = pytest.mark.jobs


@pytest.fixture
def settings(settings, postgres_url):
    asyncio.run(postgres.without_rows(postgres_url))
    return settings.model_copy(update={"database_url": postgres_url, "replicas": 2})


@pytest.fixture
def graders():
    return TrainingGrader(), TrainingGrader()


@pytest.fixture
def clients(settings, graders):
    """One browser at two servers."""
    with (
        TestClient(create_app(settings, COURSE, graders[0]), headers=BROWSER) as here,
        TestClient(create_app(settings, COURSE, graders[1]), headers=BROWSER) as there,
    ):
        check(here, SOLUTION)
        there.cookies = here.cookies
        yield here, there


def runs_of(client):
    return client.app.state.site.runs


def test_a_learner_is_the_same_at_both(clients):
    here, there = clients

    assert "Check 1: all right, the latest" in there.get(PAGE).text
    check(there, SOLUTION.replace("dhpreact.sum(0)", "0"))
    assert "Check 2" in here.get(PAGE).text


def test_the_events_of_a_run_reach_a_browser_at_the_other_server(clients, graders, monkeypatch):
    here, there = clients
    graders[0].free.clear()
    start(here)
    after_first(monkeypatch, runs_of(there), graders[0].free.set)

    answer = there.get(f"{RUN}/events")

    events = [event for event in answer.text.split("\n\n") if event.startswith("event:")]
    assert phase(events[0]) == "waiting"
    assert phase(events[-1]) == "finished"
    assert events[-1].startswith("event: end")


def test_the_end_of_a_run_is_told_and_not_waited_for(clients, graders, monkeypatch):
    monkeypatch.setattr("app.store.event_bus.Subscription.wait.__defaults__", (3600,))
    here, there = clients
    graders[0].free.clear()
    start(here)
    threading.Timer(0.5, graders[0].free.set).start()

    assert "event: end" in there.get(f"{RUN}/events").text


def test_stop_reaches_the_server_that_drives_the_run(clients, graders):
    here, there = clients
    graders[0].free.clear()
    start(here, preset="wide")

    there.post(f"{RUN}/stop")
    graders[0].free.set()

    assert phase(ended(here)) == "stopped"
    assert phase(there.get(PAGE).text) == "stopped"


def test_one_run_at_a_time_wherever_it_is(clients, graders):
    here, there = clients
    graders[0].free.clear()
    start(here)

    assert start(there).status_code == 409
    graders[0].free.set()
    ended(here)
    assert start(there).status_code == 200


def test_a_run_moves_when_its_server_goes_and_watchers_see_it_end(settings, graders):
    with TestClient(create_app(settings, COURSE, graders[1]), headers=BROWSER) as there:
        with TestClient(create_app(settings, COURSE, graders[0]), headers=BROWSER) as here:
            check(here, SOLUTION)
            there.cookies = here.cookies
            graders[0].free.clear()
            start(here)
        graders[0].free.set()

        there.portal.call(runs_of(there).take_over)
        answer = there.get(f"{RUN}/events")

    assert phase(answer.text.split("event: end")[1]) == "finished"
    assert 'data-solved="true"' in answer.text


def test_a_slow_server_leaves_a_run_that_another_has_taken_over(clients, graders, monkeypatch):
    here, there = clients
    graders[0].free.clear()
    start(here)
    monkeypatch.setattr(trainings, "SILENCE", -trainings.SILENCE)

    there.portal.call(runs_of(there).take_over)
    monkeypatch.undo()
    assert phase(ended(there)) == "finished"
    graders[0].free.set()
    until(lambda: runs_of(here).under_way == 0)

    assert phase(here.get(PAGE).text) == "finished"


def test_each_server_allows_its_share_of_a_limit(settings, graders):
    limited = settings.model_copy(update={"checks_per_minute": 5})
    checks = create_app(limited, COURSE, graders[0]).state.site.checks

    for _ in range(3):
        checks.spend(1)
    with pytest.raises(RetryLaterError):
        checks.spend(1)


def test_nothing_is_swept_by_a_server_that_is_one_of_several(settings, graders, monkeypatch):
    swept = []

    async def noted(database):
        swept.append(database)

    monkeypatch.setattr("app.store.cleanup.delete_expired", noted)
    for replicas in (2, 1):
        app = create_app(settings.model_copy(update={"replicas": replicas}), COURSE, graders[0])
        with TestClient(app, headers=BROWSER) as client:
            client.get("/healthz")
        assert len(swept) == 2 - replicas


def test_a_run_that_tells_no_word_is_seen_to_end_all_the_same(clients, graders, monkeypatch):
    monkeypatch.setattr("app.store.event_bus.Subscription.wait.__defaults__", (0.2,))
    here, there = clients
    graders[0].free.clear()
    start(here)
    monkeypatch.setattr(runs_of(here)._ledger.bus, "publish", silent)
    threading.Timer(0.5, graders[0].free.set).start()

    assert "event: end" in there.get(f"{RUN}/events").text


async def silent(*_):
    """A word that is lost."""
