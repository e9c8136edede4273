"""A class, its instructor and whoever else comes, for every page of classes."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from app.practice import pool
from app.store import moments, progress
from app.store.tables import Class
from tests.lti.platform import Platform
from tests.web.classroom import Classroom
from tests.web.conftest import Shared
from tests.web.routes.platforms import ADDRESS, tool_of
from tests.web.routes.practising import Clock, Learner


@pytest.fixture
def room(app: FastAPI, client: TestClient) -> Classroom:
    assert client
    return Classroom(app)


@pytest.fixture(scope="session")
def lti_tool(tmp_path_factory: pytest.TempPathFactory, empty_database: Path) -> Iterator[tuple[Platform, Shared]]:
    """A learning platform, and a server that it opens pages of: for all files that import them, once."""
    platform = Platform(ADDRESS)
    with tool_of(platform, tmp_path_factory.mktemp("tool"), empty_database) as shared:
        yield platform, shared
    platform.close()


@pytest.fixture
def ada(room: Classroom) -> TestClient:
    return room.browser("Ada", teaches=True)


@pytest.fixture
def group(room: Classroom, ada: TestClient) -> Class:
    """What Ada teaches."""
    assert ada
    return room.found("Algebra", "Ada")


@pytest.fixture
def bob(room: Classroom, group: Class) -> TestClient:
    """Somebody in the class."""
    browser = room.browser("Bob")
    room.join(group, "Bob")
    return browser


@pytest.fixture
def clock(app: FastAPI, monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    app.state.site.practice.clock = clock
    for room in (progress, moments):
        monkeypatch.setattr(room, "now", clock)
    monkeypatch.setattr(pool, "STOCK", 0)
    return clock


@pytest.fixture
def learner(client: TestClient, app: FastAPI, clock: Clock) -> Learner:
    assert clock.now
    return Learner(client, app.state.site)
