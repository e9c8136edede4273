"""Rows of tables that `make test` makes: of a table that is marked `in_turn` a twelfth, of one marked `prove` none."""

from collections.abc import Sequence
from typing import TypeVar

import pytest

from app.engine.grader_version import JUDGES, sources_digest

Row = TypeVar("Row")
TURNS = 12
"""One row of so many is made: which, the sources of the judge decide."""


def rows_in_turn(rows: Sequence[Row], turns: int = TURNS) -> Sequence[Row]:
    """One of *turns* rows: of fewer rows than that, one."""
    turn = int.from_bytes(sources_digest(JUDGES)) % (min(turns, len(rows)) or 1)
    return rows[turn::turns]


def leave_for_later(metafunc: pytest.Metafunc) -> None:
    """Of a table that is marked `in_turn` make only the rows whose turn it is, in a run of all tests; of `prove` none.

    A mark with an argument means it only where that is true. Who runs its file, as `make quick` does, runs all of a
    table, and so does `make prove`. To make a row and then leave it out takes as long for six workers as a short test.
    """
    calls = metafunc._calls
    due, rows = [], []
    for call in calls:
        marks = [*metafunc.definition.iter_markers(), *call.marks]
        if any(mark.name == "prove" for mark in marks):
            continue
        in_turn = any(mark.name == "in_turn" and all(mark.args) for mark in marks)
        (rows if in_turn else due).append(call)
    due += rows_in_turn(rows)
    if calls and not due:  # without any row it would be a test without parameters
        calls[0].marks.append(pytest.mark.prove.mark)
    calls[:] = due or calls[:1]
