"""Where an installed copy keeps work, on each platform, and what an earlier version left elsewhere."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from app import installation
from app.cli import app
from app.installation import data_home, default_data_dir, default_lessons, misplaced_databases
from app.settings import Settings


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home of a user with an installed copy, who is in a folder of that name in it."""
    monkeypatch.setattr(installation, "IS_INSTALLED", True)
    monkeypatch.setattr(installation, "PACKAGE", tmp_path / "site-packages" / "app")
    for name in ("XDG_DATA_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path


@pytest.mark.parametrize(
    ("platform", "folder"),
    [
        ("linux", ".local/share"),
        ("freebsd14", ".local/share"),
        ("darwin", "Library/Application Support"),
        ("win32", "AppData/Local"),
    ],
)
def test_work_goes_to_the_platforms_folder_for_data(home: Path, platform: str, folder: str) -> None:
    assert data_home(platform) == home / folder / "backhand"


@pytest.mark.parametrize(("platform", "variable"), [("linux", "XDG_DATA_HOME"), ("win32", "LOCALAPPDATA")])
def test_the_platforms_variable_names_the_folder(home: Path, monkeypatch, platform: str, variable: str) -> None:
    monkeypatch.setenv(variable, str(home / "data"))
    assert data_home(platform) == home / "data" / "backhand"

    monkeypatch.setenv(variable, "data")
    assert data_home(platform) != Path("data/backhand")


def test_an_installed_copy_uses_no_folder_var_that_happens_to_be_here(home: Path) -> None:
    Path("var").mkdir()

    assert default_data_dir() == home / ".local/share/backhand"


def test_a_folder_lessons_is_served_only_where_it_holds_a_course(home: Path) -> None:
    (lessons := home / "here" / "lessons").mkdir()
    assert default_lessons() == installation.ROOT / "lessons"

    (lessons / "1-unit").mkdir()
    (lessons / "1-unit" / "unit.md").touch()
    assert default_lessons() == Path("lessons")


@pytest.mark.parametrize("place", ["site-packages/var", "here/var"])
def test_a_database_that_an_earlier_version_left_elsewhere_is_found(home: Path, place: str) -> None:
    (home / place).mkdir(parents=True)
    (database := home / place / "backhand.db").touch()

    assert misplaced_databases(default_data_dir()) == [database]
    assert misplaced_databases(home / place) == []
    advice = installation.adopt_misplaced(database, default_data_dir())
    assert f"set BACKHAND_DATA_DIR={home / place}." in advice


def test_a_checkout_keeps_work_beside_its_code(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    assert default_data_dir() == installation.ROOT / "var"

    Path("var").mkdir()
    Path("var/backhand.db").touch()
    assert default_data_dir() == Path("var")
    assert misplaced_databases(tmp_path / "elsewhere") == []


@pytest.mark.usefixtures("home")
def test_a_user_without_a_home_is_asked_for_a_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", homeless)
    result = CliRunner().invoke(app, ["serve"])

    assert result.exit_code == 2
    assert "Set BACKHAND_DATA_DIR to a folder." in result.output


@pytest.mark.parametrize("name", ["BACKHAND_DATA_DIR", "BACKHAND_LESSONS", "BACKHAND_GRADERS"])
def test_a_setting_that_is_empty_is_not_set(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    field = name.removeprefix("BACKHAND_").lower()
    monkeypatch.delenv(name, raising=False)
    unset = getattr(Settings(), field)

    monkeypatch.setenv(name, "")

    assert getattr(Settings(), field) == unset
