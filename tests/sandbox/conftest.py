"""One warmed jail for the whole session, and one of another user; every test of a run in them shares them."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.sandbox.runner import Jail

sys.path.insert(0, str(Path(__file__).parent))

from remote import AS_NOBODY, RemoteJail, can_change_user


@pytest.fixture(scope="session")
def jail() -> Iterator[Jail]:
    jail = Jail()
    assert jail.is_warm(60), jail.refusal
    yield jail
    jail.close()


@pytest.fixture(scope="session", params=["own user", "nobody"])
def any_jail(request: pytest.FixtureRequest) -> Iterator[Jail | RemoteJail]:
    """The jail as the user who runs the tests, and as an unprivileged one where root can become that."""
    if request.param == "own user":
        yield request.getfixturevalue("jail")
        return
    if os.geteuid() != 0 or not can_change_user():
        pytest.skip("only root can become another user; these tests run as an unprivileged user already")
    remote = RemoteJail(AS_NOBODY)
    yield remote
    remote.close()
