import contextlib
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest
from fastapi import FastAPI
from sqlalchemy import event
from sqlalchemy.exc import OperationalError
from starlette.testclient import TestClient

from app.engine.grader import CanaryReport, Readiness
from app.installation import version
from app.store import database as store
from app.store.database import Database
from app.web.routes import health
from tests.web.conftest import BROWSER

OPERATOR = {"authorization": "Bearer the token of the operator"}


def test_healthz_answers_without_anything(client: TestClient) -> None:
    assert client.get("/healthz").json() == {"status": "ok", "version": version()}


@pytest.mark.parametrize(
    ("state", "status"), [("ready", 200), ("refused", 200), ("away", 200), ("warming", 503), ("stopped", 503)]
)
def test_readyz_tells_the_operator_what_protects_and_what_is_missing(
    client: TestClient, grader, state, status: int
) -> None:
    grader.readiness = Readiness(state=state, reason="because", layers=(("seccomp", "on"), ("landlock", "ENOSYS")))
    response = client.get("/readyz", headers=OPERATOR)
    outside = client.get("/readyz")

    assert response.status_code == outside.status_code == status
    assert outside.json() == {"ready": status == 200, "state": state, "database": "ok"}
    assert response.json() == {
        "ready": status == 200,
        "state": state,
        "reason": "because",
        "layers": {"seccomp": "on", "landlock": "ENOSYS"},
        "canaries": {"held": None, "at": None, "succeeded": []},
        "database": "ok",
    }


@pytest.mark.parametrize("succeeded", [(), ("fork",)])
def test_readyz_says_when_the_canaries_flew_and_what_they_found(
    client: TestClient, grader, succeeded: tuple[str, ...]
) -> None:
    grader.readiness = Readiness(state="ready", look=CanaryReport(at=86_400.0, succeeded=succeeded))

    assert client.get("/readyz", headers=OPERATOR).json()["canaries"] == {
        "held": not succeeded,
        "at": "1970-01-02T00:00:00+00:00",
        "succeeded": list(succeeded),
    }


def test_a_server_that_stops_is_not_ready(client: TestClient, app: FastAPI) -> None:
    app.state.stopping = True

    assert client.get("/readyz").json()["state"] == "stopped"
    assert client.get("/readyz").status_code == 503


@pytest.fixture
def locked(app: FastAPI, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    """A client whose server finds the database locked by another program."""
    monkeypatch.setattr(store, "BUSY_SECONDS", 0.02)
    event.listen(app.state.site.database.engine.sync_engine, "checkout", _impatient)
    with TestClient(app, headers=BROWSER) as client:
        yield from _locked(client, tmp_path)


def _impatient(connection: Any, *_: object) -> None:
    connection.cursor().execute("PRAGMA busy_timeout=20")


def _locked(client: TestClient, tmp_path: Path) -> Iterator[TestClient]:
    client.get("/")
    lock = sqlite3.connect(tmp_path / "data" / "backhand.db", isolation_level=None)
    lock.execute("BEGIN IMMEDIATE")
    yield client
    lock.close()


@pytest.mark.alone
def test_an_answer_that_cannot_be_saved_says_so(locked: TestClient) -> None:
    response = locked.post("/lessons/linear/quiz/half", data={"answer": "0.5"})

    assert response.status_code == 503
    assert "cannot save right now" in response.text
    assert "keep a copy" in response.text
    assert "Try again" not in response.text, "it would send nothing"


def gone(_database: object, **_how: object) -> NoReturn:
    raise OperationalError("", {}, ConnectionRefusedError("nobody listens"))


@pytest.mark.parametrize("path", ["/", "/units/layers", "/lessons/linear"])
def test_the_course_can_be_read_where_the_database_is_away(
    client: TestClient, app: FastAPI, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.get("/lessons/linear")
    for name in ("read", "write"):
        monkeypatch.setattr(type(app.state.site.database), name, gone)

    response = client.get(path)

    assert response.status_code == 200
    assert "can be neither read nor saved" in response.text


def test_an_unreadable_page_says_nothing_is_lost_and_offers_a_retry(
    client: TestClient, app: FastAPI, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.get("/lessons/linear")
    monkeypatch.setattr(type(app.state.site.database), "read", gone)

    response = client.get("/me")

    assert response.status_code == 503
    assert "Nothing is lost" in response.text
    assert '<a class="button" data-primary href="">Try again</a>' in response.text


@pytest.mark.alone
def test_a_lesson_can_be_read_all_the_same(locked: TestClient) -> None:
    response = locked.get("/lessons/linear")

    assert response.status_code == 200
    assert "can be neither read nor saved" in response.text


@pytest.mark.alone
def test_readyz_asks_the_database_once_a_second(
    client: TestClient, app: FastAPI, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each look takes its turn among those who write, and anybody may ask."""
    monkeypatch.setattr(health, "HEALTH_CACHE_SECONDS", 3600.0)
    looks: list[object] = []

    async def ping(database: Database) -> None:
        looks.append(database)

    monkeypatch.setattr(Database, "ping", ping)

    answers = [client.get("/readyz").json() for _ in range(12)]

    assert len(looks) == 1
    assert answers == answers[:1] * 12
    assert answers[0]["database"] == "ok"
    app.state.database = (0.0, "")
    client.get("/readyz")
    assert len(looks) == 2


def test_without_a_database_the_server_is_not_ready(client: TestClient, monkeypatch) -> None:
    async def fail(_: Database) -> None:
        raise OSError

    monkeypatch.setattr(Database, "ping", fail)

    assert client.get("/readyz").status_code == 503
    assert client.get("/readyz").json()["database"] == "does not answer"


def test_where_the_log_cannot_be_written_either_the_page_says_so(
    client: TestClient, app: FastAPI, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.get("/lessons/linear")
    monkeypatch.setattr(type(app.state.site.database), "write", gone)
    with contextlib.suppress(OSError), Path("/dev/full").open("w") as full:
        monkeypatch.setattr(sys, "stdout", full)
        response = client.post("/lessons/linear/quiz/half", data={"answer": "0.5"})
        read = client.get("/lessons/linear")
        monkeypatch.undo()

    assert (response.status_code, read.status_code) == (503, 200)
    assert "cannot save right now" in response.text
