"""A class, its instructor and whoever else comes, for every page of classes."""

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from app.store.tables import Class
from tests.web.classroom import Classroom


@pytest.fixture
def room(app: FastAPI, client: TestClient) -> Classroom:
    assert client
    return Classroom(app)


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
