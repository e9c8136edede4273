"""`backhand check` as authors and their builds call it: what it prints, and how it ends."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from app.check.findings import Finding
from app.cli import app, proving
from app.content.blocks import SourceLocation
from app.engine.pool.grader_process import GraderDiedError
from tests.graders import SharedGraders

runner = CliRunner()
TESTS = Path(__file__).resolve().parents[1]
LESSON = TESTS / "engine" / "layer.md"
BAD = "---\ntitle: Bad\nid: bad\nestimate: 1 min\n---\n\nHere is a block.\n\n:::{shap} x\n:::\n"


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is found is kept here."""
    monkeypatch.setenv("BACKHAND_DATA_DIR", str(tmp_path / "var"))


@pytest.fixture
def shared(graders: SharedGraders, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command asks graders that are up already."""
    monkeypatch.setattr(proving, "LocalGraders", lambda *_, **__: graders)


@pytest.fixture
def unit(tmp_path: Path) -> Path:
    """A unit with one sound lesson and one of two faults."""
    folder = tmp_path / "1-unit"
    folder.mkdir()
    (folder / "unit.md").write_text("---\ntitle: Unit\n---\n")
    shutil.copy(LESSON, folder / "02-layer.md")
    (folder / "01-bad.md").write_text(BAD)
    return folder


def test_a_sound_lesson_ends_with_zero_and_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BACKHAND_GRADERS", "1")

    result = runner.invoke(app, ["check", str(LESSON)])

    assert result.exit_code == 0, result.output
    assert result.stdout == "1 lesson, 1 exercise, 0 errors\n"


@pytest.mark.usefixtures("shared")
def test_files_that_cannot_be_read_are_counted_too(unit: Path) -> None:
    result = runner.invoke(app, ["check", str(unit), "--no-mutants"])

    assert result.stdout.splitlines()[-1].startswith("1 lesson of 2 files, 1 exercise, ")


@pytest.mark.usefixtures("shared")
def test_a_fault_ends_with_one_and_what_parses_is_proved_all_the_same(unit: Path) -> None:
    result = runner.invoke(app, ["check", str(unit), "--no-mutants"])

    fault, count = result.stdout.splitlines()
    assert result.exit_code == 1
    assert fault.startswith(f"{unit}/01-bad.md:9:1: unknown-directive ")
    assert count == "1 lesson of 2 files, 1 exercise, 1 error"


def test_json_is_one_object_a_line_and_nothing_else(unit: Path) -> None:
    result = runner.invoke(app, ["check", str(unit / "01-bad.md"), "--format", "json"])

    (row,) = (json.loads(line) for line in result.stdout.splitlines())
    assert (row["file"], row["line"], row["column"]) == (f"{unit}/01-bad.md", 9, 1)
    assert (row["level"], row["code"]) == ("error", "unknown-directive")


def test_github_annotates_the_place(unit: Path) -> None:
    result = runner.invoke(app, ["check", str(unit / "01-bad.md"), "--format", "github"])

    (line,) = result.stdout.splitlines()
    assert line.startswith(f"::error file={unit}/01-bad.md,line=9,col=1,title=unknown-directive::")


def test_faults_of_several_files_come_in_order(unit: Path) -> None:
    shutil.copy(unit / "01-bad.md", unit / "03-bad.md")

    result = runner.invoke(app, ["check", str(unit / "03-bad.md"), str(unit / "01-bad.md")])

    assert [line.split(":")[0][-9:] for line in result.stdout.splitlines()[:2]] == ["01-bad.md", "03-bad.md"]


@pytest.mark.usefixtures("shared")
def test_a_lesson_of_a_unit_with_no_name_for_one_is_told(unit: Path) -> None:
    (unit / "01-bad.md").rename(unit / "Bad Lesson.md")

    result = runner.invoke(app, ["check", str(unit), "--no-mutants"])

    assert "Bad Lesson.md:1:1: file-name" in result.stdout


@pytest.mark.parametrize("course", [True, False], ids=["course", "unit"])
def test_a_folder_without_lessons_is_an_error(tmp_path: Path, *, course: bool) -> None:
    unit = tmp_path / "1-unit"
    unit.mkdir()
    (unit / "unit.md").write_text("---\ntitle: Unit\n---\n")

    result = runner.invoke(app, ["check", str(tmp_path if course else unit)])

    assert result.exit_code == 1
    assert "holds no lessons" in result.stdout
    assert result.stdout.endswith("0 lessons, 0 exercises, 1 error\n")


@pytest.mark.usefixtures("shared")
def test_a_unit_that_cannot_be_read_does_not_hide_the_others(unit: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(unit, unit.parent / "2-closed")
    close(unit.parent / "2-closed", monkeypatch)

    result = runner.invoke(app, ["check", str(unit.parent), "--no-mutants"])

    assert result.exit_code == 1
    assert "2-closed: unreadable The folder cannot be read: Permission denied." in result.stdout
    assert "01-bad.md:9:1: unknown-directive" in result.stdout


def test_a_course_that_cannot_be_read_is_told(unit: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    close(unit.parent, monkeypatch)

    result = runner.invoke(app, ["check", str(unit.parent)])

    assert result.exit_code == 1
    assert "unreadable The folder cannot be read: Permission denied." in result.stdout


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("none.md", "cannot be read: No such file or directory. Give a lesson file"),
        ("1-unit/unit.md", "is no lesson but the page of a unit. Check its folder"),
    ],
)
def test_what_is_no_lesson_is_told_in_one_line(unit: Path, path: str, said: str) -> None:
    result = runner.invoke(app, ["check", str(unit.parent / path)])

    (line,) = result.stderr.splitlines()
    assert result.exit_code == 2
    assert said in line


def test_graders_that_do_not_start_are_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.engine.pool.local_graders.GraderProcess", Dead)

    result = runner.invoke(app, ["check", str(LESSON)])

    assert result.exit_code == 2
    assert [line for line in result.stderr.splitlines() if "grader-did-not-start" not in line] == [
        "Nothing was proved. The graders do not start, so no code is run; the log and backhand doctor say why."
    ]


class Dead:
    """A grader whose program cannot be imported."""

    def __init__(self, *_: object) -> None: ...

    async def start(self) -> None:
        raise GraderDiedError

    async def stop(self) -> None: ...


def close(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Refuse to list *folder*: nothing can be closed to root by its rights alone."""
    listed = Path.iterdir

    def iterdir(path: Path) -> object:
        if path == folder:
            raise PermissionError(13, "Permission denied")
        return listed(path)

    monkeypatch.setattr(Path, "iterdir", iterdir)


LINKS = """---
title: Links
id: links
estimate: 1 min
requires: [nothing]
---

See [what](02-layer.md#nowhere), [a file](09-none.md), [a draft](03-draft.md) and [more](02-layer.md#layer-backward).
"""
SAID = [
    ("5:12", "unknown-lesson"),
    ("8:10", "broken-link"),
    ("8:41", "broken-link"),
    ("8:64", "draft"),
]


@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize("whole", ["file", "unit", "course"])
def test_links_and_requirements_are_followed_whatever_is_checked(unit: Path, whole: str) -> None:
    (unit / "01-bad.md").write_text(LINKS)
    (unit / "03-draft.md").write_text(
        "---\ntitle: D\nid: d\nestimate: 1 min\nrequires: [links]\ndraft: true\n---\n\nSoon.\n"
    )
    path = {"file": unit / "01-bad.md", "unit": unit, "course": unit.parent}[whole]

    result = runner.invoke(app, ["check", str(path), "--no-mutants"])

    found = [line.removeprefix(f"{unit}/01-bad.md:").split(": ")[:2] for line in result.stdout.splitlines()[:-1]]
    assert [(place, said.split()[0]) for place, said in found if place[0].isdigit()] == SAID


@pytest.mark.usefixtures("shared")
def test_a_lesson_that_stands_alone_is_told_what_was_left_out(tmp_path: Path) -> None:
    (tmp_path / "01-alone.md").write_text(LINKS)
    (tmp_path / "03-draft.md").write_text("---\ntitle: D\nid: d\nestimate: 1 min\n---\n\nSoon.\n")

    result = runner.invoke(app, ["check", str(tmp_path / "01-alone.md")])

    assert "alone notice: No course is around this file" in result.stdout
    dead = [line.split("'")[1] for line in result.stdout.splitlines() if "broken-link There is no lesson file" in line]
    assert dead == ["02-layer.md", "09-none.md", "02-layer.md"]


def test_what_has_not_changed_is_not_proved_again(unit: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    finding = Finding(SourceLocation((unit / "02-layer.md").as_posix(), 7), "error", "seen", "Once.")
    monkeypatch.setattr(proving, "proved_now", lambda new, *_, **__: asked.append(len(new)) or (finding,))
    call = ["check", str(unit / "02-layer.md")]

    outputs = [runner.invoke(app, call).stdout for _ in range(2)]
    runner.invoke(app, [*call, "--fresh"])
    runner.invoke(app, [*call, "--no-mutants"])
    (unit / "02-layer.md").write_text(LESSON.read_text() + "\nMore.\n")
    runner.invoke(app, call)

    assert ":7:1: seen Once." in outputs[0]
    assert outputs[0] == outputs[1]
    assert asked == [1, 1, 1, 1]


def test_what_could_not_be_proved_is_tried_again(unit: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    finding = Finding(SourceLocation((unit / "02-layer.md").as_posix(), 7), "error", "not-proved", "Busy.")
    monkeypatch.setattr(proving, "proved_now", lambda new, *_, **__: asked.append(len(new)) or (finding,))

    for _ in range(2):
        runner.invoke(app, ["check", str(unit / "02-layer.md")])

    assert asked == [1, 1]


def test_what_was_kept_is_told_without_what_proves() -> None:
    code = "import sys, app.cli.check; print(sorted({'numpy', 'torch', 'app.engine.grader'} & set(sys.modules)))"

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=TESTS.parent)

    assert done.stdout == "[]\n"
