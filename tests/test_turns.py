"""In a run of all tests, a table has the rows whose turn it is."""

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests import turns
from tests.turns import PAGES, TURNS, files_digest, leave_for_later, rows_in_turn

IN_TURN, PROVE = pytest.mark.in_turn, pytest.mark.prove


@pytest.mark.parametrize(
    ("of_table", "of_rows", "left"),
    [
        ([IN_TURN], [], 12 // TURNS),
        ([], [IN_TURN(True)], 12 // TURNS),
        ([IN_TURN(turns=4, places=PAGES)], [], 12 // 4),
        ([], [IN_TURN(False)], 12),
        ([], [], 12),
        ([PROVE, IN_TURN], [], 0),
        ([], [PROVE], 0),
    ],
)
def test_rows_are_left_for_later_where_a_mark_says_so(
    of_table: Sequence[pytest.MarkDecorator], of_rows: Sequence[pytest.MarkDecorator], left: int
) -> None:
    table = SimpleNamespace(iter_markers=lambda: [mark.mark for mark in of_table])
    calls = [SimpleNamespace(marks=[mark.mark for mark in of_rows]) for _ in range(12)]
    metafunc: Any = SimpleNamespace(_calls=calls, definition=table)

    leave_for_later(metafunc)

    assert len([call for call in calls if PROVE.mark not in call.marks]) == left
    assert calls


@pytest.mark.parametrize("count", [1, 5, 8, 12, 30])
def test_each_row_has_its_turn_and_no_turn_is_without_a_row(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    made = []
    for digest in range(256):
        monkeypatch.setattr(turns, "files_digest", lambda _, digest=digest: bytes([digest]))
        made.append(rows_in_turn(range(count), 8))

    assert {row for rows in made for row in rows} == {*range(count)}
    assert {len(rows) for rows in made} <= {max(count // 8, 1), -(-count // 8)}


@pytest.mark.parametrize("changed", ["templates/base.html", "static/css/base.css", "static/js/page.js", "app/web/a.py"])
def test_a_change_of_what_makes_pages_is_another_turn_of_theirs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changed: str
) -> None:
    monkeypatch.setattr(turns, "ROOT", tmp_path)
    file = tmp_path / changed
    file.parent.mkdir(parents=True)
    file.write_text("as it was")
    before = files_digest.__wrapped__(PAGES)

    file.write_text("as it is")

    assert files_digest.__wrapped__(PAGES) != before


def test_a_table_without_parameters_stays_as_it_is() -> None:
    metafunc: Any = SimpleNamespace(_calls=[], definition=SimpleNamespace(iter_markers=list))

    leave_for_later(metafunc)

    assert metafunc._calls == []
