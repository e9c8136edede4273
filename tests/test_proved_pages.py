"""All tests in a browser run once anything has changed that makes a page; until then a twelfth of them."""

from itertools import chain
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests import proved_pages, turns
from tests.proved_pages import LEFT_OUT, PLACES, are_proved, begin, due, keep, looks_at_all
from tests.turns import ROOT, TURNS, files_digest

OF_PAGES = [f"tests/browser/test_{name}.py::test_it[{row}]" for name in ("a", "b") for row in range(TURNS)]
OTHERS = ["tests/web/test_a.py::test_it", "tests/test_browser.py::test_it"]


class Item(SimpleNamespace):
    __hash__ = object.__hash__


def items(names: list[str], *, is_left: bool = False) -> list[Any]:
    return [Item(nodeid=name, get_closest_marker=lambda _: is_left or None) for name in names]


def run_of(*places: str, mark: str = "not prove", **choices: object) -> Any:
    """A run that has begun."""
    options = SimpleNamespace(markexpr=mark, **choices)
    config: Any = SimpleNamespace(args=list(places), option=options, stash=pytest.Stash())
    begin(config)
    return config


@pytest.fixture
def _proved(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if all tests in a browser had passed."""
    monkeypatch.setattr(proved_pages, "are_proved", lambda: True)


def test_everything_that_makes_pages_is_there() -> None:
    assert [place for place in PLACES if not (ROOT / place).exists()] == []


@pytest.mark.parametrize(
    "changed", ["app/web/a.py", "lessons/a.md", "tests/browser/test_a.py", "static/build.mjs", "package-lock.json"]
)
def test_they_are_proved_until_one_of_their_files_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changed: str
) -> None:
    monkeypatch.setattr(turns, "ROOT", tmp_path)
    monkeypatch.setattr(proved_pages, "files_digest", files_digest.__wrapped__)
    file, kept = tmp_path / changed, tmp_path / "proved.txt"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("as it was")
    assert not are_proved(kept)

    keep(kept)
    assert are_proved(kept)

    file.write_text("as it is")
    assert not are_proved(kept)


def test_each_test_in_a_browser_has_its_turn_and_all_others_always(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    for digest in range(TURNS):
        monkeypatch.setattr(turns, "files_digest", lambda _, digest=digest: bytes([digest]))
        names = [item.nodeid for item in due(items([*OF_PAGES, *OTHERS]))]
        assert names[-2:] == OTHERS
        made.append(names[:-2])

    assert sorted(chain.from_iterable(made)) == sorted(OF_PAGES)
    assert {len(names) for names in made} == {len(OF_PAGES) // TURNS}


def test_what_is_marked_prove_takes_no_turn_of_a_test() -> None:
    left = items(OF_PAGES, is_left=True)

    assert due(left) == left


@pytest.mark.usefixtures("_proved")
@pytest.mark.parametrize("place", ["tests", str(ROOT / "tests")])
def test_a_run_of_all_tests_leaves_them_out_where_they_are_proved(place: str) -> None:
    run = run_of(place)

    assert run.stash[LEFT_OUT]
    assert not looks_at_all(run)


def test_a_run_of_all_tests_looks_at_every_page_that_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proved_pages, "are_proved", lambda: False)
    run = run_of("tests")
    monkeypatch.setattr(proved_pages, "are_proved", lambda: True)  # as it is once it was kept

    assert not run.stash[LEFT_OUT]
    assert looks_at_all(run)


@pytest.mark.usefixtures("_proved")
@pytest.mark.parametrize(
    ("asked", "choices", "all_of_them"),
    [
        ("tests/browser", {}, True),
        ("tests/browser/test_pages.py", {}, False),
        ("tests/web", {}, False),
        ("tests/browser", {"mark": "prove"}, False),
        ("tests/browser", {"keyword": "phone"}, False),
        ("tests/browser", {"lf": True}, False),
        ("tests/browser", {"deselect": ["tests/browser/test_pages.py"]}, False),
        ("tests/browser", {"collectonly": True}, False),
        ("tests", {"collectonly": True}, False),
    ],
)
def test_of_its_folder_every_test_runs_and_a_part_of_it_keeps_nothing(
    asked: str, choices: dict[str, Any], *, all_of_them: bool
) -> None:
    run = run_of(asked, **choices)

    assert not run.stash[LEFT_OUT]
    assert looks_at_all(run) is all_of_them
