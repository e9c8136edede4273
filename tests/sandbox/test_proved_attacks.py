"""All attacks are tried once anything has changed that their end depends on; until then a twelfth of them."""

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from proved_attacks import ROOT, are_proved, digest, keep, sources

from tests.conftest import TURNS, leave_for_later
from tests.quick import import_graph


def test_all_that_the_jail_imports_is_in_the_digest() -> None:
    imported = import_graph().find_upstream_modules("app.sandbox", as_package=True)
    files = {ROOT / f"{module.replace('.', '/')}.py" for module in imported} | {
        ROOT / module.replace(".", "/") / "__init__.py" for module in imported
    }
    code = {file for file in files if file.exists() and file.read_text("utf-8").strip()}

    assert code - set(sources()) == set()


def test_a_word_in_an_attack_or_in_the_jail_makes_it_another_digest(tmp_path: Path) -> None:
    (tmp_path / "jail").mkdir()
    digests = {digest([tmp_path])}
    for name in ("jail/gate.py", "attacks.md", "jail/gate.md"):
        for text in ("one", "another"):
            (tmp_path / name).write_text(text)
            digests.add(digest([tmp_path]))

    assert len(digests) == 7
    (tmp_path / "jail" / "gate.pyc").write_text("what was compiled says nothing")
    assert digest([tmp_path]) in digests


def test_what_was_tried_is_known_until_it_is_something_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = tmp_path / "proved.txt"
    assert not are_proved(kept)

    keep(kept)
    assert are_proved(kept)

    monkeypatch.setattr("platform.release", lambda: "a kernel of tomorrow")
    assert not are_proved(kept)


@pytest.mark.parametrize(("words", "left"), [((), 12 - 12 // TURNS), ((True,), 12 - 12 // TURNS), ((False,), 0)])
def test_rows_are_left_for_later_where_their_mark_says_so(words: Sequence[bool], left: int) -> None:
    items: list[Any] = [Row(f"test_a.py::test_b[{number}]", words) for number in range(12)]
    config: Any = SimpleNamespace(hook=SimpleNamespace(pytest_deselected=lambda **_: None))

    leave_for_later(config, items)

    assert len(items) == 12 - left


class Row:
    """The part of a test that tells what it is marked with."""

    def __init__(self, nodeid: str, words: Sequence[bool]) -> None:
        self.nodeid = nodeid
        self._mark = pytest.mark.in_turn(*words).mark

    def get_closest_marker(self, name: str) -> pytest.Mark | None:
        return self._mark if name == "in_turn" else None
