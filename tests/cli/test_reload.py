"""`backhand reload`: the running server is asked, and with `--check` only where the course was proved."""

import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from app.cli import app, proving
from app.web.course_reload import last_reload, note_reload, process_file
from tests.graders import SharedGraders

LESSON = Path(__file__).resolve().parents[1] / "engine" / "layer.md"


@pytest.fixture
def lesson(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, graders: SharedGraders) -> Path:
    """The only lesson of a course."""
    unit = tmp_path / "course" / "1-unit"
    unit.mkdir(parents=True)
    (unit / "unit.md").write_text("---\ntitle: Unit\n---\n")
    shutil.copy(LESSON, unit / "01-layer.md")
    monkeypatch.setenv("BACKHAND_LESSONS", str(tmp_path / "course"))
    monkeypatch.setenv("BACKHAND_DATA_DIR", str(tmp_path))
    monkeypatch.setattr(proving, "LocalGraders", lambda *_, **__: graders)
    return unit / "01-layer.md"


@pytest.fixture
def _server(tmp_path: Path) -> Iterator[None]:
    """This process serves the course: it is asked by SIGHUP, and notes that it has taken it up."""
    before = signal.signal(signal.SIGHUP, lambda *_: note_reload(tmp_path))
    with process_file(tmp_path):
        yield
    signal.signal(signal.SIGHUP, before)


def reload(*words: str) -> Result:
    return CliRunner().invoke(app, ["reload", "--wait", "10", *words])


@pytest.mark.usefixtures("_server")
def test_a_course_that_is_proved_is_taken_up(lesson: Path, tmp_path: Path) -> None:
    result = reload("--check")

    assert (result.exit_code, last_reload(tmp_path) != "") == (0, True), result.output
    assert f"has read {lesson.parent.parent} again." in result.output


@pytest.mark.usefixtures("_server")
def test_check_and_reload_name_an_assigned_lesson_with_another_id(lesson: Path) -> None:
    for words in (["class", "create", "Algebra"], ["class", "assign", "1", "layer"]):
        assert CliRunner().invoke(app, words).exit_code == 0
    lesson.write_text(lesson.read_text().replace("id: layer\n", "id: another\n"))

    checked, reloaded = CliRunner().invoke(app, ["check", "--no-mutants"]), reload()

    assert "assigned-lesson-gone warning: " in checked.output
    for said in (checked.output, reloaded.output):
        assert "The lesson 'layer' is assigned in class 1 (Algebra), and the course has lost it." in said
    assert reloaded.exit_code == 1


@pytest.mark.usefixtures("lesson", "_server")
def test_a_reload_that_the_server_does_not_take_up_is_no_success(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.cli.reload.ask_to_reload", lambda _: 7)

    result = reload("--wait", "0.1")

    assert result.exit_code == 1
    assert "The server (process 7) was asked and has not taken it up within 0.1 s." in result.output


@pytest.mark.usefixtures("_server")
def test_a_solution_that_is_wrong_is_published_by_no_reload_that_checks(lesson: Path, tmp_path: Path) -> None:
    lesson.write_text(lesson.read_text().replace("dW = X.T @ dY", "dW = 2 * X.T @ dY"))

    result = reload("--check")

    assert (result.exit_code, last_reload(tmp_path)) == (1, "")
    assert "solution-fails" in result.output
    assert result.output.rstrip().endswith("The server was left as it is.")
    assert reload().exit_code == 0
    assert last_reload(tmp_path) != ""
