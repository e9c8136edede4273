"""`backhand course`: a copy to change, which overwrites nothing."""

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from app import installation
from app.cli import app, preview
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


@pytest.mark.parametrize(
    ("command", "file", "told"),
    [
        ("new", "99-more/01-mine.md", "cannot be edited in place. It belongs to the installed package"),
        ("preview", "2-tensors/01-mine.md", "cannot be edited in place. It belongs to the installed package"),
        ("course", "more", "belongs to the installed package. Choose a folder of your own."),
        ("check", "2-tensors/unit.md", "Copy it out first: backhand course DIR."),
    ],
)
def test_an_installed_course_is_not_edited_in_place(
    command: str, file: str, told: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("01-mine.md", "unit.md"):
        (tmp_path / "lessons" / "2-tensors").mkdir(parents=True, exist_ok=True)
        (tmp_path / "lessons" / "2-tensors" / name).touch()
    monkeypatch.setattr(installation, "IS_INSTALLED", True)
    monkeypatch.setattr(installation, "ROOT", tmp_path)
    monkeypatch.setattr(preview, "serve_or_refuse", lambda *_, **__: None)
    monkeypatch.setenv("BACKHAND_DATA_DIR", str(tmp_path / "data"))
    before = {*(tmp_path / "lessons").rglob("*")}

    result = CliRunner().invoke(app, [command, str(tmp_path / "lessons" / file)])

    assert result.exit_code == 2
    assert told in result.output
    assert {*(tmp_path / "lessons").rglob("*")} == before
