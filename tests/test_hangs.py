"""One watch over many tests: whichever of them hangs has nearly all of its time, and no more."""

import faulthandler
import time
from typing import Any

import pytest

from tests.hangs import HangWatch


@pytest.fixture
def watches(monkeypatch: pytest.MonkeyPatch) -> list[tuple[float, float]]:
    """When a watch began, and its seconds; the clock is at a thousand."""
    begun: list[tuple[float, float]] = []
    monkeypatch.setattr(time, "monotonic", lambda: 1000.0)

    def begin(seconds: float, **options: Any) -> None:
        assert options == {"file": 2, "exit": True}
        begun.append((time.monotonic(), seconds))

    monkeypatch.setattr(faulthandler, "dump_traceback_later", begin)
    return begun


def test_a_watch_is_renewed_after_a_twentieth_of_its_time(watches, monkeypatch):
    watch = HangWatch(600, 2)
    for moment in (1000.0, 1001.0, 1029.0, 1030.0, 1059.0, 1700.0):
        monkeypatch.setattr(time, "monotonic", lambda moment=moment: moment)
        watch.pytest_runtest_protocol()

    assert watches == [(1000.0, 600), (1030.0, 600), (1700.0, 600)]


def test_after_a_test_that_failed_the_watch_begins_anew(watches):
    watch = HangWatch(600, 2)
    watch.pytest_runtest_protocol()
    watch.pytest_exception_interact()
    watch.pytest_runtest_protocol()

    assert len(watches) == 2


def test_this_run_is_watched_as_long_as_it_is_told_to_be(pytestconfig):
    assert any(isinstance(plugin, HangWatch) for plugin in pytestconfig.pluginmanager.get_plugins())
    assert pytestconfig.getini("faulthandler_timeout") == 0
