"""`backhand course`: a copy to change, which overwrites nothing."""

from pathlib import Path

from typer.testing import CliRunner, Result

from app.cli import app
from app.cli.course import LESSONS
from app.course.course import load_course


def course(target: Path) -> Result:
    return CliRunner().invoke(app, ["course", str(target)])


def test_the_course_is_copied_whole(tmp_path: Path) -> None:
    result = course(tmp_path / "mine")

    assert result.exit_code == 0, result.output
    copied = {file.relative_to(tmp_path / "mine") for file in (tmp_path / "mine").rglob("*")}
    assert copied == {file.relative_to(LESSONS) for file in LESSONS.rglob("*")}
    assert f"{len(load_course(tmp_path / 'mine').lessons)} lessons were copied" in result.output


def test_nothing_is_copied_over_what_is_there(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("mine")

    result = course(tmp_path)

    assert result.exit_code == 2
    assert "is not empty, and nothing was written" in result.output
    assert list(tmp_path.iterdir()) == [tmp_path / "notes.md"]


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    result = course(tmp_path / "file" / "mine")

    assert result.exit_code == 2
    assert f"{tmp_path / 'file' / 'mine'} cannot be written: Not a directory." in result.output
