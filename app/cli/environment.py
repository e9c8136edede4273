"""The settings of a command, from the environment; one that cannot be meant is named before anything starts."""

import contextlib
import os
import re
import sys
from difflib import get_close_matches

import structlog
import typer
from pydantic import ValidationError

from app.cli.refuse import refuse
from app.settings import PREFIX, Settings

# A cluster tells every container of its services; what it says of one that is called backhand looks like settings.
OF_A_CLUSTER = re.compile(r"SERVICE_HOST|(SERVICE_)?PORT(_\w+)?")


def load_settings(*, private: bool = True) -> Settings:
    """Load the settings from the environment; ends the command if a name is misspelt or a value does not fit.

    From here on, what is logged goes to the error stream, and files that are written are for this user alone.

    Args:
        private: False for a command that writes for others, and nothing of people.
    """
    # Standard output belongs to answers: a batch is read by programs, line by line.
    structlog.configure(logger_factory=lambda *_: structlog.PrintLogger(sys.stderr))
    known = [name.upper() for name in Settings.model_fields]
    for name in sorted(os.environ):
        word = name.upper().removeprefix(PREFIX)
        if not name.upper().startswith(PREFIX) or word in known or OF_A_CLUSTER.fullmatch(word):
            continue
        if near := get_close_matches(word, known, n=1):
            refuse(f"{name} is no setting. Did you mean {PREFIX}{near[0]}?")
        typer.echo(f"{name} is no setting and changes nothing. docs/settings.md lists them all.", err=True)
    try:
        settings = Settings()
    except RuntimeError:
        refuse(f"This user has no home folder to keep work in. Set {PREFIX}DATA_DIR to a folder.")
    except ValidationError as error:
        refuse(
            "\n".join(
                _setting_fault(str(dict_type["loc"][0]), dict_type["input"], dict_type["msg"])
                for dict_type in error.errors()
            )
        )
    if private:
        _keep_private(settings)
    return settings


def _keep_private(settings: Settings) -> None:
    """Make the data folder readable for this user alone, also files that an older version left readable."""
    os.umask(0o077)
    for path in settings.data_dir.glob("*.db*"):
        with contextlib.suppress(OSError):
            path.chmod(0o600)


def _setting_fault(name: str, value: object, why: str) -> str:
    """Say what is wrong with a setting; the value of one that may hold a password is not shown."""
    shown = f" is {value!r}" if Settings.model_fields[name.lower()].repr else " cannot be used"
    return f"{PREFIX}{name}".upper() + f"{shown}. {why.removeprefix('Value error, ')}."
