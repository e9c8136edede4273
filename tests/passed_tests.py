"""What a worker tells the run of a test that passed: one report, where xdist sends three, and two lines more.

Each message wakes the run: of ten thousand tests that is some seconds.
"""

from typing import Any

import pytest

SECONDS = 0.5
"""Preparations that take longer are told, for the list of the slowest."""
UNHEARD = ("logstart", "logfinish")
"""Nothing is done when the run hears of them."""


class BriefReports:
    @pytest.hookimpl(tryfirst=True)
    def pytest_report_to_serializable(self, report: object) -> dict[str, Any] | None:
        """Nothing, of what stands around a test and went well."""
        around = isinstance(report, pytest.TestReport) and report.when != "call"
        return {} if around and report.passed and report.duration < SECONDS else None


def tell_briefly(config: pytest.Config) -> None:
    """In a worker, keep what goes without saying from the run."""
    teller = next((one for one in config.pluginmanager.get_plugins() if hasattr(one, "sendevent")), None)
    if teller is None:
        return
    config.pluginmanager.register(BriefReports())
    send = teller.sendevent

    def sent(name: str, **told: Any) -> None:
        if name not in UNHEARD and not (name == "testreport" and "outcome" not in told["data"]):
            send(name, **told)

    teller.sendevent = sent
