"""Engines for the tests of this room: one outside of every jail, and one in it; both keep what they learn."""

import pytest

from app.engine.grade.engine import Engine
from tests.grading.boxes.load import OpenJail


@pytest.fixture(scope="session")
def engine():
    return Engine(OpenJail(), None)


@pytest.fixture(scope="session")
def jailed(jail):
    return Engine(jail, None)
