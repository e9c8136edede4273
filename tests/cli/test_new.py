from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from app.cli import app
from app.cli.new import _yaml_text
from app.course.course import load_course

runner = CliRunner()


def test_new_writes_a_lesson_named_after_its_file(tmp_path: Path) -> None:
    path = tmp_path / "2-tensors" / "05-drop-out.md"

    result = runner.invoke(app, ["new", str(path)])

    assert result.exit_code == 0, result.output
    text = path.read_text()
    assert "title: Drop out\n" in text
    assert "id: drop-out\n" in text


def test_new_in_a_new_folder_makes_a_course_that_can_be_read(tmp_path: Path) -> None:
    result = runner.invoke(app, ["new", str(tmp_path / "6-beyond-the-mlp" / "01-dropout.md")])

    assert result.exit_code == 0, result.output
    course = load_course(tmp_path)
    assert [unit.title for unit in course.units] == ["Beyond the mlp"]
    assert [lesson.name for lesson in course.lessons] == ["dropout"]


def test_new_never_overwrites(tmp_path: Path) -> None:
    path = tmp_path / "1-unit" / "05-drop-out.md"
    path.parent.mkdir()
    path.write_text("mine")

    result = runner.invoke(app, ["new", str(path)])

    assert result.exit_code == 2
    assert "exists already" in result.output
    assert path.read_text() == "mine"


@pytest.mark.parametrize(
    ("folder", "said"),
    [
        ("/proc/1-nothing", "cannot be written: No such file"),
        ("1-file", "is a file and no folder; nothing was written"),
    ],
)
def test_new_says_why_it_cannot_write(folder: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("1-file").touch()
    result = runner.invoke(app, ["new", f"{folder}/05-drop-out.md"])

    assert result.exit_code == 2
    assert said in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_new_refuses_a_title_of_two_lines(tmp_path: Path) -> None:
    result = runner.invoke(app, ["new", str(tmp_path / "1-unit" / "05-drop-out.md"), "--title", "Drop\nout"])

    assert result.exit_code == 2
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["05-drop-out.txt", "05.md", "---.md", "07-123.md"])
def test_new_refuses_a_file_that_gives_no_id(tmp_path: Path, name: str) -> None:
    result = runner.invoke(app, ["new", str(tmp_path / "1-unit" / name)])

    assert result.exit_code == 2
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("03-loose.md", "stands in no unit"),
        ("lessons/03-loose.md", "stands in no unit"),
        ("1-a/x.md", "is no name for a lesson"),
        ("1-a/01-dup.md", "The number 1 is taken by 01-one.md; 03 is free"),
        ("1-a/1-dup.md", "The number 1 is taken by 01-one.md; 03 is free"),
        ("1-b/01-other.md", "The unit 1-a has the number 1 already; 2 is free"),
        ("2-b/01-two.md", "1-a/02-two.md is called 'two' already"),
    ],
)
def test_new_writes_nothing_that_would_break_the_course(tmp_path: Path, path: str, said: str) -> None:
    for name in ("01-one.md", "02-two.md"):
        assert runner.invoke(app, ["new", str(tmp_path / "1-a" / name)]).exit_code == 0
    before = sorted(tmp_path.rglob("*"))

    result = runner.invoke(app, ["new", str(tmp_path / path)])

    assert result.exit_code == 2
    assert said in result.stderr
    assert sorted(tmp_path.rglob("*")) == before
    load_course(tmp_path)


@given(st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"], exclude_characters="\x85\ufeff"), min_size=1))
def test_any_title_stays_the_same_text_in_the_front_matter(title: str) -> None:
    assert yaml.safe_load(f"title: {_yaml_text(title)}\n") == {"title": title}
