"""A database that cannot be written: full, read-only, locked. It is said in plain words, and ends when its cause ends.

The faults are SQLite's own: its limit of pages, its read-only mode, another connection's lock.
"""

import contextlib
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from sqlalchemy import event
from starlette.testclient import TestClient

from app.store import database as store
from tests.turns import PAGES

pytestmark = pytest.mark.alone

LESSON = "/lessons/linear"
BOX = f"{LESSON}/code/linear-backward"
HTMX = {"hx-request": "true"}
TEXT = "dX = 1  # " + "x" * 19_000  # more than fits into pages that are there already
FAULTS = ["full", "read-only", "locked"]


@dataclass
class Fault:
    """What is wrong with the database now."""

    folder: Path
    kind: str = ""
    lock: sqlite3.Connection | None = None

    @property
    def file(self) -> Path:
        return self.folder / "data" / "backhand.db"

    def begin(self, kind: str) -> None:
        self.kind = kind
        if kind == "locked":
            self.lock = sqlite3.connect(self.file, isolation_level=None, check_same_thread=False)
            self.lock.execute("BEGIN IMMEDIATE")

    def end(self) -> None:
        self.kind = ""
        if self.lock is not None:
            self.lock.close()
            self.lock = None

    def apply(self, connection: Any, *_: object) -> None:
        """Make *connection*, which is about to be used, as bad as the disk would."""
        cursor = connection.cursor()
        # With nothing wrong it waits as ever: what a server does when it starts may be at it.
        cursor.execute(f"PRAGMA busy_timeout={20 if self.kind else 5000}")
        # A limit below what is in use counts as what is in use: no page can be added.
        cursor.execute(f"PRAGMA max_page_count={1 if self.kind == 'full' else 10**9}")
        cursor.execute(f"PRAGMA query_only={'ON' if self.kind == 'read-only' else 'OFF'}")
        cursor.close()


@pytest.fixture
def fault(app: FastAPI, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Fault]:
    found = Fault(tmp_path)
    # A writer that met the lock at once waits on; it asks for its own patience, which is cut here.
    monkeypatch.setattr(store, "BUSY_SECONDS", 0.02)
    event.listen(app.state.site.database.engine.sync_engine, "checkout", found.apply)
    yield found
    found.end()


@pytest.fixture
def known(client: TestClient, fault: Fault) -> TestClient:
    """A learner with a session and a draft from before the fault."""
    assert fault.kind == ""
    assert send(client, "draft", "dX = 0").status_code == 200
    return client


def send(client: TestClient, action: str, code: str = TEXT, *, htmx: bool = False, **more: object):
    data = {"code": code, "revision": 1, **more}
    return client.post(f"{BOX}/{action}", data=data, headers=HTMX if htmx else {})


def draft(fault: Fault) -> str:
    with sqlite3.connect(fault.file) as db:
        (found,) = db.execute("SELECT text FROM draft").fetchone()
    db.close()
    return str(found)


ACTS: dict[str, Callable[..., Any]] = {
    "check": lambda client, **how: send(client, "check", **how),
    "run": lambda client, **how: send(client, "run", **how),
    "nudge": lambda client, **how: send(client, "nudge", nudge="dX", **how),
    "reset": lambda client, **how: send(client, "reset", confirm="yes", **how),
    "history": lambda client, **how: send(client, "history", **how),
    "solution": lambda client, **how: send(client, "solution", **how),
}


@pytest.mark.in_turn(turns=4, places=PAGES)
@pytest.mark.parametrize("kind", FAULTS)
@pytest.mark.parametrize("act", ACTS)
def test_a_fragment_says_nothing_was_saved_and_the_next_try_is(
    known: TestClient, fault: Fault, act: str, kind: str
) -> None:
    fault.begin(kind)
    response = ACTS[act](known, htmx=True)

    assert response.status_code == 503
    assert "The server cannot save right now" in response.text
    assert "keep a copy" in response.text
    assert "<html" not in response.text
    assert response.headers["hx-reswap"] == "innerHTML"
    assert draft(fault) == "dX = 0"
    fault.end()
    assert ACTS[act](known, htmx=True).status_code == 200
    assert draft(fault) == TEXT or act == "reset"


@pytest.mark.in_turn(turns=4, places=PAGES)
@pytest.mark.parametrize("kind", FAULTS)
@pytest.mark.parametrize("act", ACTS)
def test_a_plain_form_gets_a_page_that_leads_back(known: TestClient, fault: Fault, act: str, kind: str) -> None:
    fault.begin(kind)
    response = ACTS[act](known)

    assert response.status_code == 503
    assert "<h1>The server cannot save right now</h1>" in response.text
    assert f'href="{LESSON}#linear-backward"' in response.text
    fault.end()
    assert ACTS[act](known).status_code == 200


@pytest.mark.parametrize("kind", FAULTS)
def test_a_draft_that_cannot_be_saved_is_not_said_to_be(known: TestClient, fault: Fault, kind: str) -> None:
    fault.begin(kind)

    assert send(known, "draft").status_code == 503
    fault.end()
    assert send(known, "draft").json()["revision"] == 2
    assert draft(fault) == TEXT


@pytest.mark.parametrize("kind", FAULTS)
def test_lessons_are_read_and_the_process_lives_all_the_same(known: TestClient, fault: Fault, kind: str) -> None:
    fault.begin(kind)

    assert [known.get(path).status_code for path in ("/", LESSON, "/healthz")] == [200] * 3


@pytest.mark.parametrize("kind", FAULTS)
def test_a_newcomer_can_read_and_is_told_that_nothing_can_be_saved(
    known: TestClient, other: TestClient, fault: Fault, kind: str
) -> None:
    assert known
    fault.begin(kind)

    assert other.get(LESSON).status_code == 200
    status = other.post(f"{LESSON}/quiz/half", data={"answer": "0.5"}).status_code
    # A few small rows may still fit into pages that are there.
    assert status in ({200, 503} if kind == "full" else {503})
    fault.end()
    assert other.post(f"{LESSON}/quiz/half", data={"answer": "0.5"}).status_code == 200


@pytest.mark.parametrize("kind", FAULTS)
def test_a_fault_while_code_runs_loses_the_verdict_and_not_the_text(
    known: TestClient, fault: Fault, grader, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    async def meanwhile(task: Any, code: str) -> Any:
        fault.begin(kind)
        return await judged(task, code)

    judged = grader.check
    monkeypatch.setattr(grader, "check", meanwhile)
    response = send(known, "check", htmx=True)

    assert response.status_code == 503
    assert draft(fault) == TEXT
    fault.end()
    monkeypatch.setattr(grader, "check", judged)
    assert send(known, "check", htmx=True).status_code == 200


WORDS = {"full": "database or disk is full", "read-only": "attempt to write a readonly database", "locked": "locked"}


@pytest.mark.parametrize("kind", FAULTS)
def test_a_server_that_can_only_read_is_not_ready_until_it_can_write(
    known: TestClient, fault: Fault, kind: str
) -> None:
    fault.begin(kind)
    response = known.get("/readyz")

    assert response.status_code == 503
    assert response.json()["ready"] is False
    assert response.json()["database"].startswith("cannot be written: ")
    assert WORDS[kind] in response.json()["database"]
    fault.end()
    assert known.get("/readyz").json()["database"] == "ok"
    with contextlib.closing(sqlite3.connect(fault.file)) as db:
        assert db.execute("SELECT count(*) FROM learner").fetchone() == (1,)
        assert db.execute("SELECT count(*) FROM draft").fetchone() == (1,)
