"""What holds for all tests."""

import pytest
from hypothesis import settings

from tests.examples import TIMES

# The same examples in every run, so that a red build is red again; no deadline, since a busy machine is no fault.
settings.register_profile(
    "project", deadline=None, derandomize=TIMES == 1, database=None, max_examples=100 * TIMES, print_blob=True
)
settings.load_profile("project")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if config.option.markexpr == "not prove":
        terminalreporter.write_line(
            "Tests marked `prove` were left out: they take long and seldom find more. `make prove` runs them."
        )
