"""The registry knows every kind that a folder makes."""

import sys
from pathlib import Path

import pytest

from app import kinds
from app.kinds.number.block import NumbersQuestion
from app.kinds.readers import READERS
from app.kinds.registry import KINDS


def test_a_folder_that_is_added_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for file, text in (("__init__.py", ""), ("kind.py", "KINDS = ('a new one',)\n")):
        (tmp_path / "added").mkdir(exist_ok=True)
        (tmp_path / "added" / file).write_text(text, "utf-8")
    monkeypatch.setattr(kinds, "__path__", [*kinds.__path__, str(tmp_path)])
    for name in ("app.kinds.added", "app.kinds.added.kind"):
        monkeypatch.setitem(sys.modules, name, None)
        monkeypatch.delitem(sys.modules, name)

    *others, added = sorted(kinds.modules_called("kind"), key=lambda module: module.__name__ == "app.kinds.added.kind")

    assert added.KINDS == ("a new one",)
    assert [kind for module in others for kind in module.KINDS] == [*KINDS]


def test_no_two_kinds_share_a_name_or_a_class() -> None:
    assert len({kind.block for kind in KINDS}) == len({kind.name for kind in KINDS}) == len(KINDS)


def test_no_two_directives_share_a_name() -> None:
    assert len({reader.name for reader in READERS}) == len(READERS)


def test_every_kind_is_written_by_a_directive_or_is_part_of_one() -> None:
    assert {kind.block for kind in KINDS} - {reader.block for reader in READERS} == {NumbersQuestion}
