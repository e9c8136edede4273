"""Workers are forked from a run that has imported the tests; what goes wrong in them is told as by fresh ones."""

import ctypes
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.waiting import SECONDS

ROOT = Path(__file__).resolve().parents[1]
CONFTEST = """
from tests.forked_workers import fork_workers
from tests.rooms import Rooms

def pytest_xdist_setupnodes(config, specs):
    fork_workers(config, specs)

def pytest_xdist_make_scheduler(config, log):
    return Rooms(config, log)

def pytest_sessionfinish(session):
    session.config.rootpath.joinpath("over").touch()
"""
AFTER_THE_OTHER = """
import os, pathlib, time
def test_z(pytestconfig):
    while not pytestconfig.rootpath.joinpath("over").exists():
        time.sleep(0.01)
    os.kill(os.getpid(), 9)
"""


@pytest.fixture
def told(tmp_path: Path):
    """What a run of two workers says of the tests of one file, and of others beside it."""

    def run(text: str, *others: str) -> str:
        (tmp_path / "conftest.py").write_text(CONFTEST, "utf-8")
        for name, tests in zip(["it", *"abcdefgh"], [text, *others], strict=False):
            (tmp_path / f"test_{name}.py").write_text(tests, "utf-8")
        (tmp_path / "pytest.ini").write_text(f"[pytest]\npythonpath = {ROOT}\nfilterwarnings = error\n", "utf-8")
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-p",
            "xdist",
            "-n",
            "2",
            "-rA",
            "--import-mode=importlib",
            "-p",
            "no:cacheprovider",
        ]
        alone = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # plugins that nothing here asks for start slowly
        ended = subprocess.run(
            [*command, str(tmp_path)], cwd=tmp_path, env=alone, capture_output=True, text=True, timeout=SECONDS
        )
        return ended.stdout

    return run


def test_a_file_is_imported_once_for_all_workers(told):
    text = "import os\nHERE = os.getpid()\n"
    text += "".join(f"def test_{n}():\n    assert HERE == os.getppid()\n" for n in range(4))
    assert "4 passed" in told(text)


def test_constants_that_examples_are_made_of_are_read_before_the_fork(told):
    text = "from hypothesis.internal.conjecture import providers\n"
    assert "1 passed" in told(f"{text}def test_a():\n    assert providers._sys_modules_len\n")


def test_arithmetic_of_tests_has_one_thread():
    """In a fork, two of them turn in circles until each has seen the other: a matrix of no size takes seconds."""
    mapped = (
        re.search(r"/\S*openblas\S*\.so\S*", Path("/proc/self/maps").read_text()) if sys.platform == "linux" else None
    )
    if mapped is None:
        pytest.skip("numpy computes without OpenBLAS here")
    library = ctypes.CDLL(mapped[0])
    names = [f"{prefix}openblas_get_num_threads{suffix}" for prefix in ("scipy_", "") for suffix in ("64_", "")]
    assert [getattr(library, name)() for name in names if hasattr(library, name)] == [1]


def test_a_worker_that_ends_is_told_and_replaced(told):
    said = told("import os\ndef test_a(): os.kill(os.getpid(), 9)\ndef test_b(): pass\n")
    assert re.search(r"worker 'gw\d' crashed while running 'test_it.py::test_a'", said)
    assert "1 failed, 1 passed" in said


@pytest.mark.parametrize("files", [2, *(pytest.param(one, marks=pytest.mark.prove) for one in (1, 5))])
def test_a_run_of_which_nothing_fails_ends(told, files):
    said = told("def test_a(): pass\n", *["def test_a(): pass\ndef test_b(): pass\n"] * files)
    assert f"{1 + 2 * files} passed" in said
    assert "INTERNALERROR" not in said


@pytest.mark.parametrize("left", [1, *(pytest.param(one, marks=pytest.mark.prove) for one in (0, 3))])
def test_a_run_ends_when_its_last_worker_is_replaced(told, left):
    later = "".join(f"def test_z{number}(): pass\n" for number in range(left))
    said = told(AFTER_THE_OTHER + later, *["def test_a(): pass\n"] * 6)
    assert f"1 failed, {6 + left} passed" in said


@pytest.mark.parametrize(
    ("text", "reason"),
    [("import nowhere", "No module named 'nowhere'"), ("import warnings\nwarnings.warn('old')", "UserWarning: old")],
)
def test_a_file_that_cannot_be_imported_is_an_error_with_its_reason(told, text, reason):
    said = told(text)
    assert "ERROR collecting test_it.py" in said
    assert reason in said


def test_what_a_failing_test_prints_is_told(told):
    assert "it was seven" in told("def test_a():\n    print('it was seven')\n    assert False\n")
