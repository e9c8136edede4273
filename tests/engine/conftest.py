"""One engine for all tests of this room: what it learns of a program it keeps."""

import pytest

from app.engine.grade import Engine
from tests.grading.boxes.load import OpenJail


@pytest.fixture(scope="session")
def engine():
    return Engine(OpenJail(), None)
