"""The registry knows every kind that a folder makes."""

from importlib import import_module

from app.course.directives import READERS
from app.kinds.block_kind import BlockKind
from app.kinds.registry import KINDS
from tests.walks import ROOT


def test_every_kind_that_a_folder_makes_is_registered() -> None:
    folders = (path.parent.name for path in (ROOT / "app" / "kinds").glob("*/__init__.py"))
    modules = [import_module(f"app.kinds.{folder}") for folder in folders]
    made = [kind for module in modules for kind in vars(module).values() if isinstance(kind, BlockKind)]

    assert sorted(kind.name for kind in made) == sorted(kind.name for kind in KINDS)


def test_no_two_kinds_share_a_name_or_a_class() -> None:
    assert len({kind.block for kind in KINDS}) == len({kind.name for kind in KINDS}) == len(KINDS)


def test_each_directive_is_written_by_one_kind() -> None:
    names = [reader.name for kind in KINDS for reader in kind.readers]

    assert len(names) == len(set(names))
    assert set(names) < READERS.keys()
