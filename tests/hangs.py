"""The watch over tests that hang: one thread for many tests, where pytest begins one for each and waits for its end.

A busy machine lets that thread wait for its turn: twenty milliseconds of each test at load 25.
"""

import faulthandler
import time

import pytest
from _pytest.faulthandler import fault_handler_stderr_fd_key

PARTS = 20
"""The watch is renewed after so small a part of its time: a test has the rest of it for itself."""


class HangWatch:
    """Ends the run *seconds* after its last renewal, and shows all stacks in the file *stderr*."""

    def __init__(self, seconds: float, stderr: int) -> None:
        self._seconds, self._stderr = seconds, stderr
        self._renewal = 0.0

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self) -> None:
        if time.monotonic() >= self._renewal:
            faulthandler.dump_traceback_later(self._seconds, file=self._stderr, exit=True)
            self._renewal = time.monotonic() + self._seconds / PARTS

    def pytest_exception_interact(self) -> None:
        """Pytest ends the watch where a test failed."""
        self._renewal = 0.0

    def pytest_unconfigure(self) -> None:
        faulthandler.cancel_dump_traceback_later()


def watch_hangs(config: pytest.Config) -> None:
    """Take the place of pytest's own watch, which is configured by now, with the time that it was given."""
    seconds = float(config.getini("faulthandler_timeout") or 0)
    if seconds:
        config._inicache["faulthandler_timeout"] = 0
        config.pluginmanager.register(HangWatch(seconds, config.stash[fault_handler_stderr_fd_key]))
