"""How a command ends that cannot do what it was asked for."""

import sys
from pathlib import Path
from typing import NoReturn

import typer

USAGE = 2
"""The call is to be changed, or the machine; 1 is for what was looked at and found wrong."""

A_COURSE = "Give a lesson file, a unit or a course folder."


def refuse(message: str, status: int = USAGE) -> NoReturn:
    """Say why on the error stream, and end."""
    typer.echo(message, err=True)
    sys.exit(status)


def unreadable(path: Path, error: OSError, mend: str = "") -> NoReturn:
    refuse(f"{path} cannot be read: {error.strerror}. {mend}".rstrip())
