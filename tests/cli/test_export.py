import base64
import re
import zlib
from pathlib import Path

import nbformat
import pytest
from typer.testing import CliRunner

from app.cli import app

runner = CliRunner()
ROOT = Path(__file__).parents[2]
COURSE = ROOT / "tests" / "web" / "course"


def test_a_course_becomes_a_folder_of_notebooks(tmp_path: Path) -> None:
    result = runner.invoke(app, ["export", str(COURSE), "--to", str(tmp_path)])

    assert result.exit_code == 0, result.output
    written = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.ipynb"))
    assert written == [f"1-layers/0{number}.ipynb" for number in ("1-linear", "2-reading", "3-draft")]
    nbformat.read(tmp_path / written[0], as_version=4)


def test_one_file_becomes_one_script(tmp_path: Path) -> None:
    result = runner.invoke(
        app, ["export", str(COURSE / "1-layers" / "01-linear.md"), "--format", "py", "--to", str(tmp_path)]
    )

    assert result.output.strip() == str(tmp_path / "01-linear.py")
    assert "dX = ____" in (tmp_path / "01-linear.py").read_text()


def test_solutions_are_in_it_when_they_are_asked_for(tmp_path: Path) -> None:
    unit = str(COURSE / "1-layers")

    runner.invoke(app, ["export", unit, "--format", "md", "--to", str(tmp_path), "--solutions"])

    assert "dW = X.T @ dY" in (tmp_path / "01-linear.md").read_text()


def test_pictures_and_the_courses_names_go_along(tmp_path: Path) -> None:
    runner.invoke(app, ["export", str(ROOT / "lessons" / "5-train"), "--to", str(tmp_path)])

    cells = nbformat.read(tmp_path / "01-training.ipynb", as_version=4).cells
    (drawn,) = (cell for cell in cells if cell.id == "invented-names-asked")
    assert list(drawn.attachments) == ["picture.svg"]
    (helpers,) = (cell for cell in cells if cell.id == "run-helpers")
    packed = re.search(r'LIST = """(.*?)"""', helpers.source, re.DOTALL)
    assert packed is not None
    names = zlib.decompress(base64.b64decode(packed[1])).decode("ascii").split()
    assert (len(names), names[0]) == (5_163, "aaron")


def test_a_file_with_work_in_it_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "01-linear.py").write_text("mine")
    arguments = ["export", str(COURSE / "1-layers" / "01-linear.md"), "--format", "py", "--to", str(tmp_path)]

    result = runner.invoke(app, arguments)

    assert result.exit_code == 2
    assert "--force" in result.stderr
    assert (tmp_path / "01-linear.py").read_text() == "mine"
    assert runner.invoke(app, [*arguments, "--force"]).exit_code == 0


def test_a_faulty_lesson_is_told_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "01-bad.md").write_text("---\ntitle: Bad\n---\n\n:::{shap} x\n:::\n")

    result = runner.invoke(app, ["export", str(tmp_path / "01-bad.md"), "--to", str(tmp_path)])

    assert result.exit_code == 2
    assert "01-bad.md:5" in result.stderr


def test_what_is_not_there_is_said(tmp_path: Path) -> None:
    result = runner.invoke(app, ["export", str(tmp_path / "none.md")])

    assert result.exit_code == 2
    assert "none.md cannot be read: No such file or directory." in result.stderr


@pytest.mark.parametrize("to", ["/proc/nothing", str(Path(__file__))])
def test_a_folder_that_cannot_be_written_is_said(to: str) -> None:
    result = runner.invoke(app, ["export", str(COURSE / "1-layers" / "01-linear.md"), "--to", to])

    assert result.exit_code == 2
    assert "01-linear.ipynb cannot be written" in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_a_unit_without_lessons_is_said(tmp_path: Path) -> None:
    (tmp_path / "unit.md").write_text("---\ntitle: Bare\n---\n")

    result = runner.invoke(app, ["export", str(tmp_path)])

    assert result.exit_code == 2
    assert "The unit holds no lessons" in result.stderr


def test_a_course_named_by_a_dot_keeps_its_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(COURSE)

    runner.invoke(app, ["export", ".", "--to", str(tmp_path), "--format", "md"])

    assert (tmp_path / "1-layers" / "01-linear.md").is_file()
