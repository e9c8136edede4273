"""What `make mutants` needs is as it expects, before anybody waits for an hour."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests import mutate
from tests.mutate import PLACES, ROOT, copied, exit_code, stale
from tests.waiting import SECONDS, until


def test_what_nobody_can_see_is_a_mutant_of_today() -> None:
    assert stale() == set()


def test_the_rooms_that_are_reversed_and_their_tests_are_there() -> None:
    assert [room for room in PLACES if not (ROOT / "app" / room).is_dir()] == []
    assert [place for places in PLACES.values() for place in places if not (ROOT / place).exists()] == []


def test_programs_of_a_copy_run_what_stands_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root, copy = tmp_path / "tree", tmp_path / "tree/var/1"
    script, path = Path(".venv/bin/backhand"), Path(".venv/lib/python3.11/site-packages/_backhand.pth")
    for file in (
        script,
        path,
        Path(".git/HEAD"),
        Path("node_modules/one/index.js"),
        Path("app/git.py"),
        Path("var/0/old.py"),
    ):
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        (root / file).write_text(str(root))
    (root / script).chmod(0o755)
    (root / ".venv/bin/python").symlink_to("/usr/bin/python3")
    monkeypatch.setattr(mutate, "ROOT", root)

    copied(copy)

    assert (copy / script).read_text() == (copy / path).read_text() == str(copy)
    assert (root / script).read_text() == (root / path).read_text() == str(root)
    assert (copy / script).stat().st_mode & 0o111
    assert (copy / "app/git.py").exists()
    assert (copy / "node_modules/one/index.js").exists()
    assert not (copy / "var").exists()
    assert not (copy / ".git").exists()


def test_a_mutant_whose_tests_do_not_end_in_its_time_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mutate, "LEAVING_SECONDS", 0)
    with subprocess.Popen(["sleep", "600"], start_new_session=True) as child:
        assert exit_code(child.pid, ends=time.monotonic()) is None


LEAVES = """
import signal, time
from pathlib import Path
signal.signal(signal.SIGINT, signal.default_int_handler)
try:
    Path("began").touch()
    time.sleep(600)
finally:
    Path("ended").touch()
"""


def test_tests_that_run_out_of_time_end_what_they_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mutate, "LEAVING_SECONDS", SECONDS)
    with subprocess.Popen([sys.executable, "-c", LEAVES], cwd=tmp_path, start_new_session=True) as child:
        until((tmp_path / "began").exists)
        assert exit_code(child.pid, ends=time.monotonic()) is None

    assert (tmp_path / "ended").exists()
