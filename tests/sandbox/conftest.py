"""The jail of the whole session, and one of another user; every test of a run in them shares them."""

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from app.sandbox.runner import Jail
from tests.graders import warm_jail
from tests.zygotes import as_in_life

sys.path.insert(0, str(Path(__file__).parent))

from remote import AS_NOBODY, RemoteJail, can_change_user


@pytest.fixture(scope="session")
def jail() -> Iterator[Jail]:
    with ExitStack() as stack:
        with as_in_life():
            warm = stack.enter_context(warm_jail())
        yield warm


@pytest.fixture(scope="module", autouse=True)
def _as_in_life() -> Iterator[None]:
    with as_in_life():
        yield


@pytest.fixture(scope="session")
def nobodys_jail() -> Iterator[RemoteJail]:
    """The jail of an unprivileged user."""
    if os.geteuid() != 0 or not can_change_user():
        pytest.skip("only root can become another user; these tests run as an unprivileged user already")
    remote = RemoteJail(AS_NOBODY)
    yield remote
    remote.close()


@pytest.fixture(scope="session", params=["jail", "nobodys_jail"], ids=["own user", "nobody"])
def any_jail(request: pytest.FixtureRequest) -> Jail | RemoteJail:
    return request.getfixturevalue(request.param)
