"""Engines for the tests of this room: one outside of every jail, which keeps what it learns, and one per file in it."""

import pytest

from app.engine.grade.engine import Engine
from app.sandbox.runner import Jail
from tests.grading.boxes.load import OpenJail


@pytest.fixture(scope="session")
def engine():
    return Engine(OpenJail(), None)


@pytest.fixture(scope="module")
def jail():
    """The real one."""
    jail = Jail()
    if jail.refusal:
        pytest.skip(f"code is refused here: {jail.refusal}")
    yield jail
    jail.close()


@pytest.fixture(scope="module")
def jailed(jail):
    return Engine(jail, None)
