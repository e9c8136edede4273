import socket
from collections.abc import Iterator

import pytest

from app.engine.grader import CanaryReport
from app.engine.pool import canary_watch
from app.engine.pool.canary_watch import CanaryWatch
from app.sandbox.runner import Jail


@pytest.fixture
def looks() -> list[CanaryReport]:
    """What the watch told."""
    return []


@pytest.fixture(autouse=True)
def _unrefused(jail: Jail) -> Iterator[None]:
    yield
    jail.refusal = ""


def test_a_jail_that_holds_is_not_refused(jail: Jail, looks: list[CanaryReport]) -> None:
    CanaryWatch(jail, on=True, tell=looks.append).look()

    assert jail.refusal == ""
    assert [look.succeeded for look in looks] == [()]


def test_a_canary_that_succeeds_stops_the_jail(
    jail: Jail, monkeypatch: pytest.MonkeyPatch, looks: list[CanaryReport]
) -> None:
    monkeypatch.setattr(canary_watch, "run_canaries", lambda _: ("read a file",))

    CanaryWatch(jail, on=True, tell=looks.append).look()

    assert "read a file" in jail.refusal
    assert [look.succeeded for look in looks] == [("read a file",)]


def test_the_canaries_fly_again_after_a_while_and_end_the_grader(
    jail: Jail, monkeypatch: pytest.MonkeyPatch, looks: list[CanaryReport]
) -> None:
    monkeypatch.setattr(canary_watch, "WATCH_SECONDS", 0.0)
    monkeypatch.setattr(canary_watch, "run_canaries", lambda _: ("fork",))
    ours, theirs = socket.socketpair()
    with ours, theirs:
        assert not CanaryWatch(jail, on=True, tell=looks.append).holds(ours)


def test_a_question_is_let_through_while_the_jail_holds(jail: Jail, looks: list[CanaryReport]) -> None:
    watcher = CanaryWatch(jail, on=True, tell=looks.append)
    watcher.look()
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(b"x")

        assert watcher.holds(ours)


def test_a_watch_that_is_off_never_looks(
    jail: Jail, monkeypatch: pytest.MonkeyPatch, looks: list[CanaryReport]
) -> None:
    monkeypatch.setattr(canary_watch, "run_canaries", lambda _: ("fork",))

    CanaryWatch(jail, on=False, tell=looks.append).look()

    assert jail.refusal == ""
