"""Rows of tables that `make test` makes: of a table that is marked `in_turn` a twelfth, of one marked `prove` none."""

from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

import pytest

from app.engine.grader_version import JUDGES, sources_digest

Row = TypeVar("Row")
TURNS = 12
"""One row of so many is made: which, the sources of the judge decide, or those that a mark names."""
PAGES = ("templates", "static/css", "static/js", "app/web", "app/kinds")
"""What makes a page look as it does."""
EXPORTS = ("lessons", "app/content", "app/course", "app/kinds", "app/web/pictures")
"""What makes notebooks and scripts of lessons."""
CHOICES = ("keyword", "deselect", "ignore", "ignore_glob", "lf", "stepwise", "collectonly", "setuponly", "setupplan")
"""Options by which a run takes a part of what it is asked for, or nothing of it."""
ROOT = Path(__file__).resolve().parents[1]


@cache
def files_digest(places: tuple[str, ...]) -> bytes:
    """A digest of all files in *places*; of those of the judge, where none are named."""
    if not places:
        return sources_digest(JUDGES)
    together = sha256()
    files = (file for place in places for file in [ROOT / place, *(ROOT / place).rglob("*")])
    for file in sorted(file for file in files if file.is_file() and file.suffix != ".pyc"):
        together.update(file.read_bytes())
    return together.digest()


def rows_in_turn(rows: Sequence[Row], turns: int = TURNS, places: tuple[str, ...] = ()) -> Sequence[Row]:
    """One of *turns* rows, which the files in *places* choose: of fewer rows than that, one."""
    turn = int.from_bytes(files_digest(places)) % (min(turns, len(rows)) or 1)
    return rows[turn::turns]


def runs_all_of(config: pytest.Config, folder: str) -> bool:
    """Whether this is a run of all tests in *folder* but those that are marked `prove`."""
    of_all = [*map(Path, config.args)] in ([Path(folder)], [ROOT / folder])
    is_part = any(getattr(config.option, choice, None) for choice in CHOICES)
    return of_all and config.option.markexpr == "not prove" and not is_part


def leave_for_later(metafunc: pytest.Metafunc) -> None:
    """Of a table that is marked `in_turn` make only the rows whose turn it is, in a run of all tests; of `prove` none.

    A mark with an argument means it only where that is true; it may name *turns* and *places* of its own. Who runs its
    file, as `make quick` does, runs all of a table, and so does `make prove`. To make a row and then leave it out takes
    as long for all workers as a short test.
    """
    calls = metafunc._calls
    due, rows = [], []
    of_mark: dict[str, Any] = {}
    for call in calls:
        marks = [*metafunc.definition.iter_markers(), *call.marks]
        if any(mark.name == "prove" for mark in marks):
            continue
        mark = next((mark for mark in marks if mark.name == "in_turn" and all(mark.args)), None)
        if mark is None:
            due.append(call)
        else:
            rows.append(call)
            of_mark = mark.kwargs
    due += rows_in_turn(rows, **of_mark)
    if calls and not due:  # without any row it would be a test without parameters
        calls[0].marks.append(pytest.mark.prove.mark)
    calls[:] = due or calls[:1]
