"""The registry knows every kind that a folder makes."""

from importlib import import_module

from app.kinds.block_kind import BlockKind
from app.kinds.number.block import NumbersQuestion
from app.kinds.readers import READERS
from app.kinds.registry import KINDS
from tests.walks import ROOT


def test_every_kind_that_a_folder_makes_is_registered() -> None:
    folders = (path.parent.name for path in (ROOT / "app" / "kinds").glob("*/kind.py"))
    modules = [import_module(f"app.kinds.{folder}.kind") for folder in folders]
    made = [kind for module in modules for kind in vars(module).values() if isinstance(kind, BlockKind)]

    assert sorted(kind.name for kind in made) == sorted(kind.name for kind in KINDS)


def test_no_two_kinds_share_a_name_or_a_class() -> None:
    assert len({kind.block for kind in KINDS}) == len({kind.name for kind in KINDS}) == len(KINDS)


def test_every_directive_that_a_folder_reads_is_registered() -> None:
    files = [path for path in (ROOT / "app" / "kinds").glob("*/*.py") if "\nREADER = " in path.read_text("utf-8")]
    made = [import_module(f"app.kinds.{path.parent.name}.{path.stem}").READER for path in files]

    assert sorted(reader.name for reader in made) == sorted(reader.name for reader in READERS)
    assert len({reader.name for reader in READERS}) == len(READERS)


def test_every_kind_is_written_by_a_directive_or_is_part_of_one() -> None:
    assert {kind.block for kind in KINDS} - {reader.block for reader in READERS} == {NumbersQuestion}
