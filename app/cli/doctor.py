"""`backhand doctor`: what protects the machine that runs learners' code, and what is missing."""

import sys

import typer

from app.sandbox.runner import Jail
from app.settings import Settings


def doctor() -> None:
    """Print every layer of the jail; exit non-zero when code would be refused."""
    settings = Settings()
    jail = Jail(require_landlock=settings.require_landlock, unsafe=settings.unsafe_no_sandbox)
    try:
        for name, state in jail.layers:
            typer.echo(f"{'ok  ' if state == 'on' else 'off '} {name:<14} {'' if state == 'on' else state}".rstrip())
        if jail.refusal:
            typer.echo(f"Code is refused: {jail.refusal}", err=True)
            sys.exit(1)
        typer.echo("Code runs in the jail.")
    finally:
        jail.close()
