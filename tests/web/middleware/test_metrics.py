"""What monitoring reads: numbers of the service, for those who may, and nothing of a learner."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from fastapi import FastAPI
from prometheus_client.parser import text_string_to_metric_families
from starlette.testclient import TestClient

from app.content.blocks import Course
from app.engine.grader import CanaryReport, Load, Readiness, RoleLoad
from app.grading.judge.verdict import Verdict
from app.settings import Settings
from app.web.application import create_app
from tests.web.conftest import BROWSER

pytestmark = pytest.mark.alone

BOX = "/lessons/linear/code/linear-backward"
HERE = ("127.0.0.1", 50_000)
OPERATOR = {"authorization": "Bearer the token of the operator"}

OPERATING = Path(__file__).parents[3] / "docs" / "operating.md"

Read = Callable[[], dict[tuple[str, tuple[str, ...]], float]]


@pytest.fixture
def client(app: FastAPI) -> Iterator[TestClient]:
    with TestClient(app, headers=BROWSER | OPERATOR, client=HERE) as client:
        yield client


@pytest.fixture
def read(client: TestClient) -> Read:
    """Every sample by its name and the values of its labels."""

    def read() -> dict[tuple[str, tuple[str, ...]], float]:
        families = text_string_to_metric_families(client.get("/metrics").text)
        return {(one.name, tuple(one.labels.values())): one.value for family in families for one in family.samples}

    return read


def check(client: TestClient, code: str, **headers: str) -> None:
    client.post(f"{BOX}/check", data={"code": code, "revision": 0}, headers={"hx-request": "true", **headers})


def test_checks_are_counted_by_kind_and_outcome_and_timed(client: TestClient, read: Read) -> None:
    for code in ("dX = 1", "dX = 1", "timeout", "busy"):
        check(client, code)
    client.post(f"{BOX}/run", data={"code": "error", "revision": 0})

    found = read()
    assert found["backhand_checks_total", ("check", "graded")] == 1
    assert found["backhand_checks_total", ("check", "stored")] == 1
    assert found["backhand_checks_total", ("check", "timeout")] == 1
    assert found["backhand_checks_total", ("check", "put-off")] == 1
    assert found["backhand_checks_total", ("run", "error")] == 1
    assert found["backhand_check_seconds_count", ("check",)] == 2


def test_metrics_tell_time_by_route_part_of_a_check_and_database(client: TestClient, read: Read, grader) -> None:
    grader.outcome = Verdict(outcome="graded", hidden_sizes=2, wall_ms=7.0, jail_ms=4.0)
    check(client, "dX = 1")

    found = read()
    assert found["backhand_request_seconds_count", ("/lessons/{slug}/code/{name}/check",)] == 1
    parts = {labels[0] for name, labels in found if name == "backhand_check_part_seconds_count"}
    assert parts == {"waiting", "jail", "judging"}
    assert all(found["backhand_check_part_seconds_count", (part,)] == 1 for part in parts)
    assert found["backhand_check_part_seconds_sum", ("jail",)] == pytest.approx(0.004)
    assert found["backhand_check_part_seconds_sum", ("judging",)] == pytest.approx(0.003)
    assert found["backhand_database_seconds_count", ("write",)] >= 3
    assert found["backhand_database_seconds_count", ("line",)] == found["backhand_database_seconds_count", ("write",)]
    assert found["backhand_database_seconds_count", ("read",)] >= 1
    assert found["backhand_database_connections", ()] >= 0


def test_graders_and_their_queue_are_told(read: Read, grader) -> None:
    grader.load = Load(up=3, idle=1, waiting=7, replaced=2)

    found = read()
    assert found["backhand_graders_up", ()] == 3
    assert found["backhand_graders_idle", ()] == 1
    assert found["backhand_queue_length", ()] == 7
    assert found["backhand_graders_replaced", ()] == 2
    assert not [name for name, _ in found if name.startswith("backhand_role")]


def test_behind_a_broker_each_role_is_told_of_by_itself(read: Read, grader) -> None:
    checks = RoleLoad(role="checks", slots=3, pending=5, in_hand=2, waiting=1, redelivered=4, refused=6)
    grader.load = Load(roles=(checks, replace(checks, role="trains", pending=9)))

    found = read()
    told = {name.removeprefix("backhand_role_"): value for (name, labels), value in found.items() if "checks" in labels}
    assert told == {"slots": 3, "pending": 5, "in_hand": 2, "waiting": 1, "redelivered": 4, "refused": 6}
    assert found["backhand_role_pending", ("trains",)] == 9


def test_a_number_to_watch_that_needs_a_broker_is_said_to_need_one(client: TestClient, grader) -> None:
    grader.readiness = replace(grader.readiness, look=CanaryReport(at=1000.0, succeeded=()))
    section = OPERATING.read_text("utf-8").partition("## What to watch")[2].partition("\n## ")[0]
    told = client.get("/metrics").text

    absent = {name for name in re.findall(r"`(backhand_\w+)", section) if f" {name} " not in told}

    assert absent
    assert all(name.startswith("backhand_role_") for name in absent)
    assert "The numbers `backhand_role_…` are there only with a broker" in " ".join(section.split())


@pytest.mark.parametrize(("succeeded", "held"), [((), 1), (("fork", "sleep"), 0)])
def test_protection_and_canaries_are_told(read: Read, grader, succeeded: tuple[str, ...], held: int) -> None:
    layers = (("seccomp", "on"), ("landlock", "ENOSYS"))
    grader.readiness = Readiness(state="ready", layers=layers, look=CanaryReport(at=1234.5, succeeded=succeeded))

    found = read()
    assert found["backhand_protection", ("seccomp",)] == 1
    assert found["backhand_protection", ("landlock",)] == 0
    assert found["backhand_canaries_seconds", ()] == 1234.5
    assert found["backhand_canaries_held", ()] == held
    assert found["backhand_canaries_succeeded", ()] == len(succeeded)
    assert found["backhand_state", ("ready",)] == 1
    assert found["backhand_state", ("refused",)] == 0


def test_before_the_first_canary_nothing_is_claimed(read: Read) -> None:
    assert not [name for name, _ in read() if name.startswith("backhand_canaries")]


def test_sessions_and_training_runs_are_counted(client: TestClient, read: Read) -> None:
    before = read()["backhand_sessions", ()]
    check(client, "dX = 1")

    found = read()
    assert (before, found["backhand_sessions", ()]) == (0, 1)
    assert found["backhand_trainings", ()] == 0


def test_requests_are_counted_by_the_template_of_their_address(client: TestClient, read: Read) -> None:
    for path in ("/lessons/linear", "/lessons/the-secret-text", "/the-secret-text", "/static/the-secret-text.css"):
        client.get(path)
    check(client, "the-secret-text", **{"user-agent": "the-secret-text"})
    client.request("THE-SECRET-TEXT", "/")

    found = read()
    assert found["backhand_requests_total", ("/lessons/{slug}", "200")] == 1
    assert found["backhand_requests_total", ("/lessons/{slug}", "404")] == 1
    assert found["backhand_requests_total", ("unmatched", "404")] == 1
    assert found["backhand_requests_total", ("/static/{file}", "404")] == 1
    assert found["backhand_requests_total", ("/lessons/{slug}/code/{name}/check", "200")] == 1
    assert "secret" not in client.get("/metrics").text.lower()


def test_the_format_is_the_one_that_prometheus_reads(client: TestClient) -> None:
    response = client.get("/metrics")

    assert response.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert re.search(r"^# TYPE backhand_checks_total counter$", response.text, re.MULTILINE)


def test_a_locked_or_broken_database_hides_no_other_number(read: Read, app: FastAPI, monkeypatch) -> None:
    def broken() -> None:
        raise OSError

    monkeypatch.setattr(app.state.site.database, "read", broken)

    found = read()
    assert ("backhand_sessions", ()) not in found
    assert ("backhand_graders_up", ()) in found


@pytest.mark.parametrize("token", ["", "secret"])
@pytest.mark.parametrize("shown", ["", "Bearer ", "Bearer wrong", "secret", "Basic secret", "Bearer secret\u00e9"])
def test_nobody_reads_without_the_token_wherever_he_asks_from(
    settings: Settings, course: Course, grader, token: str, shown: str
) -> None:
    app = create_app(settings.model_copy(update={"operator_token": token}), course, grader)
    with TestClient(app, headers=BROWSER, client=HERE) as client:
        response = client.get("/metrics", headers={b"authorization": shown.encode()} if shown else {})

    assert response.status_code == 404
    assert "backhand_" not in response.text
