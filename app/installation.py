"""This copy of Backhand: its version, the files that are no code, and where it keeps work.

In a checkout they are beside the package `app`, and work is in `var/`. A wheel brings them along inside of the package,
in `_share`; the next `pip install -U` replaces all of that, so work goes to the platform's folder for data.
"""

import os
import sys
from functools import cache
from importlib import metadata
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent
SHARE = PACKAGE / "_share"
IS_INSTALLED = SHARE.is_dir()
ROOT = SHARE if IS_INSTALLED else PACKAGE.parent
"""The folder of `lessons/`, `templates/` and `static/`."""
TEMPLATES = ROOT / "templates"
KINDS = PACKAGE / "kinds"
"""Each folder in it holds the template of its kind."""
DATABASE = "backhand.db"
DATA_HOMES = {
    "darwin": ("", "Library/Application Support"),
    "win32": ("LOCALAPPDATA", "AppData/Local"),
    "linux": ("XDG_DATA_HOME", ".local/share"),
}
"""By platform: the variable that names the folder for data of programs, and its place at home where it is not set."""


def is_installed_course(path: Path) -> bool:
    """True if *path* is in the course of the wheel, which the next update replaces with all that was changed in it."""
    return IS_INSTALLED and path.resolve().is_relative_to(ROOT)


@cache
def version() -> str:
    """The version, which `pyproject.toml` alone says."""
    return metadata.version("backhand")


def data_home(platform: str = sys.platform) -> Path:
    """The folder for work of an installed copy, such as `~/.local/share/backhand`."""
    variable, at_home = DATA_HOMES.get(platform, DATA_HOMES["linux"])
    named = Path(os.environ.get(variable, ""))
    # A relative path is invalid and ignored: https://specifications.freedesktop.org/basedir-spec/latest/
    return (named if named.is_absolute() else Path.home() / at_home) / "backhand"


def default_data_dir() -> Path:
    """Default folder for stored data: at home when installed; a `var` here, or else in the checkout."""
    if IS_INSTALLED:
        return data_home()
    return Path("var") if Path("var").is_dir() else ROOT / "var"


def default_lessons() -> Path:
    """The course to serve when no setting names one: a folder `lessons` here that holds one, or else our own."""
    return Path("lessons") if any(Path("lessons").glob("*/unit.md")) else ROOT / "lessons"


def misplaced_databases(data_dir: Path) -> list[Path]:
    """Databases that *data_dir* leaves unread where version 0 put them: beside the package, or where it was run."""
    places = [PACKAGE.parent / "var" / DATABASE, Path("var").absolute() / DATABASE] if IS_INSTALLED else []
    return [path for path in dict.fromkeys(places) if path.is_file() and path.parent != data_dir.absolute()]


def adopt_misplaced(path: Path, data_dir: Path) -> str:
    """Say how to continue with the database at *path*."""
    return (
        f"A database of an earlier version, which is not used. To go on with it, stop the server, and move everything "
        f"in {path.parent} to {data_dir.absolute()}, or set BACKHAND_DATA_DIR={path.parent}."
    )
