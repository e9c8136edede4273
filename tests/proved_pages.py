"""Whether all tests in a browser have passed since anything changed that makes a page.

A run of all of them keeps a digest of that. Where it is the same `make test` takes a twelfth of them, which the sources
of the judge choose: what changed is elsewhere, and has tests of its own.
"""

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.turns import EXPORTS, PAGES, ROOT, files_digest, rows_in_turn, runs_all_of

FILE = ROOT / "tests" / "proved_pages.txt"
PLACES = (*PAGES, *EXPORTS, "static/build.mjs", "package-lock.json", "tests/browser")
"""What makes pages, and what looks at them."""
LEFT_OUT = pytest.StashKey[bool]()


def are_proved(file: Path = FILE) -> bool:
    return file.exists() and file.read_text("utf-8").strip() == files_digest(PLACES).hex()


def keep(file: Path = FILE) -> None:
    file.write_text(f"{files_digest(PLACES).hex()}\n", "utf-8")


def begin(config: pytest.Config) -> None:
    """Before a page may change: whether this run leaves tests in a browser out."""
    config.stash[LEFT_OUT] = are_proved() and runs_all_of(config, "tests")


def looks_at_all(config: pytest.Config) -> bool:
    """Whether this is a run of all tests in a browser."""
    of_all = runs_all_of(config, "tests/browser") or runs_all_of(config, "tests")
    return of_all and not config.stash[LEFT_OUT]


def due(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """*items*, but of those in a browser the twelfth whose turn it is."""
    often = [item for item in items if item.get_closest_marker("prove") is None]
    of_pages = [item for item in often if item.nodeid.startswith("tests/browser/")]
    later = {*of_pages} - {*rows_in_turn(of_pages)}
    return [item for item in items if item not in later]
