"""End of a command that cannot do what it was asked for."""

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


def is_at_terminal() -> bool:
    return sys.stdin.isatty()


def ask_whether_meant(doubt: str, question: str, option: str) -> None:
    """Ask at a terminal whether something odd is meant, and end where it is not; elsewhere name the *option* for it."""
    if not is_at_terminal():
        refuse(f"{doubt} With {option} it is done.")
    typer.echo(doubt, err=True)
    typer.confirm(question, abort=True, err=True)


def refuse_unreadable(path: Path, error: OSError, mend: str = "") -> NoReturn:
    refuse(f"{path} cannot be read: {error.strerror}. {mend}".rstrip())
