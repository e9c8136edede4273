"""Rows of tables that `make test` makes: of a table that is marked `in_turn` a twelfth, of one marked `prove` none."""

import pytest

from app.engine.grader_version import JUDGES, sources_digest

TURNS = 12
"""One row of so many is made: which, the sources of the judge decide."""


def leave_for_later(metafunc: pytest.Metafunc) -> None:
    """Of a table that is marked `in_turn` make only the rows whose turn it is, in a run of all tests; of `prove` none.

    A mark with an argument means it only where that is true. Who runs its file, as `make quick` does, runs all of a
    table, and so does `make prove`. To make a row and then leave it out takes as long for six workers as a short test.
    """
    turn = int.from_bytes(sources_digest(JUDGES)) % TURNS
    calls = metafunc._calls
    due, rows = [], 0
    for call in calls:
        marks = [*metafunc.definition.iter_markers(), *call.marks]
        if any(mark.name == "prove" for mark in marks):
            continue
        if any(mark.name == "in_turn" and all(mark.args) for mark in marks):
            rows += 1
            if (rows - 1) % TURNS != turn:
                continue
        due.append(call)
    if calls and not due:  # without any row it would be a test without parameters
        calls[0].marks.append(pytest.mark.prove.mark)
    calls[:] = due or calls[:1]
