"""What every command has in common: it starts fast, and settings that cannot be meant are named first."""

import asyncio
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from app.cli import app, serve
from app.settings import Settings
from app.store.migrate import migrate

runner = CliRunner()
LOADED = "import sys\nfrom app.cli import main\ntry:\n    main()\nfinally:\n    print(*sys.modules, file=sys.stderr)"
HEAVY = {
    "sqlalchemy",
    "alembic",
    "fastapi",
    "starlette",
    "uvicorn",
    "numpy",
    "torch",
    "pydantic_settings",
    "yaml",
    "structlog",
}


def test_without_a_command_the_course_is_served_to_this_machine(monkeypatch, tmp_path: Path) -> None:
    def serve_web(_settings: Settings, host: str, port: int, *, announce: Callable[[str], None], **_: object) -> None:
        announce(f"http://{host}:{port}")

    monkeypatch.setattr(serve, "serve_web", serve_web)
    monkeypatch.setenv("BACKHAND_DATA_DIR", str(tmp_path))

    told = runner.invoke(app, []).output

    assert told.splitlines() == [
        "Open http://127.0.0.1:8000",
        f"Work is kept in {tmp_path}",
        "Press Ctrl-C to stop.",
    ]


@pytest.mark.parametrize("arguments", [["--version"], ["--help"], ["serve", "--help"], ["grade", "--help"]])
def test_what_only_tells_of_the_commands_loads_none_of_what_they_need(arguments: list[str]) -> None:
    done = subprocess.run([sys.executable, "-c", LOADED, *arguments], capture_output=True, text=True, check=True)

    loaded = set(done.stderr.split())
    assert "backhand" in done.stdout or "Usage:" in done.stdout
    assert loaded & HEAVY == set()
    assert {one for one in loaded if one.startswith("app.")} == {
        "app.cli",
        "app.cli.commands",
        "app.installation",
    }


@pytest.mark.parametrize(
    ("name", "meant"),
    [("BACKHAND_GRADER", "BACKHAND_GRADERS"), ("BACKHAND_REQUIRE_LANDLOK", "BACKHAND_REQUIRE_LANDLOCK")],
)
@pytest.mark.parametrize("command", ["serve", "check", "doctor"])
def test_a_misspelt_setting_is_named_before_anything_starts(monkeypatch, command: str, name: str, meant: str) -> None:
    monkeypatch.setenv(name, "3")

    result = runner.invoke(app, [command])

    assert result.exit_code == 2
    assert result.output == f"{name} is no setting. Did you mean {meant}?\n"


def test_a_setting_that_is_like_none_is_told_and_changes_nothing(monkeypatch) -> None:
    monkeypatch.setenv("BACKHAND_IMAGE_TAG", "latest")
    monkeypatch.setenv("BACKHAND_GRADERS", "none")

    result = runner.invoke(app, ["serve"])

    assert result.exit_code == 2
    assert result.output.splitlines() == [
        "BACKHAND_IMAGE_TAG is no setting and changes nothing. docs/settings.md lists them all.",
        "BACKHAND_GRADERS is 'none'. Input should be a valid integer, unable to parse string as an integer.",
    ]


@pytest.mark.parametrize("name", ["SERVICE_HOST", "SERVICE_PORT", "SERVICE_PORT_WEB", "PORT", "PORT_8000_TCP_ADDR"])
def test_what_a_cluster_says_of_its_services_is_no_misspelt_setting(monkeypatch, name: str) -> None:
    monkeypatch.setenv(f"BACKHAND_{name}", "10.0.0.1")
    monkeypatch.setenv("BACKHAND_GRADERS", "none")

    assert runner.invoke(app, ["serve"]).output.startswith("BACKHAND_GRADERS is 'none'.")


def modes(folder: Path) -> set[int]:
    return {stat.S_IMODE(file.stat().st_mode) for file in folder.rglob("*") if file.is_file()}


@pytest.fixture
def data_dir(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A data folder that is not there yet, for a user whose files others may read."""
    monkeypatch.setenv("BACKHAND_DATA_DIR", str(tmp_path / "new" / "var"))
    os.umask(0o022)
    return tmp_path / "new" / "var"


@pytest.mark.parametrize("words", ["class list", "class create Algebra", "lti list", "restore monday.backup"])
def test_a_data_folder_that_a_command_makes_is_its_users_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, data_dir: Path, words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    asyncio.run(migrate(f"sqlite+aiosqlite:///{tmp_path / 'monday.backup'}"))

    assert runner.invoke(app, words.split()).exit_code == 0

    assert stat.S_IMODE(data_dir.stat().st_mode) == 0o700
    assert modes(data_dir) == {0o600}


@pytest.mark.parametrize("words", ["class list", "person find Bob"])
def test_a_database_that_others_could_read_is_closed_to_them(data_dir: Path, words: str) -> None:
    asyncio.run(migrate(Settings().resolved_database_url))
    (data_dir / "backhand.db").chmod(0o644)

    assert runner.invoke(app, words.split()).exit_code == 0

    assert modes(data_dir) == {0o600}


@pytest.mark.parametrize("words", ["new mine/1-layers/09-mine.md", "course mine", "export --to mine"])
def test_what_an_author_writes_is_as_readable_as_their_files_are(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, data_dir: Path, words: str
) -> None:
    monkeypatch.setenv("BACKHAND_LESSONS", str(Path(__file__).parents[1] / "web" / "course"))
    monkeypatch.chdir(tmp_path)

    assert runner.invoke(app, words.split()).exit_code == 0

    assert modes(tmp_path / "mine") == {0o644}
    assert not data_dir.exists()
