"""One warmed jail for the whole session; every test of a run in it shares it."""

from collections.abc import Iterator

import pytest

from app.sandbox.runner import Jail


@pytest.fixture(scope="session")
def jail() -> Iterator[Jail]:
    jail = Jail()
    assert jail.is_warm(60), jail.refusal
    yield jail
    jail.close()
