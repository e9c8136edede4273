"""`backhand grade`, with a lesson anywhere on disk: as a program, and through graders that are up already."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from app.cli import app, grade
from app.engine.grade.seeds import FILE, seeds_in
from app.settings import Settings
from tests.graders import SharedGraders
from tests.waiting import SECONDS

LAYER = Path(__file__).resolve().parents[1] / "engine" / "layer.md"
RIGHT = "dX = dY @ W.T\ndW = X.T @ dY\ndb = dY.sum(0)\n"
Call = Callable[..., subprocess.CompletedProcess[str]]
KEYS = {"outcome", "passed", "names", "line", "message", "wall_ms"}


def backhand(*arguments: str, feed: str = "") -> subprocess.CompletedProcess[str]:
    """A program of its own, with a grader of its own."""
    return subprocess.run(
        [sys.executable, "-m", "app", *arguments],
        input=feed, capture_output=True, text=True, timeout=SECONDS, check=False,
    )  # fmt: skip


@pytest.fixture
def called(graders: SharedGraders, monkeypatch: pytest.MonkeyPatch) -> Call:
    """The command in this process, asking graders that are up already."""

    def with_gate(*_: object, gate: bool, **__: object) -> SharedGraders:
        monkeypatch.setattr(graders._pool, "_gate", gate)
        return graders

    monkeypatch.setattr(grade, "LocalGraders", with_gate)

    def call(*arguments: str, feed: str = "") -> subprocess.CompletedProcess[str]:
        result = CliRunner().invoke(app, arguments, input=feed)
        return subprocess.CompletedProcess(arguments, result.exit_code, result.stdout, result.stderr)

    return call


@pytest.fixture
def secrets(graders: SharedGraders, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., bytes]:
    """The secret that a batch is judged under, with so many options; the server's may be in `data`."""
    monkeypatch.setenv("BACKHAND_DATA_DIR", str(tmp_path / "data"))
    drawn_under: list[bytes] = []

    def noted(settings: Settings, *, secret: bool, **_: object) -> SharedGraders:
        assert secret
        drawn_under.append(seeds_in(settings.data_dir).secret)
        return graders

    monkeypatch.setattr(grade, "LocalGraders", noted)

    def judged(exercise: str, *options: str) -> bytes:
        assert CliRunner().invoke(app, ["grade", exercise, "--batch", *options], input="").exit_code == 0
        return drawn_under[-1]

    return judged


@pytest.fixture
def exercise(tmp_path: Path) -> str:
    lesson = tmp_path / "anywhere.md"
    lesson.write_text(LAYER.read_text(encoding="utf-8"), encoding="utf-8")
    return f"{lesson}#layer-backward"


def batch(call: Call, exercise: str, codes: dict[str, str], *options: str) -> dict[str, dict[str, Any]]:
    feed = "".join(json.dumps({"id": name, "code": code}) + "\n" for name, code in codes.items())
    result = call("grade", exercise, "--batch", *options, feed=feed)
    assert result.returncode == 0, result.stderr
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert [row["id"] for row in rows] == list(codes)
    return {row["id"]: row for row in rows}


def test_a_right_submission_exits_with_zero_and_one_json_object(exercise: str, tmp_path: Path) -> None:
    code = tmp_path / "right.py"
    code.write_text(RIGHT)

    result = backhand("grade", exercise, str(code), "--json")

    row = json.loads(result.stdout)
    assert result.returncode == 0, result.stderr
    assert row.keys() == KEYS
    assert row["passed"] is True
    assert row["names"]["dW"]["verdict"] == "right"
    assert row["names"]["dW"].keys() == {"verdict", "code", "message", "exact", "approx", "maxdiff"}


def test_a_wrong_submission_exits_with_one_and_says_why(called: Call, exercise: str, tmp_path: Path) -> None:
    code = tmp_path / "wrong.py"
    code.write_text(RIGHT.replace("sum", "mean"))

    result = called("grade", exercise, str(code))

    assert result.returncode == 1
    assert "sum the rows, do not average them" in result.stdout
    assert "2 of 3 right, checked on 2 hidden sizes" in result.stdout


def test_a_batch_answers_every_line_whatever_it_does(called: Call, exercise: str) -> None:
    rows = batch(
        called,
        exercise,
        {
            "right": RIGHT,
            "endless": "while True:\n    pass\n",
            "broken": "dX = dY @\n",
            "raises": "dX = dY @ W.T\ndW = X @ dY\n",
            "blank": "dX = ____\ndW = X.T @ dY\ndb = dY.sum(0)\n",
            "empty": "",
            "again": RIGHT,
        },
    )

    assert rows["right"]["passed"] is rows["again"]["passed"] is True
    assert rows["endless"]["outcome"] == "timeout"
    assert rows["broken"]["outcome"] == "error"
    assert rows["broken"]["line"] == 1
    assert rows["raises"]["outcome"] == "error"
    assert rows["raises"]["line"] == 2
    assert rows["raises"]["names"]["dX"]["verdict"] == "right"
    assert rows["blank"]["names"]["dX"]["verdict"] == "not-yet"
    assert rows["blank"]["names"]["dW"]["verdict"] == "right"
    assert not rows["empty"]["passed"]


def test_without_the_gate_the_jail_alone_stops_what_the_gate_would_refuse(called: Call, exercise: str) -> None:
    code = {"fork": "import os\nos.fork()\n" + RIGHT, "honest": RIGHT}

    gated, jailed = batch(called, exercise, code), batch(called, exercise, code, "--no-gate")

    assert gated["fork"]["outcome"] == "refused"
    assert jailed["fork"]["outcome"] in ("denied", "error")
    assert gated["honest"]["passed"] is jailed["honest"]["passed"] is True


def test_a_line_that_is_no_submission_is_answered_too(called: Call, exercise: str) -> None:
    result = called("grade", exercise, "--batch", feed='no json\n\n[1]\n{"id": 3}\n{"id": 4, "code": "\\ud800"}\n')

    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert [row["id"] for row in rows] == [None, None, 3, 4]
    assert all(not row["passed"] for row in rows)


@pytest.mark.parametrize("name", ["NaN", "1e400", "-Infinity"])
def test_an_id_that_json_cannot_carry_does_not_end_the_batch(called: Call, exercise: str, name: str) -> None:
    feed = f'{{"id": {name}, "code": "dX = 1"}}\n' + json.dumps({"id": "next", "code": RIGHT})

    result = called("grade", exercise, "--batch", feed=feed)

    bad, good = (json.loads(line) for line in result.stdout.splitlines())
    assert bad["id"] is None
    assert bad["outcome"] == "refused"
    assert good["id"] == "next"
    assert good["passed"] is True


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["{lesson}", "-"], "names no exercise"),
        (["{lesson}#nothing", "-"], "Its code boxes are: layer-backward"),
        (["nowhere.md#x", "-"], "cannot be read"),
        (["{lesson}#layer-backward"], "either a CODE.py or --batch"),
        (["{lesson}#layer-backward", "no.py"], "no.py cannot be read"),
    ],
)
def test_a_call_that_cannot_be_graded_says_what_to_give(
    called: Call, exercise: str, arguments: list[str], said: str
) -> None:
    lesson = exercise.partition("#")[0]

    result = called("grade", *(one.format(lesson=lesson) for one in arguments))

    assert result.returncode == 2
    assert said in result.stderr


def test_a_batch_is_judged_on_numbers_that_nobody_knows(secrets: Callable[..., bytes], exercise: str) -> None:
    """A table of answers that was computed at home passes on public numbers, and on no others."""
    one, other = secrets(exercise), secrets(exercise)

    assert len(one) == len(other) == 32
    assert one != other


def test_a_seed_repeats_a_batch(secrets: Callable[..., bytes], exercise: str) -> None:
    assert secrets(exercise, "--seed", "7") == secrets(exercise, "--seed", "7") != secrets(exercise, "--seed", "8")


def test_a_batch_beside_a_server_is_judged_on_its_numbers(
    secrets: Callable[..., bytes], exercise: str, tmp_path: Path
) -> None:
    own = seeds_in(tmp_path / "data").secret

    assert secrets(exercise) == own


@pytest.mark.usefixtures("secrets")
def test_a_batch_is_refused_where_the_secret_was_emptied(exercise: str, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / FILE).touch()

    result = CliRunner().invoke(app, ["grade", exercise, "--batch"], input="")

    assert result.exit_code == 2
    assert "has 0 bytes; it should have 32" in result.stderr
